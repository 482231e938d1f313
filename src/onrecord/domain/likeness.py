"""Whether one text may be an edit of another; cheap, the same for every script."""

from __future__ import annotations

_GRAM_CHARS = 3
_SHARE_MIN = 0.5
# More than this says nothing new.
_LOOK_CHARS = 20_000


def is_likely_edit(before: str, after: str) -> bool:
    """Tell whether the longer of two texts shares at least half of its distinct three-character pieces with the other.

    Unrelated prose shares far fewer, so that a new file on the inode number of a deleted one is not taken for it.
    """
    return measure_likeness(before, after) >= _SHARE_MIN


def measure_likeness(one: str, other: str) -> float:
    """Return the share, 0 to 1, of the distinct three-character pieces of the longer text that the other has, too."""
    pieces, others = _cut_grams(one), _cut_grams(other)
    return len(pieces & others) / max(len(pieces), len(others), 1)


def _cut_grams(text: str) -> set[str]:
    shown = " ".join(text[:_LOOK_CHARS].split())
    return {shown[start : start + _GRAM_CHARS] for start in range(max(1, len(shown) - _GRAM_CHARS + 1))} - {""}
