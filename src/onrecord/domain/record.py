"""A record: the bytes of one Markdown file as a value, and the least changes to them (docs/format/record.md).

Reading takes any bytes and never fails; what is wrong with a file is a `Problem`. Writing touches only what it must:
every byte outside the text or the lines of a key stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from onrecord.domain.errors import ConflictError, InvalidInputError, LimitExceededError
from onrecord.domain.front_matter import Span, Value, YamlReading, read_flat, write_line
from onrecord.domain.ids import RecordId
from onrecord.domain.instants import Instant
from onrecord.domain.limits import FRONT_MATTER_MAX_BYTES, TEXT_MAX_BYTES
from onrecord.domain.markdown import BOM, FileParts, find_first_line, find_heading, join_body, split_file
from onrecord.domain.plain_yaml import read_plain
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.record_fields import Keys, ServerCopies, check_fields, order_keys, read_fields

if TYPE_CHECKING:
    from onrecord.ports.yaml_reader import YamlReader

KeyValue: TypeAlias = Value

_TITLE_FROM_TEXT_CHARS = 80
_EMPTY_BLOCK = "---\n---\n"
_LINES = re.compile("[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_INDENT = re.compile(" *")
# What a file without front matter says of its keys.
_NOTHING_READ, _NO_KEYS, _NO_COPIES = YamlReading(MappingProxyType({})), Keys(), ServerCopies()


@dataclass(frozen=True, slots=True)
class Record:
    """One record file.

    Attributes:
        path: Relative to the vault.
        parts: The file, cut into its parts.
        reading: Its front matter, unknown keys included.
        keys: The user's known keys.
        server: What the file claims of the keys that OnRecord owns.
        problems: All that was found, with path and lines of the file.
        lost_text: Text of front matter that does not count as keys, but is to be found.
    """

    path: str
    parts: FileParts
    reading: YamlReading
    keys: Keys
    server: ServerCopies
    problems: tuple[Problem, ...]
    lost_text: str

    @property
    def text(self) -> str:
        """The text of the record."""
        return self.parts.text

    @property
    def title(self) -> str:
        """The name that is shown: `named_title`, or for a record without one the first line of its text."""
        return self.named_title or find_first_line(self.parts.text)[:_TITLE_FROM_TEXT_CHARS] or _name_file(self.path)

    @property
    def named_title(self) -> str:
        """The key `title`, else the heading that the text begins with, else the file name without `.md`.

        Empty for a file with an id but none of the former: its name was made of words that may have changed since.
        """
        title = self.keys.title or find_heading(self.parts.text)
        return title or ("" if self.claimed_id is not None else _name_file(self.path))

    @property
    def tags(self) -> tuple[str, ...]:
        """Labels without `#`."""
        return self.keys.tags

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names."""
        return self.keys.aliases

    @property
    def type(self) -> str:
        """The key `type`, or empty."""
        return self.keys.type

    @property
    def workspace(self) -> str:
        """The key `workspace`, or empty: then the folder decides (`name_workspace`)."""
        return self.keys.workspace

    @property
    def event_time(self) -> Instant | None:
        """When what is told took place."""
        return self.keys.event_time

    @property
    def claimed_id(self) -> RecordId | None:
        """The id that the file names."""
        return self.server.id

    @property
    def claimed_kind(self) -> str:
        """The kind that the file names, or empty."""
        return self.server.kind

    @property
    def has_front_matter(self) -> bool:
        """Whether the file has a block, sound or broken."""
        return self.parts.block is not None

    @property
    def is_broken(self) -> bool:
        """Whether the block cannot be read."""
        return self.reading.is_broken

    @property
    def present_keys(self) -> Collection[str]:
        """Every key that stands in the block, known or not."""
        return self.reading.values.keys() if self.reading.spans is None else self.reading.spans.keys()

    @property
    def searchable_text(self) -> str:
        """The text, and behind it a broken block and values that do not count as keys; offsets in the text stay."""
        return f"{self.parts.text}\n{self.lost_text}" if self.lost_text else self.parts.text


def name_workspace(path: str) -> str:
    """Return the workspace that a record's place gives: the first folder below its kind's folder, else `default`."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "default"


def _name_file(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == ".md" else name


def read_record(data: bytes, path: str, yaml: YamlReader) -> Record:
    """Read a record file; takes any bytes.

    Args:
        data: The whole file.
        path: Relative to the vault; gives the title where nothing else does, and stands in the problems.
        yaml: Reads front matter that is neither of the flat subset nor of plain forms.
    """
    parts = split_file(data, path)
    if parts.block is None:
        return Record(path, parts, _NOTHING_READ, _NO_KEYS, _NO_COPIES, parts.problems, "")
    reading, is_foreign = _read_block(parts, yaml)
    fields = read_fields(reading)
    found = (*reading.problems, *fields.problems)
    problems = list(parts.problems)
    # The opening fence is line 1 of the file, so that line n of the block is line n + 1.
    problems.extend(replace(problem, path=path, line=problem.line + 1) for problem in found)
    if is_foreign and not reading.problems:
        message = "valid YAML that OnRecord would write in another way; it is kept"
        problems.append(Problem(path, 1, "front_matter_foreign", Severity.INFO, message))
    lost = parts.block if reading.is_broken else "\n".join((*reading.dropped, *fields.lost))
    return Record(path, parts, reading, fields.keys, fields.server, tuple(problems), lost)


def _read_block(parts: FileParts, yaml: YamlReader) -> tuple[YamlReading, bool]:
    """Return what the block says, and whether it is outside the flat subset."""
    quick = _read_quickly(parts)
    if quick is not None:
        return quick
    return yaml.read(parts.block or ""), True


def _read_quickly(parts: FileParts) -> tuple[YamlReading, bool] | None:
    block = parts.block or ""
    reading = read_flat(block)
    if reading is not None:
        return reading, not parts.is_flat_fenced
    plain = block.replace("\r\n", "\n") if "\r" in block else block
    reading = read_plain(plain) if len(block) <= FRONT_MATTER_MAX_BYTES // 4 else None
    return (reading, True) if reading is not None else None


def check_text(text: str) -> str:
    """Return a text that may be stored.

    Raises:
        InvalidInputError: it holds U+0000 or half a surrogate pair.
        LimitExceededError: it is above 2 MiB of UTF-8.
    """
    if "\0" in text:
        raise InvalidInputError("the character U+0000 is not allowed", field="text")
    try:
        size_bytes = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInputError("half a surrogate pair is no character", field="text") from None
    if size_bytes > TEXT_MAX_BYTES:
        raise LimitExceededError(f"a text has at most {TEXT_MAX_BYTES} bytes", field="text")
    return text


def render_record(keys: Mapping[str, KeyValue], text: str) -> bytes:
    """Return the bytes of a new record.

    Args:
        keys: In any order; None is left out. Known keys come in the order of docs/format/record.md, others between the
            user's and those that OnRecord owns.
        text: Read back exactly.

    Raises:
        InvalidInputError: a key or value that cannot be written, or a text that may not be stored.
        LimitExceededError: larger than docs/format/limits.md allows.
    """
    check_text(text)
    check_fields(keys)
    lines = [write_line(key, keys[key]) for key in order_keys(keys) if keys[key] is not None]
    block = "".join(f"{line}\n" for line in lines)
    if len(block.encode()) > FRONT_MATTER_MAX_BYTES:
        raise LimitExceededError(f"front matter has at most {FRONT_MATTER_MAX_BYTES} bytes", field="meta")
    return f"---\n{block}---\n{join_body(text, chr(10))}".encode()


def replace_text(data: bytes, text: str) -> bytes:
    """Return the file with another text; front matter and final terminator stay as they are.

    Where the new text would be taken for front matter, or its first character for a byte order mark, an empty block is
    put before it.

    Raises:
        ConflictError: the file is not UTF-8 and is never re-encoded.
        InvalidInputError: U+0000 or half a surrogate pair in the text.
        LimitExceededError: above 2 MiB.
    """
    check_text(text)
    parts = split_file(data)
    if parts.encoding != "utf-8":
        raise ConflictError(f"the file is {parts.encoding}", hint="Save the file as UTF-8, then repeat the update.")
    mark = BOM if parts.has_bom else ""
    body = join_body(text, parts.terminator)
    head = parts.head
    if head and body and head[-1] not in "\r\n":
        head += parts.newline
    if head.endswith("\r") and body.startswith("\n"):
        # The two would be one line end, and the text would lose its first character.
        head += "\n"
    if not head:
        alone = split_file(f"{mark}{body}".encode())
        if alone.has_bom != parts.has_bom or alone.head:
            head = _EMPTY_BLOCK
    return f"{mark}{head}{body}".encode()


def replace_keys(data: bytes, changes: Mapping[str, KeyValue | None], yaml: YamlReader | None = None) -> bytes:
    """Return the file with top-level keys set, or removed where the value is None.

    Whole lines are replaced, added before the closing line or removed; every other byte stays. A key that has the value
    already keeps its line. The result is read again: the data come back **unchanged** when the file is not UTF-8, has
    no front matter or a broken one, or when keys cannot be told apart by lines (`{a: 1, b: 2}` as the whole block).

    Args:
        data: The whole file.
        changes: Values by key, in any order.
        yaml: Reads blocks outside the flat subset and plain forms; without it such a file comes back unchanged.

    Raises:
        InvalidInputError: a key or value that cannot be written.
        LimitExceededError: larger than docs/format/limits.md allows.
    """
    check_fields(changes)
    new = {key: "" if changes[key] is None else write_line(key, changes[key]) for key in order_keys(changes)}
    parts = split_file(data)
    reading = _read_safely(parts, yaml)
    if reading is None or parts.block is None:
        return data
    block = _splice(parts.block, reading, changes, new, parts.newline)
    if block == parts.block:
        return data
    start = parts.block_at
    head = parts.head[:start] + block + parts.head[start + len(parts.block) :]
    changed = f"{BOM if parts.has_bom else ''}{head}{parts.body}".encode()
    if len(block.encode()) > FRONT_MATTER_MAX_BYTES:
        raise LimitExceededError(f"front matter has at most {FRONT_MATTER_MAX_BYTES} bytes")
    return changed if _is_as_wanted(changed, parts, reading, changes, yaml) else data


def _read_safely(parts: FileParts, yaml: YamlReader | None) -> YamlReading | None:
    if parts.encoding != "utf-8" or parts.block is None:
        return None
    quick = _read_quickly(parts)
    reading = quick[0] if quick is not None else yaml.read(parts.block) if yaml is not None else None
    return None if reading is None or reading.is_broken else reading


def _splice(
    block: str, reading: YamlReading, changes: Mapping[str, KeyValue | None], new: Mapping[str, str], newline: str
) -> str:
    """Return the block with the lines of the changed keys replaced; `new` has the line of each, empty to remove it."""
    lines = _LINES.findall(block)
    first = next((reading.locate(key)[0].first for key in reading.values), 0)
    indent = _INDENT.match(lines[first - 1]) if first else None
    margin = indent[0] if indent is not None else ""
    cuts: list[tuple[Span, str]] = []
    added: list[str] = []
    for key, line in new.items():
        spans = reading.locate(key)
        if not line:
            cuts.extend((span, "") for span in spans)
        elif not spans:
            added.append(f"{margin}{line}{newline}")
        elif key not in reading.values or not _is_same(reading.values[key], changes[key]):
            cuts.append((spans[0], f"{margin}{line}{newline}"))
    for span, line in sorted(cuts, reverse=True):
        lines[span.first - 1 : span.last] = [line]
    return "".join((*lines, *added))


def _is_same(old: Value, new: Value) -> bool:
    """Tell whether a value in a file is the one given: lists and tuples alike, but no boolean for a number."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(new, Decimal):
        return isinstance(old, (int, float)) and Decimal(str(old)) == new
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        return len(old) == len(new) and all(map(_is_same, old, new))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(_is_same(old[key], new[key]) for key in old)
    return old == new


def _is_as_wanted(
    changed: bytes,
    before: FileParts,
    reading: YamlReading,
    changes: Mapping[str, KeyValue | None],
    yaml: YamlReader | None,
) -> bool:
    """Tell whether the changed file says what it said before, but for the changes."""
    parts = split_file(changed)
    now = _read_safely(parts, yaml)
    if now is None or (parts.body, parts.has_bom) != (before.body, before.has_bom):
        return False
    wanted = {key: value for key, value in reading.values.items() if key not in changes}
    wanted |= {key: value for key, value in changes.items() if value is not None}
    return now.values.keys() == wanted.keys() and all(_is_same(now.values[key], wanted[key]) for key in wanted)
