"""Front matter as people and editors mostly write it, read without a YAML library.

Block lists, comments, empty lines, single quotes and sentences behind a key are no part of the flat subset, but plain
enough to be read line by line, some twenty times faster than by a YAML reader. What is not certain is left to that one;
where this one takes a block, both say the same (YAML 1.2.2, core schema, chapter 10.3).
"""

from __future__ import annotations

import math
import re

from onrecord.domain.front_matter import KEY_MAX_CHARS, Span, Value, YamlReading, read_quoted, spell_scalar

_UNUSUAL = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_KEY_LINE = re.compile(r"([^\W\d_][\w-]*(?: [\w-]+)*):(?: +(.*))?")
_ITEM_LINE = re.compile(r"( *)-(?: +(.*))?")
_NOTHING = re.compile(r" *(?:#.*)?")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'')
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_FLOW_PLAIN = re.compile(r"[\w.+(/-][\w.+()/@%-]*(?: [\w.+()/@%-]+)*")

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NUMBER_START = frozenset("-+.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NUMBER_MAX_CHARS = 1_000


class _NotPlainError(Exception):
    """The block is not certain to be read aright here."""


def resolve_plain(text: str) -> bool | int | float | str | None:
    """Return what a scalar without quotes means in the core schema of YAML 1.2.

    Infinities, what is no number, and numbers that are too large for one stay texts; so do timestamps.
    """
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in _NUMBER_START or len(text) > _NUMBER_MAX_CHARS:
        return text
    if _INTEGER.fullmatch(text) is not None:
        return int(text)
    if _FLOAT.fullmatch(text) is not None:
        number = float(text)
        return number if math.isfinite(number) else text
    if _HEX.fullmatch(text) is not None:
        return int(text[2:], 16)
    if _OCTAL.fullmatch(text) is not None:
        return int(text[2:], 8)
    return text


def read_plain(block: str) -> YamlReading | None:
    """Read a block of plain forms.

    Args:
        block: The lines between the fences; each ends with LF, but for the last, which may have no end.

    Returns:
        The reading; None where a line is of any other form, or a key occurs twice.
    """
    if _UNUSUAL.search(block) is not None:
        return None
    reader = _PlainReader(block.split("\n"))
    try:
        while reader.read_key():
            pass
    except _NotPlainError:
        return None
    spans = {key: (span,) for key, span in reader.spans.items()}
    return YamlReading(reader.values, reader.spellings, spans)


class _PlainReader:
    """Walks over the lines of one block."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._place = 0
        self.values: dict[str, Value] = {}
        self.spellings: dict[tuple[str, int], str] = {}
        self.spans: dict[str, Span] = {}

    def _find_next(self) -> str | None:
        """Go to the next line that says something, and return it."""
        while self._place < len(self._lines):
            line = self._lines[self._place]
            if _NOTHING.fullmatch(line) is None:
                return line
            self._place += 1
        return None

    def read_key(self) -> bool:
        """Read one key with its value; False at the end of the block."""
        line = self._find_next()
        if line is None:
            return False
        found = _KEY_LINE.fullmatch(line)
        if found is None or found[1] in self.values or len(found[1]) > KEY_MAX_CHARS:
            raise _NotPlainError
        key = found[1]
        first = self._place = self._place + 1
        text = _strip_comment(found[2] or "")
        last = first
        if text.startswith("["):
            self.values[key] = self._read_flow_list(key, text)
        elif text:
            self.values[key] = self._read_scalar(key, -1, text)
        else:
            items, last = self._read_block_list(key, first)
            self.values[key] = items
        self.spans[key] = Span(first, last)
        return True

    def _read_block_list(self, key: str, last: int) -> tuple[list[Value] | None, int]:
        """Read the items below a key, and the line of the last one; None where there are none."""
        items: list[Value] = []
        indent: str | None = None
        while (line := self._find_next()) is not None:
            found = _ITEM_LINE.fullmatch(line)
            if found is None or (indent is not None and found[1] != indent):
                break
            indent = found[1]
            text = _strip_comment(found[2] or "")
            if text.startswith("["):
                raise _NotPlainError
            items.append(self._read_scalar(key, len(items), text))
            self._place += 1
            last = self._place
        return (items if indent is not None else None), last

    def _read_flow_list(self, key: str, text: str) -> list[Value]:
        if not text.endswith("]"):
            raise _NotPlainError
        inner = text[1:-1].strip(" ")
        items: list[Value] = []
        place = 0
        while inner:
            found = _QUOTED.match(inner, place) or _FLOW_PLAIN.match(inner, place)
            if found is None:
                raise _NotPlainError
            items.append(self._read_scalar(key, len(items), found[0]))
            rest = inner[found.end() :].lstrip(" ")
            if not rest:
                break
            if rest[0] != ",":
                raise _NotPlainError
            place = len(inner) - len(rest[1:].lstrip(" "))
        return items

    def _read_scalar(self, key: str, index: int, text: str) -> Value:
        if text[:1] == '"' or text[:1] == "'":
            return _read_string(text)
        # Behind an indicator only a negative number can be plain here.
        if text and text[0] in _INDICATORS and (text[0] != "-" or _FLOAT.fullmatch(text) is None):
            raise _NotPlainError
        if ": " in text or text.endswith(":"):
            raise _NotPlainError
        value = resolve_plain(text)
        if not isinstance(value, str) and value is not None and spell_scalar(value) != text:
            self.spellings[key, index] = text
        return value


def _strip_comment(text: str) -> str:
    """Return the text without blanks behind it and without a comment."""
    if "#" not in text:
        return text.rstrip(" ")
    if text[0] == "#":
        return ""
    if text[0] in "\"'[":
        found = _QUOTED.match(text)
        if found is None or "#" in found[0] or _NOTHING.fullmatch(text, found.end()) is None:
            raise _NotPlainError
        return found[0]
    return text.partition(" #")[0].rstrip(" ")


def _read_string(text: str) -> str:
    found = _QUOTED.fullmatch(text)
    if found is None:
        raise _NotPlainError
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    value = read_quoted(text)
    if value is None:
        raise _NotPlainError
    return value
