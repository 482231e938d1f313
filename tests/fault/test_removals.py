"""A file that is deleted is taken aside first: a death in between leaves nothing behind and takes no save with it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.storage.files.disk import Disk
from tests.vaults import check_verifies, make_vault, open_session


class Crash(BaseException):
    """The process ends here."""


class DyingDisk(Disk):
    """A process that dies right behind a file was taken aside, or before what it holds is deleted."""

    dies_behind = ""
    is_saved_meanwhile = False

    def rename_noreplace(self, source: str, target: str) -> None:
        if self.is_saved_meanwhile and source.endswith(".md"):
            Path(self.root, source).write_text("saved in the window\n")
        super().rename_noreplace(source, target)
        if self.dies_behind == "rename" and source.endswith(".md"):
            raise Crash

    def unlink(self, path: str) -> None:
        super().unlink(path)
        if self.dies_behind == "unlink" and path.endswith(".tmp"):
            raise Crash


def go_on(session: Session) -> None:
    assert remember(session, {"text": "life goes on"}).data["id"]


def look(session: Session) -> None:
    assert isinstance(diagnose(session, {}).data["findings"], list)


@pytest.mark.parametrize("act", [go_on, look])
@pytest.mark.parametrize("name", ["a copy", "a\ncopy of  two lines"])
@pytest.mark.parametrize(("step", "saved"), [("rename", False), ("rename", True), ("unlink", False)])
def test_what_was_taken_aside_is_deleted_or_put_back_by_the_next_opening(
    tmp_path: Path, act: Callable[[Session], None], step: str, saved: bool, name: str
) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=DyingDisk)
    record = str(remember(session, {"text": "kept"}).data["id"])
    folder = tmp_path / "vault" / "memories" / "default"
    path = folder / f"{name}.md"
    path.write_text("to be deleted\n")
    disk = session.store._vault  # type: ignore[attr-defined]
    disk.dies_behind, disk.is_saved_meanwhile = step, saved
    sha256 = hashlib.sha256(path.read_bytes()).digest()
    with pytest.raises(Crash), session.write() as unit:
        unit.remove_file(f"memories/default/{name}.md", sha256)
    assert not path.exists()
    later = open_session(tmp_path / "vault", tmp_path / "state")
    act(later)
    assert not list(folder.glob(".onrecord-*"))
    assert not list((tmp_path / "state").rglob("removing"))
    assert path.exists() == saved
    assert not saved or path.read_text() == "saved in the window\n"
    assert read(later, {"id": record}).data["text"] == "kept"
    check_verifies(later)
    later.close()
