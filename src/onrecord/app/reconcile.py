"""Outside edits: what a person or another program did to the files becomes versions of origin `file`.

The files are never touched here. A changed file is a new version of its record, a new one is a new record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from onrecord.app.absences import look
from onrecord.app.arrivals import name_loose
from onrecord.app.comparison import Comparison
from onrecord.app.conflicts import attend
from onrecord.app.copies import add_orphans, find_copied, hold_back, keep_copies, may_be_copy, split_nested
from onrecord.app.identity import BATCH_BYTES, BATCH_COUNT, Found, Identities, Identity, read_found
from onrecord.app.indexing import build_version
from onrecord.app.intake import Intake
from onrecord.app.judging import Judgement, judge_file
from onrecord.app.leaving import has_vanished, is_stray, list_left_places
from onrecord.app.marked import find_sides, keep_sides
from onrecord.app.moves import record_moves, record_strays
from onrecord.app.pending import build_loose, find_awaited
from onrecord.app.proposals import Requests
from onrecord.app.refusals import read_bytes
from onrecord.app.returns import Returned, Returns, is_living, restore_returned
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import hash_data, is_as_stamped, stamp_file
from onrecord.domain.copy_names import is_named_copy
from onrecord.domain.errors import DamagedError, LockTimeoutError, NotWritableError
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.merge_marks import Sides
from onrecord.domain.record import read_record
from onrecord.ports.index import Document, FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, FileState, WriteUnit


@dataclass(slots=True)
class _Pending:
    changes: list[Change]
    found: list[Found]
    touched: list[RecordId]
    requests: list[Change]
    size_bytes: int = 0


def reconcile(session: Session, reply: Reply, *, wait_s: float | None = 0) -> int:
    """Compare all files with what is known and take in what differs.

    Args:
        session: The opened vault.
        reply: Gets degradation if the vault is busy or cannot be written.
        wait_s: How long to wait for the lock.

    Returns:
        How many versions were made.
    """
    session.comparison = Comparison(session.store, session.index, session.refused)
    return continue_reconcile(session, reply, None, None, wait_s=wait_s)


def continue_reconcile(
    session: Session, reply: Reply, pieces: int | None, intake_pieces: int | None, *, wait_s: float | None = 0
) -> int:
    """Go on with the session's comparison, as `Session.compare_files` tells.

    Args:
        session: The opened vault.
        reply: Is marked `reconciling` while files have not been compared and taken in.
        pieces: How much to compare; None for all.
        intake_pieces: How much to take in; None for all.
        wait_s: How long to wait for the lock.
    """
    comparison = session.comparison
    if comparison is None:
        return reconcile_paths(session, sorted(session.settling.put_off), reply, wait_s=wait_s)
    session.comparison = None
    if not comparison.advance(pieces):
        session.comparison = comparison
        reply.degrade("reconciling", "The files are still being compared; ask again for what was edited meanwhile.")
        return 0
    intake = comparison.intake
    if intake is None:
        more = {*add_orphans(session, comparison), *session.settling.put_off}
        intake = comparison.intake = Intake(comparison.changed, more, comparison.hurried)
    made = 0 if intake.is_done else _take_in_some(session, intake, reply, intake_pieces, wait_s)
    if not intake.is_done and intake_pieces is not None:
        session.comparison = comparison
        if all(known.reason != "outside_edits_pending" for known in reply.degraded):
            reply.degrade("reconciling", "What was edited by hand is still being taken in; ask again for the rest.")
        return made
    look(session, reply, comparison.unmet, has_unread=comparison.has_unread, wait_s=wait_s)
    back = sorted(session.settling.put_off.difference(intake.paths))
    return made + reconcile_paths(session, back, reply, wait_s=wait_s) if back else made


def _take_in_some(session: Session, intake: Intake, reply: Reply, pieces: int | None, wait_s: float | None) -> int:
    paths = intake.list_next(pieces)
    return reconcile_paths(session, paths, reply, wait_s=wait_s, choose=lambda: intake.take(session, paths))


def reconcile_paths(
    session: Session, paths: Sequence[str], reply: Reply, *, wait_s: float | None = 0,
    choose: Callable[[], Sequence[str]] | None = None,
) -> int:  # fmt: skip
    """Take in outside edits of some files, or of those that `choose` returns under the lock.

    Files that are being saved are waited for before the lock is taken, once for all and 200 ms at most.

    Returns:
        How many versions were made.
    """
    session.settling.stat_saved(paths)
    try:
        with session.write(wait_s) as unit:
            return observe_under_lock(session, unit, choose() if choose else paths, reply, may_pause=False)
    except LockTimeoutError:
        reply.degrade("reconciling", "Another process writes; ask again in a moment.")
    except (NotWritableError, DamagedError) as error:
        reply.degrade("outside_edits_pending", error.hint)
    return 0


def observe_under_lock(
    session: Session, unit: WriteUnit, paths: Iterable[str], reply: Reply, *, may_pause: bool = True
) -> int:
    """Take in outside edits of some files; `may_pause`: whether files being saved have not been waited for yet.

    Raises:
        NotWritableError: nothing of the present batch was stored.
    """
    asked = list(paths)
    passing = _pass_over(session, unit, asked, reply, may_pause=may_pause)
    if passing.has_lost_one:
        return observe_all_under_lock(session, unit, reply, asked)
    made = passing.finish()
    attend(session, unit, reply)
    return made


def observe_all_under_lock(session: Session, unit: WriteUnit, reply: Reply, asked: Sequence[str] = ()) -> int:
    """Compare all files, look at those `asked` too, take in outside edits: for when a file may lie elsewhere.

    Raises:
        NotWritableError, DamagedError: as named.
    """
    comparison = Comparison(session.store, session.index, session.refused)
    comparison.advance()
    paths = sorted({*add_orphans(session, comparison), *asked})
    made = _pass_over(session, unit, paths, reply).finish()
    attend(session, unit, reply)
    return made


def _pass_over(
    session: Session, unit: WriteUnit, paths: Iterable[str], reply: Reply, *, may_pause: bool = True
) -> _Pass:
    states = session.settling.stat_saved(paths, may_pause=may_pause)
    held = hold_back(session, states)
    passing = _pass_files(session, unit, {path: states[path] for path in states if path not in held}, reply)
    passing.held += [states[path] for path in sorted(held)]
    return passing


def _pass_files(
    session: Session, unit: WriteUnit, states: Mapping[str, FileState], reply: Reply, *, may_hold: bool = True
) -> _Pass:
    passing = _Pass(session, unit, reply, Identities(session, states), may_hold=may_hold)
    deferred = [state for state in session.count_off(states.values()) if not passing.observe(state, is_last=False)]
    for state in sorted(deferred, key=lambda state: passing.identities.rank(state.path)):
        passing.observe(state, is_last=True)
    return passing


def _take_held(session: Session, unit: WriteUnit, held: Sequence[FileState], reply: Reply) -> int:
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
        elif not session.settling.puts_off(state):
            copies.append((found, head))
    made = keep_copies(session, unit, copies, reply)
    made += _pass_files(session, unit, others, reply, may_hold=False).finish() if others else 0
    return made + (_take_held(session, unit, nested, reply) if nested else 0)


class _Pass:
    """One pass over files that differ from their stamps: versions are committed in batches, stamps at the end."""

    def __init__(
        self, session: Session, unit: WriteUnit, reply: Reply, identities: Identities, *, may_hold: bool
    ) -> None:
        self._session = session
        self._unit = unit
        self._reply = reply
        self.identities = identities
        self._may_hold = may_hold
        self.held: list[FileState] = []
        self._marked: list[tuple[Found, VersionHead, Sides]] = []
        self._pending = _Pending([], [], [], [])
        self._fresh: list[FileStamp] = []
        self._left: list[str] = []
        self._loose: list[Document] = []
        self._dropped: list[EntryRef] = []
        self._moved: dict[RecordId, str] = {}
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
            if not is_same and self._session.settling.puts_off(state):
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
        may_hold = head is not None and head.kind not in ("event", "conflict")
        sides = find_sides(self._session, reader, found, head) if head is not None and may_hold else None
        if head is None or sides is None:
            return False
        self.identities.assign(found.state.path, head.id)
        self._marked.append((found, head, sides))
        return True

    def _settle_retired(self, reader: IndexReader, found: Found, identity: Identity) -> Identity | None:
        """Return what a file holds that may be a retired record's; None for one that is restored when the pass ends."""
        head = reader.get_current(identity.known) if identity.known is not None else None
        if identity == Identity():
            head = self._returns.find_same(reader, found)
            identity = Identity(head.id if head is not None and self.identities.is_free(head.id) else None)
        if head is None or head.status != "retired":
            return identity
        if self.identities.is_free(head.id) and self._returns.is_back(reader, head):
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
        self._made += _commit(self._session, self._unit, self._pending, self._reply, is_followed=is_followed)
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
            record_moves(self._session, self._unit, self._moved)
        if self._strays:
            record_strays(self._session, self._unit, self._strays)
        if self._fresh or self._left or self._dropped:
            batch = IndexBatch(self._loose, files=self._fresh, removed_files=self._left, dropped=self._dropped)
            self._session.index.apply(batch)
        for found, head, sides in self._marked:
            self._session.settling.clear(found.state.path)
            self._made += keep_sides(self._session, self._unit, found, head, sides, self._reply)
        if self.held:
            self._made += _take_held(self._session, self._unit, self.held, self._reply)
        return self._made


def _commit(session: Session, unit: WriteUnit, pending: _Pending, reply: Reply, *, is_followed: bool) -> int:
    receipt = unit.commit([*pending.changes, *pending.requests], Actor())
    now_ns = session.clock.read().wall_us * 1_000
    documents, stamps = list[Document](), list[FileStamp]()
    for row, found in zip(receipt.rows, pending.found, strict=False):
        documents.append(build_version(row, found.record))
        ref = row.ref if row.draft.kind != "event" else None
        stamps.append(stamp_file(found.state, row.draft.id, found.data, now_ns, ref))
    session.publish(receipt, reply, documents, stamps, touched=pending.touched, is_followed=is_followed)
    return len(pending.changes)
