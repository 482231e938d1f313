"""A plain note that two machines took in: what stood in conflict in the retired record goes over to the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.read import read
from onrecord.app.session import Session
from onrecord.app.settle import list_conflicts, settle
from onrecord.domain.errors import ConflictError
from tests.fault.test_twins import NOTE, get_status, list_rows, meet, write
from tests.machines import Machine, bring, bring_log, make_two
from tests.vaults import check_verifies

TEXT = "green tea at four\nsecond line\nthird line\n"
COPY = "memories/default/tea.sync-conflict-20261130-081500-ABCDEFG.md"
CHANGED = TEXT.replace("second line", "second line of the samovar")


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def list_open(machine: Machine) -> list[str]:
    def ask(session: Session) -> list[str]:
        items = list_conflicts(session, {}).data["conflicts"]
        assert isinstance(items, list)
        return [str(item["members"][0]).partition("@")[0] for item in items]

    return machine.call(ask)


def list_findings(machine: Machine, code: str) -> list[str]:
    findings = machine.call(lambda session: diagnose(session, {}).data["findings"])
    assert isinstance(findings, list)
    return [item["message"] for item in findings if item["code"] == code]


def write_copy(machine: Machine, text: str = CHANGED) -> None:
    machine.clock.pass_s(1)
    (machine.vault / COPY).write_text(text)
    machine.find("tea")


@pytest.mark.parametrize("is_gone", [False, True])
def test_the_conflict_of_a_retired_twin_is_one_of_the_record_that_stays(
    machines: tuple[Machine, Machine], is_gone: bool
) -> None:
    first, second = machines
    kept, retired = write(first, TEXT), write(second, TEXT)
    write_copy(second)
    assert list_open(second) == [retired]
    if is_gone:
        (second.vault / COPY).unlink()
    meet(first, second)
    meet(first, second)
    assert (get_status(second, kept), get_status(second, retired)) == ("current", "retired")
    for machine in machines:
        assert list_open(machine) == [kept]
        assert [hit[0] for hit in machine.find("tea")] == [kept]
        assert machine.call(lambda session: read(session, {"id": kept}).data["conflict"])
    carried = [row for row in list_rows(first, kept) if row.draft.data == CHANGED.encode()]
    assert [row.draft.mode for row in carried] == ["displaced"]
    told = list_findings(second, "conflict_copy")
    assert len(told) == 1
    assert ("is gone" in told[0]) is is_gone
    (conflict,) = first.call(lambda session: [item["id"] for item in list_conflicts(session, {}).data["conflicts"]])  # type: ignore[attr-defined]
    first.call(lambda session: settle(session, {"id": conflict, "keep": "B"}))
    meet(first, second)
    assert [hit[0] for hit in second.find("samovar")] == [kept]
    for machine in machines:
        assert list_open(machine) == []
        machine.call(lambda session: check_verifies(session, may_differ=True))


def test_what_was_decided_before_the_other_twin_came_is_not_undone_by_it(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    kept, retired = write(first, TEXT), write(second, CHANGED)
    write_copy(first)
    (conflict,) = first.call(lambda session: [item["id"] for item in list_conflicts(session, {}).data["conflicts"]])  # type: ignore[attr-defined]
    first.call(lambda session: settle(session, {"id": conflict, "keep": "A"}))
    meet(first, second)
    meet(first, second)
    assert (get_status(second, kept), get_status(second, retired)) == ("current", "retired")
    for machine in machines:
        assert machine.call(lambda session: read(session, {"id": kept}).data["text"]) == TEXT.rstrip("\n")
        assert list_open(machine) == []


def test_what_was_decided_in_the_retired_twin_is_not_asked_again(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    kept, retired = write(first, TEXT), write(second, TEXT)
    write_copy(second)
    conflict = second.call(lambda session: list_conflicts(session, {}).data["conflicts"][0]["id"])  # type: ignore[index]
    second.call(lambda session: settle(session, {"id": conflict, "keep": "A", "remove_copies": True}))
    meet(first, second)
    meet(first, second)
    assert (get_status(second, kept), get_status(second, retired)) == ("current", "retired")
    assert list_open(first) == list_open(second) == []
    assert all(row.draft.data != CHANGED.encode() for row in list_rows(first, kept))


def test_the_closed_conflict_of_a_retired_twin_makes_no_second_memory(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    kept = write(first, TEXT)
    write(second, TEXT)
    write_copy(second)
    conflict = second.call(lambda session: list_conflicts(session, {}).data["conflicts"][0]["id"])  # type: ignore[index]
    meet(first, second)
    meet(first, second)
    with pytest.raises(ConflictError):
        first.call(lambda session: settle(session, {"id": conflict, "keep": "A", "expect": 3}))
    assert (first.vault / NOTE).read_text() == TEXT
    assert [hit[0] for hit in first.find("tea")] == [kept]


def test_a_conflict_of_the_retired_twin_that_a_third_machine_opened_goes_over_when_it_comes(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    first, second = machines
    kept, retired = write(first, TEXT), write(second, TEXT)
    third = Machine(tmp_path, "third")
    bring(second, third)
    third.clock.wall_us = second.clock.wall_us + 60_000_000
    write_copy(third)
    assert list_open(third) == [retired]
    meet(first, second)
    assert (get_status(second, retired), list_open(second)) == ("retired", [])
    bring_log(third, second)
    second.find("tea")
    meet(first, second)
    assert list_open(first) == list_open(second) == [kept]
    bring_log(second, third)
    bring_log(first, third)
    assert list_open(third) == [kept]
