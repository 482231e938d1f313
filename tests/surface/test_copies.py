"""Files that sync programs leave beside a memory's own: kept as versions, in a conflict, never memories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.adapters.git_merge import GitMerger, find_git
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Channel, Reply
from onrecord.app.settle import list_conflicts, settle
from tests.vaults import check_verifies, make_vault, open_session

GIT = GitMerger(find_git())
TEXT = "".join(f"line {number} of the plan\n" for number in range(9))
SYNCTHING = "Plan.sync-conflict-20261130-173636-D4LGQYW"
DROPBOX = "Plan (Mia's conflicted copy 2026-11-30)"


class Home:
    """A vault with one memory `Plan`, with an id or as a plain note."""

    def __init__(self, root: Path, *, is_plain: bool = False) -> None:
        self.root = root
        make_vault(root / "vault")
        self.session = open_session(root / "vault", root / "state", channel=Channel.TERMINAL, merger=GIT)
        if is_plain:
            self.place("Plan").parent.mkdir(parents=True, exist_ok=True)
            self.place("Plan").write_text(TEXT)
            self.take_in()
            hits = find(self.session, {"query": "plan"}).data["results"]
            assert isinstance(hits, list)
            self.record = str(hits[0]["id"])
        else:
            self.record = str(remember(self.session, {"text": TEXT, "title": "Plan"}).data["id"])

    def place(self, name: str) -> Path:
        return self.root / "vault" / "memories" / "default" / f"{name}.md"

    def take_in(self) -> None:
        reconcile(self.session, Reply())

    def open_anew(self) -> None:
        """Open the vault with an index made anew."""
        self.session.close()
        self.session = open_session(self.root / "vault", self.root / "state", channel=Channel.TERMINAL, merger=GIT)

    def copy(self, name: str, old: str = "line 8", new: str = "line 8 elsewhere") -> Path:
        self.place(name).write_text(self.place("Plan").read_text().replace(old, new))
        return self.place(name)

    def list_memories(self) -> set[str]:
        hits = find(self.session, {"query": "line plan", "limit": 50}).data["results"]
        assert isinstance(hits, list)
        return {hit["id"] for hit in hits}

    def list_modes(self) -> list[str]:
        versions = list_history(self.session, {"id": self.record}).data["versions"]
        assert isinstance(versions, list)
        return [item["mode"] for item in versions]

    def list_open(self) -> list[str]:
        items = list_conflicts(self.session, {}).data["conflicts"]
        assert isinstance(items, list)
        return [item["id"] for item in items]


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("name", [SYNCTHING, DROPBOX, "Plan (Mia 的冲突副本 2026-11-30)", "Plan 2", "Plan-MIAS-PC"])
def test_a_copy_is_a_version_in_a_conflict_and_no_memory(tmp_path: Path, name: str, is_plain: bool) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    copy = home.copy(name)
    before = copy.read_bytes(), os.stat(copy)
    for _ in range(2):
        home.take_in()
        assert home.list_memories() == {home.record}
        assert home.list_modes()[-1] == "displaced"
        assert home.list_modes().count("displaced") == 1
        (conflict,) = home.list_open()
        assert read(home.session, {"id": home.record}).data["conflict"] == conflict
        assert "elsewhere" not in str(read(home.session, {"id": home.record}).data["text"])
        home.open_anew()
    assert (copy.read_bytes(), os.stat(copy).st_mtime_ns) == (before[0], before[1].st_mtime_ns)
    check_verifies(home.session)
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    assert "missing_file" not in [item["code"] for item in findings]


@pytest.mark.parametrize("is_plain", [False, True])
def test_a_sync_program_that_renames_the_losing_file_makes_no_memory_of_it(tmp_path: Path, is_plain: bool) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    arrived = home.place("Plan").read_text().replace("line 0", "line 0 arrived")
    home.place("Plan").write_text(home.place("Plan").read_text().replace("line 8", "line 8 here"))
    home.place("Plan").rename(home.place(SYNCTHING))
    home.place("Plan").write_text(arrived)
    home.take_in()
    assert home.list_memories() == {home.record}
    text = str(read(home.session, {"id": home.record}).data["text"])
    assert "line 0 arrived" in text
    (conflict,) = home.list_open()
    assert settle(home.session, {"id": conflict, "keep": "merge"}).data["copies"]
    text = str(read(home.session, {"id": home.record}).data["text"])
    assert "line 0 arrived" in text
    assert "line 8 here" in text
    check_verifies(home.session)


def test_a_copy_with_known_bytes_says_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy(SYNCTHING, "", "")
    home.copy("Plan 2", "", "")
    for _ in range(2):
        home.take_in()
        assert home.list_memories() == {home.record}
        assert home.list_modes() == ["placed"]
        assert home.list_open() == []
        home.open_anew()


@pytest.mark.parametrize("name", ["Plan 2", "Plan-HOST", "Plan (1)"])
def test_a_name_that_people_give_is_no_copy_of_another_text(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path)
    home.place(name).write_text("something quite different: bread, milk, and a plan for Sunday\n")
    home.take_in()
    assert home.list_open() == []
    assert len(home.list_memories()) == 2


def test_a_second_file_with_one_id_is_a_copy_whatever_its_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy("another name")
    home.take_in()
    assert home.list_memories() == {home.record}
    assert len(home.list_open()) == 1


def test_a_copy_that_is_rewritten_under_another_id_is_a_memory(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.place("other").write_text(
        home.place("Plan").read_text().replace(TEXT, "bread, milk, eggs: a list for the plan of Sunday\n")
    )
    home.take_in()
    assert len(home.list_memories()) == 2
    assert home.list_open() == []


def test_an_orphan_copy_is_a_memory_so_that_its_text_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path, is_plain=True)
    home.place("Lost.sync-conflict-20261130-173636-D4LGQYW").write_text("a text about penguins\n")
    home.take_in()
    hits = find(home.session, {"query": "penguins"}).data["results"]
    assert isinstance(hits, list)
    assert len(hits) == 1


def test_a_copy_that_is_edited_again_is_one_more_version(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy(DROPBOX)
    home.take_in()
    home.copy(DROPBOX, "line 8", "line 8 again elsewhere")
    home.take_in()
    assert home.list_modes() == ["placed", "displaced", "displaced"]
    assert len(home.list_open()) == 2
    assert home.list_memories() == {home.record}


def test_after_the_user_deletes_a_copy_or_settles_nothing_more_happens(tmp_path: Path) -> None:
    home = Home(tmp_path)
    copy = home.copy(SYNCTHING)
    home.take_in()
    (conflict,) = home.list_open()
    data = settle(home.session, {"id": conflict, "keep": "B"}).data
    assert data["copies"] == [f"memories/default/{SYNCTHING}.md"]
    assert copy.exists()
    for _ in range(2):
        home.take_in()
        assert home.list_open() == []
        assert home.list_modes() == ["placed", "displaced", "placed"]
        home.open_anew()
    copy.unlink()
    home.take_in()
    assert home.list_modes() == ["placed", "displaced", "placed"]
    assert home.list_memories() == {home.record}


def test_a_copy_is_deleted_at_a_word_only_while_its_bytes_are_kept(tmp_path: Path) -> None:
    home = Home(tmp_path)
    copies = [home.copy(SYNCTHING), home.copy(DROPBOX, "line 7", "line 7 elsewhere")]
    home.take_in()
    first, second = home.list_open()
    copies[1].write_text(copies[1].read_text() + "edited since\n")
    gone = settle(home.session, {"id": first, "keep": "A", "remove_copies": True}).data
    kept = settle(home.session, {"id": second, "keep": "A", "remove_copies": True, "expect": gone["version"]}).data
    assert [gone.get("removed", []), kept.get("removed", [])].count([]) == 1
    assert sorted(copy.exists() for copy in copies) == [False, True]
    assert copies[1].read_text().endswith("edited since\n")
    assert not list(copies[1].parent.glob(".onrecord*"))


@pytest.mark.parametrize("edit", [("since", "Since"), ("", "")])
@pytest.mark.parametrize(
    "name",
    ["conflicts/Conflict in Plan.sync-conflict-20261130-173636-D4LGQYW", "conflicts/kept", "memories/default/kept"],
)
def test_a_copy_of_a_conflict_file_is_nothing(tmp_path: Path, name: str, edit: tuple[str, str]) -> None:
    home = Home(tmp_path)
    home.copy(SYNCTHING)
    home.take_in()
    shown = home.root / "vault" / "conflicts" / "Conflict in Plan.md"
    (home.root / "vault" / f"{name}.md").write_text(shown.read_text().replace(*edit))
    home.take_in()
    assert len(home.list_open()) == 1
    assert home.list_memories() == {home.record}


def test_a_copy_that_is_renamed_over_the_memorys_file_is_an_edit(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy(SYNCTHING).rename(home.place("x"))
    home.take_in()
    home.place("x").rename(home.place("Plan"))
    home.take_in()
    shown = read(home.session, {"id": home.record}).data
    assert "line 8 elsewhere" in str(shown["text"])
    assert home.list_memories() == {home.record}


def list_findings(home: Home, *codes: str) -> list[tuple[str, str]]:
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    return [(item["code"], item["path"]) for item in findings if item["code"] in codes]


def test_doctor_names_a_copy_by_its_path_and_the_open_conflict_and_no_write(tmp_path: Path) -> None:
    home = Home(tmp_path)
    copy = home.copy(SYNCTHING)
    home.take_in()
    named = list_findings(home, "conflict_copy", "conflict_open", "displaced_edit", "merge_marks")
    assert [code for code, _ in named] == ["conflict_open", "conflict_copy"]
    assert named[1][1] == copy.relative_to(tmp_path / "vault").as_posix()
    (conflict,) = home.list_open()
    settle(home.session, {"id": conflict, "keep": "A", "remove_copies": True})
    assert list_findings(home, "conflict_copy", "conflict_open", "displaced_edit") == []


@pytest.mark.parametrize(
    "name", ["Plan (Case Conflict)", "plan (Case Conflict)", "Plan.conflict-20261130-103045", SYNCTHING]
)
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_copy_with_the_id_line_is_no_memory_and_doctor_names_it(tmp_path: Path, name: str, is_edited: bool) -> None:
    home = Home(tmp_path)
    home.copy(name, *(() if is_edited else ("line 8", "line 8")))
    home.take_in()
    for _ in range(2):
        assert home.list_memories() == {home.record}
        assert len(home.list_open()) == is_edited
        findings = diagnose(home.session, {}).data["findings"]
        assert "duplicate_id" not in [item["code"] for item in findings]
        assert len([item for item in findings if item["code"] == "conflict_copy"]) == is_edited
        copies = [item for item in findings if item["code"] == "sync_copy"]
        assert [(item["severity"], item["path"]) for item in copies] == (
            [] if is_edited else [("info", f"memories/default/{name}.md")]
        )
        assert all(home.record in item["message"] and "may be deleted" in item["mend"] for item in copies)
        home.open_anew()
        home.take_in()
    for conflict in home.list_open():
        settle(home.session, {"id": conflict, "keep": "A"})
    assert "sync_copy" in [item["code"] for item in diagnose(home.session, {}).data["findings"]]


def test_a_copy_that_is_gone_is_told_to_be_gone_and_at_the_memorys_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy(SYNCTHING)
    home.take_in()
    home.place(SYNCTHING).unlink()
    home.take_in()
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    (named,) = [item for item in findings if item["code"] == "conflict_copy"]
    assert named["path"] == "memories/default/Plan.md"
    assert "is gone; its text is kept as version 2" in named["message"]
    assert "onrecord conflicts" in named["mend"]
    settle(home.session, {"id": home.list_open()[0], "keep": "A"})
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    assert "conflict_copy" not in [item["code"] for item in findings]


def test_a_memory_at_the_place_of_a_copy_that_is_gone_is_called_no_copy(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy("Plan 2")
    home.take_in()
    home.place("Plan 2").unlink()
    home.take_in()
    remember(home.session, {"text": "other words about birds", "title": "Plan 2"})
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    assert home.place("Plan 2").exists()
    assert [item["path"] for item in findings if item["code"] == "conflict_copy"] == ["memories/default/Plan.md"]


def test_a_question_without_hits_says_that_open_conflicts_are_not_searched(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert find(home.session, {"query": "zeppelin"}).warnings == []
    home.copy(SYNCTHING, new="line 8 zeppelin")
    home.take_in()
    nothing = find(home.session, {"query": "zeppelin"})
    assert nothing.data["status"] == "no_match"
    assert nothing.warnings == ["1 open conflict is not searched; `onrecord conflicts` lists what to settle"]
    assert find(home.session, {"query": "plan"}).warnings == []
    settle(home.session, {"id": home.list_open()[0], "keep": "A"})
    assert find(home.session, {"query": "zeppelin"}).warnings == []


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize(
    "name", ["Plan copy", "Plan copy 2", "Plan - Copy", "Plan - Copy (2)", "Plan のコピー", "Plan 副本", "Copy of Plan"]
)
def test_an_exact_copy_that_a_person_made_beside_a_file_is_no_memory_and_is_told(
    tmp_path: Path, name: str, is_plain: bool
) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    home.copy(name, "", "")
    for _ in range(2):
        home.take_in()
        assert home.list_memories() == {home.record}
        assert home.list_modes() == ["observed" if is_plain else "placed"]
        assert list_findings(home, "sync_copy") == [("sync_copy", f"memories/default/{name}.md")]
        home.open_anew()
    text = home.place("Plan").read_text().replace("line 0", "line 0 later")
    home.place("Plan").write_text(text)
    for _ in range(2):
        home.take_in()
        assert home.list_memories() == {home.record}
        home.open_anew()
    check_verifies(home.session)


def test_a_plain_note_copied_by_hand_is_a_memory_once_it_says_something_else(tmp_path: Path) -> None:
    home = Home(tmp_path, is_plain=True)
    home.copy("Plan copy", "", "")
    home.take_in()
    home.copy("Plan copy", "line 8", "line 8 of another plan")
    for _ in range(2):
        home.take_in()
        assert len(home.list_memories()) == 2
        assert home.list_open() == []
        home.open_anew()
    check_verifies(home.session)
