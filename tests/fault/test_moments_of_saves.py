"""The moment of a save by renaming, in which a memory's file is not there: it is shown all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app import passes
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply
from onrecord.domain.record import Record, read_record
from onrecord.ports.store import VersionRow
from onrecord.ports.yaml_reader import YamlReader
from onrecord.storage.files.disk import Disk
from tests.fault.test_saves import FIRST, NOTE, SECOND, Desk, list_reasons
from tests.vaults import check_verifies, make_vault, open_session


@pytest.mark.parametrize("is_same_text", [False, True])
def test_a_memory_is_found_at_the_moment_at_which_its_file_is_another_name(tmp_path: Path, is_same_text: bool) -> None:
    desk = Desk(tmp_path)
    backup = desk.path.with_name("Kettle.md~")
    for _ in range(3):
        desk.path.rename(backup)
        desk.clock.happens = lambda: desk.path.write_text(f"{FIRST if is_same_text else SECOND}\n")
        assert desk.find("kettle") == [desk.id]
        assert len(desk.clock.pauses) >= 1
        desk.clock.happens = lambda: None
        assert desk.find("kettle") == [desk.id]
    assert desk.list_texts() == ([FIRST] if is_same_text else [FIRST, SECOND])
    assert desk.count_records() == 1


def test_a_memory_whose_file_is_renamed_again_and_again_is_shown_as_it_was_and_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    backup = desk.path.with_name("Kettle.md~")
    desk.path.rename(backup)
    desk.clock.happens = lambda: desk.path.with_name(f"{len(desk.clock.pauses)}.swp").touch()
    reply = find(desk.session, {"query": "kettle", "mode": "full"})
    assert [(hit["id"], hit["text"]) for hit in reply.data["results"]] == [(desk.id, FIRST)]  # type: ignore[attr-defined]
    assert list_reasons(reply) == ["reconciling"]
    assert list_reasons(read(desk.session, {"id": desk.id})) == ["reconciling"]
    desk.clock.happens = lambda: None
    assert desk.find("kettle") == []
    desk.clock.pauses.clear()
    assert desk.find("kettle") == []
    assert desk.clock.pauses == []
    backup.rename(desk.path)
    assert desk.find("kettle") == [desk.id]


@pytest.mark.parametrize("text", ["", "half a sa", "another text"])
def test_a_file_that_changes_behind_the_look_at_it_is_never_shown_as_the_version(tmp_path: Path, text: str) -> None:
    desk = Desk(tmp_path)

    class Late(Disk):
        is_armed = False

        def read(self, path: str, offset: int = 0, size_bytes: int = -1) -> bytes:
            if path == NOTE and Late.is_armed:
                desk.path.write_text(text)
            return super().read(path, offset, size_bytes)

    session = open_session(tmp_path / "vault", tmp_path / "state", clock=desk.clock, make_disk=Late)
    Late.is_armed = True
    assert read(session, {"id": desk.id}).data["text"] == FIRST
    desk.path.write_text(f"{FIRST}\n")
    Late.is_armed = False
    desk.open_anew()
    Late.is_armed = True
    (hit,) = find(session, {"query": "kettle", "mode": "full"}).data["results"]  # type: ignore[misc]
    assert hit["text"] == FIRST
    session.close()


def test_a_file_that_is_renamed_to_and_fro_while_it_is_looked_at_stays_one_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_vault(tmp_path / "vault")
    folder = tmp_path / "vault" / "memories" / "default"
    folder.mkdir(parents=True)
    here, there = folder / "note.md", folder / "renamed.md"
    here.write_text("the kettle of the third floor is green\n")
    session = open_session(tmp_path / "vault", tmp_path / "state")
    here.rename(there)

    def read_and_rename(data: bytes, path: str, yaml: YamlReader) -> Record:
        there.rename(here)
        return read_record(data, path, yaml)

    monkeypatch.setattr(passes, "read_record", read_and_rename)
    reconcile(session, Reply(), wait_s=None)
    assert here.exists(), "it was renamed back"
    monkeypatch.undo()
    reconcile(session, Reply(), wait_s=None)
    assert len({row.draft.id for row in session.store.read_rows(session.store.log) if isinstance(row, VersionRow)}) == 1
    (hit,) = find(session, {"query": "kettle"}).data["results"]  # type: ignore[misc]
    assert hit["version"] == 1
    check_verifies(session)
    session.close()
