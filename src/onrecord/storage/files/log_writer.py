"""This installation's log: commit, replay, checkpoint. Every method is called under the vault's lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from onrecord.domain.checkpoint import format_checkpoint, format_origin, sign_note
from onrecord.domain.errors import DamagedError, LedgerRolledBackError, OnRecordError, StorageFailedError
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.ports.signing import Signer
from onrecord.ports.store import VersionRow
from onrecord.ports.system import Clock, ClockReading
from onrecord.storage.files.applier import Applier, Outcome, advance_head
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.frames import FrameChange, decode_payload, encode_payload
from onrecord.storage.files.head import HEAD_NAME, Head, read_head, write_head
from onrecord.storage.files.journal import Journal, decode_frames
from onrecord.storage.files.removal import Remover
from onrecord.storage.files.sealing import pack_sealed
from onrecord.storage.files.segments import name_segment

_APPLIED_NAME = "applied"
_ROLLED_BACK = (
    "An older or altered vault lies here: put the newest one back. Reading goes on. If the newest one is lost, "
    "`onrecord adopt` shows what would be given up, and goes on in a new log with --yes."
)


@dataclass(frozen=True, slots=True)
class _Commit:
    changes: list[FrameChange]
    clock: ClockReading | None
    end: int


class LogWriter:
    """Owns head, journal and the stores of one log while the lock is held.

    Args:
        state: The state folder.
        vault: The vault's folder.
        log: The log.
        clock: For the boot's name.
    """

    def __init__(self, state: Disk, vault: Disk, log: LogId, clock: Clock) -> None:
        self._state = state
        self._vault = vault
        self.log = log
        self._clock = clock
        self.folder = f".onrecord/{log}"
        self._head_stamp: tuple[int, int] | None = None
        self.head = self._checkpointed = Head(log)
        self._journal = Journal(state, 0)
        self._applier = Applier(vault, self.folder, self.head)
        self._remover = Remover(state, vault, log)
        self.pending: dict[int, VersionRow] = {}
        self.is_behind = False
        self.commits_since_checkpoint = 0
        self._unplaced: list[FrameChange] = []
        self._displaced: list[tuple[VersionRow, bytes]] = []
        self.has_committed = False

    @property
    def next_seq(self) -> Seq:
        """Sequence number of the next entry."""
        return Seq(self.head.size)

    @property
    def pinned(self) -> Head:
        """The highest head that the ledger on disk must reach: what still waits in the journal does not count."""
        return self._checkpointed if self.is_behind else self.head

    def measure_lag_us(self) -> int:
        """Return by how much the ledger's file is older than the last commit that wrote it; 0 where that is not known.

        Raises:
            StorageFailedError: the ledger cannot be looked at.
        """
        if self.head.clock is None or self.is_behind:
            return 0
        with storage_errors("read the ledger"):
            found = self._vault.stat(name_segment(f"{self.folder}/ledger", self._applier.ledger.end.segment))
        return max(self.head.clock.wall_us - found.st_mtime_ns // 1_000, 0) if found is not None else 0

    def is_waiting(self, ref: EntryRef) -> bool:
        """Tell whether a committed version has not found its place on disk yet."""
        return ref.seq in self.pending or any(
            change.row is not None and change.row.ref == ref for change in self._unplaced
        )

    @property
    def has_waiting(self) -> bool:
        """Whether the journal must stay: a committed version has no place yet, or a displaced edit is not committed."""
        return self.is_behind or bool(self._unplaced or self._displaced)

    @property
    def is_exchange_atomic(self) -> bool:
        """Whether every placement so far was an atomic exchange."""
        return self._applier.placer.is_exchange_atomic

    def remove_file(self, path: str, sha256: bytes) -> bool:
        """Delete a file that holds exactly the bytes of this hash; False where it does not, or is gone."""
        with storage_errors("remove a file"):
            is_removed = self._remover.remove(path, sha256, self.next_seq)
        if is_removed:
            self._applier.placer.unsynced.discard(path)
        return is_removed

    def drop_displaced(self) -> None:
        """Forget the displaced edits, which are committed now; their temporary files go."""
        self._displaced.clear()
        self._applier.placer.drop_kept()
        self._note_applied(Outcome())

    def has_lost_one(self) -> bool:
        """Tell whether a file that the journal may place again is not where it was placed; no lock is needed."""
        with storage_errors("read the vault"):
            return self._applier.has_lost_one()

    def refresh(self) -> Outcome:
        """Take in what other processes committed, and finish what a crashed one left.

        Raises:
            LedgerRolledBackError: ledger or versions on disk do not continue the pinned head.
            DamagedError: head or journal cannot be read.
            StorageFailedError: what is committed cannot be written to the vault.
        """
        outcome = Outcome()
        with storage_errors("read the state folder"):
            found = self._state.stat(HEAD_NAME)
        stamp = (found.st_ino, found.st_mtime_ns) if found is not None else None
        if stamp is None or stamp != self._head_stamp or self.is_behind:
            self._load_head()
            self._head_stamp = stamp
            self._take_in(self._read_commits(), outcome)
        elif self._journal.has_grown():
            self._take_in(self._read_commits(), outcome)
        if not self._reaches_ends():
            self._load_head()
            self._take_in(self._read_commits(), outcome, is_trusted=False)
        if self.is_behind:
            raise StorageFailedError("the vault cannot be written; committed versions wait in the journal")
        if self._unplaced:
            self._place(list(self._unplaced), outcome, is_replay=True)
            self._note_applied(outcome)
        # A file that cannot be put back yet keeps its note, and is tried again.
        with suppress(OSError):
            self._remover.finish()
        outcome.displaced = list(self._displaced)
        return outcome

    def look(self, last: int, entries: int) -> None:
        """Without the lock, take as pending what the journal alone has: rows behind seq `last` of entries on disk."""
        with suppress(OSError, OnRecordError):
            generation = read_head(self._state).generation
            frames = decode_frames(generation, self._state.read(f"journal.{generation}"))
            rows = [change.row for frame in frames for change in decode_payload(frame.payload, self.log)[0]]
            self.pending |= {row.ref.seq: row for row in rows if row is not None and last < row.ref.seq < entries}

    def _load_head(self) -> None:
        head = read_head(self._state)
        if head.log != self.log:
            raise DamagedError("head.json names another log")
        self.head = self._checkpointed = head
        self._journal = Journal(self._state, head.generation)
        self._applier = Applier(self._vault, self.folder, head)
        self.pending.clear()
        self._unplaced.clear()
        self._displaced.clear()
        self.is_behind = False
        self.commits_since_checkpoint = 0
        with storage_errors("read the state folder"):
            for name in self._state.list_folder(""):
                if name.startswith("journal.") and name != self._journal.name:
                    self._state.unlink(name)
        with storage_errors("read the ledger"):
            try:
                self._applier.check_continues(head)
            except LedgerRolledBackError as error:
                raise LedgerRolledBackError(error.reason, hint=_ROLLED_BACK) from error

    def _read_commits(self) -> list[_Commit]:
        with storage_errors("read the journal"):
            try:
                frames = self._journal.read_new()
            except FileNotFoundError as error:
                raise DamagedError("the journal that head.json names is gone") from error
        commits: list[_Commit] = []
        for frame in frames:
            changes, clock = decode_payload(frame.payload, self.log)
            commits.append(_Commit(changes, clock, frame.end))
        return commits

    def _reaches_ends(self) -> bool:
        with storage_errors("read the ledger"):
            return self.is_behind or self._applier.reaches_ends()

    def _take_in(self, commits: Sequence[_Commit], outcome: Outcome, *, is_trusted: bool = True) -> None:
        """Advance over commits read from the journal; apply those that this boot does not know to be applied.

        A version that was observed on disk after it was placed shows that the placing is done: what the user did with
        the file since is left alone.
        """
        applied_end = self._read_applied_end()
        if applied_end > self._journal.end:
            raise DamagedError("the journal has lost frames that were acknowledged")
        seen = _find_observed(commits)
        with storage_errors("read the vault"):
            if commits and applied_end < commits[-1].end:
                seen |= self._applier.find_moved([change for commit in commits for change in commit.changes])
        for commit in commits:
            if is_trusted and commit.end <= applied_end and not self.is_behind:
                self._applier.skip_lines(self.next_seq, commit.changes)
            else:
                changes = [_without_place(change) if _is_seen(change, seen) else change for change in commit.changes]
                self._apply(changes, outcome, is_replay=True)
            self._advance(commit.changes, commit.clock)
        kept = _list_displaced(commits)
        self._displaced = [item for item in self._displaced if (item[0].draft.id, item[1]) not in kept]
        if commits and not self.is_behind:
            self._cut_tails()
            self._note_applied(outcome)

    def _cut_tails(self) -> None:
        try:
            self._applier.ledger.cut_tail()
            self._applier.versions.cut_tail()
        except OSError:
            self.is_behind = True

    def _advance(self, changes: Sequence[FrameChange], clock: ClockReading | None) -> None:
        self.head = advance_head(self.head, changes, clock)
        self.commits_since_checkpoint += len(changes)

    def _apply(self, changes: Sequence[FrameChange], outcome: Outcome, *, is_replay: bool) -> None:
        """Write to the vault what is committed; what fails stays in the journal until the next write."""
        if not self.is_behind:
            try:
                self._applier.write_lines(self.next_seq, changes, is_replay=is_replay)
            except OSError as error:
                self.is_behind = True
                outcome.not_placed = f"the vault cannot be written ({error.strerror})"
        for change in changes:
            if change.row is not None and self.is_behind:
                self.pending[change.row.ref.seq] = change.row
        if not self.is_behind:
            self._place(changes, outcome, is_replay=is_replay)

    def _place(self, changes: Sequence[FrameChange], outcome: Outcome, *, is_replay: bool) -> None:
        """Place files; what fails is tried again at the next write."""
        applied = self._applier.place_files(changes, is_replay=is_replay)
        failed = {row.ref for row in applied.failed}
        tried = {change.row.ref for change in changes if change.row is not None}
        kept = [change for change in self._unplaced if change.row is not None and change.row.ref not in tried]
        self._unplaced = [*kept, *(change for change in changes if change.row is not None and change.row.ref in failed)]
        self._displaced += applied.displaced
        outcome.add(applied)

    def commit(self, changes: Sequence[FrameChange], clock: ClockReading) -> Outcome:
        """Write and sync one frame, then apply it.

        Raises:
            StorageFailedError: nothing was committed.
        """
        with storage_errors("write the vault"):
            self._applier.check_writable()
        self._journal.append(encode_payload(changes, clock))
        self.has_committed = True
        outcome = Outcome()
        self._apply(changes, outcome, is_replay=False)
        self._advance(changes, clock)
        if not self.is_behind:
            self._note_applied(outcome)
        return outcome

    def _read_applied_end(self) -> int:
        """Return up to which journal offset everything is applied, as noted in this boot; 0 when not known."""
        with storage_errors("read the state folder"):
            if self._state.stat(_APPLIED_NAME) is None:
                return 0
            parts = self._state.read(_APPLIED_NAME).decode(errors="replace").split()
        if len(parts) != 3 or parts[0] != str(self._journal.generation) or parts[2] != self._clock.read().boot:
            return 0
        return int(parts[1]) if parts[1].isdecimal() else 0

    def _note_applied(self, outcome: Outcome) -> None:
        """Note, unsynced, that the journal is applied; a note lost or of another boot only costs a replay."""
        if self._unplaced or self._displaced:
            return
        text = f"{self._journal.generation} {self._journal.end} {self._clock.read().boot}\n"
        try:
            self._state.write_at(_APPLIED_NAME, 0, text.encode())
        except OSError as error:
            outcome.not_placed = f"the state folder cannot be written ({error.strerror})"

    def checkpoint(self, signer: Signer | None) -> int:
        """Sync everything, sign the head, begin a new journal; return its size.

        Args:
            signer: Signs the head; None leaves the newest signed head as it is, which costs no key.

        Raises:
            StorageFailedError: not synced or not written; the journal stays and nothing is lost.
        """
        if self.has_waiting:
            raise StorageFailedError("the vault cannot be written; committed versions wait in the journal")
        size = self.head.size
        if self.commits_since_checkpoint == 0 and (signer is None or self.head.signed == size):
            return size
        with storage_errors("sync the vault"):
            self._applier.sync()
            if signer is not None:
                self._write_checkpoint(signer)
            journal = Journal(self._state, self.head.generation + 1)
            journal.create()
            head = replace(
                self.head,
                generation=journal.generation,
                ledger=self._applier.ledger.end,
                versions=self._applier.versions.end,
                tail=self._applier.read_tail(),
                signed=size if signer is not None else self.head.signed,
            )
        write_head(self._state, head)
        with storage_errors("remove the old journal"):
            self._journal.remove()
            found = self._state.stat(HEAD_NAME)
        self.head, self._checkpointed, self._journal = head, head, journal
        self._head_stamp = (found.st_ino, found.st_mtime_ns) if found is not None else None
        self.commits_since_checkpoint = 0
        # What cannot be packed stays as it is, and is tried at the next checkpoint.
        with suppress(OSError, DamagedError):
            pack_sealed(self._vault, f"{self.folder}/versions", head.versions.segment)
        return size

    def _write_checkpoint(self, signer: Signer) -> None:
        """Replace the signed head in the vault."""
        text = format_checkpoint(format_origin(self.log), self.head.size, self.head.frontier.root())
        target = f"{self.folder}/checkpoint"
        temporary = f"{self.folder}/.checkpoint.tmp"
        if self._vault.stat(temporary) is not None:
            self._vault.unlink(temporary)
        self._vault.write_new(temporary, sign_note(text, signer.vkey(), signer.sign))
        self._vault.sync(temporary)
        self._vault.rename(temporary, target)
        self._vault.sync_folder(self.folder)


def _list_displaced(commits: Sequence[_Commit]) -> set[tuple[RecordId, bytes]]:
    """Return the displaced edits that are committed: record and bytes."""
    rows = (change.row for commit in commits for change in commit.changes)
    return {(row.draft.id, row.draft.data) for row in rows if row is not None and row.draft.mode == "displaced"}


def _find_observed(commits: Sequence[_Commit]) -> dict[RecordId, int]:
    """Return, per record, the last entry that observed its file on disk."""
    rows = (change.row for commit in commits for change in commit.changes)
    return {row.draft.id: row.ref.seq for row in rows if row is not None and row.draft.mode == "observed"}


def _is_seen(change: FrameChange, seen: Mapping[RecordId, int]) -> bool:
    return change.row is not None and change.row.ref.seq < seen.get(change.row.draft.id, 0)


def _without_place(change: FrameChange) -> FrameChange:
    return replace(change, how=None)
