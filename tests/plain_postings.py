"""Postings as plain values: counted and packed slowly and obviously, and read back from what is packed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from onrecord.domain import postings
from onrecord.domain.postings import LINE_COUNT_MAX, REPEAT_MASK, REPEAT_SHIFT, LineCount, PackedDocument, TermMatches


class Posting(NamedTuple):
    """Occurrences of one term in one document; `lines` is empty when it stands in other fields only."""

    term: str
    weight_halves: int
    lines: tuple[LineCount, ...] = ()
    is_named: bool = False


def count_postings(lines: Sequence[Sequence[str]], fields: Iterable[tuple[Sequence[str], int]]) -> list[Posting]:
    """Return what a document holds of each term, counted one term at a time and not bounded."""
    given = list(fields)
    every = [*(term for terms in lines for term in terms), *(term for terms, _ in given for term in terms)]
    found = []
    for term in dict.fromkeys(every):
        counts = tuple(LineCount(line, terms.count(term)) for line, terms in enumerate(lines) if term in terms)
        halves = 2 * sum(count for _, count in counts) + sum(terms.count(term) * weight for terms, weight in given)
        found.append(Posting(term, halves, counts, any(term in terms for terms, _ in given)))
    return found


def bound(posting: Posting) -> Posting:
    """Return a posting as packing bounds it."""
    lines = tuple(LineCount(line, min(count, LINE_COUNT_MAX)) for line, count in posting.lines)
    halves = min(posting.weight_halves, postings.WEIGHT_MAX_HALVES)
    return Posting(posting.term, halves, lines, posting.is_named)


def read_postings(document: PackedDocument) -> list[Posting]:
    """Return the postings of a packed document."""
    return [_read(document, place, term) for place, term in enumerate(document.terms)]


def _read(document: PackedDocument, place: int, term: str) -> Posting:
    value = document.packed[place]
    line = document.lines[place] if document.lines else 0
    repeats = [9 << REPEAT_SHIFT | item & REPEAT_MASK for item in document.repeats if item >> REPEAT_SHIFT == place]
    match = TermMatches(term, [9], [line], [value], [5 << REPEAT_SHIFT, *repeats, 10 << REPEAT_SHIFT])
    lines = tuple(postings.list_lines(match, 0))
    return Posting(term, postings.read_weight_halves(value), lines, postings.is_named(value))


def quantise_tokens(tokens: int) -> int:
    """Return a length as a posting keeps it: exact below 32, then rounded down to 16 steps for each doubling."""
    step = 1 << max(tokens.bit_length() - 5, 0)
    return tokens - tokens % step
