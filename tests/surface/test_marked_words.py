"""No word of a file with marks of git is lost: the file as it is is a version, in each state that was seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply
from onrecord.app.settle import settle
from onrecord.app.update import update
from onrecord.ports.store import VersionRow
from tests.fault.test_conflicts_of_machines import list_open
from tests.fault.test_edit_in_the_window import GIT, Editor, make_meddled
from tests.machines import LINES, bring, bring_file, bring_log, make_branches, make_two
from tests.surface.test_copies import Home
from tests.vaults import check_verifies, open_session

MARKS = "<<<<<<< HEAD {a}\nline 4 ours\n||||||| base\n{b}\n=======\nline 4 theirs\n>>>>>>> other {c}"
WORDS = {"a": "zebra", "b": "okapi", "c": "quagga"}


def mark(home: Home, **words: str) -> bytes:
    """Put marks around one line of the memory's file, with words on and between them; return the file's bytes."""
    path = home.place("Plan")
    path.write_text(path.read_text().replace("line 4 of the plan", MARKS.format(**(WORDS | words))))
    return path.read_bytes()


def take_in(home: Home) -> list[str]:
    reply = Reply()
    reconcile(home.session, reply)
    return reply.warnings


def list_kept(home: Home) -> list[bytes]:
    rows = (row for row in home.session.store.read_rows(home.session.store.log) if isinstance(row, VersionRow))
    return [row.draft.data for row in rows if row.draft.id == home.record]


def write_over(home: Home, keep: str) -> Reply:
    if keep == "update":
        return update(home.session, {"id": home.record, "text": "agent text", "expect": 1})
    (conflict,) = home.list_open()
    return settle(home.session, {"id": conflict, "keep": keep})


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("keep", ["A", "B", "current", "update"])
def test_what_a_write_over_marks_takes_away_is_kept_and_named(tmp_path: Path, keep: str, is_plain: bool) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    seen = mark(home)
    home.take_in()
    home.place("Plan").write_bytes(seen.replace(b"okapi", b"okapi\nadded after the first look"))
    reply = write_over(home, keep)
    later = seen.replace(b"okapi", b"okapi\nadded after the first look")
    assert {seen, later} <= set(list_kept(home))
    (told,) = [warning for warning in reply.warnings if "was written over" in warning]
    entry = told.rpartition("--entry ")[2].rstrip("`")
    assert "added after the first look" in str(read(home.session, {"id": home.record, "entry": entry}).data["text"])
    assert b"<<<<<<<" not in home.place("Plan").read_bytes()
    codes = [item["code"] for item in diagnose(home.session, {}).data["findings"]]  # type: ignore[attr-defined]
    assert "merge_marks" not in codes
    assert "displaced_edit" not in codes
    check_verifies(home.session)


def test_each_state_of_a_marked_file_is_kept_once_and_opens_no_conflict_of_its_own(tmp_path: Path) -> None:
    home = Home(tmp_path)
    seen = mark(home)
    states = [seen, seen.replace(b"okapi", b"tapir")]
    for data in (*states, seen):
        home.place("Plan").write_bytes(data)
        for _ in range(2):
            home.take_in()
            home.open_anew()
    assert [data for data in list_kept(home) if b"<<<<<<<" in data] == states
    assert len(home.list_open()) == 1
    assert home.list_modes() == ["placed", *["displaced"] * 4]
    assert "line 4 of the plan" in str(read(home.session, {"id": home.record}).data["text"])
    check_verifies(home.session, may_differ=True)


def test_a_memory_that_tells_of_marks_is_edited_like_any_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    told = "How marks look:\n" + MARKS.format(**WORDS)
    path = home.place("Marks")
    path.write_text(told)
    home.take_in()
    path.write_text(told.replace("okapi", "okapi\ntapir"))
    home.take_in()
    (hit,) = find(home.session, {"query": "tapir"}).data["results"]  # type: ignore[misc]
    assert hit["version"] == 2
    assert "tapir" in str(read(home.session, {"id": hit["id"]}).data["text"])
    assert home.list_open() == []
    path.write_text(path.read_text() + "\n" + MARKS.format(**WORDS))
    home.take_in()
    assert len(home.list_open()) == 1


@pytest.mark.parametrize("nested", ["", "<<<<<<< HEAD\nkiwi\n=======\nkea\n>>>>>>> c\n"])
def test_lines_like_marks_that_become_words_are_told_when_they_do_and_by_doctor(tmp_path: Path, nested: str) -> None:
    home = Home(tmp_path)
    told = MARKS.format(**WORDS)
    path = home.place("New")
    path.write_text("before\n" + told.replace("=======\n", f"=======\n{nested}", 1))
    warnings = [warning for warning in take_in(home) if "look like marks" in warning]
    assert len(warnings) == 1
    assert path.name in warnings[0]
    path.write_text(path.read_text() + "one more line\n")
    assert not [warning for warning in take_in(home) if "look like marks" in warning]
    findings = diagnose(home.session, {}).data["findings"]
    marks = [item for item in findings if item["code"] == "merge_marks"]  # type: ignore[attr-defined]
    assert [(item["severity"], item["path"]) for item in marks] == [("info", f"memories/default/{path.name}")]
    path.write_text("```\n" + told + "\n```\n")
    home.take_in()
    findings = diagnose(home.session, {}).data["findings"]
    assert not [item for item in findings if item["code"] == "merge_marks"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize(
    "marked",
    [
        "<<<<<<< HEAD\nline 4 ours\n=======\n<<<<<<< HEAD\nkiwi\n=======\nkea\n>>>>>>> c\n>>>>>>> b",
        "<<<<<<< HEAD\nline 4 ours\n=======\n<<<<<<<< HEAD:a.md\nkiwi\n========\nkea\n>>>>>>>> c:b.md\n>>>>>>> b",
    ],
)
def test_marks_within_marks_are_nobodys_words_and_the_file_is_kept_as_it_is(
    tmp_path: Path, marked: str, is_plain: bool
) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    before = home.place("Plan").read_text()
    home.place("Plan").write_text(before.replace("line 4 of the plan", marked))
    data = home.place("Plan").read_bytes()
    for _ in range(2):
        home.take_in()
        assert "line 4 of the plan" in str(read(home.session, {"id": home.record}).data["text"])
        assert find(home.session, {"query": "kiwi"}).data["results"] == []
        assert list_kept(home).count(data) == 1
        assert home.list_open() == []
        findings = diagnose(home.session, {}).data["findings"]
        files = [item["code"] for item in findings if item["check"].startswith("files.")]  # type: ignore[attr-defined]
        assert files == ["merge_marks"]
        home.open_anew()
    home.place("Plan").write_text(before.replace("line 4 of the plan", "kea"))
    home.take_in()
    assert "kea" in str(read(home.session, {"id": home.record}).data["text"])
    check_verifies(home.session)


def test_marks_of_more_characters_are_marks(tmp_path: Path) -> None:
    home = Home(tmp_path)
    mark(home)
    path = home.place("Plan")
    path.write_text(re.sub(r"^([<|=>]{7})", lambda found: found[1][0] * 8, path.read_text(), flags=re.MULTILINE))
    home.take_in()
    assert "line 4 of the plan" in str(read(home.session, {"id": home.record}).data["text"])
    assert len(home.list_open()) == 1


def test_marks_that_are_saved_while_a_write_is_placed_are_kept_and_merged_into_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session.close()
    editor = Editor()
    make_disk: Callable[..., object] = make_meddled(editor.save, has_exchange=True)
    home.session = open_session(home.root / "vault", home.root / "state", merger=GIT, make_disk=make_disk)
    marked = home.place("Plan").read_text().replace("line 4 of the plan", MARKS.format(**WORDS))
    editor.text = marked
    given = {"id": home.record, "old": "line 8 of", "new": "line 8 now of", "expect": 1}
    assert "conflict" in update(home.session, given).data
    assert marked.encode() in list_kept(home)
    text = str(read(home.session, {"id": home.record}).data["text"])
    assert "<<<<<<<" not in text
    assert "line 8 now" in text
    check_verifies(home.session)


def test_two_machines_that_see_the_same_marks_come_to_rest(tmp_path: Path) -> None:
    first, second, record = make_branches(tmp_path)
    path = "memories/default/Plan.md"
    ours, theirs = ((machine.vault / path).read_text() for machine in (first, second))
    (first.vault / path).write_text(f"<<<<<<< HEAD\n{ours}||||||| okapi\n=======\n{theirs}>>>>>>> other\n")
    bring_file(first, second, path)
    counts: list[tuple[int, int]] = []
    for _ in range(4):
        for one, other in ((first, second), (second, first)):
            list_open(one)
            bring_log(one, other)
        versions = first.call(lambda session: list_history(session, {"id": record}).data["versions"])
        counts.append((len(list_open(first)), len(versions)))  # type: ignore[arg-type]
    assert counts[-1] == counts[-2]
    assert {item["id"] for item in list_open(first)} == {item["id"] for item in list_open(second)}
    (conflict,) = list_open(first)
    first.call(lambda session: settle(session, {"id": conflict["id"], "keep": "A"}))
    for _ in range(2):
        bring(first, second)
        assert list_open(second) == []
        bring_log(second, first)
        assert list_open(first) == []


@pytest.mark.parametrize("is_mended", [False, True])
def test_marks_that_both_machines_kept_are_decided_once(tmp_path: Path, is_mended: bool) -> None:
    """One settles, or mends by hand, before it has heard of the other one's versions of the sides."""
    first, second = make_two(tmp_path)
    first.call(lambda session: remember(session, {"text": LINES, "title": "Plan"}))
    bring(first, second)
    path = "memories/default/Plan.md"
    whole = (first.vault / path).read_text()
    marked = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other"
    (first.vault / path).write_text(whole.replace("line 2", marked))
    bring_file(first, second, path)
    (one,), (other,) = list_open(first), list_open(second)
    assert one["id"] != other["id"]
    if is_mended:
        (second.vault / path).write_text(whole.replace("line 2", "mended"))
    else:
        second.call(lambda session: settle(session, {"id": other["id"], "keep": "A"}))
    assert list_open(second) == []
    bring(second, first)
    assert list_open(first) == []
    bring(first, second)
    assert list_open(second) == []


@pytest.mark.parametrize("is_plain", [False, True])
def test_marks_that_are_taken_out_one_by_one_leave_no_conflict(tmp_path: Path, is_plain: bool) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    path = home.place("Plan")
    for line in (2, 4, 6):
        marked = f"<<<<<<< HEAD\nours {line}\n=======\ntheirs {line}\n>>>>>>> other\n"
        path.write_text(path.read_text().replace(f"line {line} of the plan\n", marked))
    for line in (2, 4, 6):
        home.take_in()
        assert len(home.list_open()) == 1
        marked = f"<<<<<<< HEAD\nours {line}\n=======\ntheirs {line}\n>>>>>>> other\n"
        path.write_text(path.read_text().replace(marked, f"mended {line}\n"))
    home.take_in()
    assert home.list_open() == []
    assert "mended 6" in str(read(home.session, {"id": home.record}).data["text"])
    assert len([data for data in list_kept(home) if b"<<<<<<<" in data]) == 3
    home.open_anew()
    home.take_in()
    assert home.list_open() == []
    check_verifies(home.session)
