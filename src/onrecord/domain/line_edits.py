"""Whether a text holds, line by line, what one edit made of another text."""

from __future__ import annotations

from collections import Counter


def holds_edit(text: bytes, base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Tell whether a text that was made from `ours` holds the edit that made `theirs` from `base`, too.

    It does if it has every line that the edit added and none that it took away, but for those that `ours` itself took
    away or added. Order says nothing, and lines without a letter or digit alone prove nothing: an edit that only moved
    lines is not known to be held.

    Args:
        text: The text in question.
        base: What both sides come from.
        ours: The side that the text was made from.
        theirs: The other side.
    """
    found, before, own, other = (_count(data) for data in (text, base, ours, theirs))
    added, removed = other - before, before - other
    own_added, own_removed = own - before, before - own
    if not any(_says_something(line) for line in (*added, *removed)):
        return False
    if any(found[line] < other[line] - own_removed[line] for line in added):
        return False
    return all(found[line] <= other[line] + own_added[line] for line in removed)


def _count(data: bytes) -> Counter[bytes]:
    return Counter(line.rstrip() for line in data.splitlines())


def _says_something(line: bytes) -> bool:
    return any(character.isalnum() for character in line.decode(errors="replace"))
