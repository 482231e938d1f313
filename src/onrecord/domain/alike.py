"""Many things that say the same of the numbered parts of a log, told as one, and numbers in the order of their size."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

ALIKE_MAX_COUNT: Final = 10
_DIGITS: Final = re.compile(r"([0-9]+)")


def order_text(text: str) -> tuple[str | int, ...]:
    """Return a sort key by which `entry 9` stands before `entry 10`: words and numbers by turns, a word first."""
    return tuple(int(part) if place % 2 else part for place, part in enumerate(_DIGITS.split(text)))


def tell_range(what: str, numbers: Collection[int]) -> str:
    """Return how many there are and between which two they lie: `485 entries, 1 to 485`.

    Args:
        what: Their name in the plural.
        numbers: At least one.
    """
    return f"{len(numbers)} {what}, {min(numbers)} to {max(numbers)}"


def split_number(text: str, words: Sequence[str]) -> tuple[str, int, str] | None:
    """Return word, number and rest of a text such as `entry 7: is gone`; None of one that does not begin so."""
    found = re.fullmatch(rf"({'|'.join(words)}) ([0-9]+):? (.+)", text)
    return (found[1], int(found[2]), found[3]) if found is not None else None
