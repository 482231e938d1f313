"""An editor saves between our reading of a file and our placing of the next version: both texts are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.update import update
from onrecord.storage.files.disk import Disk
from tests.vaults import check_verifies, make_vault, open_session


def make_meddled(save: Callable[[str], None], *, has_exchange: bool) -> Callable[[str], Disk]:
    """Return a maker of disks on which an editor saves just before a file is placed."""

    class MeddledDisk(Disk):
        def exchange(self, one: str, other: str) -> bool:
            save(f"{self.root}/{other}")
            return super().exchange(one, other) if has_exchange else False

        def rename_noreplace(self, source: str, target: str) -> None:
            save(f"{self.root}/{target}")
            super().rename_noreplace(source, target)

    return MeddledDisk


class Editor:
    """Saves a text over whatever is at the path, once it is told to."""

    def __init__(self) -> None:
        self.text: str | None = None

    def save(self, path: str) -> None:
        if self.text is not None:
            Path(path).write_text(self.text)
            self.text = None


@pytest.mark.parametrize("has_exchange", [True, False])
def test_an_edit_that_a_placement_displaces_is_kept_and_named(tmp_path: Path, has_exchange: bool) -> None:
    make_vault(tmp_path / "vault")
    editor = Editor()
    make_disk = make_meddled(editor.save, has_exchange=has_exchange)
    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=make_disk)
    record = str(remember(session, {"text": "first"}).data["id"])
    editor.text = "saved by hand in the window\n"
    reply = update(session, {"id": record, "text": "second", "expect": 1})
    assert any("kept as version 3" in warning for warning in reply.warnings)
    assert read(session, {"id": record}).data["text"] == "second"
    assert read(session, {"id": record, "version": 3}).data["text"] == "saved by hand in the window"
    versions = list_history(session, {"id": record}).data["versions"]
    assert [(item["version"], item["mode"]) for item in versions] == [(1, "placed"), (2, "placed"), (3, "displaced")]
    codes = [item["code"] for item in diagnose(session, {}).data["findings"]]
    assert codes.count("displaced_edit") == 1
    assert ("cas_weak" in codes) is not has_exchange
    assert update(session, {"id": record, "text": "third", "expect": 2}).data["version"] == 4
    check_verifies(session)
    session.close()


def test_a_file_that_takes_a_new_memorys_name_is_left_alone(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    editor = Editor()
    session = open_session(
        tmp_path / "vault", tmp_path / "state", make_disk=make_meddled(editor.save, has_exchange=True)
    )
    editor.text = "mine\n"
    record = str(remember(session, {"text": "contested", "title": "Name"}).data["id"])
    session.close()
    session = open_session(tmp_path / "vault", tmp_path / "state")
    assert (tmp_path / "vault" / "memories" / "default" / "Name.md").read_text() == "mine\n"
    assert read(session, {"id": record}).data["text"] == "contested"
    check_verifies(session)
    session.close()


@pytest.mark.parametrize("has_exchange", [True, False])
def test_doctor_says_that_there_is_no_exchange_without_having_placed_a_file(tmp_path: Path, has_exchange: bool) -> None:
    make_vault(tmp_path / "vault")
    make_disk = make_meddled(lambda _: None, has_exchange=has_exchange)
    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=make_disk)
    codes = [item["code"] for item in diagnose(session, {}).data["findings"]]
    assert ("cas_weak" in codes) is not has_exchange
    assert not list((tmp_path / "vault" / ".onrecord").glob(".exchange*"))
    session.close()
