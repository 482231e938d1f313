"""Memories whose file is gone: noticed at each complete comparison, retired after the wait, never many at once.

The wait and what suspends it are `onrecord.domain.absences`; ADR 17 tells why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from onrecord.app.branches import list_equal_tips
from onrecord.app.content import locate
from onrecord.app.current import choose_number
from onrecord.app.origins import weigh_origin
from onrecord.app.retaking import take_back_files
from onrecord.app.returns import list_withdrawn
from onrecord.app.session import Reply, Session
from onrecord.app.suspension import tell_suspension
from onrecord.domain.absences import Absences, Moment, Suspension
from onrecord.domain.errors import DamagedError, NotWritableError, VaultError
from onrecord.domain.ids import RecordId
from onrecord.domain.instants import from_unix_us
from onrecord.domain.limits import BATCH_MAX_BYTES
from onrecord.ports.index import FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, WriteUnit

# A transcript only grows, and conflicts and workspaces end by a decision: these are never retired for a missing file.
RETIRED_KINDS = frozenset({"note", "fact", "entity", "experience", "observation", "belief", "reflection"})
_OPEN_STATUSES = frozenset({"current", "draft", "pending"})
# Two entries a record.
_BATCH_RECORDS = 400


def look(
    session: Session,
    reply: Reply,
    unmet: Collection[str] = (),
    *,
    suspects: Collection[RecordId] = (),
    has_unread: bool = False,
    wait_s: float | None = 0,
) -> None:
    """Take note of a complete comparison: who is missing since when, and retire what has waited long enough.

    A memory whose place was taken by another one's file has no stamp left that could go unmet; it is asked, too. The
    look counts for nothing where the vault is offline, busy or cannot be written.

    Args:
        session: The opened vault.
        reply: Is marked `retirement_suspended` while nothing may be retired.
        unmet: Stamped files that were not met.
        suspects: Further records whose file may be gone.
        has_unread: As of `Comparison`.
        wait_s: How long to wait for the lock.
    """
    suspects = {*suspects, *session.replaced}
    if session.owns_index or not (unmet or suspects or session.store.absences.read().missing):
        session.replaced.clear()
        return
    try:
        with session.write(wait_s) as unit:
            absences = _look_under_lock(session, unit, unmet, suspects, reply, has_unread=has_unread)
            due = absences.list_due()
            if due:
                retire_missing(session, unit, due, reply, Actor())
                absences = absences.drop(due)
            session.store.absences.write(absences)
    except (NotWritableError, DamagedError, VaultError):
        return
    session.replaced.clear()
    tell_suspension(absences, reply)


def _look_under_lock(
    session: Session,
    unit: WriteUnit,
    unmet: Collection[str],
    suspects: Collection[RecordId],
    reply: Reply,
    *,
    has_unread: bool,
) -> Absences:
    known = session.store.absences.read()
    paths = set(unmet)
    with session.index.read() as reader:
        stamps = [stamp for path in sorted(paths) if (stamp := reader.get_file(path)) is not None]
        asked = {stamp.record for stamp in stamps}
        lost = list_missing(session, reader, sorted({*asked, *suspects, *known.missing}))
        withdrawn = list_withdrawn(session, reader, {*asked, *suspects, *known.missing, *known.withdrawn})
        files = {record: _list_paths(reader, record) for record in {*asked, *(head.id for head in lost)}}
        filed = reader.count_filed()
    gone = take_back_files(session, unit, lost, reply)
    ids = {head.id for head in gone}
    homeless = sum(not files[record] for record in ids)
    left = sum(bool(at) and paths.issuperset(at) for record, at in files.items() if record not in ids)
    now = session.clock.read()
    moment = Moment(now.boot, now.boottime_us, now.wall_us)
    seen = known.look(moment, from_unix_us(now.wall_us), ids, filed - left + homeless, has_unread=has_unread)
    kept = ids if seen.suspension is Suspension.NONE else {*ids, *withdrawn}
    _forget_stale(session, [stamp for stamp in stamps if stamp.record not in kept])
    return seen.withdraw(withdrawn)


def _forget_stale(session: Session, stamps: Sequence[FileStamp]) -> None:
    """Forget files that are gone of memories that do not miss them."""
    links = session.store.links
    paths = [stamp.path for stamp in stamps]
    stale = [path for path in paths if session.store.stat_file(path) is None and not links.is_away(path)]
    if stale:
        session.index.apply(IndexBatch(removed_files=stale))


def _list_paths(reader: IndexReader, record: RecordId) -> list[str]:
    return [stamp.path for stamp in reader.find_files_of(record) if not stamp.path.startswith("events/")]


def list_missing(session: Session, reader: IndexReader, records: Sequence[RecordId]) -> list[VersionHead]:
    """Return the current versions of those of some records that stand, should have a file and have none."""
    heads = (reader.get_current(record) for record in records)
    return [head for head in heads if head is not None and _is_missing(session, reader, head)]


def _is_missing(session: Session, reader: IndexReader, head: VersionHead) -> bool:
    is_judged = head.kind in RETIRED_KINDS and head.status in _OPEN_STATUSES
    return is_judged and not session.store.is_waiting(head.ref) and locate(session, reader, head).is_missing


def list_homeless(session: Session, reader: IndexReader, records: Iterable[RecordId]) -> list[RecordId]:
    """Return those of some records without a known file that this installation has had one of: for an index made anew.

    A record of another installation's log alone may never have arrived here.
    """
    asked = frozenset(records)
    placed = {stamp.record for stamp in reader.list_files()} if asked else frozenset()
    own = session.store.log
    left = sorted(asked - placed)
    return [record for record in left if any(head.ref.log == own for head in reader.list_versions(record))]


def retire_missing(
    session: Session, unit: WriteUnit, records: Sequence[RecordId], reply: Reply, actor: Actor
) -> list[RecordId]:
    """Retire records whose file is gone: each an entry `record.missing` and a version of the same bytes.

    Returns:
        Those that were retired; one whose bytes are not at hand is left.

    Raises:
        NotWritableError: nothing of the present batch was stored.
    """
    retired: list[RecordId] = []
    for changes in _batch(_list_retirements(session, records)):
        receipt = unit.commit(changes, actor)
        with session.index.read() as reader:
            left = [stamp.path for row in receipt.rows for stamp in reader.find_files_of(row.draft.id)]
        session.publish(receipt, reply, removed=left)
        retired += [row.draft.id for row in receipt.rows]
    return retired


def _list_retirements(session: Session, records: Sequence[RecordId]) -> Iterator[tuple[Change, Change]]:
    for record in records:
        with session.index.read() as reader:
            head = reader.get_current(record)
            number = choose_number(reader, record) if head is not None else 0
            parents = list_equal_tips(session, reader, head) if head is not None else ()
            origin = weigh_origin(reader, record, head.text_sha256, "file") if head is not None else "file"
        row = session.store.read_row(head.ref) if head is not None else None
        if head is None or row is None or row.is_erased or row.is_sealed:
            continue
        draft = replace(row.draft, version=number, origin=origin, status="retired", parents=parents, mode="observed")
        yield (
            Change("record.missing", None, {"rec": record, "ver": head.version}),
            Change("record.retire", draft, {"cause": "user"}),
        )


def _batch(pairs: Iterator[tuple[Change, Change]]) -> Iterator[list[Change]]:
    """Yield changes in batches that a commit takes; a pair stays together."""
    changes: list[Change] = []
    size = 0
    for pair in pairs:
        added = sum(len(change.draft.data) for change in pair if change.draft is not None)
        if changes and (len(changes) >= 2 * _BATCH_RECORDS or size + added > BATCH_MAX_BYTES):
            yield changes
            changes, size = [], 0
        changes += pair
        size += added
    if changes:
        yield changes
