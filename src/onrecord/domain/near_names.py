"""The name that somebody may have meant who mistyped it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def find_near(word: str, names: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the name that comes nearest to a word, its case aside, or None; of equally near ones the first.

    Args:
        word: What was given; it is none of the names.
        names: What may be meant.
        cutoff: How much must agree, 0 to 1 (`difflib.SequenceMatcher.ratio`).
    """
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff)
    return folded[near[0]] if near else None
