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
from tests.fault.test_known_bytes import list_findings, show
from tests.machines import LINES, Machine, bring, bring_file, bring_log, make_branches, make_two
from tests.surface.test_conflicts import Case
from tests.vaults import check_verifies, open_session


def list_open(machine: Machine) -> list[dict[str, Any]]:
    def ask(session: Session) -> list[dict[str, Any]]:
        remember(session, {"text": f"any write, entry {session.store.entries}"})
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


def make_dying(name: str, step: Callable[[], bool]) -> Callable[[str], Disk]:
    """Return a maker of disks whose call of this name ends the process once `step` says so."""

    def die(self: Disk, *given: Any) -> Any:
        if step():
            raise Crash
        return getattr(Disk, name)(self, *given)

    return type("DyingDisk", (Disk,), {name: die})


@pytest.mark.parametrize("name", ["exchange", "rename_noreplace", "unlink"])
def test_a_crash_at_any_step_of_a_settlement_leaves_memory_and_conflict_settled(tmp_path: Path, name: str) -> None:
    case = Case(tmp_path)
    case.session.close()
    is_dying = False
    session = open_session(case.vault, case.state, make_disk=make_dying(name, lambda: is_dying))
    is_dying = True
    with pytest.raises(Crash):
        settle(session, {"id": case.conflict, "keep": "B"})
    session = open_session(case.vault, case.state)
    assert list_conflicts(session, {}).data["conflicts"] == []
    assert "line 8 by hand" in case.path.read_text()
    remember(session, {"text": "the next write"})
    assert list((case.vault / "conflicts").glob("*.md")) == []
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


def settle_apart(root: Path, keeps: tuple[str, str]) -> tuple[Machine, Machine, str, str]:
    """Return two machines that both opened one conflict and settled it before they heard of each other again."""
    first, second, record = make_branches(root)
    bring(first, second)
    bring(second, first)
    bring(first, second)
    (one,) = list_open(first)
    bring(first, second)
    assert [item["id"] for item in list_open(second)] == [one["id"]]
    for machine, keep in zip((first, second), keeps, strict=True):
        machine.clock.pass_s(60)
        machine.call(lambda session, keep=keep: settle(session, {"id": one["id"], "keep": keep}).data)  # type: ignore[misc]
    return first, second, record, one["id"]


def meet(first: Machine, second: Machine, order: str) -> None:
    """Bring everything to both sides: the logs, and the files of the one, of the other, or of both by turns."""
    for _ in range(3):
        if order == "logs":
            bring_log(first, second)
            bring_log(second, first)
        if order in ("first", "turns"):
            bring(first, second)
            bring_log(second, first)
        if order in ("second", "turns"):
            bring(second, first)
            bring_log(first, second)
        for machine in (first, second):
            list_open(machine)


def tell(machine: Machine, record: str) -> tuple[Any, ...]:
    """Return what a machine says of a memory and its conflicts, and the files of conflicts that it has."""

    def ask(session: Session) -> tuple[Any, ...]:
        shown = read(session, {"id": record}).data
        items = list_conflicts(session, {"all": True}).data["conflicts"]
        assert isinstance(items, list)
        told = [(item["id"], item["state"], item.get("decision"), tuple(item["members"])) for item in items]
        return shown["text"], shown["by"], shown.get("conflict"), told

    return machine.call(ask)


def list_conflict_files(machine: Machine) -> int:
    return len(list((machine.vault / "conflicts").glob("*.md")))


@pytest.mark.parametrize("order", ["logs", "first", "second", "turns"])
def test_two_settlements_that_differ_are_one_new_conflict_and_the_old_one_ends(tmp_path: Path, order: str) -> None:
    first, second, record, old = settle_apart(tmp_path, ("A", "B"))
    meet(first, second, order)
    text, _, shown, told = tell(first, record)
    assert tell(second, record) == (text, tell(first, record)[1], shown, told)
    assert sorted((state, decision) for _, state, decision, _ in told) == [("open", None), ("resolved", "B")]
    (new,) = [item for item in told if item[1] == "open"]
    assert new[0] == shown != old
    assert {member.split(" ")[0] for member in new[3]} == {f"{record}@3"}
    if order == "turns":
        assert [list_conflict_files(machine) for machine in (first, second)] == [1, 1]
    second.call(lambda session: settle(session, {"id": new[0], "keep": "A"}))
    meet(first, second, order)
    assert tell(first, record) == tell(second, record)
    assert {state for _, state, _, _ in tell(first, record)[3]} == {"resolved"}
    assert [list_conflict_files(machine) for machine in (first, second)] == [0, 0]
    for machine in (first, second):
        machine.call(lambda session: check_verifies(session, may_differ=True))


@pytest.mark.parametrize("order", ["logs", "first", "second", "turns"])
@pytest.mark.parametrize("keep", ["A", "B"])
def test_two_settlements_that_say_the_same_end_without_a_conflict(tmp_path: Path, keep: str, order: str) -> None:
    first, second, record, old = settle_apart(tmp_path, (keep, keep))
    meet(first, second, order)
    assert tell(first, record) == tell(second, record)
    _, _, shown, told = tell(first, record)
    assert (shown, [(item[0], item[1], item[2]) for item in told]) == (None, [(old, "resolved", keep)])
    assert [list_conflict_files(machine) for machine in (first, second)] == [0, 0]


def test_a_file_of_a_settled_conflict_that_a_sync_program_brings_again_goes(tmp_path: Path) -> None:
    first, second, _ = make_branches(tmp_path)
    bring_log(first, second)
    (one,) = list_open(second)
    bring(second, first)
    kept = (first.vault / "conflicts" / "Conflict in Plan.md").read_bytes()
    second.call(lambda session: settle(session, {"id": one["id"], "keep": "B"}).data)
    assert list_conflict_files(second) == 0
    bring_log(second, first)
    assert (list_open(first), list_conflict_files(first)) == ([], 0)
    for name in ("Conflict in Plan.md", "Conflict in Plan.sync-conflict-20261130-173636-D4LGQYW.md"):
        (second.vault / "conflicts" / name).write_bytes(kept)
        assert list_open(second) == []
        assert list_conflict_files(second) == 0


def test_a_conflict_file_in_which_a_hand_wrote_stays(tmp_path: Path) -> None:
    case = Case(tmp_path)
    shown = case.vault / "conflicts" / "Conflict in Plan.md"
    shown.write_text(shown.read_text() + "\nAsk Mia first.\n")
    case.settle("B")
    assert "Ask Mia first." in shown.read_text()
    assert list_conflicts(case.session, {}).data["conflicts"] == []
    check_verifies(case.session, may_differ=True)


def test_an_edit_of_one_side_elsewhere_opens_no_second_conflict(tmp_path: Path) -> None:
    first, second, record = make_branches(tmp_path)
    bring_log(first, second)
    (one,) = list_open(second)
    version = second.call(lambda session: read(session, {"id": record}).data["version"])
    given = {"id": record, "old": "line 4", "new": "line 4 later", "expect": version}
    second.call(lambda session: update(session, given))
    bring_log(second, first)
    assert [item["id"] for item in list_open(first)] == [one["id"]]
    assert "line 4 later" in first.call(lambda session: read(session, {"id": record}).data["text"])


def test_a_conflict_that_another_one_tells_ends_by_itself(tmp_path: Path) -> None:
    """Three machines: one opens the conflict, another one hears of both texts and of what came after, not of it."""
    first, second, record = make_branches(tmp_path)
    third = Machine(tmp_path, "third")
    bring(first, third)
    third.clock.wall_us += 120_000_000
    third.remember("begun on a copy")
    bring_log(second, third)
    (one,) = list_open(third)
    version = second.call(lambda session: read(session, {"id": record}).data["version"])
    given = {"id": record, "old": "line 4", "new": "line 4 later", "expect": version}
    second.call(lambda session: update(session, given))
    bring_log(second, first)
    (other,) = list_open(first)
    assert other["id"] != one["id"]
    for source, target in ((first, third), (third, first), (first, second), (third, second)):
        bring_log(source, target)
    assert {item["id"] for item in list_open(third)} == {one["id"], other["id"]}  # one side has not arrived
    bring_log(second, third)
    for machine in (first, second, third):
        assert [item["id"] for item in list_open(machine)] == [other["id"]]
        (old,) = [item for item in tell(machine, record)[3] if item[0] == one["id"]]
        assert old[1:3] == ("resolved", "superseded")


def test_of_two_files_that_two_machines_made_of_one_conflict_one_stays(tmp_path: Path) -> None:
    first, second, _ = make_branches(tmp_path)
    (first.vault / "conflicts").mkdir(exist_ok=True)
    (first.vault / "conflicts" / "Conflict in Plan.md").write_text("a note of the user's\n")
    bring_log(first, second)
    bring_log(second, first)
    second.clock.pass_s(60)
    ids = {list_open(machine)[0]["id"] for machine in (first, second)}
    assert len(ids) == 1
    for _ in range(2):
        bring_log(first, second)
        bring_log(second, first)
        name = "Conflict in Plan (2).md"
        if (first.vault / "conflicts" / name).exists():
            bring_file(first, second, f"conflicts/{name}")
        list_open(first)
        list_open(second)
    assert [path.name for path in (second.vault / "conflicts").glob("*.md")] == ["Conflict in Plan.md"]
    assert {item["id"] for item in list_open(second)} == ids


def test_a_copy_that_another_machine_found_is_not_said_to_be_gone_here(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    record = str(first.remember(LINES)["id"])
    bring(first, second)
    second.find("line 4")
    path = second.vault / show(second, record).data["path"]
    copy = path.with_name(f"{path.stem}.sync-conflict-20261130-081500-ABCDEFG.md")
    copy.write_bytes(path.read_bytes().replace(b"line 4", b"line four"))
    second.clock.pass_s(60)
    second.find("line 4")
    bring_log(second, first)
    (finding,) = list_findings(first, "conflict_copy")
    assert "was found on another machine and is not on this one" in finding["message"]
    copy.unlink()
    (finding,) = list_findings(second, "conflict_copy")
    assert "is gone" in finding["message"]
