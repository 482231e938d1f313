"""Conflicts from the outside: listed, read, settled by who may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord.adapters.git_merge import GitMerger, find_git
from onrecord.app.capture import capture
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.importing import import_turns
from onrecord.app.missing import repair_missing
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Channel, Session
from onrecord.app.settle import list_conflicts, settle
from onrecord.app.update import update
from onrecord.domain.errors import ApprovalRequiredError, ConflictError, InvalidInputError, StaleVersionError
from onrecord.surfaces.cli.output import print_reply
from tests.fault.test_edit_in_the_window import Editor, make_meddled
from tests.machines import bring_log, make_branches
from tests.surface.test_copies import SYNCTHING, Home
from tests.vaults import check_verifies, make_vault, open_session

GIT = GitMerger(find_git())
LINES = "".join(f"line {number}\n" for number in range(9))


class Case:
    """A memory whose text an update and an editor changed at once, and the conflict of both."""

    def __init__(self, root: Path, *, channel: Channel = Channel.LIBRARY, by_user: bool = False) -> None:
        root.mkdir(exist_ok=True)
        self.vault, self.state = root / "vault", root / "state"
        make_vault(self.vault)
        editor = Editor()
        make_disk = make_meddled(editor.save, has_exchange=True)
        writer = Channel.TERMINAL if by_user else Channel.LIBRARY
        session = open_session(self.vault, self.state, make_disk=make_disk, channel=writer)
        self.record = str(remember(session, {"text": LINES, "title": "Plan"}).data["id"])
        self.path = self.vault / "memories" / "default" / "Plan.md"
        editor.text = self.path.read_text().replace("line 8\n", "line 8 by hand\n")
        data = update(session, {"id": self.record, "old": "line 0", "new": "line 0 by agent", "expect": 1}).data
        self.conflict = str(data["conflict"])
        session.close()
        self.session = open_session(self.vault, self.state, channel=channel, merger=GIT)

    def settle(self, keep: str, **more: object) -> dict[str, object]:
        return settle(self.session, {"id": self.conflict, "keep": keep, **more}).data

    def read(self) -> str:
        return str(read(self.session, {"id": self.record}).data["text"])


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def list_open(session: Session, **given: object) -> list[dict[str, object]]:
    items = list_conflicts(session, given).data["conflicts"]
    assert isinstance(items, list)
    return items


def test_an_open_conflict_is_listed_with_its_members(case: Case) -> None:
    (item,) = list_open(case.session)
    assert (item["id"], item["state"], item["title"]) == (case.conflict, "open", "Conflict in Plan")
    members = item["members"]
    assert isinstance(members, list)
    assert [member.split(" ")[0] for member in members] == [f"{case.record}@2", f"{case.record}@3"]
    log = case.session.store.log
    assert all(member.split(" ")[1].startswith(f"{log}:") for member in members)


def test_the_list_tells_origin_and_first_differing_line_of_each_side(case: Case) -> None:
    (item,) = list_open(case.session)
    assert item["sides"] == [
        {"side": "A", "origin": "agent", "line": "line 0 by agent", "written_here": True},
        {"side": "B", "origin": "file", "line": "line 0", "written_here": True},
    ]


def test_the_list_tells_which_side_was_written_on_this_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, record = make_branches(tmp_path)
    bring_log(first, second)
    bring_log(second, first)
    for machine, other in ((first, second), (second, first)):
        (item,) = machine.call(list_open)
        sides, members = item["sides"], item["members"]
        assert isinstance(sides, list)
        assert isinstance(members, list)
        logs = [member.split(" ")[1].split(":")[0] for member in members]
        assert set(logs) == {machine.log, other.log}
        assert [side["written_here"] for side in sides] == [log == machine.log for log in logs]
        shown = machine.call(lambda session: list_conflicts(session, {}))
        print_reply("conflicts", shown, as_json=False)
        lines = [line for line in capsys.readouterr().out.splitlines() if f"{record}@" in line]
        for line, log in zip(lines, logs, strict=True):
            assert ("this machine" in line, "other machine" in line) == (log == machine.log, log != machine.log)


def test_of_a_copy_nobody_can_tell_on_which_machine_it_was_written(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy(SYNCTHING, "line 0 of the plan", "line 0 of another plan")
    home.take_in()
    (item,) = list_open(home.session)
    assert ["written_here" in side for side in item["sides"]] == [True, False]  # type: ignore[attr-defined]


def test_a_long_line_of_a_side_is_cut_and_shows_no_secret(tmp_path: Path) -> None:
    home = Home(tmp_path)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    home.copy(SYNCTHING, "line 0 of the plan", f"key {token} " + "東京" * 300)
    home.take_in()
    (item,) = list_open(home.session)
    sides = item["sides"]
    assert isinstance(sides, list)
    assert sides[0]["line"] == "line 0 of the plan"
    assert sides[1]["line"].startswith("key [redacted:")
    assert len(sides[1]["line"]) == 200
    assert sides[1]["line"].endswith("京…") or sides[1]["line"].endswith("東…")


@pytest.mark.parametrize(("keep", "line"), [("A", "line 8 of the plan"), ("B", "line 8 elsewhere of the plan")])
def test_a_kept_side_brings_a_retired_memory_back(tmp_path: Path, keep: str, line: str) -> None:
    home = make_retired(tmp_path)
    settle(home.session, {"id": home.list_open()[0], "keep": keep, "expect": 3})
    shown = read(home.session, {"id": home.record}).data
    assert (shown["status"], str(shown["text"]).splitlines()[-1]) == ("current", line)
    assert "status:" not in home.place("Plan").read_text()
    assert home.record in home.list_memories()
    check_verifies(home.session)


def test_a_memory_that_is_kept_retired_gets_no_file(tmp_path: Path) -> None:
    home = make_retired(tmp_path)
    settle(home.session, {"id": home.list_open()[0], "keep": "current", "expect": 3})
    assert read(home.session, {"id": home.record}).data["status"] == "retired"
    assert not home.place("Plan").exists()
    assert home.list_open() == []
    check_verifies(home.session)


def make_retired(root: Path) -> Home:
    """Return a memory that stands in a conflict with a copy and whose file, as its copy, the user deleted for good."""
    home = Home(root)
    for number in range(4):
        remember(home.session, {"text": f"another {number}"})
    home.copy(SYNCTHING)
    home.take_in()
    for name in ("Plan", SYNCTHING):
        home.place(name).unlink()
    home.take_in()
    repair_missing(home.session, {"retire": True})
    assert read(home.session, {"id": home.record}).data["status"] == "retired"
    return home


def test_a_conflict_is_not_written_by_update(case: Case) -> None:
    version = read(case.session, {"id": case.conflict}).data["version"]
    for change in ({"text": "nothing to see"}, {"tags": ["done"]}, {"old": "Conflict", "new": "Peace"}):
        with pytest.raises(InvalidInputError, match="decided, not written") as caught:
            update(case.session, {"id": case.conflict, "expect": version, **change})
        assert f"onrecord settle {case.conflict}" in caught.value.hint
    assert case.settle("B")["version"] == 4
    with pytest.raises(InvalidInputError, match="decided, not written"):
        update(case.session, {"id": case.conflict, "expect": 2, "text": "nothing to see"})


@pytest.mark.parametrize("way", ["capture", "import"])
def test_captured_turns_attend_to_what_waits_as_any_other_write(tmp_path: Path, way: str) -> None:
    first, second, _ = make_branches(tmp_path)
    bring_log(first, second)
    turn = {"source": "chat", "session": "s", "turn": "t1", "role": "user", "text": "hello"}

    def write(session: Session) -> object:
        if way == "capture":
            capture(session, turn)
        else:
            import_turns(session, {"path": "-", "source": "chat"}, [json.dumps(turn).encode()])
        return list_conflicts(session, {}).data["conflicts"]

    assert len(second.call(write)) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keep", "first", "last", "origin"),
    [
        ("A", "line 0 by agent", "line 8", "agent"),
        ("B", "line 0", "line 8 by hand", "file"),
        ("merge", "line 0 by agent", "line 8 by hand", "file"),
    ],
)
def test_settling_makes_one_version_of_all_sides_and_ends_the_conflict(
    case: Case, keep: str, first: str, last: str, origin: str
) -> None:
    data = case.settle(keep)
    assert data == {"id": case.conflict, "record": case.record, "version": 4, "kept": keep}
    assert case.read().splitlines()[0] == first
    assert case.read().splitlines()[-1] == last
    assert case.read() in case.path.read_text()
    assert "version: 4\n" in case.path.read_text()
    assert read(case.session, {"id": case.record}).data["origin"] == origin
    versions = list_history(case.session, {"id": case.record}).data["versions"]
    assert isinstance(versions, list)
    row = case.session.store.read_row(next(iter_refs(case, 4)))
    assert row is not None
    assert {str(parent) for parent in row.draft.parents} == {versions[1]["by"], versions[2]["by"]}
    assert list_open(case.session) == []
    (settled,) = list_open(case.session, all=True)
    assert (settled["state"], settled["decision"]) == ("resolved", keep)
    assert "conflict" not in read(case.session, {"id": case.record}).data
    with pytest.raises(ConflictError, match="settled"):
        case.settle(keep)
    assert "retired_file" not in [item["code"] for item in diagnose(case.session, {}).data["findings"]]
    check_verifies(case.session)


def iter_refs(case: Case, version: int):  # type: ignore[no-untyped-def]
    with case.session.index.read() as reader:
        yield from (head.ref for head in reader.list_versions(case.record) if head.version == version)  # type: ignore[arg-type]


def test_a_conflict_answers_no_question_and_its_members_name_it(case: Case) -> None:
    for question in ("line 8 by hand", "Conflict in Plan", "settle keep merge"):
        hits = find(case.session, {"query": question}).data["results"]
        assert isinstance(hits, list)
        assert case.conflict not in [hit["id"] for hit in hits]
    hits = find(case.session, {"query": "line"}).data["results"]
    assert isinstance(hits, list)
    assert [(hit["id"], hit["conflict"]) for hit in hits] == [(case.record, case.conflict)]


def test_a_memory_that_has_moved_on_is_not_settled_over(case: Case) -> None:
    update(case.session, {"id": case.record, "old": "line 4", "new": "line 4 later", "expect": 2})
    with pytest.raises(StaleVersionError, match="moved on to version 4") as caught:
        case.settle("A")
    assert "--expect 4" in caught.value.hint
    assert list_open(case.session)
    with pytest.raises(StaleVersionError):
        case.settle("A", expect=2)
    assert case.settle("merge", expect=4)["version"] == 5
    assert [line for line in case.read().splitlines() if " by " in line or "later" in line] == [
        "line 0 by agent", "line 4 later", "line 8 by hand",
    ]  # fmt: skip


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize(
    ("keep", "first", "last"), [("A", "line 0 by agent", "line 8"), ("B", "line 0", "line 8 by hand")]
)
def test_a_kept_side_is_exactly_the_text_whatever_was_written_since(
    case: Case, keep: str, first: str, last: str, by_hand: bool
) -> None:
    if by_hand:
        case.path.write_text(case.path.read_text().replace("line 4", "line 4 later"))
    else:
        update(case.session, {"id": case.record, "old": "line 4", "new": "line 4 later", "expect": 2})
    data = case.settle(keep, expect=4)
    assert (data["version"], data["kept"]) == (5, keep)
    assert case.read().splitlines() == [first, *(f"line {number}" for number in range(1, 8)), last]
    assert case.read() in case.path.read_text()


def test_what_a_memory_says_now_can_be_kept(case: Case) -> None:
    update(case.session, {"id": case.record, "old": "line 4", "new": "line 4 later", "expect": 2})
    before = case.read()
    assert case.settle("current", expect=4)["kept"] == "current"
    assert (case.read(), list_open(case.session)) == (before, [])


def test_an_edit_by_hand_since_makes_settling_stale(case: Case) -> None:
    case.path.write_text(case.path.read_text().replace("line 4", "line 4 by hand"))
    with pytest.raises(StaleVersionError):
        case.settle("B")
    assert "line 4 by hand" in case.read()


def test_an_agent_may_not_settle_what_the_user_wrote(tmp_path: Path) -> None:
    case = Case(tmp_path, by_user=True)
    before = case.path.read_bytes()
    for keep in ("A", "B", "merge"):
        with pytest.raises(ApprovalRequiredError):
            case.settle(keep)
    assert case.path.read_bytes() == before
    assert list_open(case.session)
    case.session.close()
    case.session = open_session(case.vault, case.state, channel=Channel.TERMINAL, merger=GIT)
    assert case.settle("B")["version"] == 4


def test_without_git_a_side_can_be_kept_and_a_merge_is_refused(case: Case) -> None:
    case.session.merger = None
    with pytest.raises(ConflictError, match="no merge can be had"):
        case.settle("merge")
    assert case.settle("B")["version"] == 4


def test_what_is_no_conflict_or_no_side_is_refused(case: Case) -> None:
    with pytest.raises(InvalidInputError):
        settle(case.session, {"id": case.record, "keep": "A"})
    with pytest.raises(InvalidInputError):
        settle(case.session, {"id": case.conflict[:6], "keep": "A"})
    with pytest.raises(Exception, match="no such side"):
        case.settle("C")
    assert list_open(case.session)


def test_a_conflict_whose_file_was_changed_or_deleted_is_settled_all_the_same(case: Case) -> None:
    shown = case.vault / "conflicts" / "Conflict in Plan.md"
    shown.write_text(shown.read_text().replace("state: open", "state: resolved"))
    assert [(item["id"], item["state"]) for item in list_open(case.session)] == [(case.conflict, "open")]
    shown.write_text(shown.read_text().replace("members:", "were_members:"))
    assert [(item["id"], item["state"]) for item in list_open(case.session)] == [(case.conflict, "open")]
    assert read(case.session, {"id": case.record}).data["conflict"] == case.conflict
    shown.unlink()
    assert case.settle("B")["version"] == 4
    check_verifies(case.session)


def test_what_is_told_of_a_conflict_holds_after_the_index_is_made_anew(case: Case) -> None:
    before = list_open(case.session)
    case.session.close()
    case.session = open_session(case.vault, case.state, merger=GIT)
    assert list_open(case.session) == before
    assert read(case.session, {"id": case.record}).data["conflict"] == case.conflict
    case.settle("A")
    case.session.close()
    case.session = open_session(case.vault, case.state, merger=GIT)
    assert list_open(case.session) == []


def test_doctor_names_a_displaced_edit_until_it_is_settled(case: Case) -> None:
    def count() -> int:
        findings = diagnose(case.session, {}).data["findings"]
        assert isinstance(findings, list)
        return [item["code"] for item in findings].count("displaced_edit")

    assert count() == 1
    case.settle("B")
    assert count() == 0
