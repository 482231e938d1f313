"""What is kept of a document for finding it, and what a question brings back: plain values, packed as integers.

A posting says how often a term occurs in one document and in which of its lines. Packed, it is one small integer that
holds all that the score needs, so that an engine stores and moves it without knowing what it means.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

PACKING_VERSION: Final = 1
REPEAT_SHIFT: Final = 32
REPEAT_MASK: Final = (1 << REPEAT_SHIFT) - 1
TEXT_HALVES: Final = 2
WEIGHT_MAX_HALVES: Final = 255
LINE_COUNT_MAX: Final = 63

_EXACT_BELOW = 32
_SHORT_MAX_TERMS = 64  # up to here, taking terms out of a copy is quicker than a set
_CODE_MAX = 255
_LENGTH_SHIFT, _COUNT_SHIFT = 8, 16
_ONLY_LINE, _SEVERAL, _NAMED = 1 << 22, 1 << 23, 1 << 24
_REPEAT_LINE_SHIFT = 8


class LineCount(NamedTuple):
    """Occurrences of a term in one line: line from 0 to 65,534, occurrences from 1."""

    line: int
    occurrences: int


class PackedDocument(NamedTuple):
    """The postings of one document as columns, an element for each distinct term.

    Attributes:
        terms: Analysed terms, 1 to 64 code points, in order of first occurrence: lines, then the other fields.
        lines: The line if there is exactly one, else 0; empty where all are 0.
        packed: Everything else, 25 bits: weighted occurrences, length of the document, occurrences in the line.
        repeats: `place << 32 | repeat`, ascending, one for each line of the terms that stand in several lines; place is
            the term's in `terms`, repeat an integer of 24 bits.
        tokens: Terms of all fields together, repetitions counted.
        line_count: Lines of the text.
    """

    terms: list[str]
    lines: list[int]
    packed: list[int]
    repeats: list[int]
    tokens: int
    line_count: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Corpus statistics over current documents with status `current` of the partitions asked for.

    `documents`, `tokens`, `lines` are sums; `document_frequency` has every term asked for (0 if absent).
    """

    documents: int
    tokens: int
    lines: int
    document_frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TermMatches:
    """The posting list of one term over the documents that pass a filter.

    `documents` is ascending without repetition; `lines` and `packed` run beside it (PackedDocument). `repeats` holds,
    ascending, `document << 32 | repeat` for the documents in which the term stands in several lines.
    """

    term: str
    documents: Sequence[int]
    lines: Sequence[int]
    packed: Sequence[int]
    repeats: Sequence[int]


@dataclass(frozen=True, slots=True)
class Candidates:
    """All matches of a question, one for each term in the question's order, with the statistics to score them."""

    statistics: Statistics
    matches: Sequence[TermMatches]


def _encode_length(tokens: int) -> int:
    """Return a code of 8 bits: exact below 32, then 16 steps for each doubling, so at most 6 % too short."""
    if tokens < _EXACT_BELOW:
        return max(tokens, 0)
    octave = tokens.bit_length() - 1
    return min(_EXACT_BELOW + (octave - 5) * 16 + ((tokens >> (octave - 4)) & 15), _CODE_MAX)


def _decode_length(code: int) -> int:
    if code < _EXACT_BELOW:
        return code
    octave, step = divmod(code - _EXACT_BELOW, 16)
    return (16 + step) << (octave + 1)


_LENGTHS = tuple(_decode_length(code) for code in range(_CODE_MAX + 1))


def pack_terms(lines: Sequence[Sequence[str]], fields: Sequence[tuple[Sequence[str], int]]) -> PackedDocument:
    """Pack the terms of a document.

    Args:
        lines: The terms of each line of the text, in order, repeated as often as they occur; at most 65,535 lines.
        fields: The terms of each other field, with what one occurrence weighs in halves. They belong to every line.
    """
    tokens = sum(map(len, lines))
    for terms, _ in fields:
        tokens += len(terms)
    length = _encode_length(tokens) << _LENGTH_SHIFT | (_ONLY_LINE if len(lines) == 1 else 0)
    found = _count(lines[0], length) if lines else {}
    places: dict[str, int] = {}
    several: dict[str, list[tuple[int, int]]] = {}
    for number in range(1, len(lines)):
        counted = _count(lines[number], length)
        shared = found.keys() & counted.keys()
        for term in shared:
            added, earlier = counted[term], found[term]
            count, before = added >> _COUNT_SHIFT & LINE_COUNT_MAX, earlier >> _COUNT_SHIFT & LINE_COUNT_MAX
            several.setdefault(term, [(places.pop(term, 0), before)]).append((number, count))
            halves = min((earlier & WEIGHT_MAX_HALVES) + (added & WEIGHT_MAX_HALVES), WEIGHT_MAX_HALVES)
            counted[term] = length | halves | (before if before > count else count) << _COUNT_SHIFT | _SEVERAL
        found.update(counted)
        places.update(dict.fromkeys(counted.keys() - shared, number))
    for terms, weight in fields:
        fresh = length | weight | _NAMED
        for term in terms:
            known = found.get(term)
            found[term] = fresh if known is None else known & ~WEIGHT_MAX_HALVES | _add_halves(known, weight) | _NAMED
    return PackedDocument(
        terms=list(found),
        lines=[places.get(term, 0) for term in found] if places else [],
        packed=list(found.values()),
        repeats=_list_repeats(found, several) if several else [],
        tokens=tokens,
        line_count=len(lines),
    )


def _count(terms: Sequence[str], length: int) -> dict[str, int]:
    """Return the terms of one line, packed."""
    once = length | TEXT_HALVES | 1 << _COUNT_SHIFT
    counted = dict.fromkeys(terms, once)
    if len(counted) == len(terms):
        return counted
    repeated: dict[str, int] = {}
    for term in _list_repetitions(terms, counted):
        repeated[term] = repeated.get(term, 1) + 1
    for term, count in repeated.items():
        halves = min(TEXT_HALVES * count, WEIGHT_MAX_HALVES)
        counted[term] = length | halves | min(count, LINE_COUNT_MAX) << _COUNT_SHIFT
    return counted


def _list_repetitions(terms: Sequence[str], distinct: Iterable[str]) -> list[str]:
    """Return the terms but the first occurrence of each; `distinct` has them in order of first occurrence."""
    if len(terms) > _SHORT_MAX_TERMS:
        seen: set[str] = set()
        return [term for term in terms if term in seen or seen.add(term)]  # type: ignore[func-returns-value]
    left = list(terms)
    for term in distinct:
        left.remove(term)
    return left


def _add_halves(packed: int, halves: int) -> int:
    return min((packed & WEIGHT_MAX_HALVES) + halves, WEIGHT_MAX_HALVES)


def _list_repeats(terms: Iterable[str], several: Mapping[str, Sequence[tuple[int, int]]]) -> list[int]:
    return [
        place << REPEAT_SHIFT | line << _REPEAT_LINE_SHIFT | count
        for place, term in enumerate(terms)
        for line, count in several.get(term, ())
    ]


def read_weight_halves(packed: int) -> int:
    """Return the weighted occurrences of a packed posting in halves, 1 to 255."""
    return packed & WEIGHT_MAX_HALVES


def read_document_tokens(packed: int) -> int:
    """Return the document's length of a packed posting, as quantised."""
    return _LENGTHS[packed >> _LENGTH_SHIFT & 255]


def read_occurrences(packed: int) -> int:
    """Return the occurrences in the line, 0 (the term is not in the text) to 63; of several lines the greatest."""
    return packed >> _COUNT_SHIFT & LINE_COUNT_MAX


def is_named(packed: int) -> bool:
    """Tell whether the term stands in title, alias, tag or context."""
    return bool(packed & _NAMED)


def is_of_only_line(packed: int) -> bool:
    """Tell whether the document has just one line."""
    return bool(packed & _ONLY_LINE)


def list_lines(match: TermMatches, place: int) -> Sequence[LineCount]:
    """Return the lines of the document at a place of a posting list, ascending."""
    packed = match.packed[place]
    if not packed & _SEVERAL:
        occurrences = read_occurrences(packed)
        return (LineCount(match.lines[place], occurrences),) if occurrences else ()
    first = match.documents[place] << REPEAT_SHIFT
    start = bisect_left(match.repeats, first)
    end = bisect_left(match.repeats, first + (1 << REPEAT_SHIFT), start)
    return [
        LineCount(repeat >> _REPEAT_LINE_SHIFT & 0xFFFF, repeat & LINE_COUNT_MAX) for repeat in match.repeats[start:end]
    ]
