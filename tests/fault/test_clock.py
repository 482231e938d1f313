"""Clocks that lie: record times stay monotone and sane, and the jump is told."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from onrecord.adapters.system import SystemClock
from onrecord.app.history import list_history
from onrecord.app.remember import remember
from onrecord.app.update import update
from onrecord.domain.instants import Instant, to_unix_us
from onrecord.ports.system import WALL_MAX_US
from tests.surface.cli import CommandLine
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


def list_jumps(session) -> list[tuple[str, str]]:
    found = [problem for problem in session.store.find_problems() if problem.code == "clock_jump"]
    return [(problem.message, problem.mend) for problem in found]


@pytest.mark.parametrize(("jump_s", "told"), [(-HOUR_S, "s behind the record"), (HOUR_S, "s ahead of the record")])
def test_a_jump_is_told_once_with_its_direction_and_what_to_do_if_the_clock_is_right(
    opened, clock, jump_s: int, told: str
) -> None:
    write_twice(opened, clock, jump_s)
    for number in range(3):
        clock.pass_s(60)
        remember(opened, {"text": f"more {number}"})
    ((message, mend),) = list_jumps(opened)
    assert told in message
    assert "If it is right" in mend
    clock.wall_us -= jump_s * 1_000_000
    remember(opened, {"text": "the clock was set"})
    assert list_jumps(opened) == []


def test_a_leap_is_not_followed_by_the_writes_that_come_after_the_first_one(opened, clock) -> None:
    first, _, _ = write_twice(opened, clock, YEAR_S)
    for number in range(3):
        clock.pass_s(HOUR_S)
        made = remember(opened, {"text": f"more {number}"}).data["id"]
        (item,) = list_history(opened, {"id": made}).data["versions"]
        passed_us = (10 + (number + 1) * HOUR_S) * 1_000_000
        assert abs(to_unix_us(Instant(item["recorded_at"])) - first - passed_us) < 1_000
    clock.boot, clock.boottime_us = "boot-2", 5
    made = remember(opened, {"text": "another boot"}).data["id"]
    (item,) = list_history(opened, {"id": made}).data["versions"]
    assert to_unix_us(Instant(item["recorded_at"])) >= first + YEAR_S * 1_000_000
    check_verifies(opened)


YEARS_S = {"before 1970": -5_000, "1970": 1, "2100": 4_115_491_200, "2262": 9_223_372_036, "9999": 253_402_300_799}


@pytest.mark.parametrize("second_s", YEARS_S.values(), ids=YEARS_S)
def test_a_clock_far_off_stops_no_command_and_damages_nothing(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, second_s: int
) -> None:
    now = time.time_ns
    for is_off in (True, False, True):
        with monkeypatch.context() as patch:
            if is_off:
                patch.setattr(time, "time_ns", lambda: second_s * 1_000_000_000)
                assert 0 <= SystemClock().read().wall_us <= WALL_MAX_US
            record = onrecord("remember", f"words at {now()}").data["id"]
            assert onrecord("update", record, "--expect", "1", "--text", f"other words {now()}").data["version"] == 2
            note = Path(onrecord.vault) / "memories" / f"by hand {now()}.md"
            note.write_text(f"written by hand {now()}")
            assert onrecord("find", "words").data["status"] == "found"
            assert onrecord("read", record).data["version"] == 2
            times = [item["recorded_at"] for item in onrecord("history", record).data["versions"]]
            assert times == sorted(set(times))
            assert onrecord("verify").data["verdict"] == "L2"
            assert onrecord("status").status == 0
            findings = onrecord("doctor").data["findings"]
            assert {item["code"] for item in findings if item["severity"] != "info"} <= {"clock_jump"}
            assert onrecord("repair", "missing").data["total"] == 0
