"""The vault through one installation: the driver of `onrecord.ports.store` on a POSIX file system."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from onrecord.domain.errors import (
    DamagedError,
    NewerFormatError,
    NotFoundError,
    OnRecordError,
    StorageFailedError,
    VaultOfflineError,
)
from onrecord.domain.ids import EntryRef, LogId, Seq, VaultId, is_log_id
from onrecord.domain.merkle import Frontier, hash_leaf
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.store import FileState, LogHead, VersionRow
from onrecord.ports.system import Clock, IdSource
from onrecord.storage.files.backup import Backup
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.installation import (
    CONFIG_NAME,
    FORMAT,
    KEY_NAME,
    MACHINE_FOLDER,
    KeyMaker,
    VaultConfig,
    open_installation,
    read_config,
)
from onrecord.storage.files.lock import VaultLock
from onrecord.storage.files.log_writer import LogWriter
from onrecord.storage.files.rows import decode_row
from onrecord.storage.files.scan import describe_file, scan_records
from onrecord.storage.files.segments import SegmentReader
from onrecord.storage.files.unit import FileWriteUnit, describe_seen, read_entry_ts


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a vault is opened.

    Attributes:
        folder: The vault, absolute.
        state_root: Where state folders of all vaults lie, absolute.
        lock_wait_s: How long a writer waits for the lock.
        checkpoint_entries: Entries in the journal at which a checkpoint is made.
    """

    folder: str
    state_root: str
    lock_wait_s: float = 10.0
    checkpoint_entries: int = 256


class FileVaultStore:
    """Versions, ledger and files of one vault.

    Raises:
        NoVaultError: no vault there.
        VaultOfflineError: `onrecord.toml` cannot be used, so this machine's state cannot be found.
        StorageFailedError, DamagedError: the state folder cannot be made or read.
    """

    def __init__(self, options: StoreOptions, keys: KeyMaker, clock: Clock, ids: IdSource) -> None:
        self.config: VaultConfig = read_config(options.folder)
        if not self.config.vault:
            raise VaultOfflineError(self.config.problem)
        self._options = options
        self._keys = keys
        self._clock = clock
        self._ids = ids
        installation = open_installation(options.folder, options.state_root, self.config.vault, keys, ids)
        self.state_folder = installation.folder
        self._pepper = installation.pepper
        self._vault = self.open_disk(options.folder)
        self._state = self.open_disk(installation.folder)
        self.backup = Backup(self._state)
        self._writer = LogWriter(self._state, self._vault, installation.log, clock)
        locks = (
            os.path.join(installation.folder, "lock"),
            os.path.join(options.folder, MACHINE_FOLDER, "lock"),
        )
        self._lock = VaultLock(locks, options.lock_wait_s)
        self._problems: list[Problem] = []
        self._config_stamp: tuple[int, int, int] | None = None

    def open_disk(self, root: str) -> Disk:
        """Open a disk; a test replaces it by a recorder."""
        return Disk(root)

    @property
    def vault(self) -> VaultId:
        """The vault's id."""
        return self.config.vault

    @property
    def log(self) -> LogId:
        """This installation's log."""
        return self._writer.log

    @property
    def entries(self) -> int:
        """Entries of the own log that this process knows of."""
        return self._writer.head.size

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[FileWriteUnit]:
        """Take the lock and catch up; afterwards make a checkpoint when it is due."""
        self.check_writable()
        with self._lock.hold(wait_s):
            self._check_same_vault()
            outcome = self._writer.refresh()
            unit = FileWriteUnit(self._writer, self._pepper, self._clock, self._ids)
            is_new_log = self._writer.next_seq == 0
            if is_new_log:
                unit.start_log(self._keys.open(self._key_path()), self._describe_foreign_logs())
            self._problems += outcome.problems
            unit.settled = outcome.placed
            unit.commit_displaced(outcome)
            yield unit
            self._problems += unit.problems
            unsigned = self._writer.head.size - self._writer.head.signed
            is_due = unsigned >= self._options.checkpoint_entries
            if (is_new_log or is_due) and not self._writer.has_waiting:
                self._try_checkpoint()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock without catching up: for making derived files that several processes may find missing.

        Raises:
            LockTimeoutError, StorageFailedError: it cannot be had.
        """
        with self._lock.hold():
            yield

    def check_writable(self) -> None:
        """Raise what forbids every write to this vault.

        Raises:
            NewerFormatError: a newer program made it.
        """
        if self.config.format > FORMAT:
            raise NewerFormatError("the vault has a newer format than this program knows")

    def _check_same_vault(self) -> None:
        with storage_errors("read onrecord.toml"):
            found = self._vault.stat(CONFIG_NAME)
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size) if found is not None else None
        if stamp is not None and stamp == self._config_stamp:
            return
        config = read_config(self._options.folder)
        if config.vault != self.config.vault:
            raise VaultOfflineError(config.problem or "onrecord.toml names another vault")
        if config.format > FORMAT:
            raise NewerFormatError("the vault has a newer format than this program knows")
        self._config_stamp = stamp

    def _key_path(self) -> str:
        return os.path.join(self.state_folder, KEY_NAME)

    def _try_checkpoint(self) -> None:
        """Make a checkpoint after a commit; a failure only keeps the journal longer and is named by doctor."""
        try:
            self._writer.checkpoint(self._keys.open(self._key_path()))
        except (StorageFailedError, DamagedError) as error:
            message = f"the last checkpoint failed: {error.reason}"
            self._problems.append(Problem("", 0, "not_placed", Severity.WARNING, message, error.hint))

    def checkpoint(self) -> int:
        """Sync everything, sign the head; return the signed size.

        Raises:
            LockTimeoutError, LedgerRolledBackError, StorageFailedError, DamagedError: as named.
        """
        with self.write():
            return self._writer.checkpoint(self._keys.open(self._key_path()))

    def list_logs(self) -> Sequence[LogHead]:
        """Return the logs found in the vault, own first, then by id."""
        own = LogHead(self.log, True, self._writer.head.size)
        return [own, *(LogHead(log, False, count) for log, count in self._list_foreign_logs())]

    def _list_foreign_logs(self) -> list[tuple[LogId, int]]:
        with storage_errors("list the logs"):
            names = self._vault.list_folder(MACHINE_FOLDER)
        found: list[tuple[LogId, int]] = []
        for name in names:
            if is_log_id(name) and name != self.log and self._is_folder(f"{MACHINE_FOLDER}/{name}"):
                count = sum(1 for _ in SegmentReader(self._vault, f"{MACHINE_FOLDER}/{name}/ledger").read_lines())
                found.append((LogId(name), count))
        return found

    def _is_folder(self, path: str) -> bool:
        try:
            with self._vault.folder(path):
                return True
        except OSError:
            return False

    def _describe_foreign_logs(self) -> list[dict[str, object]]:
        """Return the heads of all other logs, as `seen` has them."""
        seen: list[dict[str, object]] = []
        for log, count in self._list_foreign_logs():
            frontier, ts = Frontier(), ""
            for _, line in self.read_entries(log):
                frontier = frontier.append(hash_leaf(line))
                ts = read_entry_ts(line)
            if count:
                seen.append(describe_seen(log, count, frontier.root(), ts))
        return seen

    def read_rows(self, log: LogId, first: int = 0) -> Iterator[VersionRow | Problem]:
        """Yield the rows of a log with seq >= first, in order, pending ones of the own log included."""
        last = first - 1
        reader = SegmentReader(self._vault, f"{MACHINE_FOLDER}/{log}/versions")
        with storage_errors("read the versions store"):
            start = (0, 0) if first == 0 else reader.find_line(first)
        if start is not None:
            for line in _read_safely(reader, start):
                try:
                    row = decode_row(line, log)
                except DamagedError as error:
                    yield Problem(
                        f"{MACHINE_FOLDER}/{log}/versions", 0, "version_unreadable", Severity.CRITICAL, error.reason
                    )
                    continue
                if row.ref.seq > last:
                    last = row.ref.seq
                    yield row
        if log == self.log:
            yield from (row for seq, row in sorted(self._writer.pending.items()) if seq > last)

    def read_row(self, ref: EntryRef) -> VersionRow | None:
        """Return one row with its bytes, or None."""
        if ref.log == self.log and ref.seq in self._writer.pending:
            return self._writer.pending[ref.seq]
        reader = SegmentReader(self._vault, f"{MACHINE_FOLDER}/{ref.log}/versions")
        with storage_errors("read the versions store"):
            place = reader.find_line(ref.seq)
            if place is None:
                return None
            row = decode_row(next(iter(reader.read_lines(*place))), ref.log)
        return row if row.ref == ref else None

    def read_entries(self, log: LogId, first: int = 0) -> Iterator[tuple[Seq, bytes]]:
        """Yield the ledger lines of a log without their LF, in order; the number is the line's place."""
        reader = SegmentReader(self._vault, f"{MACHINE_FOLDER}/{log}/ledger")
        for number, line in enumerate(_read_safely(reader, (0, 0))):
            if number >= first:
                yield Seq(number), line

    def read_log_file(self, log: LogId, name: str) -> bytes | None:
        """Return `checkpoint` or `key.pub` of a log, None when absent."""
        path = f"{MACHINE_FOLDER}/{log}/{name}"
        with storage_errors("read the log"):
            return self._vault.read(path) if self._vault.stat(path) is not None else None

    def is_waiting(self, ref: EntryRef) -> bool:
        """Tell whether a committed version of the own log has not found its place on disk yet."""
        return ref.log == self.log and self._writer.is_waiting(ref)

    def get_pinned(self) -> tuple[int, bytes]:
        """Return size and root of the pinned acknowledged head."""
        head = self._writer.pinned
        return head.size, head.frontier.root()

    def scan_files(self) -> Iterator[FileState | Problem]:
        """Yield every record file's state, and problems for what is not one."""
        return scan_records(self._vault)

    def stat_file(self, path: str) -> FileState | None:
        """Return one file's state, None when it is not there as a regular file."""
        with storage_errors("read a file"):
            return describe_file(self._vault, path)

    def read_file(self, path: str, offset: int = 0, size_bytes: int = -1) -> bytes:
        """Return a file's bytes, whole or a part, without following links."""
        with storage_errors("read a file"):
            try:
                return self._vault.read(path, offset, size_bytes)
            except FileNotFoundError as error:
                raise NotFoundError("the file is not there", field="path") from error

    def find_problems(self) -> Sequence[Problem]:
        """Return what the store knows to be wrong with itself."""
        problems = list(self._problems)
        done, lines = self.backup.get_progress()
        if lines > done:
            mend = "Run `onrecord repair replay`."
            message = f"{lines - done} writes wait in the backup"
            problems.append(Problem("", 0, "backup_waiting", Severity.WARNING, message, mend))
        if self.backup.count_failed():
            message = f"{self.backup.count_failed()} writes of the backup could not be replayed"
            mend = "They lie in backup.failed.jsonl of the state folder; remember what is still wanted."
            problems.append(Problem("", 0, "backup_waiting", Severity.WARNING, message, mend))
        if not self._writer.is_exchange_atomic:
            message = "cas=weak: this file system has no atomic exchange; a hard link keeps old bytes instead"
            problems.append(Problem("", 0, "cas_weak", Severity.INFO, message))
        return problems

    def close(self) -> None:
        """Fold the journal in if this opening has written, so that no replay meets what the user did; release all.

        Nothing acknowledged depends on it: whatever refuses, the journal stays.
        """
        with suppress(OnRecordError):
            if self._writer.has_committed:
                with self._lock.hold(0):
                    self._writer.refresh()
                    self._writer.checkpoint(None)
        self._vault.close()
        self._state.close()


def _read_safely(reader: SegmentReader, start: tuple[int, int]) -> Iterator[bytes]:
    """Yield lines of a store.

    Raises:
        StorageFailedError: a segment cannot be read.
        DamagedError: a packed segment cannot be unpacked.
    """
    with storage_errors("read the log"):
        try:
            yield from reader.read_lines(*start)
        except (zlib.error, EOFError) as error:
            raise DamagedError("a packed segment of the log cannot be unpacked") from error
