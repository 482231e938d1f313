"""Records and turns to postings: which field counts how much, and in which line a term stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.analyzer import analyze
from onrecord.domain.documents import analyze_document, describe_time
from onrecord.domain.instants import Instant
from onrecord.domain.lines import split_lines
from onrecord.domain.postings import LineCount, PackedDocument
from tests.plain_postings import Posting, count_postings, read_postings


def get(document: PackedDocument, term: str) -> Posting:
    (found,) = (posting for posting in read_postings(document) if posting.term == term)
    return found


def test_an_empty_document_has_no_postings() -> None:
    assert analyze_document("", (), (), "") == PackedDocument([], [], [], [], 0, 0)


def test_a_term_tells_its_lines_and_how_often_it_is_there() -> None:
    document = analyze_document("", (), (), "Tea, tea. No coffee. More tea.")
    assert get(document, "tea") == Posting("tea", 6, (LineCount(0, 2), LineCount(2, 1)))
    assert get(document, "coffe") == Posting("coffe", 2, (LineCount(1, 1),))
    assert (document.tokens, document.line_count) == (6, 3)


def test_title_and_aliases_count_double_tags_one_and_a_half_times_context_once() -> None:
    document = analyze_document("Tea time", ("Tea", "hot tea"), ("My tea",), "Tea.", "tea")
    assert get(document, "tea").weight_halves == 2 * 4 + 2 * 3 + 2 + 2
    assert get(document, "hot") == Posting("hot", 3, (), is_named=True)
    assert get(document, "time") == Posting("time", 4, (), is_named=True)
    assert document.tokens == 4 + 3 + 1 + 1
    assert document.line_count == 1


def test_words_of_title_and_alias_do_not_run_together() -> None:
    assert analyze_document("东", (), ("京",), "").terms == ["东", "京"]


def test_no_term_comes_twice() -> None:
    document = analyze_document("a b", ("b",), ("c a",), "a b c. a b c.", "c")
    assert sorted(document.terms) == ["a", "b", "c"]


@given(st.text(max_size=200))
def test_the_lines_add_up_to_the_text(text: str) -> None:
    document = analyze_document("", (), (), text)
    lines = split_lines(text)
    counted = sum(count for posting in read_postings(document) for _, count in posting.lines)
    assert counted == sum(len(analyze(text[start:end])) for start, end in lines) == document.tokens
    assert document.line_count == len(lines)
    assert sum(posting.weight_halves for posting in read_postings(document)) == 2 * counted


@given(st.text(max_size=60), st.lists(st.text(max_size=9), max_size=2), st.text(max_size=200), st.text(max_size=9))
def test_the_postings_are_those_that_counting_each_term_gives(
    title: str, labels: list[str], text: str, context: str
) -> None:
    document = analyze_document(title, labels, labels, text, context)
    lines = [analyze(text[start:end]) for start, end in split_lines(text)]
    named, tagged = analyze(" \n".join((title, *labels))), [term for label in labels for term in analyze(label)]
    expected = count_postings(lines, ((named, 4), (tagged, 3), (analyze(context), 2)))
    assert read_postings(document) == expected


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2023-05-08T14:00:00.000000Z", "2023-05-08 8 May 2023"),
        ("0001-12-31T00:00:00.000000Z", "0001-12-31 31 December 0001"),
    ],
)
def test_a_day_is_described_in_the_words_it_is_asked_for(moment: str, words: str) -> None:
    assert describe_time(Instant(moment)) == words


def test_a_turn_is_found_by_month_day_and_year() -> None:
    document = analyze_document("", (), (), "Hi!", f"Mia {describe_time(Instant('2023-05-08T14:00:00.000000Z'))}")
    assert {"mia", "may", "8", "2023", "2023-05-08", "hi"} <= set(document.terms)
