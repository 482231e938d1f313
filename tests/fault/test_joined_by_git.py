"""Git joins the files of two memories that two clones made at one path: each stays what it is."""

from __future__ import annotations

import json
import shutil
from dataclasses import astuple
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.missing import repair_missing
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.settle import list_conflicts
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.ports.store import MARKING, VersionRow
from tests.fault.test_git_transport import Clone, check, clone, first, second

__all__ = ["first", "second"]  # fixtures

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

PLACE = "memories/default/Staging.md"


def make(item: Clone, text: str) -> str:
    return str(item.call(lambda session: remember(session, {"text": text, "title": "Staging"}).data["id"]))


def join(one: Clone, other: Clone) -> None:
    """Let git merge what the other clone committed; both files have marks then."""
    for item in (one, other):
        item.commit()
    other_head = other.git("rev-parse", "HEAD").strip()
    one.git("pull", "-q", "--no-rebase", "--no-edit", str(other.vault), "main", may_fail=True)
    assert (one.vault / PLACE).read_bytes().count(b"<<<<<<<") >= 1
    assert other.git("rev-parse", "HEAD").strip() == other_head


def find_ids(item: Clone, word: str) -> list[str]:
    hits = item.call(lambda session: find(session, {"query": word}).data["results"])
    return [hit["id"] for hit in json.loads(json.dumps(hits))]


def list_own_texts(item: Clone, record: str) -> list[str]:
    """Return what each version of a memory says, but for marked files that are kept as they are."""

    def read_all(session: Session) -> list[str]:
        rows = [row for head in session.store.list_logs() for row in session.store.read_rows(head.log)]
        versions = [row for row in rows if isinstance(row, VersionRow) and row.draft.id == record]
        return [row.draft.data.decode() for row in versions if row.actor != MARKING]

    return item.call(read_all)


def list_codes(session: Session) -> list[tuple[str, str]]:
    findings = json.loads(json.dumps(diagnose(session, {}).data["findings"]))
    return [(item["code"], item["message"]) for item in findings if item["check"].startswith("files.")]


@pytest.fixture
def ids(first: Clone, second: Clone) -> tuple[str, str]:
    """Both memories, joined in the file of the first clone; and of the second one, too."""
    made = make(first, "apple words\nmore of them"), make(second, "banana words\nmore of those")
    second.commit()
    first.commit()
    first.git("pull", "-q", "--no-rebase", "--no-edit", str(second.vault), "main", may_fail=True)
    assert (first.vault / PLACE).read_bytes().count(b"<<<<<<<") >= 1
    second.git("fetch", "-q", str(first.vault), "main")
    second.git("merge", "-q", "--no-edit", "FETCH_HEAD", may_fail=True)
    assert (second.vault / PLACE).read_bytes().count(b"<<<<<<<") >= 1
    return made


def test_each_of_two_joined_memories_keeps_its_text_and_is_found(
    first: Clone, second: Clone, ids: tuple[str, str]
) -> None:
    for item in (first, second):
        for record, word in zip(ids, ("apple", "banana"), strict=True):
            reply = item.call(lambda session, word=word: find(session, {"query": word}))
            hits = json.loads(json.dumps(reply.data["results"]))
            assert [hit["id"] for hit in hits] == [record]
            assert [reason for reason, _ in map(astuple, reply.degraded)] == ["merge_marks"]
            assert all(one in reply.degraded[0].mend for one in ids)
            assert item.read(record).startswith(word)
            assert all(word in text for text in list_own_texts(item, record))
        assert item.call(lambda session: list_conflicts(session, {}).data["conflicts"]) == []


def test_the_checks_name_both_joined_memories_and_call_none_missing(
    first: Clone, second: Clone, ids: tuple[str, str]
) -> None:
    for item in (first, second):
        found = item.call(list_codes)
        assert [code for code, _ in found] == ["merge_marks"]
        assert all(record in found[0][1] for record in ids)
        report = json.loads(json.dumps(item.call(lambda session: verify(session, {}, verifier=Ed25519Verifier()).data)))
        assert [problem["code"] for problem in report["differences"]] == ["merge_marks"]
        assert all(record in report["differences"][0]["message"] for record in ids)
        assert item.call(lambda session: repair_missing(session, {}).data["total"]) == 0


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_joined_memory_gets_a_file_of_its_own_with_the_same_words(
    first: Clone, second: Clone, ids: tuple[str, str], side: str
) -> None:
    first.call(list_codes)
    first.git("checkout", f"--{side}", PLACE)
    other = ids[1 if side == "ours" else 0]

    def write(session: Session) -> None:
        shown = read(session, {"id": other}).data
        update(session, {"id": other, "text": shown["text"], "expect": shown["version"]})

    first.call(write)
    for record, word in zip(ids, ("apple", "banana"), strict=True):
        hits = first.call(lambda session, word=word: find(session, {"query": word}).data["results"])
        assert [hit["id"] for hit in json.loads(json.dumps(hits))] == [record]
    check(first)
    first.commit()
    second.git("reset", "-q", "--hard")
    second.git("pull", "-q", "--no-rebase", "--no-edit", str(first.vault), "main")
    for record, word in zip(ids, ("apple", "banana"), strict=True):
        assert second.read(record).startswith(word)
        hits = second.call(lambda session, word=word: find(session, {"query": word}).data["results"])
        assert [hit["id"] for hit in json.loads(json.dumps(hits))] == [record]
    check(second)


def test_an_update_of_a_joined_memory_writes_over_no_marks(first: Clone, ids: tuple[str, str]) -> None:
    before = (first.vault / PLACE).read_bytes()
    first.change(ids[1], "banana words, changed")
    assert (first.vault / PLACE).read_bytes() == before
    assert first.read(ids[1]) == "banana words, changed"
    assert first.read(ids[1], "path") != PLACE
    assert first.read(ids[0]).startswith("apple")


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_memory_and_a_plain_note_of_another_machine_are_two(
    first: Clone, second: Clone, is_ours: bool, is_known: bool
) -> None:
    note = "# Quarterly budget\n\nbanana bread for everybody\n"
    record = make(first, "apple words\nmore of them")
    (second.vault / PLACE).write_text(note)
    if is_known:
        assert len(find_ids(second, "banana")) == 1
    one, other = (first, second) if is_ours else (second, first)
    join(one, other)
    assert one.call(lambda session: list_conflicts(session, {}).data["conflicts"]) == []
    assert find_ids(one, "apple") == [record]
    if is_known:
        (noted,) = find_ids(one, "banana")
        assert noted != record
        found = one.call(list_codes)
        assert [code for code, _ in found] == ["merge_marks"]
        assert noted in found[0][1]
    assert not any("banana" in text for text in list_own_texts(one, record))


def test_an_edit_of_the_other_memory_between_the_marks_stands_against_what_that_says(
    first: Clone, second: Clone
) -> None:
    ids = make(first, "apple words\nmore of them"), make(second, "banana words\nmore of those")
    path = second.vault / PLACE
    path.write_text(path.read_text().replace("banana words", "banana words\nand zucchini"))
    join(first, second)
    (conflict,) = first.call(lambda session: list_conflicts(session, {}).data["conflicts"])  # type: ignore[misc]
    assert ids[1] in json.dumps(conflict)
    texts = [text for _, text in first.list_versions(ids[1])]
    assert any("zucchini" in text for text in texts)
    assert not any("zucchini" in text for text in list_own_texts(first, ids[0]))


def test_marks_within_marks_of_three_memories_are_told_with_all_of_them(
    first: Clone, second: Clone, tmp_path: Path
) -> None:
    third = clone(first, tmp_path, "third")
    made = {"apple": make(first, "apple words\nof all"), "banana": make(second, "banana words\nof all")}
    made["cherry"] = make(third, "cherry words\nof all")
    join(first, second)
    join(first, third)
    assert (first.vault / PLACE).read_bytes().count(b"<<<<<<<") >= 2
    for word, record in made.items():
        assert find_ids(first, word) == [record]
        assert all(word in text for text in list_own_texts(first, record))
    found = first.call(list_codes)
    assert [code for code, _ in found] == ["merge_marks"]
    assert all(record in found[0][1] for record in made.values())


def test_the_mend_of_a_memory_without_a_file_gives_it_one(first: Clone, second: Clone, ids: tuple[str, str]) -> None:
    first.call(list_codes)
    first.git("checkout", "--ours", PLACE)
    findings = first.call(lambda session: json.loads(json.dumps(diagnose(session, {}).data["findings"])))
    (mend,) = (item["mend"] for item in findings if item["code"] == "missing_file")
    assert f"`onrecord update {ids[1]} --expect 1 --text -`" in mend
    first.call(lambda session: update(session, {"id": ids[1], "text": "banana words", "expect": 1}))
    assert not [code for code, _ in first.call(list_codes) if code == "missing_file"]
    (first.vault / first.read(ids[1], "path")).unlink()
    findings = first.call(lambda session: json.loads(json.dumps(diagnose(session, {}).data["findings"])))
    (mend,) = (item["mend"] for item in findings if item["code"] == "missing_file")
    assert f"`onrecord update {ids[1]} --expect 2 --text -`" in mend
