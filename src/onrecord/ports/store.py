"""The vault as the application sees it: one writer at a time, versions, ledger, files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from onrecord.domain.absences import Absences
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq, VaultId
from onrecord.domain.instants import Instant
from onrecord.domain.problem import Problem
from onrecord.ports.index import FileRow
from onrecord.ports.links import LinkBook

Placement = Literal["create", "replace", "append"]
Mode = Literal["placed", "observed", "displaced"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: `client` and `agent` as registered or claimed, each empty when unknown."""

    client: str = ""
    agent: str = ""


# Who keeps an outside edit that a placement has displaced.
DISPLACING: Final = Actor("onrecord")
# Who keeps a file in which git left its marks, as it is: the texts between them stand against each other, it does not.
MARKING: Final = Actor("onrecord", "marks")


@dataclass(frozen=True, slots=True)
class TurnRow:
    """The members of a versions row that only turns have (docs/format/versions.md)."""

    source: str
    session: str
    turn: str
    role: str
    n: int
    offset_bytes: int
    speaker: str = ""
    time: Instant | None = None


@dataclass(frozen=True, slots=True)
class VersionDraft:
    """What a commit says of one version or turn; seq, salt and record time are the store's."""

    id: RecordId
    version: int
    kind: str
    path: str
    data: bytes
    origin: str
    workspace: str
    status: str = "current"
    protection: str = "normal"
    parents: tuple[EntryRef, ...] = ()
    mode: Mode = "placed"
    turn: TurnRow | None = None
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One ledger entry to be, with the version that it commits to and the file to be placed.

    `members` are entry members beyond those that follow from `draft`. `place` is None where no file is written.
    `pre_sha256`: hash of the bytes that `replace` expects; what `append` expects is the turn's `offset_bytes`.
    """

    type: str
    draft: VersionDraft | None = None
    members: Mapping[str, object] = field(default_factory=dict)
    place: Placement | None = None
    pre_sha256: bytes = b""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One row of a versions store; `draft.data` is empty when it is erased or sealed."""

    ref: EntryRef
    type: str
    draft: VersionDraft
    recorded_at: Instant
    salt: bytes
    key: str
    actor: Actor
    is_erased: bool = False
    is_sealed: bool = False


@dataclass(frozen=True, slots=True)
class Stamp:
    """Reserved name and record time of a change that is about to be committed."""

    ref: EntryRef
    recorded_at: Instant


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file below the vault as stat sees it; times in nanoseconds."""

    path: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """Where a version's bytes lie now: `state` None when they could not be placed."""

    change: Change
    ref: EntryRef
    state: FileState | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a commit did. Durable from the moment it is returned.

    `rows` are those of the changes, then one of mode `displaced` for every outside edit that a placement displaced.
    `not_placed` is the reason why ledger, versions or files lag behind the journal, or empty.
    """

    rows: Sequence[VersionRow]
    placed: Sequence[PlacedFile]
    not_placed: str = ""
    problems: Sequence[Problem] = ()


@dataclass(frozen=True, slots=True)
class LogHead:
    """One log of the vault: how far its ledger and versions reach on disk."""

    log: LogId
    is_own: bool
    entries: int


@dataclass(frozen=True, slots=True)
class Rollback:
    """A vault that does not go on from the head acknowledged here.

    Attributes:
        log: The own log.
        reason: What is wrong, one sentence.
        pinned_size, pinned_root, pinned_ts: The acknowledged head: entries, root, record time of the last.
        there_size, there_root: What the ledger in the vault holds.
    """

    log: LogId
    reason: str
    pinned_size: int
    pinned_root: bytes
    pinned_ts: str
    there_size: int
    there_root: bytes


class WriteUnit(Protocol):
    """The right to write, held under the vault's lock, with everything acknowledged before taken in."""

    @property
    def settled(self) -> Sequence[tuple[VersionRow, FileState | None]]:
        """Files that were brought to their place only now, after a crash or a full disk."""

    def stamp(self, place: int) -> Stamp:
        """Return name and record time of the change at index `place` of the next commit."""

    def draw_record_id(self) -> RecordId:
        """Return a fresh random record id."""

    def hash_key(self, key: str) -> str:
        """Return an idempotency key as it is stored."""

    def remove_file(self, path: str, sha256: bytes) -> bool:
        """Delete a file that holds exactly the bytes of this hash; False where it does not, or is gone.

        Raises:
            StorageFailedError: the disk refused.
        """

    def commit(self, changes: Sequence[Change], actor: Actor, key: str = "") -> Receipt:
        """Make the changes durable as one, then apply them.

        Args:
            changes: 1 to 1,000, in order.
            actor: Who acts.
            key: Idempotency key as `hash_key` gives it, or empty.

        Raises:
            LimitExceededError: the batch or an entry is too large.
            StorageFailedError: nothing was stored.
        """


class BackupLog(Protocol):
    """Append-only backup of creates and captures, outside the vault."""

    def append(self, line: bytes) -> None:
        """Seal one line, a JSON object without LF, and append it, synced.

        Raises:
            StorageFailedError: not stored.
        """

    def read(self, first: int, limit: int) -> Sequence[bytes]:
        """Return whole lines `first` to `first + limit - 1`, sealed."""

    def unseal(self, line: bytes) -> bytes:
        """Return a line that was read as it was appended.

        Raises:
            DamagedError: this installation has not appended it.
            StorageFailedError: it cannot be judged now.
        """

    def get_progress(self) -> tuple[int, int]:
        """Return (lines replayed, lines in all)."""

    def keep_failed(self, line: bytes) -> None:
        """Keep a line that cannot be replayed where doctor names it."""

    def count_failed(self) -> int:
        """Return how many lines could not be replayed."""

    def set_progress(self, done: int) -> None:
        """Keep how many lines were replayed."""


class AbsenceStore(Protocol):
    """What this installation keeps of the memories whose file is gone."""

    def read(self) -> Absences:
        """Return what is known; nothing where it was lost.

        Raises:
            StorageFailedError: it cannot be read.
        """

    def write(self, absences: Absences) -> None:
        """Replace what is known. Under the vault's lock.

        Raises:
            StorageFailedError: not written.
        """


class VaultStore(Protocol):
    """Versions, ledger and files of one vault through one installation."""

    @property
    def vault(self) -> VaultId:
        """The vault's id."""

    @property
    def log(self) -> LogId:
        """This installation's log, empty where it is not known."""

    @property
    def entries(self) -> int:
        """Entries of the own log, as far as this process has caught up."""

    def check_writable(self) -> None:
        """Raise what is known to forbid every write; asked again after rows or entries were read.

        Raises:
            NewerFormatError, VaultOfflineError, DamagedError, StorageFailedError: as named.
        """

    def hold(self, wait_s: float | None = None) -> AbstractContextManager[None]:
        """Hold the lock for changes of derived data alone, without catching up and without writing to the vault.

        Raises:
            LockTimeoutError, StorageFailedError: it cannot be had.
        """

    def write(self, wait_s: float | None = None) -> AbstractContextManager[WriteUnit]:
        """Take the lock within `wait_s` seconds (None: as configured) and catch up with every other process.

        Raises:
            LockTimeoutError, VaultOfflineError, NewerFormatError, LedgerRolledBackError: as named.
            DamagedError: the state folder is not whole.
            StorageFailedError: the vault cannot be written; creates may go to the backup.
        """

    def hash_key(self, key: str) -> str:
        """Return an idempotency key as it is stored, the same as `WriteUnit.hash_key` gives."""

    def checkpoint(self) -> int:
        """Sync everything, sign the head; return the signed size."""

    def list_logs(self) -> Sequence[LogHead]:
        """Return the logs found in the vault, own first, then by id."""

    def list_seen(self) -> Mapping[LogId, Sequence[tuple[int, Instant]]]:
        """Return, per other log, the sizes that own entries name in `seen`, each with that entry's record time."""

    def get_seen_sizes(self) -> Mapping[LogId, int]:
        """Return, per other log, the size of its newest head that an own entry names: as much of it was here."""

    def read_rows(self, log: LogId, first: int = 0) -> Iterator[VersionRow | Problem]:
        """Yield the rows of a log with seq >= first, in order, pending ones of the own log included."""

    def read_row(self, ref: EntryRef) -> VersionRow | None:
        """Return one row with its bytes, or None."""

    def read_entries(self, log: LogId, first: int = 0) -> Iterator[tuple[Seq, bytes]]:
        """Yield the ledger lines of a log without their LF, in order."""

    def scan_files(self) -> Iterator[FileState | Problem]:
        """Yield every regular `.md` file in the record folders, and problems for what is not one; any order."""

    def compare_files(self, known: dict[str, FileRow]) -> Iterator[Sequence[FileState | Problem]]:
        """Scan as `scan_files`, leaving out the files that are as known, by path; yield after each piece of work.

        What was met is taken out of `known`; what is left at the end was not met. The pieces are bounded in the number
        of names looked at, so that a caller can stop between two.
        """

    @property
    def folder(self) -> str:
        """The vault's folder, absolute, links resolved."""

    @property
    def links(self) -> LinkBook:
        """The links in the vault that the user allowed on this machine; no other is followed."""

    def measure_lag_us(self) -> int:
        """Return by how much the clock of the vault's file system is behind the machine's, at least; 0 if not known."""

    def stat_file(self, path: str) -> FileState | None:
        """Return one file's state, None when it is not there as a regular file."""

    def stat_folder(self, path: str) -> FileState | None:
        """Return the state of the nearest folder above a path that is there; None where it cannot be looked at."""

    def read_file(self, path: str, offset: int = 0, size_bytes: int = -1) -> bytes:
        """Return a file's bytes from `offset`, at most `size_bytes` (-1: all), without following links.

        Raises:
            NotFoundError: not there as a regular file.
            StorageFailedError: it cannot be read.
        """

    def read_files(self, paths: Iterable[str]) -> Iterator[bytes | None]:
        """Yield the bytes of whole files in the order asked, None for what is not there or cannot be read.

        Costs least where the files of one folder follow one another, as `scan_files` gives them.
        """

    def read_log_file(self, log: LogId, name: str) -> bytes | None:
        """Return `checkpoint` or `key.pub` of a log, None when absent."""

    def is_waiting(self, ref: EntryRef) -> bool:
        """Tell whether a committed version has not found its place on disk yet (full disk, no permission)."""

    def get_pinned(self) -> tuple[int, bytes]:
        """Return size and root of the highest head that this installation acknowledged."""

    def find_rollback(self) -> Rollback | None:
        """Return what was acknowledged here and what is there, None where the vault goes on from it.

        Raises:
            StorageFailedError, DamagedError, NewerFormatError: head, journal or ledger cannot be read.
        """

    @property
    def backup(self) -> BackupLog:
        """The backup for writes while the vault cannot be written."""

    @property
    def absences(self) -> AbsenceStore:
        """What is kept of the memories whose file is gone."""

    def find_problems(self) -> Sequence[Problem]:
        """Return what the store knows to be wrong with itself; see docs/format/record.md for codes."""

    def inspect(self, *, with_key: bool = True) -> Iterator[Problem]:
        """Yield what a look at every file of the installation finds: absent, damaged, or of nobody.

        Without the key nothing is said of it, of what it signed, and of what is new in the logs of others.

        Raises:
            StorageFailedError: they cannot be looked at.
        """

    def close(self) -> None:
        """Release what is held; nothing acknowledged depends on it."""
