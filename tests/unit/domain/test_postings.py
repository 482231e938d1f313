"""Packed postings: what goes in comes out, within the bounds of the packing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain import postings
from onrecord.domain.postings import (
    LINE_COUNT_MAX,
    REPEAT_MASK,
    REPEAT_SHIFT,
    WEIGHT_MAX_HALVES,
    LineCount,
    Posting,
    TermMatches,
    pack_postings,
    quantise_tokens,
)

counts = st.integers(1, 300)
places = st.dictionaries(st.integers(0, 65_534), counts, max_size=5).map(
    lambda found: tuple(LineCount(line, count) for line, count in sorted(found.items()))
)


@given(
    st.lists(st.tuples(st.integers(1, 600), places, st.booleans()), max_size=6),
    st.integers(0, 10**7),
    st.integers(0, 70_000),
)
def test_what_is_packed_can_be_read(
    parts: list[tuple[int, tuple[LineCount, ...], bool]], tokens: int, lines: int
) -> None:
    given_postings = [Posting(f"t{place}", *part) for place, part in enumerate(parts)]
    packed = pack_postings(given_postings, tokens, lines)
    assert packed.terms == [posting.term for posting in given_postings]
    for place, posting in enumerate(given_postings):
        value = packed.packed[place]
        assert 0 < value < 1 << 25
        assert postings.read_weight_halves(value) == min(posting.weight_halves, WEIGHT_MAX_HALVES)
        assert postings.read_document_tokens(value) == quantise_tokens(tokens)
        assert postings.is_named(value) == posting.is_named
        assert postings.is_of_only_line(value) == (lines == 1)
        most = max((count for _, count in posting.lines), default=0)
        assert postings.read_occurrences(value) == min(most, LINE_COUNT_MAX)
        repeats = [9 << REPEAT_SHIFT | item & REPEAT_MASK for item in packed.repeats if item >> REPEAT_SHIFT == place]
        match = TermMatches("t", [9], [packed.lines[place]], [value], [5 << REPEAT_SHIFT, *repeats, 10 << REPEAT_SHIFT])
        expected = [LineCount(line, min(count, LINE_COUNT_MAX)) for line, count in posting.lines]
        assert list(postings.list_lines(match, 0)) == expected


@given(st.integers(0, 480_000))
def test_a_length_is_kept_within_six_per_cent(tokens: int) -> None:
    kept = quantise_tokens(tokens)
    assert tokens * 15 / 16 <= kept <= tokens
    assert quantise_tokens(kept) == kept


@pytest.mark.parametrize("tokens", [*range(33), 34, 62, 64, 68])
def test_short_lengths_are_exact(tokens: int) -> None:
    assert quantise_tokens(tokens) == tokens


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_longer_text_is_never_kept_as_shorter(one: int, other: int) -> None:
    assert (one <= other) <= (quantise_tokens(one) <= quantise_tokens(other))
