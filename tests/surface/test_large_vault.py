"""A vault too large to be compared at once answers first, says so, and is compared within the same opening."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import onrecord
from onrecord.app import comparison, second_look
from onrecord.app.comparison import Comparison
from onrecord.surfaces.cli.entry import run
from onrecord.wiring import SERVICES


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a vault whose stamps fill twenty pages, with one file added while it was closed."""
    monkeypatch.setattr(comparison, "_PAGE_COUNT", 1)
    monkeypatch.setattr(comparison, "OPENING_PIECES", 1)
    monkeypatch.setattr(second_look, "OPENING_PIECES", 1)
    with onrecord.open(tmp_path / "vault", create=True) as opened:
        for number in range(20):
            opened.remember(f"word number {number}")
    (tmp_path / "vault" / "memories" / "default" / "added.md").write_text("word by hand\n")
    return tmp_path / "vault"


def test_the_first_answer_is_marked_and_later_ones_are_whole(vault: Path) -> None:
    with onrecord.open(vault) as opened:
        found = opened.find("word", limit=30)
        assert (len(found), found.degraded) == (20, ("reconciling",))
        for _ in range(4):
            found = opened.find("word", limit=30)
        assert (len(found), found.degraded) == (21, ())


def test_the_first_answer_costs_no_more_where_files_were_moved(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (vault / "memories" / "default").rename(vault / "memories" / "moved")
    plain, done = Comparison.advance, list[int | None]()

    def advance(self: Comparison, pieces: int | None = None) -> bool:
        done.append(pieces)
        return plain(self, pieces)

    monkeypatch.setattr(Comparison, "advance", advance)
    with onrecord.open(vault) as opened:
        assert opened.find("word", limit=30).degraded == ("reconciling",)
        assert None not in done
        assert sum(filter(None, done)) <= comparison.OPENING_PIECES + comparison.CALL_PIECES
        while opened.find("word", limit=30).degraded:
            pass
        assert len(opened.find("word", limit=30)) == 21


def test_what_was_not_compared_by_then_is_compared_at_the_end(vault: Path) -> None:
    def count_entries() -> int:
        return sum(len(path.read_bytes().splitlines()) for path in vault.glob(".onrecord/*/ledger/*.jsonl"))

    before = count_entries()
    with onrecord.open(vault) as opened:
        assert opened.find("word").degraded == ("reconciling",)
        assert count_entries() == before
    assert count_entries() == before + 1


@pytest.mark.parametrize("call", ["remember", "update", "doctor", "verify", "status"])
def test_what_needs_all_files_compares_them_first(vault: Path, call: str) -> None:
    with onrecord.open(vault) as opened:
        match call:
            case "remember":
                assert opened.remember("word by hand", workspace="default").duplicate
            case "update":
                first = opened.find("number 3")[0]
                (vault / opened.read(first.id).path).rename(vault / "memories" / "moved.md")
                opened.update(first.id, expect=1, text="word number three")
                assert (vault / "memories" / "moved.md").read_text().endswith("word number three\n")
            case "doctor":
                assert "unknown_file" not in {item["code"] for item in opened.doctor().data["findings"]}
            case "verify":
                assert opened.verify().data["differences"] == []
            case _:
                assert opened.status().data["counts"]["records"] == 21
        assert opened.find("word").degraded == ()


def test_a_command_prints_its_answer_before_the_comparison_ends(
    vault: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, printed = Comparison.advance, []

    def advance(self: Comparison, pieces: int | None = None) -> bool:
        if pieces is None:
            printed.append(capsys.readouterr().out)
        return plain(self, pieces)

    monkeypatch.setattr(Comparison, "advance", advance)
    assert run(["find", "word", "--json", "--vault", str(vault)], SERVICES, os.environ) == 0
    (answer,) = printed
    assert [item["reason"] for item in json.loads(answer)["degraded"]] == ["reconciling"]


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """Return a vault of 300 notes, all of them edited by hand while it was closed."""
    notes = tmp_path / "vault" / "memories"
    notes.mkdir(parents=True)
    for number in range(300):
        (notes / f"{number:03}.md").write_text(f"note number {number}\n")
    with onrecord.open(tmp_path / "vault", create=True) as opened:
        assert opened.status().data["counts"]["files"] == 300
    for path in notes.iterdir():
        path.write_text(path.read_text() + "edited word\n")
    return tmp_path / "vault"


def test_what_a_note_says_that_still_waits_to_be_taken_in_is_not_remembered_twice(edited: Path) -> None:
    with onrecord.open(edited) as opened:
        again = opened.remember("note number 299\nedited word", workspace="default")
        assert (again.duplicate, opened.read(again.id).path) == (True, "memories/299.md")
        assert opened.find("edited", limit=1).degraded == ("reconciling",)
    with onrecord.open(edited) as opened:
        assert opened.status().data["counts"]["records"] == 300


def test_many_edits_are_taken_in_with_the_calls_that_follow(edited: Path) -> None:
    with onrecord.open(edited) as opened:
        shown = []
        while not shown or opened.find("note").degraded:
            shown.append(len(opened.find("edited", limit=100)))
        assert shown[0] < 200
        assert len(shown) > 2
        assert count_versions(edited) == 600


def test_a_memory_that_is_shown_or_changed_is_taken_in_first(edited: Path) -> None:
    with onrecord.open(edited) as opened:
        (found,) = opened.find("299", limit=1)
        assert opened.read(found.id).text == "note number 299\nedited word"
        assert opened.find("word").degraded == ("reconciling",)
        path = edited / "memories" / "298.md"
        path.rename(edited / "memories" / "moved.md")
        (found,) = opened.find("298", limit=1)
        assert opened.read(found.id).path == "memories/moved.md"


def test_the_memories_that_are_left_are_found_behind_many_that_are_gone(edited: Path) -> None:
    onrecord.open(edited).close()
    for path in sorted((edited / "memories").iterdir())[:290]:
        path.unlink()
    with onrecord.open(edited) as opened:
        assert {hit.snippet for hit in opened.find("note number", limit=10)} == {
            f"note number {number}\nedited word" for number in range(290, 300)
        }


def test_an_update_of_a_memory_whose_file_was_moved_writes_where_it_lies(edited: Path) -> None:
    onrecord.open(edited).close()
    (edited / "memories" / "297.md").rename(edited / "memories" / "zz.md")
    for path in (edited / "memories").iterdir():
        path.write_text(path.read_text() + "again\n")
    with onrecord.open(edited) as opened:
        (found,) = opened.find("297", limit=1)
        version = opened.read(found.id).version
        opened.update(found.id, expect=version, text="note 297 from an agent")
        assert (edited / "memories" / "zz.md").read_text() == "note 297 from an agent\n"
        assert opened.find("again").degraded == ("reconciling",)


def test_a_memory_is_kept_while_many_files_wait(edited: Path) -> None:
    with onrecord.open(edited) as opened:
        assert not opened.remember("something else").duplicate
        assert count_versions(edited) < 600
    assert count_versions(edited) == 601


def count_versions(vault: Path) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in vault.glob(".onrecord/*/versions/*"))
