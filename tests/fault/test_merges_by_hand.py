"""Two texts that the user joined by hand are joined: no conflict is left, and nothing else counts as joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.proposals import list_proposals
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.settle import list_conflicts
from onrecord.app.update import update
from tests.fault.test_conflicts_of_machines import list_open, tell
from tests.machines import Machine, bring, bring_log, make_branches
from tests.surface.test_copies import SYNCTHING, Home
from tests.vaults import check_verifies

LINES = [f"line {number}" for number in range(9)]


def list_parents(machine: Machine, record: str) -> set[str]:
    def ask(session: Session) -> set[str]:
        with session.index.read() as reader:
            head = reader.get_current(record)  # type: ignore[arg-type]
        row = session.store.read_row(head.ref) if head is not None else None
        return {str(parent) for parent in row.draft.parents} if row is not None else set()

    return machine.call(ask)


def put(machine: Machine, text: str) -> None:
    path = machine.vault / "memories" / "default" / "Plan.md"
    front = path.read_text().split("---\n")[1]
    path.write_text(f"---\n{front}---\n{text}")


def name_tip(machine: Machine, record: str) -> str:
    return str(machine.call(lambda session: read(session, {"id": record}).data["by"]))


@pytest.mark.parametrize("is_open", [False, True])
def test_a_text_that_holds_both_edits_has_both_as_parents(tmp_path: Path, is_open: bool) -> None:
    first, second, record = make_branches(tmp_path)
    tips = {name_tip(machine, record) for machine in (first, second)}
    bring_log(first, second)
    if is_open:
        assert len(list_open(second)) == 1
    put(second, "\n".join(["line 0 changed", *LINES[1:8], "line 8 changed", "mended by hand"]) + "\n")
    assert list_open(second) == []
    assert list_parents(second, record) == tips
    bring(second, first)
    assert list_open(first) == []
    assert tell(first, record) == tell(second, record)
    for machine in (first, second):
        machine.call(lambda session: check_verifies(session, may_differ=True))


@pytest.mark.parametrize("is_open", [False, True])
def test_a_text_without_the_words_of_a_side_leaves_it_in_conflict(tmp_path: Path, is_open: bool) -> None:
    first, second, record = make_branches(tmp_path)
    bring_log(first, second)
    if is_open:
        list_open(second)
    put(second, "\n".join([*LINES[:8], "line 8 changed", "and more"]) + "\n")
    (conflict,) = list_open(second)
    assert len(list_parents(second, record)) == 1
    assert {member.split("@")[0] for member in conflict["members"]} == {record}


def test_between_marks_of_two_machines_the_mended_text_joins_both(tmp_path: Path) -> None:
    first, second, record = make_branches(tmp_path)
    tips = {name_tip(machine, record) for machine in (first, second)}
    bring_log(first, second)
    path = second.vault / "memories" / "default" / "Plan.md"
    ours, theirs = path.read_text(), (first.vault / "memories" / "default" / "Plan.md").read_text()
    path.write_text(f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n")
    (conflict,) = list_open(second)
    assert {member.split(" ")[1] for member in conflict["members"]} == tips
    path.write_text(ours.replace("line 8 changed", "line 8 in words of neither"))
    assert list_open(second) == []
    assert list_parents(second, record) == tips
    (told,) = tell(second, record)[3]
    assert told[1:3] == ("resolved", "merged")


@pytest.mark.parametrize("is_plain", [False, True])
def test_between_marks_of_texts_that_were_not_known_the_mended_text_joins_all(tmp_path: Path, is_plain: bool) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    whole = home.place("Plan").read_text()
    marked = "<<<<<<< HEAD\nline 4 ours\n=======\nline 4 theirs\n>>>>>>> other"
    home.place("Plan").write_text(whole.replace("line 4 of the plan", marked))
    home.take_in()
    assert len(home.list_open()) == 1
    home.place("Plan").write_text(whole.replace("line 4 of the plan", "line 4 mended"))
    home.take_in()
    assert home.list_open() == []
    with home.session.index.read() as reader:
        heads = reader.list_versions(home.record)  # type: ignore[arg-type]
    row = home.session.store.read_row(heads[-1].ref)
    assert row is not None
    assert {heads[1].ref, heads[2].ref} <= set(row.draft.parents)
    home.open_anew()
    home.take_in()
    assert home.list_open() == []
    check_verifies(home.session)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_memory_that_took_in_its_copy_by_hand_has_no_conflict_left(tmp_path: Path, is_deleted: bool) -> None:
    home = Home(tmp_path)
    copy = home.copy(SYNCTHING)
    home.place("Plan").write_text(home.place("Plan").read_text().replace("line 0", "line 0 here"))
    home.take_in()
    assert len(home.list_open()) == 1
    text = home.place("Plan").read_text()
    home.place("Plan").write_text(text.replace("line 8", "line 8 elsewhere"))
    if is_deleted:
        copy.unlink()
    home.take_in()
    assert home.list_open() == []
    assert home.list_modes()[-1] == "observed"
    check_verifies(home.session, may_differ=True)


@pytest.mark.parametrize("user", ["first", "second"])
@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_merge_by_hand_asks_for_nothing_by_the_keys_of_either_side(tmp_path: Path, user: str, side: str) -> None:
    first, second, _ = make_branches(tmp_path, user=user)
    bring_log(first, second)
    paths = [machine.vault / "memories" / "default" / "Plan.md" for machine in (first, second)]
    text = paths[side == "ours"].read_text()
    paths[1].write_text(text.replace("line 0\n", "line 0 changed\n").replace("line 8\n", "line 8 changed\nmended\n"))
    assert list_open(second) == []
    assert second.call(lambda session: list_proposals(session, {}).data["total"]) == 0
    findings = second.call(lambda session: diagnose(session, {}).data["findings"])
    assert "server_key_changed" not in [item["code"] for item in findings]  # type: ignore[attr-defined]


def test_an_agent_that_writes_the_words_of_both_sides_settles_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy(SYNCTHING)
    home.take_in()
    assert len(home.list_open()) == 1
    version = read(home.session, {"id": home.record}).data["version"]
    update(home.session, {"id": home.record, "old": "line 8", "new": "line 8 elsewhere", "expect": version})
    remember(home.session, {"text": "another write"})
    assert len(list_conflicts(home.session, {}).data["conflicts"]) == 1  # type: ignore[arg-type]
