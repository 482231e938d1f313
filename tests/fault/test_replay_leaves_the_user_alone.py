"""After a reboot, nothing that the user did to the files since is undone, whether the writer ended or died."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from tests.vaults import BootClock, check_verifies, make_vault, open_session

Places = tuple[Path, Path]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    make_vault(tmp_path / "vault")
    return tmp_path / "vault", tmp_path / "state"


def open_in(places: Places, boot: str) -> Session:
    return open_session(*places, clock=BootClock(boot))


def locate(places: Places, session: Session, record: str) -> Path:
    return places[0] / str(read(session, {"id": record}).data["path"])


def test_deleted_and_renamed_files_stay_so(places: Places) -> None:
    session = open_in(places, "first")
    gone, moved = (str(remember(session, {"text": text}).data["id"]) for text in ("gone words", "moved words"))
    paths = locate(places, session, gone), locate(places, session, moved)
    session.close()
    paths[0].unlink()
    paths[1].rename(paths[1].with_name("elsewhere.md"))
    session = open_in(places, "second")
    assert not paths[0].exists()
    assert not paths[1].exists()
    (hit,) = find(session, {"query": "words"}).data["results"]  # type: ignore[misc]
    assert hit["id"] == moved
    session.close()


def test_a_file_deleted_after_its_writer_died_stays_so_once_the_vault_was_opened(places: Places) -> None:
    died = open_in(places, "first")
    path = locate(places, died, str(remember(died, {"text": "gone words"}).data["id"]))
    path.unlink()
    open_in(places, "first").close()
    session = open_in(places, "second")
    assert not path.exists()
    assert find(session, {"query": "words"}).data["status"] == "no_match"
    session.close()


def test_a_file_renamed_after_its_writer_died_stays_so(places: Places) -> None:
    died = open_in(places, "first")
    record = str(remember(died, {"text": "moved words"}).data["id"])
    update(died, {"id": record, "text": "moved words again", "expect": 1})
    path = locate(places, died, record)
    path.rename(path.with_name("elsewhere.md"))
    session = open_in(places, "second")
    assert not path.exists()
    (hit,) = find(session, {"query": "words"}).data["results"]  # type: ignore[misc]
    assert (hit["id"], hit["version"]) == (record, 2)
    assert locate(places, session, record).name == "elsewhere.md"
    session.close()


def test_a_folder_removed_by_hand_does_not_keep_the_journal(places: Places) -> None:
    session = open_in(places, "first")
    path = locate(places, session, str(remember(session, {"text": "gone words", "workspace": "ops"}).data["id"]))
    path.unlink()
    path.parent.rmdir()
    assert session.store.checkpoint() == session.store.entries
    session.close()


@pytest.mark.parametrize("is_closed", [True, False])
@pytest.mark.parametrize("text", ["", "cut", "undone"])
def test_emptied_cut_and_undone_files_stay_so(places: Places, text: str, is_closed: bool) -> None:
    session = open_in(places, "first")
    record = str(remember(session, {"text": "the first text"}).data["id"])
    path = locate(places, session, record)
    first = path.read_bytes()
    update(session, {"id": record, "text": "the second text", "expect": 1})
    wanted = {"": b"", "cut": path.read_bytes()[:-9], "undone": first}[text]
    path.write_bytes(wanted)
    os.utime(path, ns=(1, 1))
    reconcile(session, Reply(), wait_s=None)
    assert read(session, {"id": record}).data["version"] == 3
    if is_closed:
        session.close()
    after = open_in(places, "second")
    assert path.read_bytes() == wanted
    assert read(after, {"id": record}).data["version"] == 3
    check_verifies(after)
    after.close()
    if not is_closed:
        session.close()


@pytest.mark.parametrize("name", ["ledger", "versions"])
def test_a_store_that_is_cut_in_the_same_boot_is_written_again_from_the_journal(places: Places, name: str) -> None:
    session = open_session(*places)
    for number in range(3):
        remember(session, {"text": f"memory {number}"})
    path = next(places[0].glob(f".onrecord/*/{name}/00000000.jsonl"))
    whole = path.read_bytes()
    for opened in (session, open_session(*places)):
        with path.open("r+b") as file:
            file.truncate(len(whole) - 50)
        remember(opened, {"text": "memory 0"})
        assert path.read_bytes() == whole
    check_verifies(session)
    session.close()
