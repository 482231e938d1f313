"""Instants, intervals and periods (docs/format/time.md)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.instants import (
    OPEN_END,
    Instant,
    Interval,
    Precision,
    format_period,
    format_periods,
    from_unix_us,
    is_instant,
    merge_periods,
    parse_instant,
    parse_period,
    parse_periods,
    to_unix_us,
)

FIRST_US = -62_135_596_800_000_000
LAST_US = 253_402_300_799_999_999
MOMENTS = st.integers(FIRST_US, LAST_US)
A, B, C, D = (Instant(f"{year}-01-01T00:00:00.000000Z") for year in (2024, 2025, 2026, 2027))


def make_interval(ends: tuple[int | None, int | None]) -> Interval:
    start, end = (from_unix_us(us) if us is not None else None for us in ends)
    return Interval(start, end)


def is_in_one(moment: Instant, intervals: Iterable[Interval]) -> bool:
    return any((one.start or moment) <= moment and (one.end is None or moment < one.end) for one in intervals)


INTERVALS = (
    st.tuples(st.one_of(st.none(), st.integers(0, 20)), st.one_of(st.none(), st.integers(0, 20)))
    .filter(lambda ends: ends[0] is None or ends[1] is None or ends[0] < ends[1])
    .map(make_interval)
)


@given(MOMENTS, MOMENTS)
def test_sorting_instants_as_text_is_sorting_in_time(one: int, other: int) -> None:
    left, right = from_unix_us(one), from_unix_us(other)
    assert (left > right) - (left < right) == (one > other) - (one < other)
    assert (to_unix_us(left), to_unix_us(right)) == (one, other)
    assert is_instant(left)
    assert parse_instant(left) == (left, Precision.INSTANT)


def test_the_ends_of_time_are_the_years_0001_and_9999() -> None:
    assert from_unix_us(FIRST_US) == "0001-01-01T00:00:00.000000Z"
    assert from_unix_us(LAST_US) == OPEN_END
    for us in (FIRST_US - 1, LAST_US + 1, 10**30):
        with pytest.raises(InvalidInputError):
            from_unix_us(us)


@pytest.mark.parametrize(
    "text",
    ["2024-05-01T10:00:00Z", "2024-05-01", "2024-02-30T00:00:00.000000Z", "2024-05-01T24:00:00.000000Z", "", "x" * 27],
)
def test_only_the_canonical_form_of_a_moment_that_exists_is_an_instant(text: str) -> None:
    assert not is_instant(text)


@pytest.mark.parametrize("value", [None, 2024, 20240501, True, b"2024"])
def test_what_is_no_text_is_no_instant(value: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_instant(value, "event_time")
    assert caught.value.field == "event_time"
    assert caught.value.hint


def test_an_interval_that_does_not_end_after_it_starts_is_refused() -> None:
    for start, end in ((A, A), (B, A)):
        with pytest.raises(InvalidInputError):
            Interval(start, end)


@given(st.lists(INTERVALS, max_size=6))
def test_merging_keeps_every_moment_in_the_fewest_ascending_intervals(intervals: list[Interval]) -> None:
    merged = merge_periods(intervals)
    for moment in (from_unix_us(us) for us in range(-1, 22)):
        assert is_in_one(moment, intervals) == is_in_one(moment, merged)
    for left, right in pairwise(merged):
        assert left.end is not None
        assert right.start is not None
        assert left.end < right.start
    assert parse_periods(format_periods(merged)) == merged


def test_a_period_takes_any_form_of_an_instant_from_a_caller() -> None:
    assert parse_period("2024/..") == Interval(A, None)
    assert format_period(Interval(None, B)) == f"../{B}"


@pytest.mark.parametrize("text", ["2024", "2024/", "/2024", "2024/2025/2026", "2025/2024", "2024 / 2025", 2024, None])
def test_another_form_of_a_period_is_refused(text: object) -> None:
    with pytest.raises(InvalidInputError):
        parse_period(text)


def test_periods_of_a_file_are_canonical_ascending_and_apart() -> None:
    assert parse_periods([f"{A}/{B}", f"{C}/.."]) == (Interval(A, B), Interval(C, None))
    for texts in (["2024/2025"], [f"{A}/{B}", f"{B}/{C}"], [f"{C}/{D}", f"{A}/{B}"], [f"{A}/..", f"{C}/{D}"]):
        with pytest.raises(InvalidInputError):
            parse_periods(texts)
    with pytest.raises(LimitExceededError):
        parse_periods([f"{A}/{B}"] * 1_001)
