"""A memory that was retired here as missing and that another machine restores: missing here again, for all who ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.missing import repair_missing
from onrecord.app.session import Channel
from onrecord.app.status import describe_status
from tests.fault.test_known_bytes import show
from tests.machines import LINES, Machine, bring, bring_log, make_two
from tests.vaults import open_session


def retire_all(machine: Machine) -> dict[str, Any]:
    """Retire what is missing as the user at a terminal does."""
    session = open_session(machine.vault, machine.state, clock=machine.clock, channel=Channel.TERMINAL)
    try:
        return repair_missing(session, {"retire": True}).data
    finally:
        session.close()


def ask(machine: Machine) -> tuple[list[str], int, list[str]]:
    """Return whose file is gone by doctor, how many by `status`, and whose by `repair missing`, each asked anew."""
    found: Any = machine.call(lambda session: diagnose(session, {}).data["findings"])
    counted: Any = machine.call(lambda session: describe_status(session, {}).data["missing"])
    listed: Any = machine.call(lambda session: repair_missing(session, {}).data["missing"])
    assert all(item["since"] for item in listed)
    told = [item["message"].split() for item in found if item["code"] == "missing_file"]
    gone = [words[words.index("memory") + 1] for words in told if words[0] == "the"]  # others may be on their way
    return gone, counted["records"], [item["id"] for item in listed]


@pytest.fixture
def restored(tmp_path: Path) -> tuple[Machine, Machine, str]:
    first, second = make_two(tmp_path)
    record = str(first.remember(LINES)["id"])
    bring(first, second)
    (first.vault / show(first, record).data["path"]).unlink()
    first.clock.pass_s(5)
    assert retire_all(first)["retired"] == 1
    second.clock.pass_s(60)
    bring_log(first, second)
    path = second.vault / show(second, record).data["path"]
    path.write_bytes(path.read_bytes() + b"restored\n")
    assert show(second, record).data["status"] == "current"
    bring_log(second, first)
    return first, second, record


def test_doctor_status_and_repair_agree_that_its_file_is_missing(restored: tuple[Machine, Machine, str]) -> None:
    first, _, record = restored
    assert show(first, record).data["status"] == "current"
    assert ask(first) == ([record], 1, [record])
    assert retire_all(first)["retired"] == 1
    assert ask(first) == ([], 0, [])


def test_it_is_found_missing_though_the_look_at_its_arrival_was_cut_off(restored: tuple[Machine, Machine, str]) -> None:
    first, _, record = restored
    session = first.open()
    session.store.absences.write(session.store.absences.read().drop([record]))  # type: ignore[list-item]
    session.close()
    listed: Any = first.call(lambda session: repair_missing(session, {}).data["missing"])
    assert [item["id"] for item in listed] == [record]
    assert ask(first) == ([record], 1, [record])


def test_it_is_missing_no_more_once_its_file_has_come(restored: tuple[Machine, Machine, str]) -> None:
    first, second, record = restored
    assert ask(first) == ([record], 1, [record])
    bring(second, first)
    first.clock.pass_s(5)
    assert ask(first) == ([], 0, [])
    assert [hit[0] for hit in first.find("line 4")] == [record]
