"""Packed postings: what goes in comes out, within the bounds of the packing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain import postings
from onrecord.domain.postings import pack_terms
from tests.plain_postings import bound, count_postings, quantise_tokens, read_postings

terms = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from((1, 1, 1, 2, 30, 62, 63, 64, 128, 300))), max_size=4
).map(lambda parts: [term for term, count in parts for _ in range(count)])


@given(st.lists(terms, max_size=5), st.lists(st.tuples(terms, st.integers(1, 4)), max_size=3), st.integers(0, 3))
def test_what_is_packed_can_be_read(
    lines: list[list[str]], fields: list[tuple[list[str], int]], empty_lines: int
) -> None:
    lines = [[]] * empty_lines + lines
    document = pack_terms(lines, fields)
    assert read_postings(document) == [bound(posting) for posting in count_postings(lines, fields)]
    assert document.tokens == sum(map(len, lines)) + sum(len(terms) for terms, _ in fields)
    assert document.line_count == len(lines)
    assert document.repeats == sorted(document.repeats)
    for value in document.packed:
        assert 0 < value < 1 << 25
        assert postings.read_document_tokens(value) == quantise_tokens(document.tokens)
        assert postings.is_of_only_line(value) == (len(lines) == 1)


def test_the_last_line_that_is_kept_can_be_read() -> None:
    lines = [["a"], *[[]] * 65_533, ["a", "b"]]
    assert read_postings(pack_terms(lines, ())) == count_postings(lines, ())


def keep_length(tokens: int) -> int:
    """Return the length of a text of so many words as its posting has it."""
    (packed,) = pack_terms([["a"] * tokens], ()).packed
    return postings.read_document_tokens(packed)


@given(st.integers(1, 20_000))
def test_a_length_is_kept_within_six_per_cent(tokens: int) -> None:
    assert tokens * 15 / 16 <= keep_length(tokens) <= tokens
    assert keep_length(keep_length(tokens)) == keep_length(tokens)


@pytest.mark.parametrize("tokens", [*range(1, 33), 34, 62, 64, 68])
def test_short_lengths_are_exact(tokens: int) -> None:
    assert keep_length(tokens) == tokens


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_a_longer_text_is_never_kept_as_shorter(one: int, other: int) -> None:
    assert (one <= other) <= (keep_length(one) <= keep_length(other))
