"""One write under the lock: stamps, entries, commitments, the commit (driver of `onrecord.ports.store.WriteUnit`)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace

from onrecord.domain.entry import encode_entry, make_entry
from onrecord.domain.errors import LimitExceededError, StorageFailedError
from onrecord.domain.ids import RECORD_ID_CHARS, EntryRef, LogId, RecordId, Seq, encode_base32
from onrecord.domain.instants import Instant, from_unix_us, to_unix_us
from onrecord.domain.limits import BATCH_MAX_BYTES, BATCH_MAX_COUNT
from onrecord.domain.merkle import hash_leaf
from onrecord.domain.problem import Problem, Severity, describe_displaced
from onrecord.domain.pseudonym import SALT_BYTES, commit_bytes, make_pseudonym
from onrecord.domain.record_time import choose_record_time
from onrecord.ports.signing import Signer
from onrecord.ports.store import (
    DISPLACING,
    Actor,
    Change,
    FileState,
    PlacedFile,
    Receipt,
    Stamp,
    VersionDraft,
    VersionRow,
)
from onrecord.ports.system import Clock, IdSource
from onrecord.storage.files.adoption import Adoption, list_changes
from onrecord.storage.files.applier import Outcome
from onrecord.storage.files.frames import FrameChange
from onrecord.storage.files.head import SeenHead
from onrecord.storage.files.log_writer import LogWriter
from onrecord.storage.files.seen import ForeignHeads, list_seen_members


class FileWriteUnit:
    """The right to write to one vault; made and used only while its lock is held."""

    def __init__(self, writer: LogWriter, pepper: bytes, clock: Clock, ids: IdSource, foreign: ForeignHeads) -> None:
        self._writer = writer
        self._pepper = pepper
        self._ids = ids
        self._foreign = foreign
        self._has_looked = False
        self._reading = clock.read()
        self.problems: list[Problem] = []
        self.settled: list[tuple[VersionRow, FileState | None]] = []
        self._base_us = self._jump_s = 0
        self._choose_time(writer.head.seen)

    def _choose_time(self, seen: Mapping[LogId, SeenHead]) -> None:
        """Set the record time of what is committed next, behind the own last entry and the heads seen."""
        head = self._writer.head
        times = [head.ts, *(item.ts for item in seen.values())]
        last_us = max(to_unix_us(Instant(ts)) if ts else 0 for ts in times)
        last = head.clock
        elapsed_us = None
        if last is not None and last.boot == self._reading.boot:
            elapsed_us = self._reading.boottime_us - last.boottime_us
        chosen = choose_record_time(self._reading.wall_us, last_us, elapsed_us)
        self._base_us, self._jump_s = chosen.us, chosen.jump_s
        self.problems = [problem for problem in self.problems if problem.code != "clock_jump"]
        if self._jump_s:
            self.problems.append(_name_jump(self._jump_s))

    def stamp(self, place: int) -> Stamp:
        """Return name and record time of the change at index `place` of the next commit."""
        self._see_logs()
        seq = Seq(self._writer.next_seq + place)
        head = self._writer.head
        floor_us = to_unix_us(Instant(head.ts)) + 1 if head.ts else 0
        return Stamp(EntryRef(self._writer.log, seq), from_unix_us(max(self._base_us, floor_us) + place))

    def draw_record_id(self) -> RecordId:
        """Return a fresh random record id."""
        return RecordId(encode_base32(self._ids.draw(8), RECORD_ID_CHARS))

    def hash_key(self, key: str) -> str:
        """Return an idempotency key as it is stored."""
        return hash_key(self._pepper, key)

    def remove_file(self, path: str, sha256: bytes) -> bool:
        """Delete a file that holds exactly the bytes of this hash; False where it does not, or is gone."""
        return self._writer.remove_file(path, sha256)

    def commit(self, changes: Sequence[Change], actor: Actor, key: str = "") -> Receipt:
        """Make the changes durable as one, then apply them."""
        if not 1 <= len(changes) <= BATCH_MAX_COUNT:
            raise LimitExceededError(f"a batch has 1 to {BATCH_MAX_COUNT} changes")
        size = sum(len(change.draft.data) for change in changes if change.draft is not None)
        if len(changes) > 1 and size > BATCH_MAX_BYTES:
            raise LimitExceededError(f"a batch has at most {BATCH_MAX_BYTES} bytes")
        self._see_logs()
        first = self._writer.next_seq
        outcome, rows = self._commit(changes, actor, key)
        placed = [PlacedFile(changes[row.ref.seq - first], row.ref, state) for row, state in outcome.placed]
        problems = list(outcome.problems)
        self.problems += problems
        kept = self._keep_displaced(outcome, problems)
        problems += [describe_displaced(row.draft.path, row.draft.id, row.draft.version, row.ref) for row in kept]
        return Receipt([*rows, *kept], placed, outcome.not_placed, problems)

    def commit_displaced(self, outcome: Outcome) -> list[VersionRow]:
        """Keep outside edits that placements displaced, each as a version that is never current."""
        if not outcome.displaced:
            return []
        changes = [
            Change(
                "record.displace",
                replace(
                    row.draft,
                    version=row.draft.version + 1,
                    data=data,
                    origin="file",
                    mode="displaced",
                    redacted=(),
                    turn=None,
                    parents=row.draft.parents[:1] or (row.ref,),  # what the file held when it was edited
                ),
            )
            for row, data in outcome.displaced
        ]
        rows = self._commit(changes, DISPLACING, "")[1]
        outcome.displaced.clear()
        self._writer.drop_displaced()
        return rows

    def _keep_displaced(self, outcome: Outcome, problems: list[Problem]) -> list[VersionRow]:
        """Keep displaced edits after a commit, which stands if the disk refuses them: they are kept later, then."""
        try:
            return self.commit_displaced(outcome)
        except StorageFailedError as error:
            message = f"an edit made outside waits to be kept: {error.reason}"
            problems.append(Problem("", 0, "displaced_edit", Severity.WARNING, message, error.hint))
            return []

    def start_log(self, signer: Signer, adoption: Adoption | None = None) -> None:
        """Write the first entry of the log, its key and the heads of the logs found, and more where those are many.

        Args:
            signer: Has the key.
            adoption: What was given up for this log to begin; it is said right behind the first entry.
        """
        first, *more = list_seen_members(self._look()) or [[]]
        start = Change("log.start", None, {"key": signer.vkey(), "seen": first})
        accepted = list_changes(adoption, self._writer.log) if adoption is not None else ()
        further = (Change("log.seen", None, {"seen": part}) for part in more)
        self._commit([start, *accepted, *further], adoption.actor if adoption is not None else DISPLACING, "")

    def _see_logs(self) -> None:
        """Before the first change of this unit: name the heads of other logs that have grown since they were named."""
        if self._has_looked:
            return
        parts = list_seen_members(self._look())
        if parts:
            self._commit([Change("log.seen", None, {"seen": part}) for part in parts], DISPLACING, "")

    def _look(self) -> Mapping[LogId, SeenHead]:
        head = self._writer.head
        heads = self._foreign.find_advanced(head.log, head.seen, self._reading.wall_us)
        self._has_looked = True
        if heads:
            self._choose_time({**head.seen, **heads})
        return heads

    def _commit(self, changes: Sequence[Change], actor: Actor, key: str) -> tuple[Outcome, list[VersionRow]]:
        changes = self._with_clock_jump(changes)
        cred = make_pseudonym(self._pepper, "cred", actor.client)
        name = make_pseudonym(self._pepper, "actor", f"{actor.client}\x1f{actor.agent}")
        state = self._writer.head.credentials.get(cred)
        cseq, prev = (state.cseq, state.prev) if state is not None else (0, b"")
        frames: list[FrameChange] = []
        rows: list[VersionRow] = []
        for place, change in enumerate(changes):
            stamp = self.stamp(place)
            cseq += 1
            row = self._make_row(change, stamp, actor, key)
            entry = make_entry(
                log=stamp.ref.log,
                seq=stamp.ref.seq,
                ts=stamp.recorded_at,
                type=change.type,
                actor=name,
                cred=cred,
                cseq=cseq,
                prev=prev or None,
                members=_list_members(change, row),
            )
            line = encode_entry(entry)
            prev = hash_leaf(line)
            frames.append(FrameChange(line, stamp.recorded_at, cred, cseq, row, change.place, change.pre_sha256))
            if row is not None:
                rows.append(row)
        return self._writer.commit(frames, self._reading), rows

    def _with_clock_jump(self, changes: Sequence[Change]) -> Sequence[Change]:
        """A jump is told in the problems; the ledger has it once per commit series, at the end of the first batch."""
        if not self._jump_s:
            return changes
        jump, self._jump_s = self._jump_s, 0
        return [*changes, Change("clock.jump", None, {"off": jump})]

    def _make_row(self, change: Change, stamp: Stamp, actor: Actor, key: str) -> VersionRow | None:
        if change.draft is None:
            return None
        salt = self._ids.draw(SALT_BYTES)
        return VersionRow(stamp.ref, change.type, change.draft, stamp.recorded_at, salt, key, actor)


def _name_jump(jump_s: int) -> Problem:
    mend = "Set the machine's clock. If it is right, it was ahead when the log was written: times go on from there."
    where = "behind"
    if jump_s > 0:
        mend = "Set the machine's clock. If it is right, record times follow it once the machine was started anew."
        where = "ahead of"
    message = f"the clock is {abs(jump_s)} s {where} the record time, which goes on as it did"
    return Problem("", 0, "clock_jump", Severity.WARNING, message, mend)


def hash_key(pepper: bytes, key: str) -> str:
    """Return an idempotency key as it is stored: 22 characters base64url of its HMAC under the pepper."""
    digest = hmac.new(pepper, key.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode()[:22]


def _list_members(change: Change, row: VersionRow | None) -> dict[str, object]:
    members = dict(change.members)
    if row is None:
        return members
    draft: VersionDraft = row.draft
    members |= {
        "rec": draft.id,
        "ver": draft.version,
        "kind": draft.kind,
        "origin": draft.origin,
        "body": {"alg": "hmac-sha256", "c": commit_bytes(row.salt, draft.data)},
    }
    if draft.parents:
        members["from"] = [str(parent) for parent in draft.parents]
    if draft.turn is not None:
        members["turn"] = draft.turn.n
    if draft.status != "current":
        members["status"] = draft.status
    if draft.protection != "normal":
        members["protection"] = draft.protection
    return members
