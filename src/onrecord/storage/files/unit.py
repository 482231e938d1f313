"""One write under the lock: stamps, entries, commitments, the commit (driver of `onrecord.ports.store.WriteUnit`)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from onrecord.domain.entry import encode_entry, make_entry
from onrecord.domain.errors import LimitExceededError
from onrecord.domain.ids import RECORD_ID_CHARS, EntryRef, LogId, RecordId, Seq, encode_base32
from onrecord.domain.instants import Instant, from_unix_us, to_unix_us
from onrecord.domain.limits import BATCH_MAX_BYTES, BATCH_MAX_COUNT
from onrecord.domain.merkle import hash_leaf
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.pseudonym import commit_bytes, make_pseudonym
from onrecord.domain.record_time import choose_record_time
from onrecord.ports.signing import Signer
from onrecord.ports.store import Actor, Change, FileState, PlacedFile, Receipt, Stamp, VersionDraft, VersionRow
from onrecord.ports.system import Clock, IdSource
from onrecord.storage.files.frames import FrameChange
from onrecord.storage.files.log_writer import LogWriter, Outcome

_SALT_BYTES = 32
_SYSTEM = Actor("onrecord")
_WITH_STATUS = frozenset({"record.create", "record.update"})


class FileWriteUnit:
    """The right to write to one vault; made and used only while its lock is held."""

    def __init__(self, writer: LogWriter, pepper: bytes, clock: Clock, ids: IdSource) -> None:
        self._writer = writer
        self._pepper = pepper
        self._ids = ids
        self._reading = clock.read()
        self.problems: list[Problem] = []
        self.settled: list[tuple[VersionRow, FileState | None]] = []
        self._base_us, self._jump_s = self._choose_time()
        if self._jump_s:
            message = f"the clock is {self._jump_s} s off the record time; the record time is kept"
            self.problems.append(Problem("", 0, "clock_jump", Severity.WARNING, message, "Set the machine's clock."))

    def _choose_time(self) -> tuple[int, int]:
        head = self._writer.head
        last_us = to_unix_us(Instant(head.ts)) if head.ts else 0
        last = head.clock
        elapsed_us = None
        if last is not None and last.boot == self._reading.boot:
            elapsed_us = self._reading.boottime_us - last.boottime_us
        chosen = choose_record_time(self._reading.wall_us, last_us, last.wall_us if last else None, elapsed_us)
        return chosen.us, chosen.jump_s

    def stamp(self, place: int) -> Stamp:
        """Return name and record time of the change at index `place` of the next commit."""
        seq = Seq(self._writer.next_seq + place)
        head = self._writer.head
        floor_us = to_unix_us(Instant(head.ts)) + 1 if head.ts else 0
        return Stamp(EntryRef(self._writer.log, seq), from_unix_us(max(self._base_us, floor_us) + place))

    def draw_record_id(self) -> RecordId:
        """Return a fresh random record id."""
        return RecordId(encode_base32(self._ids.draw(8), RECORD_ID_CHARS))

    def hash_key(self, key: str) -> str:
        """Return an idempotency key as it is stored: 22 characters base64url of its HMAC."""
        digest = hmac.new(self._pepper, key.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode()[:22]

    def commit(self, changes: Sequence[Change], actor: Actor, key: str = "") -> Receipt:
        """Make the changes durable as one, then apply them."""
        if not 1 <= len(changes) <= BATCH_MAX_COUNT:
            raise LimitExceededError(f"a batch has 1 to {BATCH_MAX_COUNT} changes")
        size = sum(len(change.draft.data) for change in changes if change.draft is not None)
        if len(changes) > 1 and size > BATCH_MAX_BYTES:
            raise LimitExceededError(f"a batch has at most {BATCH_MAX_BYTES} bytes")
        first = self._writer.next_seq
        outcome, rows = self._commit(changes, actor, key)
        placed = [PlacedFile(changes[row.ref.seq - first], row.ref, state) for row, state in outcome.placed]
        problems = list(outcome.problems)
        kept = self.commit_displaced(outcome)
        problems += [
            Problem(
                row.draft.path,
                0,
                "displaced_edit",
                Severity.WARNING,
                f"an edit made outside gave way to a write; it is kept as version {row.draft.version}",
                f"See `onrecord read {row.draft.id} --version {row.draft.version}`.",
            )
            for row in kept
        ]
        self.problems += problems
        return Receipt([*rows, *kept], len(changes) + len(kept), placed, outcome.not_placed, problems)

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
                    parents=row.draft.parents or (row.ref,),
                ),
            )
            for row, data in outcome.displaced
        ]
        outcome.displaced.clear()
        return self._commit(changes, _SYSTEM, "")[1]

    def start_log(self, signer: Signer, seen: Sequence[Mapping[str, object]]) -> None:
        """Write the first entry of the log: its key and the heads of the logs found."""
        self._commit([Change("log.start", None, {"key": signer.vkey(), "seen": list(seen)})], _SYSTEM, "")

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
        salt = self._ids.draw(_SALT_BYTES)
        return VersionRow(stamp.ref, change.type, change.draft, stamp.recorded_at, salt, key, actor)


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
    if draft.status != "current" and change.type in _WITH_STATUS:
        members["status"] = draft.status
    if draft.protection != "normal" and change.type in _WITH_STATUS:
        members["protection"] = draft.protection
    return members


def describe_seen(log: LogId, size: int, root: bytes, ts: str) -> dict[str, object]:
    """Return one item of `seen`."""
    return {"log": log, "size": size, "root": base64.b64encode(root).decode(), "ts": ts}


def read_entry_ts(line: bytes) -> str:
    """Return the record time of a ledger line, the beginning of time when it cannot be read."""
    try:
        return str(json.loads(line)["ts"])
    except (ValueError, KeyError, TypeError):
        return "0001-01-01T00:00:00.000000Z"
