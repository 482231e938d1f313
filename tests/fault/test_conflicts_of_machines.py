"""Two machines change one memory, or settle one conflict: nothing is lost, and both say the same in the end."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.settle import list_conflicts, settle
from onrecord.app.update import update
from onrecord.domain.errors import ConflictError, OnRecordError, StorageFailedError
from onrecord.storage.files.disk import Disk
from tests.machines import Machine, bring, bring_log, make_two
from tests.surface.test_conflicts import Case
from tests.vaults import check_verifies, open_session

TEXT = "".join(f"line {number}\n" for number in range(9))


def make_branches(root: Path) -> tuple[Machine, Machine, str]:
    """Return two machines that changed one memory apart and then got each other's logs and files."""
    first, second = make_two(root)
    record = str(first.call(lambda session: remember(session, {"text": TEXT, "title": "Plan"}).data["id"]))
    bring(first, second)
    for machine, line in ((first, 0), (second, 8)):
        given = {"id": record, "old": f"line {line}", "new": f"line {line} changed", "expect": 1}
        machine.clock.pass_s(60)
        machine.call(lambda session, given=given: update(session, given).data)  # type: ignore[misc]
    return first, second, record


def list_open(machine: Machine) -> list[dict[str, Any]]:
    def ask(session: Session) -> list[dict[str, Any]]:
        remember(session, {"text": "any write"})
        return list_conflicts(session, {}).data["conflicts"]  # type: ignore[return-value]

    return machine.call(ask)


def test_both_machines_open_the_same_conflict_once(tmp_path: Path) -> None:
    first, second, record = make_branches(tmp_path)
    bring_log(first, second)
    (one,) = list_open(second)
    bring_log(second, first)
    (other,) = list_open(first)
    assert other["id"] == one["id"]
    assert other["members"] == one["members"]
    assert [member.partition("@")[0] for member in one["members"]] == [record, record]
    bring_log(first, second)
    assert [item["id"] for item in list_open(second)] == [one["id"]]
    for machine in (first, second):
        assert machine.call(lambda session: read(session, {"id": record}).data["conflict"]) == one["id"]
        machine.call(lambda session: check_verifies(session, may_differ=True))


def test_machines_that_open_a_conflict_apart_have_one_when_they_meet(tmp_path: Path) -> None:
    first, second, _ = make_branches(tmp_path)
    bring_log(first, second)
    bring_log(second, first)
    ids = {list_open(machine)[0]["id"] for machine in (first, second)}
    assert len(ids) == 1
    bring_log(first, second)
    bring_log(second, first)
    for machine in (first, second):
        assert {item["id"] for item in list_open(machine)} == ids


def test_settling_joins_the_branches_on_both_machines(tmp_path: Path) -> None:
    first, second, record = make_branches(tmp_path)
    bring_log(first, second)
    (one,) = list_open(second)
    made = second.call(lambda session: settle(session, {"id": one["id"], "keep": "B"}).data)
    bring_log(second, first)
    assert list_open(first) == []
    texts = [machine.call(lambda session: read(session, {"id": record}).data["text"]) for machine in (first, second)]
    assert texts[0] == texts[1]
    versions = first.call(lambda session: list_history(session, {"id": record}).data["versions"])
    assert versions[-1]["version"] == made["version"]


def test_of_two_processes_that_settle_at_once_one_decides(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.session.close()
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    workers = [
        context.Process(target=_settle_apart, args=(str(case.vault), str(case.state), case.conflict, keep, queue))
        for keep in ("A", "B")
    ]
    for worker in workers:
        worker.start()
    said = sorted(queue.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    assert said[0][0] in "AB"
    assert said[1][0] == "refused"
    session = open_session(case.vault, case.state)
    assert read(session, {"id": case.record}).data["version"] == 4
    check_verifies(session)
    session.close()


def _settle_apart(vault: str, state: str, conflict: str, keep: str, queue: Any) -> None:
    session = open_session(Path(vault), Path(state))
    try:
        settle(session, {"id": conflict, "keep": keep})
        queue.put((keep,))
    except ConflictError as error:
        queue.put(("refused", error.code))
    finally:
        session.close()


class Crash(BaseException):
    """The process ends here."""


def make_dying(step: Callable[[], bool]) -> Callable[[str], Disk]:
    """Return a maker of disks on which no name is exchanged any more once `step` says so."""

    class DyingDisk(Disk):
        def exchange(self, one: str, other: str) -> bool:
            if step():
                raise Crash
            return super().exchange(one, other)

    return DyingDisk


@pytest.mark.parametrize("placed", [0, 1])
def test_a_crash_between_the_two_files_of_a_settlement_leaves_both_settled(tmp_path: Path, placed: int) -> None:
    case = Case(tmp_path)
    case.session.close()
    left = -1

    def step() -> bool:
        nonlocal left
        left -= 1
        return left == -1

    session = open_session(case.vault, case.state, make_disk=make_dying(step))
    left = placed
    with pytest.raises(Crash):
        settle(session, {"id": case.conflict, "keep": "B"})
    session = open_session(case.vault, case.state)
    assert list_conflicts(session, {}).data["conflicts"] == []
    assert "line 8 by hand" in case.path.read_text()
    assert "state: resolved" in (case.vault / "conflicts" / "Conflict in Plan.md").read_text()
    check_verifies(session)
    session.close()


def test_a_full_disk_settles_nothing(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.session.close()
    is_full = False

    class FullDisk(Disk):
        def write_at(self, path: str, offset: int, data: bytes) -> None:
            if is_full:
                raise OSError(28, "No space left on device")
            super().write_at(path, offset, data)

    session = open_session(case.vault, case.state, make_disk=FullDisk)
    before = case.path.read_bytes()
    is_full = True
    with pytest.raises((StorageFailedError, OnRecordError)):
        settle(session, {"id": case.conflict, "keep": "B"})
    is_full = False
    assert case.path.read_bytes() == before
    session.close()
    session = open_session(case.vault, case.state)
    assert [item["id"] for item in list_conflicts(session, {}).data["conflicts"]] == [case.conflict]  # type: ignore[attr-defined]
    check_verifies(session)
    session.close()


def test_where_files_travel_too_the_machines_agree_and_settle_once(tmp_path: Path) -> None:
    first, second, record = make_branches(tmp_path)
    bring(first, second)
    (one,) = list_open(second)
    bring(second, first)
    assert [item["id"] for item in list_open(first)] == [one["id"]]
    bring(first, second)
    assert [item["id"] for item in list_open(second)] == [one["id"]]
    second.call(lambda session: settle(session, {"id": one["id"], "keep": "B"}).data)
    bring(second, first)
    assert list_open(first) == []
    texts = [machine.call(lambda session: read(session, {"id": record}).data["text"]) for machine in (first, second)]
    assert texts[0] == texts[1]
    for machine in (first, second):
        machine.call(lambda session: check_verifies(session, may_differ=True))
