"""Opened time, the wait, and what suspends retirement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.absences import (
    HOUR_US,
    WAIT_US,
    Absences,
    Moment,
    Suspension,
    judge_suspension,
    measure_opened,
)
from onrecord.domain.ids import RecordId
from onrecord.domain.instants import Instant

SINCE = Instant("2026-01-01T00:00:00.000000Z")
GONE = RecordId("0" * 12)
MOMENTS = st.builds(Moment, st.sampled_from(["a", "b"]), st.integers(0, 2**60), st.integers(0, 2**60))


@given(MOMENTS, MOMENTS)
def test_a_look_vouches_for_an_hour_at_most_and_never_for_less_than_nothing(last: Moment, now: Moment) -> None:
    assert 0 <= measure_opened(last, now) <= HOUR_US


@given(st.integers(0, 2**40), st.integers(0, 2**60), st.integers(0, 2**60))
def test_within_a_boot_the_wall_clock_says_nothing(passed_us: int, one_us: int, other_us: int) -> None:
    last, now = Moment("a", 5, one_us), Moment("a", 5 + passed_us, other_us)
    assert measure_opened(last, now) == min(passed_us, HOUR_US)


@given(st.lists(st.tuples(MOMENTS, st.booleans()), max_size=60))
def test_no_memory_is_due_before_a_look_for_each_hour_of_the_wait(looks: list[tuple[Moment, bool]]) -> None:
    absences, counted = Absences(), 0
    for moment, is_gone in looks:
        absences = absences.look(moment, SINCE, [GONE] if is_gone else [], 10, has_unread=False)
        counted = counted + 1 if is_gone else 0
        assert counted > WAIT_US // HOUR_US or not absences.list_due()


@pytest.mark.parametrize(
    ("missing", "records", "expected"),
    [
        (0, 0, Suspension.NONE),
        (0, 5, Suspension.NONE),
        (1, 1, Suspension.ALL),
        (1, 2, Suspension.NONE),
        (3, 3, Suspension.ALL),
        (3, 4, Suspension.NONE),
        (4, 5, Suspension.MANY),
        (4, 39, Suspension.MANY),
        (4, 40, Suspension.NONE),
        (100, 1_000, Suspension.NONE),
        (101, 1_000, Suspension.MANY),
    ],
)
def test_more_than_three_and_a_tenth_suspend_retirement(missing: int, records: int, expected: Suspension) -> None:
    assert judge_suspension(missing, records, has_unread=False) is expected
    assert judge_suspension(missing, records, has_unread=True) is Suspension.UNREAD
