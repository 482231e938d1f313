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
WEIGHT_MAX_HALVES: Final = 255
LINE_COUNT_MAX: Final = 63

_EXACT_BELOW = 32
_CODE_MAX = 255
_LENGTH_SHIFT, _COUNT_SHIFT = 8, 16
_ONLY_LINE, _SEVERAL, _NAMED = 1 << 22, 1 << 23, 1 << 24
_REPEAT_LINE_SHIFT = 8


class LineCount(NamedTuple):
    """Occurrences of a term in one line: line from 0 to 65,534, occurrences from 1."""

    line: int
    occurrences: int


class Posting(NamedTuple):
    """Occurrences of one term in one document.

    Attributes:
        term: Analysed term, 1 to 64 code points.
        weight_halves: Occurrences in all fields, each times the weight of its field, in halves (at least 1).
        lines: Its lines in the text, ascending; empty when the term stands in other fields only.
        is_named: The term stands in title, alias, tag or context, which belong to every line.
    """

    term: str
    weight_halves: int
    lines: tuple[LineCount, ...]
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class PackedDocument:
    """The postings of one document as columns, an element for each term.

    Attributes:
        terms: The terms, in the order of the postings.
        lines: The line if there is exactly one, else 0.
        packed: Everything else, 25 bits.
        repeats: `place << 32 | repeat`, ascending, one for each line of the terms that stand in several lines; place is
            the term's in `terms`, repeat an integer of 24 bits.
    """

    terms: list[str]
    lines: list[int]
    packed: list[int]
    repeats: list[int]


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


def quantise_tokens(tokens: int) -> int:
    """Return a length as it is kept in a posting: exact below 32, then rounded down to 16 steps for each doubling."""
    return _LENGTHS[_encode_length(tokens)]


def pack_postings(postings: Iterable[Posting], document_tokens: int, document_lines: int) -> PackedDocument:
    """Pack the postings of a document with this many tokens and lines."""
    length = _encode_length(document_tokens) << _LENGTH_SHIFT | (_ONLY_LINE if document_lines == 1 else 0)
    all_terms, all_lines, all_packed = [], [], []
    repeats: list[int] = []
    for place, (term, halves, lines, is_named) in enumerate(postings):
        packed = length | (halves if halves < WEIGHT_MAX_HALVES else WEIGHT_MAX_HALVES)
        line = 0
        if is_named:
            packed |= _NAMED
        if len(lines) == 1:
            line, count = lines[0]
            packed |= (count if count < LINE_COUNT_MAX else LINE_COUNT_MAX) << _COUNT_SHIFT
        elif lines:
            most = max(count for _, count in lines)
            packed |= min(most, LINE_COUNT_MAX) << _COUNT_SHIFT | _SEVERAL
            first = place << REPEAT_SHIFT
            repeats.extend(first | number << _REPEAT_LINE_SHIFT | min(count, LINE_COUNT_MAX) for number, count in lines)
        all_terms.append(term)
        all_lines.append(line)
        all_packed.append(packed)
    return PackedDocument(all_terms, all_lines, all_packed, repeats)


def read_weight_halves(packed: int) -> int:
    """Return the weighted occurrences of a packed posting in halves, 1 to 255."""
    return packed & 255


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
