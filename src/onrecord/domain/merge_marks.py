"""The marks that git leaves in a file whose two sides it could not merge (git-merge-file, `diff3` style included)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_MARKS = {b"<": "ours", b"|": "base", b"=": "theirs", b">": "end"}
_MARK = re.compile(rb"([<|=>])\1{6}(?![<|=>])(?:[ \t][^\r\n]*)?[\r\n]*\Z")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
# What may follow what inside one marked place.
_ORDER = {"ours": ("base", "theirs"), "base": ("theirs",), "theirs": ("end",)}


@dataclass(frozen=True, slots=True)
class Sides:
    """The two files that the marks stand between, as they were; `count`: at how many places they stand."""

    ours: bytes
    theirs: bytes
    count: int = field(default=1, compare=False)


def split_marked(data: bytes, *, in_code: bool = False) -> Sides | None:
    """Return both sides of a file with marks; None where there are none, or not a whole set of them in order.

    Marks count at the beginning of a line and outside fenced code: a note may tell of them. A line of `=` alone is a
    heading of Markdown anywhere else.

    Args:
        data: The file.
        in_code: Whether marks within fenced code count, too.
    """
    if b"<<<<<<<" not in data or b">>>>>>>" not in data:
        return None
    ours: list[bytes] = []
    theirs: list[bytes] = []
    state, fence, count = "", b"", 0
    for line in data.splitlines(keepends=True):
        mark = _read_mark(line) if state or in_code or not fence else ""
        if state == "ours" and mark not in _ORDER[state]:
            fence = _follow_fence(line, fence)
        if not state:
            if mark == "ours":
                state = mark
                continue
            fence = _follow_fence(line, fence)
            ours.append(line)
            theirs.append(line)
        elif mark in _ORDER[state]:
            count += mark == "end"
            state = "" if mark == "end" else mark
        elif mark in ("ours", "end"):
            return None
        elif state != "base":
            (ours if state == "ours" else theirs).append(line)
    return Sides(_join(ours), _join(theirs), count) if count and not state else None


def has_marks(data: bytes) -> bool:
    """Tell whether lines stand in a file, outside fenced code, that look like marks: nested ones, too."""
    if b"<<<<<<<" not in data or b">>>>>>>" not in data:
        return False
    fence, awaited = b"", ["ours", "theirs", "end"]
    for line in data.splitlines(keepends=True):
        if not fence and _read_mark(line) == awaited[0]:
            del awaited[0]
            if not awaited:
                return True
        fence = _follow_fence(line, fence)
    return False


def _read_mark(line: bytes) -> str:
    match = _MARK.match(line)
    return _MARKS[match[1]] if match is not None else ""


def _follow_fence(line: bytes, fence: bytes) -> bytes:
    """Return the fence that is open behind a line, empty for none."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    is_closing = match[1].startswith(fence) and not line[match.end() :].strip()
    return b"" if is_closing else fence


def _join(lines: Sequence[bytes]) -> bytes:
    return b"".join(lines)
