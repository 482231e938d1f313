"""Marks of git in a memory's file: the memory keeps its text, both sides are kept and stand in a conflict."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.settle import list_conflicts, settle
from onrecord.app.verify import verify
from tests.surface.test_copies import Home
from tests.vaults import check_verifies


def mark(home: Home, ours: str = "line 4 ours", theirs: str = "line 4 theirs") -> bytes:
    """Put marks around one line of the memory's file; return the file's bytes."""
    path = home.place("Plan")
    marked = f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other"
    path.write_text(path.read_text().replace("line 4 of the plan", marked))
    return path.read_bytes()


def read_text(home: Home, version: int | None = None) -> str:
    return str(read(home.session, {"id": home.record, "version": version}).data["text"])


@pytest.mark.parametrize("is_plain", [False, True])
def test_marks_are_never_the_memorys_text_and_both_sides_are_kept(tmp_path: Path, is_plain: bool) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    before = read_text(home)
    data = mark(home)
    for _ in range(2):
        home.take_in()
        assert read_text(home) == before
        assert home.list_memories() == {home.record}
        assert home.list_modes()[1:] == ["displaced", "displaced", "displaced"]
        kept = [read_text(home, version) for version in (2, 3)]
        assert [text.splitlines()[4] for text in kept] == ["line 4 ours", "line 4 theirs"]
        assert not any("<<<<<<<" in text for text in (before, *kept))
        assert len(home.list_open()) == 1
        hits = find(home.session, {"query": "HEAD"}).data["results"]
        assert hits == []
        home.open_anew()
    assert home.place("Plan").read_bytes() == data
    diagnose(home.session, {})
    check_verifies(home.session, may_differ=True)


def test_a_side_that_is_known_is_not_kept_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    mark(home, ours="line 4 of the plan")
    home.take_in()
    assert home.list_modes() == ["placed", "displaced", "displaced"]
    assert len(home.list_open()) == 1


def test_settling_puts_the_chosen_text_in_the_place_of_the_marks(tmp_path: Path) -> None:
    home = Home(tmp_path)
    mark(home, ours="line 4 of the plan")
    home.take_in()
    (conflict,) = home.list_open()
    settle(home.session, {"id": conflict, "keep": "B"})
    assert read_text(home).splitlines()[4] == "line 4 theirs"
    assert "<<<<<<<" not in home.place("Plan").read_text()
    assert home.list_open() == []
    assert home.list_modes() == ["placed", "displaced", "displaced", "placed"]
    check_verifies(home.session)


def list_members(home: Home, conflict: str) -> list[str]:
    items = list_conflicts(home.session, {"all": True}).data["conflicts"]
    assert isinstance(items, list)
    (members,) = [item["members"] for item in items if item["id"] == conflict]
    return [member.split(" ")[0].partition("@")[2] for member in members]


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize(("keep", "line"), [("A", "line 4 ours"), ("B", "line 4 theirs")])
def test_both_sides_of_the_marks_stand_in_one_conflict_and_the_kept_one_is_the_text(
    tmp_path: Path, keep: str, line: str, is_plain: bool
) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    mark(home)
    home.take_in()
    (conflict,) = home.list_open()
    assert list_members(home, conflict) == ["2", "3"]
    assert read(home.session, {"id": home.record}).data["conflict"] == conflict
    assert settle(home.session, {"id": conflict, "keep": keep}).data["kept"] == keep
    assert read_text(home).splitlines()[4] == line
    assert line in home.place("Plan").read_text()
    assert home.list_open() == []
    home.open_anew()
    home.take_in()
    assert home.list_open() == []
    check_verifies(home.session)


def test_marks_around_server_owned_keys_alone_keep_one_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = home.place("Plan")
    marked = "<<<<<<< HEAD\nversion: 7\n=======\nversion: 8\n>>>>>>> other\n"
    path.write_text(path.read_text().replace("version: 1\n", marked).replace("line 4", "line 4 merged"))
    home.take_in()
    assert home.list_modes() == ["placed", "displaced", "displaced"]
    assert len(home.list_open()) == 1


def test_a_file_that_is_mended_by_hand_is_an_edit_that_took_in_both(tmp_path: Path) -> None:
    home = Home(tmp_path)
    whole = home.place("Plan").read_text()
    mark(home, ours="line 4 of the plan")
    home.take_in()
    home.place("Plan").write_text(whole.replace("line 4 of the plan", "line 4 mended"))
    home.take_in()
    assert read_text(home).splitlines()[4] == "line 4 mended"
    assert home.list_modes()[-1] == "observed"
    with home.session.index.read() as reader:
        heads = reader.list_versions(home.record)  # type: ignore[arg-type]
    row = home.session.store.read_row(heads[-1].ref)
    assert row is not None
    assert set(row.draft.parents) == {heads[0].ref, heads[1].ref}


def test_a_note_that_tells_of_marks_in_code_is_a_note(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = home.place("Plan")
    told = "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n```"
    path.write_text(path.read_text().replace("line 4 of the plan", told))
    home.take_in()
    assert told in read_text(home)
    assert home.list_open() == []


@pytest.mark.parametrize("is_plain", [False, True])
def test_marks_within_code_are_gits_where_a_side_is_the_known_text(tmp_path: Path, is_plain: bool) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    path = home.place("Plan")
    path.write_text(path.read_text().replace("line 4 of the plan", "```\nx = 1\n```"))
    home.take_in()
    before = read_text(home)
    marked = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other"
    whole = path.read_text()
    path.write_text(whole.replace("x = 1", marked))
    home.take_in()
    assert read_text(home) == before
    assert len(home.list_open()) == 1
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    assert "merge_marks" in [item["code"] for item in findings]
    path.write_text(whole.replace("x = 1", "x = 3"))
    home.take_in()
    assert "x = 3" in read_text(home)
    assert home.list_open() == []
    check_verifies(home.session)


def test_doctor_names_the_marks_with_the_conflict_of_both_sides(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = home.place("Plan")
    marks = "<<<<<<< HEAD\nrank: 1\n=======\nrank: 2\n>>>>>>> other\n"
    path.write_text(path.read_text().replace("---\n", f"---\n{marks}", 1))
    home.take_in()
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    (named,) = (item for item in findings if item["code"] == "merge_marks")
    assert named["path"] == "memories/default/Plan.md"
    assert any(conflict in named["mend"] for conflict in home.list_open())
    codes = [item["code"] for item in findings]
    assert "displaced_edit" not in codes
    assert "server_key_changed" not in codes
    assert "front_matter_broken" not in codes
    assert "conflict_open" in codes


def test_the_marks_are_told_with_the_conflict_of_their_sides_and_with_no_older_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy("Plan.sync-conflict-20261130-173636-D4LGQYW")
    home.take_in()
    (older,) = home.list_open()
    mark(home)
    home.take_in()
    (newer,) = set(home.list_open()) - {older}
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    (named,) = (item for item in findings if item["code"] == "merge_marks")
    assert newer in named["message"]
    assert newer in named["mend"]
    assert older not in named["message"] + named["mend"]


def test_marks_are_called_marks_wherever_the_memory_is_shown(tmp_path: Path) -> None:
    home = Home(tmp_path)
    mark(home)
    home.take_in()
    for reply in (read(home.session, {"id": home.record}), find(home.session, {"query": "plan"})):
        assert [item.reason for item in reply.degraded] == ["merge_marks"]
        assert "Take the marks out" in reply.degraded[0].mend
    differences = verify(home.session, {}, Ed25519Verifier()).data["differences"]
    assert [item["code"] for item in differences] == ["merge_marks"]  # type: ignore[attr-defined]
    assert "Take the marks out" in differences[0]["mend"]  # type: ignore[index]


def test_a_merge_is_offered_only_where_one_can_be_had(tmp_path: Path) -> None:
    home = Home(tmp_path)
    mark(home)
    home.take_in()
    (conflict,) = home.list_open()
    assert "No merge can be had: both change the same place." in str(read(home.session, {"id": conflict}).data["text"])
    findings = diagnose(home.session, {}).data["findings"]
    mends = {item["code"]: item["mend"] for item in findings}  # type: ignore[attr-defined]
    for code in ("merge_marks", "conflict_open"):
        assert f"`onrecord settle {conflict} --keep A`, `B` or `current`" in mends[code]
