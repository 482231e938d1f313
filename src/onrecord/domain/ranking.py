"""The lexical score and the order it gives: the same numbers from whatever engine the candidates came.

A document scores the sum, over the question's terms, of BM25 over the whole document with weighted fields (BM25F,
Robertson, Zaragoza and Taylor 2004), plus the best line's sum of BM25 over that line alone,
to which title, tags and context belong as if each line held their terms once. The document has the usual
k1 = 1.2 and b = 0.75; the line k1 = 0.6 and b = 0, since a line is short by its making. A term's rarity is rounded
to a multiple of 2**-12 and its saturation to one of 2**-20; their products and sums (below 2**20) are exact, so that
no order of addition, no engine and no other document can change a score in its last bit.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import floor, log
from typing import Final

from onrecord.domain.heads import VersionHead
from onrecord.domain.postings import (
    Candidates,
    is_named,
    is_of_only_line,
    list_lines,
    read_document_tokens,
    read_occurrences,
    read_weight_halves,
)

K1: Final = 1.2
B: Final = 0.75
LINE_K1: Final = 0.6
LINES_MAX_COUNT: Final = 16

_IDF_GRID = 2.0**12
_SATURATION_GRID = 2.0**20
_LOOK_FURTHER = 4
_MEMO_MAX_COUNT = 65_536


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document of the answer.

    Attributes:
        document: Its number in the index that answered.
        score: Above 0.
        head: What the catalogue says of it.
        lines: Lines of its text that hold terms of the question, the best first, at most 16.
    """

    document: int
    score: float
    head: VersionHead
    lines: tuple[int, ...]


def compute_idf(documents: int, frequency: int) -> float:
    """Return the rarity of a term that `frequency` of `documents` hold (Robertson and Spärck Jones), above 0."""
    rarity = log(1.0 + (max(documents - frequency, 0) + 0.5) / (frequency + 0.5))
    return max(floor(rarity * _IDF_GRID + 0.5), 1.0) / _IDF_GRID


class _Saturations(dict[int, float]):
    """By packed posting: what it gives its document at most, and exactly that where the document has one line."""

    def __init__(self, documents: int, tokens: int) -> None:
        self._per_token = K1 * B * max(documents, 1) / max(tokens, 1)

    def __missing__(self, packed: int) -> float:
        if len(self) >= _MEMO_MAX_COUNT:
            self.clear()
        occurrences = max(read_occurrences(packed), is_named(packed))
        value = self[packed] = self.saturate_document(packed) + saturate_line(occurrences)
        return value

    def saturate_document(self, packed: int) -> float:
        half = K1 * (1.0 - B) + read_document_tokens(packed) * self._per_token
        return _saturate(read_weight_halves(packed) / 2, half)


_get_saturations = lru_cache(maxsize=2)(_Saturations)


def saturate_line(occurrences: int) -> float:
    """Return what occurrences in a line give it: 0 for none, else 0.625 to 1."""
    return _saturate(occurrences, LINE_K1)


def _saturate(count: float, half: float) -> float:
    return floor(count / (count + half) * _SATURATION_GRID + 0.5) / _SATURATION_GRID


_NAMED_SATURATION = saturate_line(1)


class _Scorer:
    """What one question's terms give each document."""

    def __init__(self, candidates: Candidates) -> None:
        statistics = candidates.statistics
        frequency = statistics.document_frequency
        self._saturations = _get_saturations(statistics.documents, statistics.tokens)
        self._matches = [
            (match, compute_idf(statistics.documents, frequency[match.term]))
            for match in candidates.matches
            if match.documents
        ]

    def bound(self) -> dict[int, float]:
        """Return, for each document found, a number that its score does not exceed."""
        saturate = self._saturations.__getitem__
        bounds: dict[int, float] = {}
        for match, idf in self._matches:
            for document, saturation in zip(match.documents, map(saturate, match.packed), strict=True):
                bounds[document] = bounds.get(document, 0.0) + idf * saturation
        return bounds

    def is_exact(self) -> bool:
        """Tell whether every document found has one line, so that its bound is its score."""
        return all(is_of_only_line(packed) for match, _ in self._matches for packed in set(match.packed))

    def score(self, document: int, bound: float) -> tuple[float, dict[int, float]]:
        """Return the score of a document, and what each line adds."""
        whole = 0.0
        lines: dict[int, float] = {}
        for match, idf in self._matches:
            place = bisect_left(match.documents, document)
            if place == len(match.documents) or match.documents[place] != document:
                continue
            packed = match.packed[place]
            if is_of_only_line(packed):
                if read_occurrences(packed):
                    return bound, {0: bound}
                whole = bound
                continue
            shared = _NAMED_SATURATION if is_named(packed) else 0.0
            whole += idf * (self._saturations.saturate_document(packed) + shared)
            for line, occurrences in list_lines(match, place):
                lines[line] = lines.get(line, 0.0) + idf * (saturate_line(occurrences) - shared)
        return whole + max(lines.values(), default=0.0), lines


def score(candidates: Candidates) -> list[tuple[int, float]]:
    """Return every document found with its score, by document number."""
    scorer = _Scorer(candidates)
    bounds = sorted(scorer.bound().items())
    return bounds if scorer.is_exact() else [(document, scorer.score(document, bound)[0]) for document, bound in bounds]


def rank(
    candidates: Candidates,
    limit: int,
    get_heads: Callable[[Collection[int]], Mapping[int, VersionHead]],
) -> list[Ranked]:
    """Return the best documents by falling score; ties by record id, turn ordinal, version, then entry.

    Args:
        candidates: As an index gives them.
        limit: How many at most.
        get_heads: Gives the heads of document numbers; asked once, for the answer and what ties with its end.
    """
    scored = _take_best(_Scorer(candidates), limit) if limit > 0 else {}
    if not scored:
        return []
    heads = get_heads(list(scored))
    ranked = [Ranked(document, total, heads[document], _order(lines)) for document, (total, lines) in scored.items()]
    return sorted(ranked, key=_get_place)[:limit]


def _get_place(ranked: Ranked) -> tuple[float, str, int, int, str, int]:
    head = ranked.head
    return -ranked.score, head.id, head.turn.n if head.turn else 0, head.version, head.ref.log, head.ref.seq


def _order(lines: Mapping[int, float]) -> tuple[int, ...]:
    if len(lines) < 2:
        return tuple(lines)
    return tuple(heapq.nsmallest(LINES_MAX_COUNT, lines, key=lambda line: (-lines[line], line)))


def _keep(
    scored: Mapping[int, tuple[float, dict[int, float]]], least: float
) -> dict[int, tuple[float, dict[int, float]]]:
    return {document: found for document, found in scored.items() if found[0] >= least}


def _take_best(scorer: _Scorer, limit: int) -> dict[int, tuple[float, dict[int, float]]]:
    """Return the documents that score as the best `limit` do, those that tie with the last included.

    Documents are scored by falling bound until the next bound is below the last of the best.
    """
    bounds = scorer.bound()
    scored: dict[int, tuple[float, dict[int, float]]] = {}
    best: list[float] = []
    look = limit
    while True:
        floor = heapq.nlargest(look, bounds.values())[-1] if look < len(bounds) else 0.0
        likely = sorted((-bound, document) for document, bound in bounds.items() if bound >= floor)
        for bound, document in likely[len(scored) :]:
            if len(best) == limit and -bound < best[0]:
                return _keep(scored, best[0])
            found = scored[document] = scorer.score(document, -bound)
            (heapq.heappush if len(best) < limit else heapq.heappushpop)(best, found[0])
        if len(scored) == len(bounds):
            return _keep(scored, best[0]) if len(best) == limit else scored
        look *= _LOOK_FURTHER
