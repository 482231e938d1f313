"""A text of another program cut into sections: what is found and read of a file that is not the user's vault.

A section of Markdown begins at an ATX heading (CommonMark 4.2) outside of fenced code and goes on to the next one; what
stands before the first heading is one, too, front matter as plain text. Other texts are cut every 80 lines. The work is
linear in the text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Literal, NamedTuple

from onrecord.domain.heads import NATIVE_LOG
from onrecord.domain.ids import RECORD_ID_CHARS, SECTION_MARK, EntryRef, RecordId, Seq, decode_base32, encode_base32
from onrecord.domain.limits import SECTION_MAX_CHARS, SECTION_MAX_LINES, SECTIONS_MAX_COUNT

Format = Literal["markdown", "text"]

_LINE = re.compile("[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_FRONT_FENCE = re.compile(r"(?:---|\.\.\.)[ \t]*")
_TITLE_MAX_CHARS = 200


class Section(NamedTuple):
    """One section: its heading (empty for none), the headings above it, and its text, without blank lines around."""

    title: str
    above: tuple[str, ...]
    text: str


class _Block(NamedTuple):
    title: str
    above: tuple[str, ...]
    lines: list[str]


def cut_sections(text: str, kind: Format) -> list[Section]:
    """Cut a text into sections, in order.

    Args:
        text: Any text up to 5 MiB.
        kind: How it is written.

    Returns:
        Sections of at most 16,384 code points, those of plain text of 80 lines. A longer one goes on in the next, with
        the same heading. Where more than 2,000 would come of it, all are cut as plain text, with as many lines each as
        keep them below 2,400. What is blank is no section.
    """
    lines = _LINE.findall(text)
    if kind == "markdown":
        sections = list(_list_sections(_cut_at_headings(lines)))
        if len(sections) <= SECTIONS_MAX_COUNT:
            return sections
    size = max(SECTION_MAX_LINES, -(-len(lines) // SECTIONS_MAX_COUNT))
    return list(_list_sections(_Block("", (), lines[at : at + size]) for at in range(0, len(lines), size)))


def _list_sections(blocks: Iterable[_Block]) -> Iterator[Section]:
    for block in blocks:
        for piece in _cut_long(block.lines):
            if piece.strip():
                yield Section(block.title, block.above, piece.strip("\r\n"))


def _cut_long(lines: Sequence[str]) -> Iterator[str]:
    """Yield the text of the lines in pieces of bounded length, cut between lines where that is possible."""
    parts: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) > SECTION_MAX_CHARS and parts:
            yield "".join(parts)
            parts, size = [], 0
        while len(line) > SECTION_MAX_CHARS:
            yield line[:SECTION_MAX_CHARS]
            line = line[SECTION_MAX_CHARS:]
        parts.append(line)
        size += len(line)
    yield "".join(parts)


def _cut_at_headings(lines: Sequence[str]) -> Iterator[_Block]:
    """Yield what stands before the first heading, then each heading with what follows it."""
    start = _find_body(lines)
    block = _Block("", (), list(lines[:start]))
    above: list[tuple[int, str]] = []
    fence = ""
    for line in lines[start:]:
        bare = line.rstrip("\r\n")
        if fence:
            fence = "" if _closes(bare, fence) else fence
        elif opening := _FENCE.match(bare):
            fence = opening[1]
        elif heading := _HEADING.fullmatch(bare):
            yield block
            level = len(heading[1])
            title = _read_title(heading[2] or "")
            above = [known for known in above if known[0] < level]
            block = _Block(title, tuple(name for _, name in above), [])
            above.append((level, title))
        block.lines.append(line)
    yield block


def _read_title(raw: str) -> str:
    title = raw.strip(" \t")
    opened = title.rstrip("#")
    is_closed = opened != title and (not opened or opened[-1] in " \t")
    return (opened.rstrip(" \t") if is_closed else title)[:_TITLE_MAX_CHARS]


def _closes(line: str, fence: str) -> bool:
    rest = line.strip(" \t")
    return len(rest) >= len(fence) and not rest.strip(fence[0])


def _find_body(lines: Sequence[str]) -> int:
    """Return how many lines the front matter takes; none where no line closes it."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    ends = (number for number, line in zip(count(1), lines[1:]) if _FRONT_FENCE.fullmatch(line.rstrip("\r\n")))
    return next(ends, -1) + 1


def make_section_id(source: str, path: str, place: int) -> RecordId:
    """Return the id of a section: `~` and the first 60 bits of the hash of where it stands, not of what it says.

    Args:
        source: Name of the source.
        path: Of the file below the source.
        place: Number of the section in its file from 1; 0 stands for the file as a whole.
    """
    name = "\0".join(("onrecord/section/v1", source, path, str(place))).encode(errors="surrogateescape")
    return RecordId(SECTION_MARK + encode_base32(hashlib.sha256(name).digest(), RECORD_ID_CHARS))


def name_section(section: str) -> EntryRef:
    """Return what a section's document is called in the index in the place of an entry."""
    return EntryRef(NATIVE_LOG, Seq(decode_base32(section.removeprefix(SECTION_MARK))))
