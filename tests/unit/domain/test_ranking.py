"""The score and the order: what raises it, that it is exact, and that ties fall the same way always."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.documents import analyze_document
from onrecord.domain.heads import VersionHead
from onrecord.domain.postings import (
    REPEAT_MASK,
    REPEAT_SHIFT,
    Candidates,
    PackedDocument,
    Statistics,
    TermMatches,
)
from onrecord.domain.ranking import Ranked, compute_idf, rank, score
from tests.indexes import make_turn, make_version
from tests.plain_postings import quantise_tokens, read_postings

HEADS = {number: make_version(f"r{number:03}", "", seq=number).head for number in range(200)}


def get_heads(documents: Collection[int]) -> Mapping[int, VersionHead]:
    return {number: HEADS[number] for number in documents}


def match(documents: Sequence[PackedDocument], terms: Sequence[str]) -> Candidates:
    """Return the candidates of a corpus; documents are numbered from 0."""
    found: dict[str, TermMatches] = {
        term: TermMatches(term, array("I"), array("H"), array("I"), array("Q")) for term in terms
    }
    for number, packed in enumerate(documents):
        for place, term in enumerate(packed.terms):
            if term in found:
                columns = found[term]
                for column, value in (
                    (columns.documents, number),
                    (columns.lines, packed.lines[place] if packed.lines else 0),
                    (columns.packed, packed.packed[place]),
                ):
                    assert isinstance(column, array)
                    column.append(value)
                assert isinstance(columns.repeats, array)
                several = [item & REPEAT_MASK for item in packed.repeats if item >> REPEAT_SHIFT == place]
                columns.repeats.extend(number << REPEAT_SHIFT | repeat for repeat in several)
    statistics = Statistics(
        documents=len(documents),
        tokens=sum(document.tokens for document in documents),
        lines=sum(document.line_count for document in documents),
        document_frequency={term: len(columns.documents) for term, columns in found.items()},
    )
    return Candidates(statistics, list(found.values()))


def make(text: str, title: str = "", tags: Sequence[str] = ()) -> PackedDocument:
    return analyze_document(title, tags, (), text)


def order(documents: Sequence[PackedDocument], *terms: str) -> list[int]:
    return [hit.document for hit in rank(match(documents, terms), 100, get_heads)]


FILLER = [make(f"filler number{number} and nothing else") for number in range(20)]


@pytest.mark.parametrize(
    ("better", "worse", "terms"),
    [
        (make("tea and milk today"), make("tea and more today"), ("tea", "milk")),
        (make("tea tea and milk"), make("tea and the milk"), ("tea",)),
        (make("some tea"), make("some tea in a very much longer text about nothing at all"), ("tea",)),
        (make("some drink", title="tea"), make("some tea", title="drink"), ("tea",)),
        (make("some drink", tags=("tea",)), make("some drink and tea"), ("tea",)),
        (make("Rare tea here. Then more."), make("Rare words here. Then tea."), ("rare", "tea")),
        (make("Some. More tea.", title="rare"), make("A rare one. More tea.", title="some"), ("rare", "tea")),
        (make("a rare word"), make("a filler word"), ("rare", "filler")),
    ],
)
def test_the_better_document_stands_first(better: PackedDocument, worse: PackedDocument, terms: tuple[str]) -> None:
    assert order([worse, better, *FILLER], *terms)[:2] == [1, 0]


def test_a_rarer_term_weighs_more_and_every_term_something() -> None:
    weights = [compute_idf(1_000, frequency) for frequency in (0, 1, 10, 500, 999, 1_000, 2_000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_lines_are_told_best_first() -> None:
    document = make("A red fox.\nNothing.\nA fox.\nRed fox, red fox.")
    (hit,) = rank(match([document], ("red", "fox")), 1, get_heads)
    assert hit.lines == (3, 0, 2)


def test_a_document_found_by_its_title_only_has_no_lines() -> None:
    for text in ("", "one line", "Line one. Line two."):
        (hit,) = rank(match([make(text, title="fox")], ("fox",)), 1, get_heads)
        assert hit.lines == ()


def test_ties_go_by_record_then_ordinal_whatever_the_numbers() -> None:
    heads = {
        0: make_turn("s", 10, "tea", seq=1).head,
        1: make_turn("s", 9, "tea", seq=2).head,
        2: make_version("t", "tea", seq=3).head,
        3: make_version("a", "tea", seq=4).head,
    }
    candidates = match([make("tea")] * 4, ("tea",))
    for limit, expected in ((1, [3]), (2, [3, 1]), (9, [3, 1, 0, 2])):
        ranked = rank(candidates, limit, lambda numbers: {number: heads[number] for number in numbers})
        assert [hit.document for hit in ranked] == expected


@pytest.mark.parametrize("limit", [0, -1])
def test_nothing_is_asked_for_nothing(limit: int) -> None:
    assert rank(match([make("tea")], ("tea",)), limit, get_heads) == []


def test_no_candidates_give_no_answer() -> None:
    assert rank(Candidates(Statistics(0, 0, 0, {}), []), 10, get_heads) == []
    assert score(Candidates(Statistics(3, 9, 3, {"x": 0}), [TermMatches("x", [], [], [], [])])) == []


words = st.sampled_from(("tea", "milk", "rare", "fox"))
bodies = st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join), max_size=4).map(".\n".join)
corpora = st.lists(st.builds(make, bodies, st.sampled_from(("", "tea", "rare fox"))), min_size=1, max_size=40)
TERMS = ("tea", "milk", "rare", "fox")


@given(corpora, st.integers(1, 50))
def test_the_best_are_the_first_of_all_by_score(documents: list[PackedDocument], limit: int) -> None:
    candidates = match(documents, TERMS)
    every = sorted(score(candidates), key=lambda item: (-item[1], item[0]))
    ranked = rank(candidates, limit, get_heads)
    assert [(hit.document, hit.score.hex()) for hit in ranked] == [(number, s.hex()) for number, s in every[:limit]]


def round_to(value: float, grid: int) -> Fraction:
    return Fraction(math.floor(value * grid + 0.5), grid)


def compute_score(documents: Sequence[PackedDocument], number: int) -> Fraction:
    """Return the score of a document by the definition in the module's text, from the postings as they came in."""
    document = documents[number]
    tokens = sum(other.tokens for other in documents)
    whole = Fraction(0)
    lines = {line: Fraction(0) for line in range(max(document.line_count, 1))}
    for posting in read_postings(document):
        if posting.term not in TERMS:
            continue
        frequency = sum(posting.term in found.terms for found in documents)
        rarity = math.log(1 + (len(documents) - frequency + 0.5) / (frequency + 0.5))
        idf = max(round_to(rarity, 2**12), Fraction(1, 2**12))
        weight = posting.weight_halves / 2
        half = 1.2 * 0.25 + quantise_tokens(document.tokens) * (1.2 * 0.75 * len(documents) / tokens)
        whole += idf * round_to(weight / (weight + half), 2**20)
        occurrences = dict(posting.lines)
        for line in lines:
            count = max(occurrences.get(line, 0), int(posting.is_named))
            lines[line] += idf * round_to(count / (count + 0.6), 2**20)
    return whole + max(lines.values())


@given(corpora)
def test_the_score_is_what_its_definition_says(documents: list[PackedDocument]) -> None:
    for number, value in score(match(documents, TERMS)):
        assert Fraction(value) == compute_score(documents, number)


@given(corpora, st.randoms(use_true_random=False))
def test_a_score_does_not_hang_on_the_order_of_terms(documents: list[PackedDocument], chance: random.Random) -> None:
    candidates = match(documents, TERMS)
    shuffled = list(candidates.matches)
    chance.shuffle(shuffled)
    assert score(Candidates(candidates.statistics, shuffled)) == score(candidates)


@given(corpora)
def test_a_score_does_not_hang_on_what_else_is_found(documents: list[PackedDocument]) -> None:
    candidates = match(documents, TERMS)
    alone = []
    for number in range(len(documents)):
        found = []
        for whole in candidates.matches:
            places = [place for place, document in enumerate(whole.documents) if document == number]
            repeats = [repeat for repeat in whole.repeats if repeat >> REPEAT_SHIFT == number]
            columns = ([column[place] for place in places] for column in (whole.documents, whole.lines, whole.packed))
            found.append(TermMatches(whole.term, *columns, repeats))
        alone += score(Candidates(candidates.statistics, found))
    assert alone == score(candidates)


@given(st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join).map(make), min_size=1, max_size=20))
def test_the_score_of_one_line_is_the_sum_of_its_terms_without_rounding(documents: list[PackedDocument]) -> None:
    candidates = match(documents, TERMS)
    sums: dict[int, Fraction] = {}
    for found in candidates.matches:
        for number, value in score(Candidates(candidates.statistics, [found])):
            sums[number] = sums.get(number, Fraction(0)) + Fraction(value)
    assert {number: Fraction(value) for number, value in score(candidates)} == sums


@given(corpora)
def test_scores_lie_on_a_grid_on_which_sums_are_exact(documents: list[PackedDocument]) -> None:
    for _, value in score(match(documents, TERMS)):
        assert (Fraction(value) * 2**32).denominator == 1


def test_an_answer_says_what_it_is_of() -> None:
    (hit,) = rank(match([make("tea")], ("tea",)), 1, get_heads)
    assert hit == Ranked(document=0, score=hit.score, head=HEADS[0], lines=(0,))
    assert hit.score > 0
