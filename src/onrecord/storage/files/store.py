"""The vault through one installation: the driver of `onrecord.ports.store` on a POSIX file system."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from onrecord.domain.ids import EntryRef, LogId, Seq, VaultId
from onrecord.domain.instants import Instant
from onrecord.domain.limits import ADOPTED_FILE_MAX_BYTES
from onrecord.domain.merkle import EMPTY_ROOT
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.index import FileRow
from onrecord.ports.store import FileState, LogHead, Rollback, VersionRow
from onrecord.ports.system import Clock, IdSource
from onrecord.storage.files.absences import AbsenceFile
from onrecord.storage.files.adoption import Adoption, find_rollback, read_adoption
from onrecord.storage.files.backup import Backup
from onrecord.storage.files.beginning import tell_beginning
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.head import Head, read_head
from onrecord.storage.files.inspection import Place, inspect_installation
from onrecord.storage.files.installation import KEY_NAME, KeyMaker, find_obstacle, open_installation
from onrecord.storage.files.links import VaultLinks
from onrecord.storage.files.lock import VaultLock
from onrecord.storage.files.log_writer import LogWriter
from onrecord.storage.files.logs import LogFolders
from onrecord.storage.files.parted import keep_parted
from onrecord.storage.files.placement import CAS_WEAK, probe_exchange
from onrecord.storage.files.row_places import KeptRows
from onrecord.storage.files.scan import compare_records, describe_file, describe_folder, scan_records
from onrecord.storage.files.seen import ForeignHeads
from onrecord.storage.files.unit import FileWriteUnit, hash_key
from onrecord.storage.files.vault_config import CONFIG_NAME, MACHINE_FOLDER, VaultConfig, read_config


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a vault is opened.

    Attributes:
        folder: The vault, absolute.
        state_root: Where state folders of all vaults lie, absolute.
        lock_wait_s: How long a writer waits for the lock.
        checkpoint_entries: Entries in the journal at which a checkpoint is made.
        is_looking: Whether nothing at all is made or written, whoever calls what; what is on disk alone is told then.
    """

    folder: str
    state_root: str
    lock_wait_s: float = 10.0
    checkpoint_entries: int = 256
    is_looking: bool = False


class FileVaultStore:
    """Versions, ledger and files of one vault.

    Raises:
        NoVaultError: no vault there, or one that is half made.
        StorageFailedError: the vault's folder cannot be opened.
    """

    def __init__(self, options: StoreOptions, keys: KeyMaker, clock: Clock, ids: IdSource) -> None:
        self.config: VaultConfig = read_config(options.folder, options.is_looking)
        self._options = options
        self.folder = os.path.realpath(options.folder)
        self._keys = keys
        self._clock = clock
        self._ids = ids
        may_begin = not options.is_looking
        installation = open_installation(options.folder, options.state_root, self.config, keys, ids, may_begin)
        self.state_folder = installation.folder
        self._log = installation.log
        self._obstacle = installation.obstacle
        self._pepper = installation.pepper
        with storage_errors("open the vault"):
            self._vault = self.open_disk(options.folder)
            self._state = self.open_disk(installation.folder) if installation.folder else None
        self.beginnings = tell_beginning(options.folder, self.state_folder if may_begin else "")
        self.links = VaultLinks(self._vault, self._state, options.state_root)
        self.backup = Backup(self._state)
        self.absences = AbsenceFile(self._state)
        self._logs = LogFolders(self._vault)
        self._kept = KeptRows(self._logs.read_row)
        self._foreign = ForeignHeads(self._logs, keys.verify)
        state = self._state
        self._writer = LogWriter(state, self._vault, self._log, clock) if state is not None else None
        self._pinned = self._read_pinned() if self._obstacle is not None or options.is_looking else None
        own_lock = os.path.join(installation.folder, "lock")
        self._state_lock = VaultLock((own_lock,), options.lock_wait_s)
        self._lock = VaultLock((own_lock, os.path.join(options.folder, MACHINE_FOLDER, "lock")), options.lock_wait_s)
        self._problems: list[Problem] = []
        self._can_exchange: bool | None = None
        self._config_stamp: tuple[int, int, int] | None = None

    def _read_pinned(self) -> Head | None:
        with suppress(OnRecordError):
            return read_head(self._state) if self._state is not None else None
        return None

    def open_disk(self, root: str) -> Disk:
        """Open a disk; a test replaces it by a recorder."""
        return Disk(root)

    @property
    def vault(self) -> VaultId:
        """The vault's id as this machine knows it, whatever `onrecord.toml` says now; empty where nothing tells it."""
        return VaultId(os.path.basename(self.state_folder).partition("-")[0]) or self.config.vault

    @property
    def log(self) -> LogId:
        """This installation's log, empty where it is not known."""
        return self._log

    @property
    def entries(self) -> int:
        """Entries of the own log that this process knows of."""
        writer = self._get_caught_up()
        if writer is not None:
            return writer.head.size
        return self._logs.count_entries(self._log) if self._log in self._logs.list_ids() else 0

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[FileWriteUnit]:
        """Take the lock and catch up; afterwards make a checkpoint when it is due."""
        writer = self._get_writer()
        with self._lock.hold(wait_s), self._kept.keeping():
            self._check_same_vault()
            self._check_nothing_newer()
            with storage_errors("read which links are allowed"):
                self.links.refresh()
            outcome = writer.refresh()
            unit = FileWriteUnit(writer, self._pepper, self._clock, self._ids, self._foreign)
            is_new_log = writer.next_seq == 0
            if is_new_log:
                unit.start_log(self._keys.open(self._key_path()), self._read_adoption())
            kept = [item for item in self._problems if item.code != "not_placed" or not item.path]
            self._problems = kept + outcome.problems
            unit.settled = outcome.placed
            unit.commit_displaced(outcome)
            yield unit
            self._problems = [item for item in self._problems if item.code != "clock_jump"] + unit.problems
            is_due = writer.head.size - writer.head.signed >= self._options.checkpoint_entries
            if (is_new_log or is_due) and not writer.has_waiting:
                self._try_checkpoint(writer)

    @contextmanager
    def hold(self, wait_s: float | None = None) -> Iterator[None]:
        """Hold the lock without catching up: for making derived files that several processes may find missing.

        Where nothing may be written to the vault, the lock in it is left alone.

        Raises:
            LockTimeoutError, StorageFailedError: it cannot be had.
        """
        if not self.state_folder:
            raise StorageFailedError("there is no state folder")
        with (self._lock if self._obstacle is None else self._state_lock).hold(wait_s):
            yield

    def check_writable(self) -> None:
        """Raise what forbids every write to this vault.

        Raises:
            NewerFormatError: a newer program made it, or something in it.
            VaultOfflineError: `onrecord.toml` is absent, unreadable or another vault's.
            DamagedError: the state folder is not whole.
            StorageFailedError: there is no state folder and none can be made.
        """
        if self._obstacle is None and self._logs.newer:
            self._obstacle = NewerFormatError(self._logs.newer)
            self._pinned = self._read_pinned()
        if self._obstacle is not None:
            raise self._obstacle.with_traceback(None)

    def _get_caught_up(self) -> LogWriter | None:
        """Return the writer, where it knows more than the disk tells."""
        return self._writer if self._obstacle is None and not self._options.is_looking else None

    def _get_writer(self) -> LogWriter:
        self.check_writable()
        if self._options.is_looking:
            raise StorageFailedError("the vault is only looked at")
        assert self._writer is not None  # without a state folder there is an obstacle
        return self._writer

    def _check_nothing_newer(self) -> None:
        for log in self._logs.list_ids():
            self._logs.look_for_newer(log)
        self.check_writable()

    def _check_same_vault(self) -> None:
        if self._state is not None and not self._state.is_at_root():
            raise StorageFailedError("another vault folder has the state folder now", hint="Open the vault anew.")
        with storage_errors("read onrecord.toml"):
            found = self._vault.stat(CONFIG_NAME)
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size) if found is not None else None
        if stamp is not None and stamp == self._config_stamp:
            return
        config = read_config(self._options.folder)
        obstacle = find_obstacle(config)
        if obstacle is not None:
            raise obstacle
        if config.vault != self.config.vault:
            raise VaultOfflineError("onrecord.toml names another vault")
        self._config_stamp = stamp

    def _key_path(self) -> str:
        return os.path.join(self.state_folder, KEY_NAME)

    def _read_adoption(self) -> Adoption | None:
        return read_adoption(self._state) if self._state is not None else None

    def find_rollback(self) -> Rollback | None:
        """Return what was acknowledged here and what is there, None where the vault goes on from it."""
        if self._state is None or self._obstacle is not None:
            return None
        return find_rollback(self._state, self._vault)

    def _try_checkpoint(self, writer: LogWriter) -> None:
        """Make a checkpoint after a commit; a failure is named by doctor. Without a key the head stays unsigned."""
        try:
            signer = self._keys.open(self._key_path())
            with suppress(OnRecordError):
                signer.vkey()
                writer.checkpoint(signer)
                return
            writer.checkpoint(None)
        except (StorageFailedError, DamagedError) as error:
            message = f"the last checkpoint failed: {error.reason}"
            self._problems.append(Problem("", 0, "not_placed", Severity.WARNING, message, error.hint))

    def hash_key(self, key: str) -> str:
        """Return an idempotency key as it is stored.

        Raises:
            StorageFailedError: there is no pepper, as nothing may be written.
        """
        if not self._pepper:
            raise StorageFailedError("a key cannot be stored without the pepper of the state folder")
        return hash_key(self._pepper, key)

    def checkpoint(self) -> int:
        """Sync everything, sign the head; return the signed size.

        Raises:
            LockTimeoutError, LedgerRolledBackError, StorageFailedError, DamagedError: as named.
        """
        with self.write():
            return self._get_writer().checkpoint(self._keys.open(self._key_path()))

    def list_logs(self) -> Sequence[LogHead]:
        """Return the logs found in the vault, own first, then by id."""
        own = [LogHead(self.log, True, self.entries)] if self.log else []
        others = (log for log in self._logs.list_ids() if log != self.log)
        return [*own, *(LogHead(log, False, self._logs.count_foreign(log)) for log in others)]

    def list_seen(self) -> Mapping[LogId, Sequence[tuple[int, Instant]]]:
        """Return, per other log, the sizes that own entries name in `seen`, each with that entry's record time."""
        return self._logs.list_seen(self.log) if self.log and len(self._logs.list_ids()) > 1 else {}

    def get_seen_sizes(self) -> Mapping[LogId, int]:
        """Return, per other log, the size of its newest head that an own entry names."""
        writer = self._get_caught_up()
        head = writer.head if writer is not None and writer.head.size else self._read_pinned()
        return {log: seen.size for log, seen in head.seen.items()} if head is not None else {}

    def read_rows(self, log: LogId, first: int = 0) -> Iterator[VersionRow | Problem]:
        """Yield the rows of a log with seq >= first, in order, pending ones of the own log included.

        A row behind the end of the ledger is no version yet: it has not arrived whole, or nobody recorded it.
        """
        last, end = first - 1, 0
        for row in self._logs.read_rows(log, first, is_own=log == self.log):
            if isinstance(row, VersionRow):
                if row.ref.seq >= end:
                    end = max(self.entries if log == self.log else 0, self._logs.count_foreign(log))
                if row.ref.seq >= end:
                    continue
                last = row.ref.seq
            yield row
        if log == self.log and self._writer is not None:
            if self._options.is_looking:
                self._writer.look(last, self.entries)
            yield from (row for seq, row in sorted(self._writer.pending.items()) if seq > last)

    def read_row(self, ref: EntryRef) -> VersionRow | None:
        """Return one row with its bytes, or None."""
        if self._writer is not None and ref.log == self.log and ref.seq in self._writer.pending:
            return self._writer.pending[ref.seq]
        return self._kept.read(ref)

    def read_entries(self, log: LogId, first: int = 0) -> Iterator[tuple[Seq, bytes]]:
        """Yield the ledger lines of a log without their LF, in order; the number is the line's place."""
        return self._logs.read_entries(log, first)

    def read_log_file(self, log: LogId, name: str) -> bytes | None:
        """Return `checkpoint` or `key.pub` of a log, None when absent."""
        return self._logs.read_file(log, name)

    def is_waiting(self, ref: EntryRef) -> bool:
        """Tell whether a committed version of the own log has not found its place on disk yet."""
        return ref.log == self.log and self._writer is not None and self._writer.is_waiting(ref)

    def get_pinned(self) -> tuple[int, bytes]:
        """Return size and root of the pinned acknowledged head."""
        writer = self._get_caught_up()
        head = writer.pinned if writer is not None else self._pinned
        return (head.size, head.frontier.root()) if head is not None else (0, EMPTY_ROOT)

    def scan_files(self) -> Iterator[FileState | Problem]:
        """Yield every record file's state, and problems for what is not one."""
        return scan_records(self._vault, self.links.find_problem)

    def compare_files(self, known: dict[str, FileRow]) -> Iterator[Sequence[FileState | Problem]]:
        """Scan as `scan_files`, leaving out the files that are as known; yield after each thousand names."""
        return compare_records(self._vault, known, self.links.find_problem)

    def measure_lag_us(self) -> int:
        """Return by how much the file system's clock is behind, as it stamped what the last commit wrote."""
        return self._writer.measure_lag_us() if self._writer is not None else 0

    def stat_file(self, path: str) -> FileState | None:
        """Return one file's state, None when it is not there as a regular file."""
        with storage_errors("read a file"):
            return describe_file(self._vault, path)

    def stat_folder(self, path: str) -> FileState | None:
        """Return the state of the nearest folder above a path that is there; None where it cannot be looked at."""
        return describe_folder(self._vault, path)

    def read_file(self, path: str, offset: int = 0, size_bytes: int = -1) -> bytes:
        """Return a file's bytes, whole (one byte more than is taken in, at most) or a part, without following links."""
        if size_bytes < 0:
            size_bytes = ADOPTED_FILE_MAX_BYTES + 1 - offset
        with storage_errors("read a file"):
            try:
                return self._vault.read(path, offset, size_bytes)
            except FileNotFoundError as error:
                raise NotFoundError("the file is not there", field="path") from error

    def read_files(self, paths: Iterable[str]) -> Iterator[bytes | None]:
        """Yield the bytes of files in the order asked, as `read_file`; None for what is not there or cannot be read."""
        return self._vault.read_each(paths, ADOPTED_FILE_MAX_BYTES + 1)

    def find_problems(self) -> Sequence[Problem]:
        """Return what the store knows to be wrong with itself."""
        problems = [*self._problems, *self._logs.problems.values(), *self._foreign.problems.values()]
        if (error := self._obstacle) is not None:
            problems.append(Problem("", 0, error.code, Severity.CRITICAL, error.reason, error.hint))
        problems += self.backup.find_problems()
        if self._is_exchange_weak():
            problems.append(Problem("", 0, "cas_weak", Severity.INFO, CAS_WEAK))
        return problems

    def inspect(self, *, with_key: bool = True) -> Iterator[Problem]:
        """Yield what a look at every file of the installation finds: absent, damaged, or of nobody."""
        known, keys = self.vault if self.state_folder else VaultId(""), self._keys if with_key else None
        place = Place(self._vault, self._state, self.config, known, self.log, self._obstacle)
        now_us = self._clock.read().wall_us
        with storage_errors("look at the installation"):
            yield from inspect_installation(place, keys, now_us)
            if with_key:
                yield from self._foreign.inspect(self._log, self._read_pinned(), now_us)

    def _is_exchange_weak(self) -> bool:
        """Tell whether placements were or would be no atomic exchanges; tried once, as only who places a file knows."""
        if self._can_exchange is None and self._state is not None and self._get_caught_up() is not None:
            self._can_exchange = probe_exchange(self._vault, self._state)
        return self._can_exchange is False or (self._writer is not None and not self._writer.is_exchange_atomic)

    def close(self) -> None:
        """Fold the journal in if this opening has written, so that no replay meets what the user did; release all.

        So it is where a writer that died left a journal and the user has removed or renamed a file since.
        Nothing acknowledged depends on it: whatever refuses, the journal stays.
        """
        with suppress(OnRecordError):
            writer = self._get_caught_up()
            if writer is not None and (writer.has_committed or writer.has_lost_one()):
                with self._lock.hold(0):
                    writer.refresh()
                    writer.checkpoint(None)
        if self._state is not None:
            keep_parted(self._vault, self._state, self._clock.read().wall_us)
            self._state.close()
        self._vault.close()
