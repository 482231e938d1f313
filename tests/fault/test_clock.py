"""Clocks that lie: record times stay monotone and sane, and the jump is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.history import list_history
from onrecord.app.remember import remember
from onrecord.app.update import update
from onrecord.domain.instants import Instant, to_unix_us
from tests.vaults import FixedClock, check_verifies, make_vault, open_session

HOUR_S = 3_600
YEAR_S = 365 * 24 * HOUR_S


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def opened(tmp_path: Path, clock: FixedClock):
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state", clock=clock)
    yield session
    session.close()


def write_twice(session, clock: FixedClock, jump_s: int) -> tuple[int, int, list[str]]:
    """Write, move the wall clock alone, write again; return both record times in µs and the second's warnings."""
    record = remember(session, {"text": "first"}).data["id"]
    clock.pass_s(10)
    clock.wall_us += jump_s * 1_000_000
    update(session, {"id": record, "text": "second", "expect": 1})
    times = [
        to_unix_us(Instant(item["recorded_at"])) for item in list_history(session, {"id": record}).data["versions"]
    ]
    codes = [problem.code for problem in session.store.find_problems()]
    return times[0], times[1], codes


@pytest.mark.parametrize("jump_s", [-HOUR_S, -YEAR_S])
def test_a_clock_that_goes_back_leaves_record_times_rising(opened, clock, jump_s) -> None:
    first, second, codes = write_twice(opened, clock, jump_s)
    assert second == first + 1
    assert "clock_jump" in codes
    check_verifies(opened)


@pytest.mark.parametrize("jump_s", [HOUR_S, YEAR_S])
def test_a_clock_that_leaps_ahead_is_not_followed(opened, clock, jump_s) -> None:
    first, second, codes = write_twice(opened, clock, jump_s)
    assert first < second <= first + 11_000_000
    assert "clock_jump" in codes
    check_verifies(opened)


@pytest.mark.parametrize("jump_s", [0, 60, -60, 299])
def test_a_small_correction_is_followed_without_a_word(opened, clock, jump_s) -> None:
    first, second, codes = write_twice(opened, clock, jump_s)
    assert second > first
    assert "clock_jump" not in codes


def test_time_that_passed_while_the_machine_was_off_is_believed(opened, clock) -> None:
    record = remember(opened, {"text": "first"}).data["id"]
    clock.wall_us += YEAR_S * 1_000_000
    clock.boot, clock.boottime_us = "boot-2", 5
    update(opened, {"id": record, "text": "second", "expect": 1})
    times = [to_unix_us(Instant(item["recorded_at"])) for item in list_history(opened, {"id": record}).data["versions"]]
    assert abs(times[1] - times[0] - YEAR_S * 1_000_000) <= 1
