"""An editor saves between our reading of a file and our placing of the next version: both texts are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.adapters.git_merge import GitMerger, find_git
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.status import describe_status
from onrecord.app.update import update
from onrecord.domain.ids import RecordId
from onrecord.ports.merger import Merger
from onrecord.storage.files.disk import Disk
from tests.vaults import check_verifies, make_vault, open_session

GIT = GitMerger(find_git())


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
    assert not list(tmp_path.rglob(".exchange*"))
    session.close()


LINES = "".join(f"line {number}\n" for number in range(9))


def edit_in_the_window(
    tmp_path: Path, *, has_exchange: bool, merger: Merger | None, saved: str, changed: str
) -> tuple[Session, str, Path, dict[str, object], Editor]:
    """Update a memory while an editor saves `saved` in the window; return what the caller was told."""
    make_vault(tmp_path / "vault")
    editor = Editor()
    make_disk = make_meddled(editor.save, has_exchange=has_exchange)
    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=make_disk, merger=merger)
    record = str(remember(session, {"text": LINES, "title": "Plan", "tags": ["x"]}).data["id"])
    path = tmp_path / "vault" / "memories" / "default" / "Plan.md"
    editor.text = path.read_text().replace(f"{saved.split(' by', maxsplit=1)[0]}\n", saved)
    reply = update(session, {"id": record, "old": "line 0", "new": changed, "expect": 1})
    return session, record, path, reply.data, editor


@pytest.mark.parametrize("has_exchange", [True, False])
def test_an_edit_in_the_window_is_merged_where_both_fit(tmp_path: Path, has_exchange: bool) -> None:
    session, record, path, data, _ = edit_in_the_window(
        tmp_path, has_exchange=has_exchange, merger=GIT, saved="line 8 by hand\n", changed="line 0 by agent"
    )
    assert data == {"id": record, "version": 2, "merged": 4}
    text = LINES.replace("line 0", "line 0 by agent").replace("line 8", "line 8 by hand")
    assert read(session, {"id": record}).data["text"] == text
    assert read(session, {"id": record}).data["origin"] == "file"
    assert path.read_text().endswith(f"---\n{text}\n")
    assert "version: 4\n" in path.read_text()
    versions = list_history(session, {"id": record}).data["versions"]
    assert [(item["version"], item["mode"]) for item in versions][2:] == [(3, "displaced"), (4, "placed")]
    with session.index.read() as reader:
        rows = [session.store.read_row(head.ref) for head in reader.list_versions(RecordId(record))]
    assert rows[3].draft.parents == (rows[1].ref, rows[2].ref)
    assert not list((tmp_path / "vault").glob("conflicts/*"))
    check_verifies(session)
    session.close()


@pytest.mark.parametrize("has_exchange", [True, False])
@pytest.mark.parametrize(("merger", "saved"), [(None, "line 8 by hand\n"), (GIT, "line 0 by hand\n")])
def test_an_edit_in_the_window_that_cannot_be_merged_opens_a_conflict(
    tmp_path: Path, has_exchange: bool, merger: Merger | None, saved: str
) -> None:
    session, _, path, data, _ = edit_in_the_window(
        tmp_path, has_exchange=has_exchange, merger=merger, saved=saved, changed="line 0 by agent"
    )
    assert data.keys() == {"id", "version", "conflict"}
    shown = (tmp_path / "vault" / "conflicts" / "Conflict in Plan.md").read_text()
    assert saved in shown
    assert f"id: {data['conflict']}\n" in shown
    assert "No merge can be had" in shown
    hits = find(session, {"query": "hand line"}).data["results"]
    assert [(hit["id"], hit["conflict"]) for hit in hits] == [(data["id"], data["conflict"])]
    assert read(session, {"id": data["id"]}).data["conflict"] == data["conflict"]
    assert saved not in path.read_text()
    check_verifies(session)
    session.close()


def test_an_editor_that_saves_again_and_again_is_merged_with_a_few_times_and_never_lost(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    saves = -1

    def save(path: str) -> None:
        nonlocal saves
        if saves < 0 or not path.endswith("/Plan.md"):
            return
        saves += 1
        there = Path(path).read_text()
        Path(path).write_text(there.replace(f"line {2 * saves}\n", f"line {2 * saves} by hand\n"))

    make_disk = make_meddled(save, has_exchange=True)
    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=make_disk, merger=GIT)
    record = str(remember(session, {"text": LINES, "title": "Plan"}).data["id"])
    saves = 0
    data = update(session, {"id": record, "old": "line 0", "new": "line 0 by agent", "expect": 1}).data
    assert saves == 4
    saves = -1
    assert "conflict" in data
    kept = [str(read(session, {"id": record, "version": item["version"]}).data["text"]) for item in
            list_history(session, {"id": record}).data["versions"]]  # fmt: skip
    merged = str(read(session, {"id": record}).data["text"])
    assert [f"line {number} by hand" in merged for number in (2, 4, 6, 8)] == [True, True, True, False]
    assert any("line 8 by hand" in text for text in kept)
    check_verifies(session)
    session.close()


class Crash(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("step", ["unlink", "write_at"])
def test_an_edit_in_the_window_is_merged_after_a_crash_too(tmp_path: Path, step: str) -> None:
    make_vault(tmp_path / "vault")
    editor = Editor()
    is_armed = False
    meddled = make_meddled(editor.save, has_exchange=True)

    class CrashingDisk(meddled):  # type: ignore[misc, valid-type]
        def exchange(self, one: str, other: str) -> bool:
            done = super().exchange(one, other)
            nonlocal is_armed
            is_armed = is_armed or editor.text is None
            return bool(done)

    def crash(self: Disk, path: str, *more: object) -> object:
        if is_armed:
            raise Crash
        return getattr(Disk, step)(self, path, *more)

    setattr(CrashingDisk, step, crash)
    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=CrashingDisk, merger=GIT)
    is_armed = False
    record = str(remember(session, {"text": LINES, "title": "Plan"}).data["id"])
    path = tmp_path / "vault" / "memories" / "default" / "Plan.md"
    editor.text = path.read_text().replace("line 8\n", "line 8 by hand\n")
    with pytest.raises(Crash):
        update(session, {"id": record, "old": "line 0", "new": "line 0 by agent", "expect": 1})
    later = open_session(tmp_path / "vault", tmp_path / "state", merger=GIT)
    remember(later, {"text": "another"})
    text = LINES.replace("line 0", "line 0 by agent").replace("line 8", "line 8 by hand")
    assert read(later, {"id": record}).data["text"] == text
    check_verifies(later)
    later.close()


def test_a_disk_that_is_full_after_the_write_keeps_the_edit_for_later(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    editor = Editor()
    is_full = False

    class FullDisk(make_meddled(editor.save, has_exchange=True)):  # type: ignore[misc]
        def exchange(self, one: str, other: str) -> bool:
            nonlocal is_full
            done = super().exchange(one, other)
            is_full = True
            return bool(done)

        def write_at(self, path: str, offset: int, data: bytes) -> None:
            if is_full and "journal" in path:
                raise OSError(28, "No space left on device")
            super().write_at(path, offset, data)

    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=FullDisk, merger=GIT)
    is_full = False
    record = str(remember(session, {"text": LINES, "title": "Plan"}).data["id"])
    path = tmp_path / "vault" / "memories" / "default" / "Plan.md"
    editor.text = path.read_text().replace("line 8\n", "line 8 by hand\n")
    reply = update(session, {"id": record, "old": "line 0", "new": "line 0 by agent", "expect": 1})
    assert reply.data["version"] == 2
    assert any("waits to be kept" in warning for warning in reply.warnings)
    is_full = False
    remember(session, {"text": "another"})
    text = LINES.replace("line 0", "line 0 by agent").replace("line 8", "line 8 by hand")
    assert read(session, {"id": record}).data["text"] == text
    assert not list(path.parent.glob(".onrecord*"))
    check_verifies(session)
    session.close()


def test_status_and_doctor_write_nothing_to_a_vault_that_lies_still(tmp_path: Path) -> None:
    def list_stats() -> dict[str, tuple[int, int]]:
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino) for path in (vault, *vault.rglob("*"))}

    vault = tmp_path / "vault"
    make_vault(vault)
    session = open_session(vault, tmp_path / "state")
    remember(session, {"text": "first"})
    session.close()
    (vault / ".onrecord" / ".exchange-other.tmp").write_text("mine")
    before = list_stats()
    session = open_session(vault, tmp_path / "state")
    describe_status(session, {})
    diagnose(session, {})
    session.close()
    assert list_stats() == before
