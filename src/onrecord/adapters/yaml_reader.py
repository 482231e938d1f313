"""YAML by ruamel.yaml, as a stream of events: nothing of the library but its parser is used.

Values are made here by the core schema (YAML 1.2.2, chapter 10.3), so that no tag builds an object, no alias is
expanded, nesting is bounded before it is followed, and every key keeps its lines. The library is imported with the
first block that needs it: it takes tens of milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from onrecord.domain.front_matter import Span, Value, YamlReading, spell_scalar
from onrecord.domain.limits import FRONT_MATTER_MAX_BYTES, JSON_MAX_DEPTH
from onrecord.domain.plain_yaml import resolve_plain
from onrecord.domain.problem import Problem, Severity

if TYPE_CHECKING:
    from ruamel.yaml.events import Event, NodeEvent, ScalarEvent

NODES_MAX_COUNT: Final = 20_000

_VALUE_DEPTH = 2
_DEPTH_MAX = JSON_MAX_DEPTH + _VALUE_DEPTH - 1
_BEFORE_NOTHING = frozenset("-:?,[{")
_CORE = "tag:yaml.org,2002:"
_QUOTE_MENDS = "Mend the line, or put the value in double quotes."
_LINE_BREAK = re.compile("\r\n|\n|\r")
# Line breaks in YAML 1.1, and to the library still; letters like others in YAML 1.2.
_NO_BREAKS = "\x85\u2028\u2029"
_PRIVATE_USE = range(0xE000, 0xF900)
_SURROGATE = re.compile("[\ud800-\udfff]")
_TAGGED = {
    "null": re.compile("|null|Null|NULL|~"),
    "bool": re.compile("true|True|TRUE|false|False|FALSE"),
    "int": re.compile("[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"),
    "float": re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"),
}


class _BrokenError(Exception):
    """The block cannot be read; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(slots=True)
class _Entry:
    """One key of the block with its value, as far as it has been read."""

    key: str
    first: int
    last: int
    value: Value = None
    spellings: dict[int, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    refused: str = ""


class RuamelReader:
    """Driver of `onrecord.ports.yaml_reader.YamlReader`."""

    def read(self, block: str) -> YamlReading:
        """Read a block; see the port."""
        if len(block) * 4 > FRONT_MATTER_MAX_BYTES and len(block.encode(errors="replace")) > FRONT_MATTER_MAX_BYTES:
            return _describe_broken(1, "it is above 512 KiB")
        try:
            hidden, shown = _hide_breaks(block)
            walker = _Walker(_parse_events(hidden), _LINE_BREAK.split(hidden), shown)
            return _describe(walker.read_block())
        except _BrokenError as error:
            return _describe_broken(error.line, error.reason)


def _describe_broken(line: int, reason: str) -> YamlReading:
    message = f"the front matter cannot be read: {reason}"
    problem = Problem("", line, "front_matter_broken", Severity.WARNING, message, _QUOTE_MENDS)
    return YamlReading({}, spans={}, problems=(problem,), is_broken=True)


def _describe(found: tuple[list[_Entry], list[Problem]]) -> YamlReading:
    entries, problems = found
    values: dict[str, Value] = {}
    spellings: dict[tuple[str, int], str] = {}
    spans: dict[str, tuple[Span, ...]] = {}
    dropped: list[str] = []
    for entry in entries:
        is_second = entry.key in spans
        spans[entry.key] = (*spans.get(entry.key, ()), Span(entry.first, entry.last))
        if is_second:
            problems.append(_describe_duplicate(entry.first))
        elif entry.refused:
            mend = "Write the value out in full."
            problems.append(Problem("", entry.first, "field_invalid", Severity.WARNING, entry.refused, mend))
        else:
            values[entry.key] = entry.value
            spellings |= {(entry.key, index): text for index, text in entry.spellings.items()}
            continue
        dropped.append(" ".join(entry.texts))
    return YamlReading(values, spellings, spans, tuple(problems), tuple(dropped))


def _describe_duplicate(line: int) -> Problem:
    message = "the key occurs twice; the first counts"
    return Problem("", line, "front_matter_duplicate_key", Severity.WARNING, message, "Keep one of the two.")


def _hide_breaks(block: str) -> tuple[str, dict[int, str]]:
    """Put a private-use character that does not occur in place of each of `_NO_BREAKS`; return the way back too."""
    if not any(char in block for char in _NO_BREAKS):
        return block, {}
    taken = set(block)
    free = (chr(code) for code in _PRIVATE_USE if chr(code) not in taken)
    hidden = {char: next(free, "") for char in _NO_BREAKS}
    if not all(hidden.values()):
        raise _BrokenError(1, "it holds every private-use character")
    table = {ord(char): stand_in for char, stand_in in hidden.items()}
    return block.translate(table), {ord(stand_in): char for char, stand_in in hidden.items()}


def _parse_events(block: str) -> Iterator[Event]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        yield from YAML(typ="safe", pure=True).parse(block)
    except ReaderError as error:
        line = len(_LINE_BREAK.findall(block[: error.position])) + 1
        raise _BrokenError(line, f"the control character U+{ord(block[error.position]):04X}") from None
    except MarkedYAMLError as error:
        in_string = "quoted scalar" in (error.context or "")
        mark = (error.context_mark if in_string else None) or error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        reason = "a quote is not closed" if in_string else error.problem or error.context or "not YAML"
        raise _BrokenError(line, _drop_content(reason)) from None
    except (YAMLError, ValueError, OverflowError) as error:
        raise _BrokenError(1, f"not YAML ({type(error).__name__})") from None


def _drop_content(reason: str) -> str:
    """Return the library's reason without longer pieces of the text."""
    return re.sub(r"'[^']{5,}'|\"[^\"]{5,}\"|\('[^)]*\)", "…", reason)[:120]


class _Walker:
    """Builds the values of one block from its events."""

    def __init__(self, events: Iterator[Event], lines: list[str], shown: dict[int, str]) -> None:
        self._events = events
        self._lines = lines
        self._shown = shown
        self._nodes = 0
        self._written = ""
        self._anchors: set[str] = set()
        self._problems: list[Problem] = []

    def _take(self) -> Event:
        event = next(self._events, None)
        if event is None:
            raise _BrokenError(1, "it ends too early")
        return event

    def read_block(self) -> tuple[list[_Entry], list[Problem]]:
        """Read the one document of the block; its entries in order, and what was found."""
        from ruamel.yaml.events import DocumentStartEvent, MappingEndEvent, MappingStartEvent

        start = next((event for event in self._events if isinstance(event, DocumentStartEvent)), None)
        if start is None:
            return [], []
        root = self._take()
        if not isinstance(root, MappingStartEvent):
            raise _BrokenError(root.start_mark.line + 1, "it is no list of keys and values")
        entries: list[_Entry] = []
        while not isinstance(event := self._take(), MappingEndEvent):
            entries.append(self._read_entry(event))
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                raise _BrokenError(event.start_mark.line + 1, "a second document begins")
        return entries, self._problems

    def _read_entry(self, event: Event) -> _Entry:
        line = event.start_mark.line + 1
        entry = _Entry("", line, line)
        entry.key = self._read_key(event, entry, _VALUE_DEPTH)
        if not entry.refused:
            entry.texts.clear()
        entry.value = self._read_node(self._take(), entry, _VALUE_DEPTH)
        if self._written:
            entry.spellings[-1] = self._written
        return entry

    def _read_key(self, event: Event, entry: _Entry, depth: int) -> str:
        """Return a key as its text stands in the file."""
        place = len(entry.texts)
        if isinstance(self._read_node(event, entry, depth), (list, dict)):
            entry.refused = entry.refused or "a key is no text"
        return entry.texts[place] if len(entry.texts) > place else ""

    def _read_node(self, event: Event, entry: _Entry, depth: int) -> Value:
        """Read a value; `_written` is how a number or boolean is spelled, where that is not as it would be here."""
        from ruamel.yaml.events import AliasEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent

        self._nodes += 1
        if self._nodes > NODES_MAX_COUNT:
            raise _BrokenError(event.start_mark.line + 1, f"it has more than {NODES_MAX_COUNT} values")
        self._written = ""
        anchor = getattr(event, "anchor", None)
        if isinstance(event, AliasEvent):
            if anchor not in self._anchors:
                raise _BrokenError(event.start_mark.line + 1, "an alias names no anchor before it")
        elif anchor is not None:
            self._anchors.add(str(anchor))
        match event:
            case ScalarEvent():
                return self._read_scalar(event, entry)
            case SequenceStartEvent():
                self._begin(event, entry, depth, "seq")
                return self._read_list(event, entry, depth)
            case MappingStartEvent():
                self._begin(event, entry, depth, "map")
                return self._read_map(event, entry, depth)
            case AliasEvent():
                entry.refused = entry.refused or "an alias is not followed"
                entry.last = max(entry.last, event.end_mark.line + 1)
                return None
            case _:
                raise _BrokenError(event.start_mark.line + 1, "not YAML")

    def _begin(self, event: NodeEvent, entry: _Entry, depth: int, kind: str) -> None:
        if depth > _DEPTH_MAX:
            raise _BrokenError(event.start_mark.line + 1, f"it is nested deeper than {JSON_MAX_DEPTH}")
        if _find_tag(event) not in ("", "!", _CORE + kind):
            entry.refused = entry.refused or "the tag is not known"
        entry.last = max(entry.last, event.start_mark.line + 1)

    def _end(self, start: NodeEvent, end: Event, entry: _Entry) -> None:
        self._written = ""
        # The end of a block collection is the beginning of what follows, so only a bracket counts.
        if getattr(start, "flow_style", False):
            entry.last = max(entry.last, end.end_mark.line + 1)

    def _read_list(self, start: NodeEvent, entry: _Entry, depth: int) -> list[Value]:
        from ruamel.yaml.events import SequenceEndEvent

        items: list[Value] = []
        while not isinstance(event := self._take(), SequenceEndEvent):
            items.append(self._read_node(event, entry, depth + 1))
            if self._written and depth == _VALUE_DEPTH:
                entry.spellings[len(items) - 1] = self._written
        self._end(start, event, entry)
        return items

    def _read_map(self, start: NodeEvent, entry: _Entry, depth: int) -> dict[str, Value]:
        from ruamel.yaml.events import MappingEndEvent

        members: dict[str, Value] = {}
        while not isinstance(event := self._take(), MappingEndEvent):
            name = self._read_key(event, entry, depth + 1)
            value = self._read_node(self._take(), entry, depth + 1)
            if name in members:
                self._problems.append(_describe_duplicate(event.start_mark.line + 1))
            else:
                members[name] = value
        self._end(start, event, entry)
        return members

    def _read_scalar(self, event: ScalarEvent, entry: _Entry) -> Value:
        text = self._show(event.value, entry)
        entry.texts.append(text)
        entry.last = max(entry.last, self._find_last_line(event))
        tag = _find_tag(event)
        if tag in ("!", _CORE + "str") or (not tag and not event.implicit[0]):
            return text
        kind = tag.removeprefix(_CORE)
        if tag and (not tag.startswith(_CORE) or kind not in _TAGGED or _TAGGED[kind].fullmatch(text) is None):
            entry.refused = entry.refused or "the tag is not known, or does not fit its value"
            return None
        value: Value = resolve_plain(text)
        if kind == "float" and isinstance(value, int):
            value = float(value)
        if value is not None and not isinstance(value, str) and spell_scalar(value) != text:
            self._written = text
        return value

    def _show(self, text: str, entry: _Entry) -> str:
        """Return the text with hidden characters back in place and halves of surrogate pairs joined."""
        text = text.translate(self._shown) if self._shown else text
        if text.isascii() or _SURROGATE.search(text) is None:
            return text
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        if _SURROGATE.search(joined) is None:
            return joined
        entry.refused = entry.refused or "half a surrogate pair is no character"
        return _SURROGATE.sub("\ufffd", joined)

    def _find_last_line(self, event: ScalarEvent) -> int:
        """Return the last line of a scalar, from 1; a block scalar ends before the empty lines behind it."""
        mark = event.end_mark
        if event.style not in ("|", ">"):
            # Nothing at all is said to stand where the next thing begins, but for the nothing behind a dash or colon.
            before = self._lines[mark.line][: mark.column][-1:]
            return int(mark.line) + 1 if event.style or event.value or before in _BEFORE_NOTHING else 0
        last = int(mark.line) + (1 if mark.column else 0)
        while last > event.start_mark.line + 1 and not self._lines[last - 1].strip(" \t"):
            last -= 1
        return max(last, int(event.start_mark.line) + 1)


def _find_tag(event: NodeEvent) -> str:
    tag = getattr(event, "tag", None)
    return str(tag) if tag is not None else ""
