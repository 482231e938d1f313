"""A copy that a person made beside a memory and edited before anybody looked is a memory, or is told of: never lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.app.capture import capture
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.settle import list_conflicts, settle
from tests.machines import Machine, make_two

PLAN = "memories/default/plan.md"
COPY = "memories/default/draft.md"
ELSEWHERE = "memories/default/old/draft of may.md"
TEXT = "meet in May\nin the garden\nwith everybody\nand with cake\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with one memory, whose file has been copied."""
    first, _ = make_two(tmp_path)
    first.call(lambda session: remember(session, {"text": TEXT, "title": "plan"}))
    shutil.copy2(first.vault / PLAN, first.vault / COPY)
    return first


def append(machine: Machine, path: str, line: str) -> None:
    machine.clock.pass_s(5)
    with (machine.vault / path).open("a") as file:
        file.write(f"{line}\n")


def tell(machine: Machine, path: str) -> list[str]:
    """Return the codes under which doctor names a file."""

    def ask(session: Session) -> list[str]:
        findings = diagnose(session, {}).data["findings"]
        assert isinstance(findings, list)
        return [item["code"] for item in findings if item["path"] == path]

    return machine.call(ask)


def list_open(machine: Machine) -> list[str]:
    def ask(session: Session) -> list[str]:
        found = list_conflicts(session, {}).data["conflicts"]
        assert isinstance(found, list)
        return [item["id"] for item in found]

    return machine.call(ask)


def test_a_copy_edited_before_anybody_looked_is_in_a_conflict_that_is_told(machine: Machine) -> None:
    append(machine, COPY, "bring tea")
    assert len(machine.find("everybody")) == 1
    assert len(list_open(machine)) == 1
    assert tell(machine, COPY) == ["conflict_copy"]


def test_a_copy_of_which_the_memory_was_edited_is_told_as_one_that_is_kept(machine: Machine) -> None:
    append(machine, PLAN, "bring tea")
    assert len(machine.find("everybody")) == 1
    assert list_open(machine) == []
    assert tell(machine, COPY) == ["sync_copy"]


@pytest.mark.parametrize("is_settled", [False, True])
def test_an_edited_copy_that_was_moved_is_told_where_it_lies(machine: Machine, is_settled: bool) -> None:
    append(machine, COPY, "bring tea")
    machine.find("everybody")
    (conflict,) = list_open(machine)
    if is_settled:
        machine.call(lambda session: settle(session, {"id": conflict, "keep": "A"}))
    (machine.vault / ELSEWHERE).parent.mkdir()
    (machine.vault / COPY).rename(machine.vault / ELSEWHERE)
    machine.clock.pass_s(5)
    machine.find("everybody")
    assert tell(machine, ELSEWHERE) == (["sync_copy"] if is_settled else ["conflict_copy"])
    assert tell(machine, COPY) == []


def test_a_copy_edited_beyond_likeness_is_a_memory_of_its_own(machine: Machine) -> None:
    path = machine.vault / COPY
    head, _, _ = path.read_text().partition("meet in May")
    path.write_text(f"{head}the price of steel rose by a third, and nobody in the ministry knows why it did so\n")
    machine.clock.pass_s(5)
    assert len(machine.find("steel")) == 1
    assert len(machine.find("everybody")) == 1
    assert list_open(machine) == []


@pytest.mark.parametrize("name", ["memories/default/both.md", "conflicts/Conflict in plan 2.md"])
def test_what_a_person_wrote_into_a_copy_of_a_conflict_is_told(machine: Machine, name: str) -> None:
    append(machine, COPY, "bring tea")
    machine.find("everybody")
    (path,) = (machine.vault / "conflicts").glob("*.md")
    shutil.copy2(path, machine.vault / name)
    append(machine, name, "we shall have sandwiches")
    machine.clock.pass_s(5)
    assert machine.find("sandwiches") == []
    assert tell(machine, name) == ["copy_unkept"]


@pytest.mark.parametrize("name", ["events/s/x.sync-conflict-20261106-081500-ABCDEFG.md", "events/s/x 2.md"])
def test_what_a_person_wrote_into_a_copy_of_a_transcript_is_told(machine: Machine, name: str) -> None:
    turn = {"source": "s", "session": "x", "turn": "t1", "role": "user", "text": "hello there"}
    machine.call(lambda session: capture(session, turn))
    shutil.copy2(machine.vault / "events/s/x.md", machine.vault / name)
    append(machine, name, "we shall have sandwiches")
    machine.clock.pass_s(5)
    assert machine.find("sandwiches") == []
    assert tell(machine, name) == ["copy_unkept"]


def test_an_untouched_copy_of_a_conflict_or_a_transcript_asks_for_nothing(machine: Machine) -> None:
    append(machine, COPY, "bring tea")
    turn = {"source": "s", "session": "x", "turn": "t1", "role": "user", "text": "hello there"}
    machine.call(lambda session: capture(session, turn))
    machine.find("everybody")
    (path,) = (machine.vault / "conflicts").glob("*.md")
    shutil.copy2(path, machine.vault / "memories/default/both.md")
    shutil.copy2(machine.vault / "events/s/x.md", machine.vault / "events/s/x 2.md")
    machine.call(lambda session: capture(session, {**turn, "turn": "t2", "text": "and more"}))
    assert "copy_unkept" not in [*tell(machine, "memories/default/both.md"), *tell(machine, "events/s/x 2.md")]


@pytest.mark.parametrize("is_edited", [False, True])
@pytest.mark.parametrize(
    ("name", "is_of_a_program"),
    [("draft.md", False), ("plan copy.md", False), ("plan.sync-conflict-20261130-120000-ABCDEFG.md", True)],
)
def test_only_a_copy_with_a_name_that_programs_give_is_said_to_be_of_a_sync_program(
    machine: Machine, name: str, *, is_of_a_program: bool, is_edited: bool
) -> None:
    path = f"memories/default/{name}"
    (machine.vault / COPY).rename(machine.vault / path)
    append(machine, path if is_edited else PLAN, "bring tea")
    machine.find("everybody")

    def ask(session: Session) -> list[str]:
        findings = diagnose(session, {}).data["findings"]
        assert isinstance(findings, list)
        return [item["message"] for item in findings if item["path"] == path]

    (message,) = machine.call(ask)
    assert ("sync program left" in message) is is_of_a_program
    assert "its text is kept as version" in message
