"""The marks that git leaves in a file whose two sides it could not merge (git-merge-file, `diff3` style included)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_MARKS = {b"<": "ours", b"|": "base", b"=": "theirs", b">": "end"}
# Seven characters, or more where git merged what was in conflict already (`conflict-marker-size`, rename/rename).
_MARK = re.compile(rb"(([<|=>])\2{6,})(?![<|=>])(?:[ \t][^\r\n]*)?[\r\n]*\Z")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
# What may follow what inside one marked place.
_ORDER = {"ours": ("base", "theirs"), "base": ("theirs",), "theirs": ("end",)}
_WHOLE = ("ours", "theirs", "end")


@dataclass(frozen=True, slots=True)
class Sides:
    """The two files that the marks stand between, as they were; `count`: at how many places they stand."""

    ours: bytes
    theirs: bytes
    count: int = field(default=1, compare=False)


def split_marked(data: bytes, *, in_code: bool = False) -> Sides | None:
    """Return both sides of a file with marks; None where there are none, or not whole sets of them, one behind another.

    Marks count at the beginning of a line and outside fenced code: a note may tell of them. A line of `=` alone is a
    heading of Markdown anywhere else. All marks of a set have one length; where a set stands within another one, no
    side is a text that somebody wrote.

    Args:
        data: The file.
        in_code: Whether marks within fenced code count, too.
    """
    if not _may_have(data):
        return None
    ours: list[bytes] = []
    theirs: list[bytes] = []
    state, fence, count, size = "", b"", 0, 0
    for line in data.splitlines(keepends=True):
        mark, found_size = _read_mark(line) if state or in_code or not fence else ("", 0)
        mark = mark if not state or found_size == size else ""
        if state == "ours" and mark not in _ORDER[state]:
            fence = _follow_fence(line, fence)
        if not state:
            if mark == "ours":
                state, size = mark, found_size
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
    sides = Sides(_join(ours), _join(theirs), count) if count and not state else None
    if sides is None or has_marks(sides.ours, in_code=in_code) or has_marks(sides.theirs, in_code=in_code):
        return None
    return sides


def has_marks(data: bytes, *, in_code: bool = False) -> bool:
    """Tell whether lines stand in a file that look like marks, whole sets or not: nested ones, too.

    Args:
        data: The file.
        in_code: Whether lines within fenced code count, too.
    """
    if not _may_have(data):
        return False
    fence, met = b"", dict[int, int]()
    for line in data.splitlines(keepends=True):
        mark, size = _read_mark(line) if in_code or not fence else ("", 0)
        if mark == _WHOLE[met.get(size, 0)]:
            met[size] = met.get(size, 0) + 1
            if met[size] == len(_WHOLE):
                return True
        fence = _follow_fence(line, fence)
    return False


def _may_have(data: bytes) -> bool:
    return b"<<<<<<<" in data and b">>>>>>>" in data


def _read_mark(line: bytes) -> tuple[str, int]:
    """Return which mark a line is, empty for none, and of how many characters."""
    match = _MARK.match(line)
    return (_MARKS[match[2]], len(match[1])) if match is not None else ("", 0)


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
