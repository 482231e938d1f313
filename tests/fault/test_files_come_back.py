"""Files that move and come back: a move is told once, a memory that was retired for its file is restored (ADR 17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.record_files import check_files
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.session import Reply
from onrecord.app.settle import list_conflicts
from onrecord.app.verify import verify
from onrecord.domain.ids import RecordId
from onrecord.ports.store import Actor, Change
from tests.absent_files import MINUTE_S, Home
from tests.vaults import check_verifies


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.session.close()


def test_a_renamed_file_is_one_move_once(home: Home) -> None:
    (path, *_) = home.keep(3)
    path.rename(path.parent / "renamed.md")
    home.look()
    home.look()
    home.open_again()
    rebuild(home.session)
    home.look()
    assert home.list_types().count("record.move") == 1
    assert home.count_versions(0) == 1
    check_verifies(home.session)


def test_a_file_that_is_renamed_and_edited_is_a_move_and_a_version(home: Home) -> None:
    (path, *_) = home.keep(3)
    renamed = path.rename(path.parent / "renamed.md")
    renamed.write_bytes(renamed.read_bytes().replace(b"stands", b"lies"))
    home.look()
    assert home.list_types()[-2:] == ["record.observe", "record.move"]
    entry = home.list_entries()[-1]
    assert (entry.members["rec"], entry.members["ver"]) == (home.ids[0], 2)


def test_a_renamed_folder_is_moves_in_commits_of_a_thousand(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onrecord.app.moves.BATCH_MAX_COUNT", 4)
    home.keep(10)
    (home.vault / "memories" / "default").rename(home.vault / "memories" / "renamed")
    home.look()
    moves = [entry for entry in home.list_entries() if entry.type == "record.move"]
    assert sorted(str(entry.members["rec"]) for entry in moves) == sorted(home.ids)
    assert all(home.is_found(number) for number in range(10))
    assert home.session.store.absences.read().missing == {}
    with home.session.index.read() as reader:
        assert reader.get_watermarks()[home.session.store.log] == home.session.store.entries
    check_verifies(home.session)


def list_states(home: Home, number: int) -> list[tuple[int, str, str]]:
    versions = list_history(home.session, {"id": home.ids[number]}).data["versions"]
    assert isinstance(versions, list)
    return [(item["version"], item["status"], item["origin"]) for item in versions]


@pytest.mark.parametrize("place", ["thing 0.md", "restored/again.md"])
@pytest.mark.parametrize("is_index_lost", [False, True])
def test_a_file_restored_from_the_trash_brings_its_memory_back(home: Home, place: str, is_index_lost: bool) -> None:
    (path, *_) = home.keep(10)
    trash = home.base / "trash.md"
    path.rename(trash)
    home.pass_opened(24)
    assert home.status(0) == "retired"
    back = path.parent / place
    back.parent.mkdir(exist_ok=True)
    trash.rename(back)
    if is_index_lost:
        rebuild(home.session)
    home.look()
    assert home.is_found(0)
    assert list_states(home, 0) == [(1, "superseded", "agent"), (2, "retired", "file"), (3, "current", "file")]
    assert home.list_types()[-2:] == ["record.found", "record.restore"]
    home.look()
    assert home.count_versions(0) == 3
    check_verifies(home.session)


def test_an_edit_made_while_it_was_away_is_a_further_version(home: Home) -> None:
    (path, *_) = home.keep(10)
    data = path.read_bytes()
    path.unlink()
    home.pass_opened(24)
    path.write_bytes(data.replace(b"stands", b"lies"))
    home.look()
    assert [status for _, status, _ in list_states(home, 0)] == ["superseded", "retired", "superseded", "current"]
    assert list_conflicts(home.session, {}).data["conflicts"] == [], "nothing stands against the edit"
    assert read(home.session, {"id": home.ids[0]}).data["text"] == "thing number0 lies here"
    check_verifies(home.session)


def test_a_plain_note_is_restored_by_its_exact_bytes(home: Home) -> None:
    home.keep(10)
    path = home.vault / "memories" / "default" / "plain.md"
    path.write_text("a note without an id\n")
    home.clock.pass_s(MINUTE_S)
    home.look()
    (hit,) = find(home.session, {"query": "without an id"}).data["results"]  # type: ignore[misc]
    path.unlink()
    home.pass_opened(24)
    assert find(home.session, {"query": "without an id"}).data["status"] == "no_match"
    (path.parent / "elsewhere.md").write_text("a note without an id\n")
    home.look()
    (again,) = find(home.session, {"query": "without an id"}).data["results"]  # type: ignore[misc]
    assert again["id"] == hit["id"]


def test_another_text_at_the_place_of_a_retired_plain_note_is_a_new_memory(home: Home) -> None:
    home.keep(10)
    path = home.vault / "memories" / "default" / "plain.md"
    path.write_text("a note without an id\n")
    home.clock.pass_s(MINUTE_S)
    home.look()
    (hit,) = find(home.session, {"query": "without an id"}).data["results"]  # type: ignore[misc]
    path.unlink()
    home.pass_opened(24)
    path.write_text("quite other words\n")
    home.look()
    (other,) = find(home.session, {"query": "quite other words"}).data["results"]  # type: ignore[misc]
    assert other["id"] != hit["id"]


def retire_otherwise(home: Home, number: int) -> None:
    """Retire a memory as a later part of the program will at the user's word: its file stays."""
    session = home.session
    with session.write() as unit:
        with session.index.read() as reader:
            head = reader.get_current(RecordId(home.ids[number]))
        assert head is not None
        row = session.store.read_row(head.ref)
        assert row is not None
        draft = replace(row.draft, version=head.version + 1, status="retired", parents=(head.ref,), mode="observed")
        session.publish(unit.commit([Change("record.retire", draft, {"cause": "user"})], Actor()), Reply())


@pytest.mark.parametrize("is_index_lost", [False, True])
def test_a_memory_retired_at_a_word_stays_so_though_its_file_lies_there_or_comes_back(
    home: Home, is_index_lost: bool
) -> None:
    (path, *_) = home.keep(10)
    retire_otherwise(home, 0)
    data = path.read_bytes()
    for step in (path.touch, path.unlink, lambda: path.write_bytes(data)):
        step()
        if is_index_lost:
            home.lose_index()
        home.pass_opened(25)
        assert home.status(0) == "retired"
        assert home.count_versions(0) == 2
    codes = {(item["code"], item["path"]) for item in diagnose_files(home)}
    assert ("retired_file", str(path.relative_to(home.vault))) in codes
    check_verifies(home.session)
    notes = verify(home.session, {}, Ed25519Verifier()).data["notes"]
    assert isinstance(notes, list)
    (note,) = (item for item in notes if item["code"] == "retired_file")
    assert (note["record"], note["version"], note["expected"]) == (home.ids[0], 2, "no file")
    path.unlink()
    home.pass_opened(25)
    check_verifies(home.session)
    notes = verify(home.session, {}, Ed25519Verifier()).data["notes"]
    assert "retired_file" not in str(notes), "a retired memory without a file is in order"


@pytest.mark.parametrize("is_index_lost", [False, True])
def test_new_words_in_the_file_of_a_retired_memory_are_found_and_raise_nothing(home: Home, is_index_lost: bool) -> None:
    (path, *_) = home.keep(10)
    retire_otherwise(home, 0)
    home.look()
    path.write_bytes(path.read_bytes() + b"zarzuela\n")
    home.clock.pass_s(MINUTE_S)
    home.look()
    (hit,) = find(home.session, {"query": "zarzuela"}).data["results"]  # type: ignore[misc]
    assert (hit["origin"], hit["id"] == home.ids[0]) == ("file", False)
    assert home.status(0) == "retired"
    path.write_bytes(path.read_bytes() + b"zarzuela twice\n")
    home.clock.pass_s(MINUTE_S)
    home.look()
    if is_index_lost:
        home.lose_index()
    (again,) = find(home.session, {"query": "zarzuela twice"}).data["results"]  # type: ignore[misc]
    assert (again["id"], again["version"]) == (hit["id"], 2)
    check_verifies(home.session)


def diagnose_files(home: Home) -> list[dict[str, object]]:
    return [{"code": problem.code, "path": problem.path} for problem in check_files(home.session)]
