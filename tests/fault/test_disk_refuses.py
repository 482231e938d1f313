"""A full or read-only disk: a clear error or the backup, nothing half done, and an exact replay afterwards."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.capture import capture
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.replay import replay
from onrecord.app.session import Reply
from onrecord.app.update import update
from onrecord.domain.errors import IdempotencyMismatchError, StorageFailedError
from onrecord.storage.files.disk import Disk
from tests.fault.survival import check_whole
from tests.vaults import check_verifies, make_vault, open_session

WRITING = (
    "write_new",
    "write_at",
    "overwrite",
    "open_for_append",
    "rename",
    "rename_noreplace",
    "exchange",
    "make_folder",
)


class Trouble:
    """What the disks refuse: which of them, method names, error number; or cuts every write short."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.where = ""
        self.number = errno.ENOSPC
        self.short_bytes: int | None = None

    def hits(self, root: str) -> bool:
        return self.where in ("all", "vault" if root.endswith("/vault") else "state")


def make_troubled(trouble: Trouble) -> Callable[[str], Disk]:
    class TroubledDisk(Disk):
        def _write_all(self, fd: int, data: bytes, offset: int) -> None:
            if trouble.short_bytes is not None and trouble.hits(self.root):
                super()._write_all(fd, data[: trouble.short_bytes], offset)
                raise OSError(errno.ENOSPC, "No space left on device")
            super()._write_all(fd, data, offset)

    def wrap(name: str) -> Callable[..., object]:
        plain = getattr(Disk, name)

        def step(self: Disk, path: str, *more: object) -> object:
            if name in trouble.refused and trouble.hits(self.root):
                raise OSError(trouble.number, os.strerror(trouble.number), path)
            return plain(self, path, *more)

        return step

    for name in (*WRITING, "sync", "unlink"):
        setattr(TroubledDisk, name, wrap(name))
    return TroubledDisk


@pytest.fixture
def trouble() -> Trouble:
    return Trouble()


@pytest.fixture
def opened(tmp_path: Path, trouble: Trouble):
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    session = open_session(vault, state, make_disk=make_troubled(trouble))
    remember(session, {"text": "before the trouble"})
    yield session
    session.close()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_vault_that_cannot_be_written_keeps_creates_in_the_backup_and_replays_them_once(
    opened, trouble, number
) -> None:
    trouble.refused, trouble.where, trouble.number = set(WRITING), "vault", number
    reply = remember(opened, {"text": "kept aside", "tags": ["x"]})
    assert reply.data == {"backup_only": True}
    assert [item.reason for item in reply.degraded] == ["backup_only"]
    spoken = {"source": "s", "session": "x", "turn": "1", "role": "user", "text": "said aside"}
    assert capture(opened, spoken).data == {"backup_only": True}
    assert find(opened, {"query": "aside"}).data["status"] == "no_match"
    trouble.refused = set()
    assert replay(opened, {"dry_run": True}).data["replayed"] == 2
    data = replay(opened, {}).data
    assert (data["replayed"], data["failed"], data["remaining"]) == (2, [], 0)
    assert replay(opened, {}).data["replayed"] == 0
    found = find(opened, {"query": "aside"}).data["results"]
    assert len(found) == 2
    check_verifies(opened)


@pytest.mark.parametrize("refused", [("open_for_append",), WRITING])
def test_a_replay_to_a_vault_that_still_cannot_be_written_leaves_the_backup_as_it_was(opened, trouble, refused) -> None:
    trouble.refused, trouble.where = set(WRITING), "vault"
    remember(opened, {"text": "kept aside"})
    capture(opened, {"source": "s", "session": "x", "turn": "1", "role": "user", "text": "said aside"})
    before = opened.store.backup.get_progress()
    trouble.refused = {*refused, "unlink"}
    for _ in range(3):
        with pytest.raises(StorageFailedError):
            replay(opened, {})
        assert opened.store.backup.get_progress() == before == (0, 2)
    trouble.refused = set()
    assert replay(opened, {}).data["replayed"] == 2


def test_the_backup_holds_the_hash_of_an_idempotency_key_and_replays_under_the_key(opened, trouble, tmp_path) -> None:
    trouble.refused, trouble.where = set(WRITING), "vault"
    given = {"text": "kept aside", "idempotency_key": "a-key-of-the-caller"}
    assert remember(opened, given).data == {"backup_only": True}
    for path in (tmp_path / "state").rglob("*"):
        assert not path.is_file() or b"a-key-of-the-caller" not in path.read_bytes(), path
    trouble.refused = set()
    assert replay(opened, {}).data["replayed"] == 1
    again = remember(opened, given).data
    assert (again["duplicate"], bool(again["id"])) == (True, True)
    with pytest.raises(IdempotencyMismatchError):
        remember(opened, {**given, "text": "another text"})


def test_an_update_of_a_vault_that_cannot_be_written_fails_and_changes_nothing(opened, trouble) -> None:
    record = find(opened, {"query": "trouble"}).data["results"][0]["id"]
    trouble.refused, trouble.where = set(WRITING), "vault"
    with pytest.raises(StorageFailedError):
        update(opened, {"id": record, "text": "never", "expect": 1})
    trouble.refused = set()
    assert read(opened, {"id": record}).data["text"] == "before the trouble"


def test_if_the_backup_cannot_be_written_either_the_write_fails(opened, trouble) -> None:
    trouble.refused, trouble.where = set(WRITING), "all"
    with pytest.raises(StorageFailedError, match="backup failed too"):
        remember(opened, {"text": "nowhere to go"})
    trouble.refused = set()
    assert replay(opened, {}).data["replayed"] == 0
    check_verifies(opened)


@pytest.mark.parametrize("short_bytes", [0, 1, 10, 40])
def test_a_short_write_is_cut_back(opened, trouble, short_bytes) -> None:
    trouble.short_bytes, trouble.where = short_bytes, "all"
    with pytest.raises(StorageFailedError):
        remember(opened, {"text": "cut short"})
    trouble.short_bytes = None
    kept = remember(opened, {"text": "after the trouble"}).data
    check_whole(opened, [{"op": "remember", "id": kept["id"], "version": 1, "text": "after the trouble"}])
    assert find(opened, {"query": "short"}).data["status"] == "no_match"


@pytest.mark.parametrize("short_bytes", [0, 1, 10, 40])
def test_a_vault_that_fills_up_behind_the_commit_serves_the_version_and_catches_up(
    opened, trouble, short_bytes
) -> None:
    trouble.short_bytes, trouble.where = short_bytes, "vault"
    reply = remember(opened, {"text": "committed while full"})
    assert [item.reason for item in reply.degraded] == ["not_placed"]
    record = reply.data["id"]
    assert read(opened, {"id": record}).data["text"] == "committed while full"
    trouble.short_bytes = None
    remember(opened, {"text": "space again"})
    check_whole(opened, [{"op": "remember", "id": record, "version": 1, "text": "committed while full"}])


def test_a_failed_sync_of_the_journal_acknowledges_nothing(opened, trouble) -> None:
    trouble.refused, trouble.where, trouble.number = {"sync"}, "state", errno.EIO
    with pytest.raises(StorageFailedError):
        remember(opened, {"text": "unsynced"})
    trouble.refused = set()
    assert find(opened, {"query": "unsynced"}).data["status"] == "no_match"
    kept = remember(opened, {"text": "synced again"}).data
    check_whole(opened, [{"op": "remember", "id": kept["id"], "version": 1, "text": "synced again"}])


def test_a_failed_checkpoint_keeps_the_journal_and_loses_nothing(opened, trouble, tmp_path) -> None:
    trouble.refused, trouble.where, trouble.number = {"sync"}, "vault", errno.EIO
    with pytest.raises(StorageFailedError):
        opened.store.checkpoint()
    kept = remember(opened, {"text": "journal goes on"}).data
    trouble.refused = set()
    opened.store.checkpoint()
    check_whole(opened, [{"op": "remember", "id": kept["id"], "version": 1, "text": "journal goes on"}])


def test_an_update_that_cannot_be_placed_is_served_and_not_taken_back(opened, trouble) -> None:
    record = find(opened, {"query": "trouble"}).data["results"][0]["id"]
    trouble.refused, trouble.where = {"write_new"}, "vault"
    reply = update(opened, {"id": record, "text": "committed while refused", "expect": 1})
    assert [item.reason for item in reply.degraded] == ["not_placed"]
    remember(opened, {"text": "another in between"})
    for _ in range(2):
        data = read(opened, {"id": record}).data
        assert (data["version"], data["text"]) == (2, "committed while refused")
        assert find(opened, {"query": "refused", "mode": "full"}).data["results"][0]["text"] == data["text"]
        reconcile(opened, Reply(), wait_s=None)
    trouble.refused = set()
    remember(opened, {"text": "space again"})
    data = read(opened, {"id": record}).data
    assert (data["version"], data["text"]) == (2, "committed while refused")
    check_whole(opened, [{"op": "update", "id": record, "version": 2, "text": "committed while refused"}])


def test_a_backup_line_that_cannot_be_replayed_is_kept_and_named(opened) -> None:
    opened.store.backup.append(b'{"op":"nonsense"}')
    data = replay(opened, {}).data
    assert [item["line"] for item in data["failed"]] == [1]
    assert "backup_waiting" in {problem.code for problem in opened.store.find_problems()}


def test_a_bad_line_of_the_backup_that_a_replay_meets_again_is_kept_once(opened, trouble) -> None:
    trouble.refused, trouble.where = set(WRITING), "vault"
    remember(opened, {"text": "kept aside"})
    trouble.refused = set()
    backup = opened.store.backup
    opened.store._state.write_at("backup.jsonl", opened.store._state.stat("backup.jsonl").st_size, b"nobody's\n")
    for _ in range(2):  # the first one dies before it has noted how far it came
        assert len(replay(opened, {}).data["failed"]) == 1
        backup.set_progress(0)
    assert backup.count_failed() == 1
