"""Which file is whose does not depend on who has seen it copied and renamed: the ledgers tell it to a fresh index."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.settle import list_conflicts
from onrecord.app.update import update
from tests.fault.test_known_bytes import reindex, show
from tests.machines import Machine, bring, bring_file, bring_log, make_two

OLD = "memories/default/tea.md"
COPY = "memories/default/copy.md"
THIRD = "memories/default/third.md"
SYNCED = "memories/default/tea.sync-conflict-20261106-081500-ABCDEFG.md"
TEXT = "green tea at four\nin the garden\nwith lemon\nand sugar\n"


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def keep(machine: Machine, *, is_plain: bool) -> str:
    """Return a memory at the old place."""
    if is_plain:
        (machine.vault / OLD).parent.mkdir(parents=True, exist_ok=True)
        (machine.vault / OLD).write_text(TEXT)
    else:
        machine.call(lambda session: remember(session, {"text": TEXT, "title": "tea"}))
    machine.find("green tea")

    def get(session: Session) -> str:
        with session.index.read() as reader:
            stamp = reader.get_file(OLD)
        assert stamp is not None
        return stamp.record

    return machine.call(get)


def act(machine: Machine, step: tuple[str, ...]) -> None:
    """Copy, move or delete by hand, then look."""
    machine.clock.pass_s(5)
    full = [machine.vault / path for path in step[1:]]
    if step[0] == "copy":
        shutil.copy(*full)
    elif step[0] == "move":
        full[0].rename(full[1])
    else:
        full[0].unlink()
    machine.find("green tea")


def list_places(machine: Machine) -> list[tuple[str, str]]:
    found = machine.find("green tea")
    return [(record, str(show(machine, record).data["path"])) for record, _ in found]


def count_conflicts(machine: Machine) -> int:
    found = machine.call(lambda session: list_conflicts(session, {}).data["conflicts"])
    assert isinstance(found, list)
    return len(found)


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize(
    "steps",
    [
        [("copy", OLD, COPY), ("delete", OLD)],
        [("copy", OLD, COPY), ("move", COPY, THIRD), ("delete", OLD)],
        [("copy", OLD, COPY), ("move", COPY, THIRD), ("move", OLD, COPY)],
        [("copy", OLD, COPY), ("move", OLD, THIRD), ("move", COPY, OLD)],
        [("move", OLD, COPY), ("copy", COPY, OLD), ("delete", COPY)],
    ],
)
def test_a_fresh_index_gives_each_of_two_alike_files_the_record_that_the_session_gave_it(
    machines: tuple[Machine, Machine], steps: list[tuple[str, ...]], is_plain: bool
) -> None:
    first, second = machines
    keep(first, is_plain=is_plain)
    for step in steps:
        act(first, step)
    shown = list_places(first)
    reindex(first)
    assert list_places(first) == shown
    ledger = first.list_entries()
    reindex(first)
    assert first.list_entries() == ledger, "what the ledger tells is not told again"
    shutil.copytree(first.vault, second.vault, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock"))
    second.clock.pass_s(60)
    assert list_places(second) == shown


@pytest.mark.parametrize("has_moved", [False, True])
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_fresh_index_gives_the_memory_to_its_file_and_not_to_an_edited_copy_beside_it(
    machines: tuple[Machine, Machine], is_edited: bool, has_moved: bool
) -> None:
    first, second = machines
    record = keep(first, is_plain=False)
    shutil.copy(first.vault / OLD, first.vault / COPY)
    (first.vault / COPY).write_text((first.vault / COPY).read_text() + "copied\n")
    here = first.vault / OLD
    if has_moved:
        act(first, ("move", OLD, THIRD))
        here = first.vault / THIRD
    assert {found for found, _ in first.find("green tea")} == {record}
    assert count_conflicts(first) == 1
    if is_edited:
        here.write_text(here.read_text() + "stirred\n")
    shutil.copytree(first.vault, second.vault, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock"))
    second.clock.pass_s(60)
    for machine in (first, second):
        reindex(machine)
        shown = show(machine, record).data
        assert "copied" not in str(shown["text"])
        assert ("stirred" in str(shown["text"])) == is_edited
        assert count_conflicts(machine) == 1


def test_a_place_that_no_log_tells_is_told_by_whoever_finds_the_file_there(machines: tuple[Machine, Machine]) -> None:
    first, _ = machines
    record = keep(first, is_plain=False)
    (first.vault / OLD).rename(first.vault / THIRD)
    reindex(first)
    moves = [entry for entry in first.list_entries() if entry["type"] == "record.move"]
    assert [entry["rec"] for entry in moves] == [record]


@pytest.mark.parametrize("has_log_first", [False, True])
def test_a_file_named_as_a_sync_copy_is_the_memory_that_another_machine_made_of_it(
    machines: tuple[Machine, Machine], has_log_first: bool
) -> None:
    first, second = machines
    kept = keep(first, is_plain=True)
    (second.vault / SYNCED).parent.mkdir(parents=True, exist_ok=True)
    (second.vault / SYNCED).write_text(f"{TEXT}stirred\n")
    other = second.find("stirred")[0][0]
    if has_log_first:
        bring_log(second, first)
    bring_file(second, first, SYNCED)
    bring_file(first, second, OLD)
    for machine in (first, second):
        machine.find("green tea")
    for _ in range(2):
        bring_log(first, second)
        bring_log(second, first)
        for machine in (first, second):
            machine.clock.pass_s(5)
            machine.find("green tea")
    for machine in (first, second):
        assert {record for record, _ in machine.find("green tea")} == {kept, other}
        assert [record for record, _ in machine.find("stirred")] == [other]
        reindex(machine)
        assert {record for record, _ in machine.find("green tea")} == {kept, other}


def test_a_copy_that_was_the_file_while_there_was_none_gives_the_memory_to_the_file_not_named_so(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = keep(first, is_plain=False)
    older = (first.vault / OLD).read_bytes()
    bring(first, second)
    second.clock.pass_s(5)
    second.call(lambda session: update(session, {"id": record, "text": f"{TEXT}stirred", "expect": 1}))
    newer = (second.vault / OLD).read_bytes()
    bring_log(second, first)
    (first.vault / OLD).unlink()
    (first.vault / SYNCED).write_bytes(older)
    first.clock.pass_s(5)
    assert list_places(first) == [(record, SYNCED)]
    (first.vault / THIRD).write_bytes(newer)
    first.clock.pass_s(5)
    for _ in range(2):
        assert list_places(first) == [(record, THIRD)]
        reindex(first)


def test_a_copy_of_a_memory_that_is_named_as_a_copy_is_no_memory_under_a_fresh_index(
    machines: tuple[Machine, Machine],
) -> None:
    first, _ = machines
    (first.vault / SYNCED).parent.mkdir(parents=True, exist_ok=True)
    (first.vault / SYNCED).write_text(f"{TEXT}stirred\n")
    other = first.find("stirred")[0][0]
    kept = keep(first, is_plain=True)
    first.call(lambda session: update(session, {"id": other, "text": "black coffee, stirred", "expect": 1}))
    nested = first.vault / SYNCED.replace(".md", ".sync-conflict-20261107-081500-ABCDEFG.md")
    nested.write_text(f"{TEXT}stirred\n")
    first.clock.pass_s(5)
    for _ in range(2):
        assert [record for record, _ in first.find("lemon")] == [kept]
        assert [record for record, _ in first.find("stirred")] == [other]
        reindex(first)
