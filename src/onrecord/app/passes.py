"""A pass over files that differ from their stamps: each is told apart, judged, and made a version or stamped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onrecord.app.arrivals import name_loose
from onrecord.app.copies import find_copied, hold_back, keep_copies, may_be_copy, split_nested
from onrecord.app.identity import BATCH_BYTES, BATCH_COUNT, Found, Identities, Identity, read_found
from onrecord.app.indexing import build_version
from onrecord.app.judging import Judgement, judge_file
from onrecord.app.leaving import has_vanished, is_stray, list_left_places
from onrecord.app.marked import Marks, find_marks, keep_marked, tell_words
from onrecord.app.moves import record_moves, record_strays
from onrecord.app.pending import build_loose, find_awaited
from onrecord.app.proposals import Requests
from onrecord.app.refusals import read_bytes
from onrecord.app.returns import Returned, Returns, is_living, restore_returned
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import hash_data, is_as_stamped, stamp_file
from onrecord.domain.copy_names import is_named_copy
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.record import read_record
from onrecord.ports.index import Document, FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, FileState, VersionRow, WriteUnit


@dataclass(slots=True)
class _Pending:
    changes: list[Change]
    found: list[Found]
    touched: list[RecordId]
    requests: list[Change]
    size_bytes: int = 0


def pass_over(
    session: Session, unit: WriteUnit, states: Mapping[str, FileState], reply: Reply, *, is_settled: bool = False
) -> Pass:
    """Look at some files; what may be copies by their names is kept for the end of the pass.

    Args:
        session: The opened vault.
        unit: The right to write.
        states: The files by path, those that are gone left out.
        reply: As of `Session.publish`.
        is_settled: Whether none of them can be half-written: each is as it was when it was looked at before.
    """
    held = hold_back(session, states)
    others = {path: state for path, state in states.items() if path not in held}
    passing = _pass_files(session, unit, others, reply, is_settled=is_settled)
    passing.held += [states[path] for path in sorted(held)]
    return passing


def _pass_files(
    session: Session, unit: WriteUnit, states: Mapping[str, FileState], reply: Reply, *, may_hold: bool = True,
    is_settled: bool,
) -> Pass:  # fmt: skip
    passing = Pass(session, unit, reply, Identities(session, states), may_hold=may_hold, is_settled=is_settled)
    deferred = [state for state in session.count_off(states.values()) if not passing.observe(state, is_last=False)]
    for state in sorted(deferred, key=lambda state: passing.identities.rank(state.path)):
        passing.observe(state, is_last=True)
    return passing


def _take_held(session: Session, unit: WriteUnit, held: Sequence[FileState], reply: Reply, *, is_settled: bool) -> int:
    """Take in files that may be copies, once all others are taken in; what is none is a memory like any other."""
    copies, others = list[tuple[Found, VersionHead]](), dict[str, FileState]()
    first, nested = split_nested(held)
    for state in first:
        found = read_found(session, state)
        if found is None:
            continue
        with session.index.read() as reader:
            head = find_copied(session, reader, found)
        if head is None:
            others[state.path] = state
        elif is_settled or not session.settling.puts_off(state):
            copies.append((found, head))
    made = keep_copies(session, unit, copies, reply)
    if others:
        made += _pass_files(session, unit, others, reply, may_hold=False, is_settled=is_settled).finish()
    return made + (_take_held(session, unit, nested, reply, is_settled=is_settled) if nested else 0)


class Pass:
    """One pass over files that differ from their stamps: versions are committed in batches, stamps at the end."""

    def __init__(
        self, session: Session, unit: WriteUnit, reply: Reply, identities: Identities, *, may_hold: bool,
        is_settled: bool,
    ) -> None:  # fmt: skip
        self._session = session
        self._unit = unit
        self._reply = reply
        self.identities = identities
        self._may_hold = may_hold
        self._is_settled = is_settled
        self.held: list[FileState] = []
        self._marked: list[tuple[Found, VersionHead, Marks]] = []
        self._pending = _Pending([], [], [], [])
        self._fresh: list[FileStamp] = []
        self._left: list[str] = []
        self._loose: list[Document] = []
        self._dropped: list[EntryRef] = []
        self._moved: dict[RecordId, str] = {}
        self._salts: dict[EntryRef, bytes] = {}
        self._strays: dict[RecordId, str] = {}
        self._returned: list[Returned] = []
        self._returns = Returns(session)
        self._requests = Requests(session)
        self._replaced: list[RecordId] = []
        self._made = 0
        self._has_put_off = False

    @property
    def has_lost_one(self) -> bool:
        """Whether a record lost its place to another one and nothing is stored yet: other files must be asked, too."""
        return not self._made and any(self.identities.is_free(record) for record in self._replaced)

    def observe(self, state: FileState, *, is_last: bool) -> bool:
        """Look at one file; False puts it off until all others have been looked at."""
        data = read_bytes(self._session, state)
        if data is None:
            return True
        sha256 = hash_data(data)
        with self._session.index.read() as reader:
            stamp = reader.get_file(state.path)
            is_same = stamp is not None and is_as_stamped(stamp, sha256)
            if stamp is not None and is_same and self.identities.may_keep(reader, stamp):
                self._note(reader, state, stamp.record, data, stamp.ref)
                return True
            if not (is_same or self._is_settled) and self._session.settling.puts_off(state):
                self._reply.degrade("reconciling", "A file is being saved; ask again in a moment.")
                return True
            found = Found(state, data, sha256, read_record(data, state.path, self._session.yaml))
            if self._waits(reader, found, stamp):
                return True
            identity = self.identities.identify(reader, found, is_last=is_last)
            if identity is None or has_vanished(self._session.store, state.path, identity.known):
                return identity is not None
            if self._may_hold and may_be_copy(self._session, reader, found, identity.known):
                self.held.append(state)
                return True
            identity = self._settle_retired(reader, found, identity)
            if identity is None or self._holds_marks(reader, found, identity):
                return True
            judged = self._judge(reader, found, stamp, identity)
        self._take(found, judged)
        return True

    def _holds_marks(self, reader: IndexReader, found: Found, identity: Identity) -> bool:
        """Tell whether git left its marks in a memory's file; its sides are then kept when the pass ends."""
        head = reader.get_current(identity.known) if identity.known is not None else None
        may_hold = head is not None and head.kind != "event"
        marks = find_marks(self._session, reader, found, head) if head is not None and may_hold else None
        if head is None or marks is None:
            return False
        self.identities.assign(found.state.path, head.id)
        self._marked.append((found, head, marks))
        return True

    def _settle_retired(self, reader: IndexReader, found: Found, identity: Identity) -> Identity | None:
        """Return what a file holds that may be a retired record's; None for one that is restored when the pass ends."""
        head = reader.get_current(identity.known) if identity.known is not None else None
        if identity == Identity():
            head = self._returns.find_same(reader, found)
            identity = Identity(head.id if head is not None and self.identities.is_free(head.id) else None)
        if head is None or head.status != "retired":
            return identity
        if self.identities.is_free(head.id) and self._returns.is_back(reader, head, found):
            self.identities.assign(found.state.path, head.id)
            self._returned.append((head, found.state))
            return None
        if not self._returns.is_other_text(reader, head, found):
            return identity
        other = self.identities.identify(reader, found.without_id(), is_last=True)
        is_other = other is not None and other.known is not None and is_living(reader, other.known)
        return other if is_other else Identity()

    def _restore(self) -> None:
        """Restore the memories whose file is back, then look at those files again: they may have been edited, too."""
        restore_returned(self._session, self._unit, self._returned, self._reply)
        for head, state in self._returned:
            found = read_found(self._session, state)
            if found is None:
                continue
            with self._session.index.read() as reader:
                judged = self._judge(reader, found, reader.get_file(state.path), Identity(head.id))
            self._take(found, judged)

    def _judge(self, reader: IndexReader, found: Found, stamp: FileStamp | None, identity: Identity) -> Judgement:
        """Judge a file whose record is known; one that makes no version gets its stamp."""
        head = reader.get_current(identity.known) if identity.known is not None else None
        judged = judge_file(self._session, reader, self._unit, found, head, identity)
        if stamp is not None and stamp.record != judged.record:
            self._replaced.append(stamp.record)
        if judged.change is None:
            self._note(reader, found.state, judged.record, found.data, judged.ref)
        else:
            self.identities.assign(found.state.path, judged.record)
            self._leave_places(reader, found.state, judged.record)
            if judged.change.draft is not None:
                tell_words(self._session, head, found, self._reply)
                self._pending.requests += self._requests.list_new(reader, judged.change.draft, found)
        return judged

    def _take(self, found: Found, judged: Judgement) -> None:
        if judged.change is not None:
            self._add(judged.change, found, is_branch=judged.is_branch)

    def _waits(self, reader: IndexReader, found: Found, stamp: FileStamp | None) -> bool:
        """Tell whether a file is ahead of its row; it is searched then, and makes no version."""
        claim, awaited = found.record.claimed_id, find_awaited(self._session, reader, found, stamp)
        if stamp is not None and stamp.is_pending:
            self._dropped.append(name_loose(stamp.path))
        if awaited is None or claim is None:
            return False
        if stamp is not None and stamp.record != claim:
            self._replaced.append(stamp.record)
        self._session.settling.clear(found.state.path)
        now_ns = self._session.clock.read().wall_us * 1_000
        self._loose.append(build_loose(self._session, reader, found))
        self._fresh.append(stamp_file(found.state, claim, found.data, now_ns, awaited)._replace(is_pending=True))
        return True

    def _note(self, reader: IndexReader, state: FileState, record: RecordId, data: bytes, ref: EntryRef | None) -> None:
        """Keep a stamp of a file that makes no version: its bytes are those of `ref`."""
        self._session.settling.clear(state.path)
        self.identities.assign(state.path, record)
        self._leave_places(reader, state, record)
        self._fresh.append(stamp_file(state, record, data, self._session.clock.read().wall_us * 1_000, ref))

    def _leave_places(self, reader: IndexReader, state: FileState, record: RecordId) -> None:
        left = list_left_places(self._session.store, reader, record, state)
        self._left += left
        if left:
            self._moved[record] = state.path
            self._session.settling.put_off.update(filter(is_named_copy, left))
        elif is_stray(reader, record, state.path):
            self._strays[record] = state.path

    def _add(self, change: Change, found: Found, *, is_branch: bool) -> None:
        self._session.settling.clear(found.state.path)
        if is_branch and change.draft is not None:
            self._pending.touched.append(change.draft.id)
        self._pending.changes.append(change)
        self._pending.found.append(found)
        self._pending.size_bytes += len(found.data)
        count = len(self._pending.changes) + len(self._pending.requests)
        if count >= BATCH_COUNT or self._pending.size_bytes >= BATCH_BYTES:
            self._commit(is_followed=True)

    def _commit(self, *, is_followed: bool = False) -> None:
        rows = _commit(self._session, self._unit, self._pending, self._reply, is_followed=is_followed)
        self._made += len(self._pending.changes)
        self._salts |= {row.ref: row.salt for row in rows if row.draft.id in self._moved}
        self._pending = _Pending([], [], [], [])
        self._has_put_off = is_followed

    def finish(self) -> int:
        """Commit and stamp what is left; return how many versions were made."""
        self._session.replaced.update(filter(self.identities.is_free, self._replaced))
        if self._returned:
            self._restore()
        if self._pending.changes:
            self._commit()
        elif self._has_put_off:
            self._session.index.apply(IndexBatch())
        if self._moved:
            record_moves(self._session, self._unit, self._moved, self._salts)
        if self._strays:
            record_strays(self._session, self._unit, self._strays)
        if self._fresh or self._left or self._dropped:
            batch = IndexBatch(self._loose, files=self._fresh, removed_files=self._left, dropped=self._dropped)
            self._session.index.apply(batch)
        for found, head, marks in self._marked:
            self._session.settling.clear(found.state.path)
            self._made += keep_marked(self._session, self._unit, found, head, marks, self._reply)
        if self.held:
            self._made += _take_held(self._session, self._unit, self.held, self._reply, is_settled=self._is_settled)
        return self._made


def _commit(
    session: Session, unit: WriteUnit, pending: _Pending, reply: Reply, *, is_followed: bool
) -> Sequence[VersionRow]:
    receipt = unit.commit([*pending.changes, *pending.requests], Actor())
    now_ns = session.clock.read().wall_us * 1_000
    documents, stamps = list[Document](), list[FileStamp]()
    for row, found in zip(receipt.rows, pending.found, strict=False):
        documents.append(build_version(row, found.record))
        ref = row.ref if row.draft.kind != "event" else None
        stamps.append(stamp_file(found.state, row.draft.id, found.data, now_ns, ref))
    session.publish(receipt, reply, documents, stamps, touched=pending.touched, is_followed=is_followed)
    return receipt.rows
