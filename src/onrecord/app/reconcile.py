"""Outside edits: what a person or another program did to the files becomes versions of origin `file`.

The files are never touched here. A changed file is a new version of its record, a new one is a new record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from onrecord.app.indexing import build_version, read_own_text
from onrecord.app.places import is_unchanged
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import is_same_tick, stamp_file
from onrecord.domain.errors import DamagedError, LockTimeoutError, NotFoundError, NotWritableError, StorageFailedError
from onrecord.domain.ids import RecordId
from onrecord.domain.limits import BATCH_MAX_BYTES
from onrecord.domain.problem import Problem
from onrecord.domain.record import Record, name_workspace, read_record
from onrecord.ports.index import Document, FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, FileState, VersionDraft, WriteUnit

_OUTSIDE = Actor()
_BATCH_COUNT = 500
_KINDS = {"facts": "fact", "entities": "entity", "events": "event", "workspaces": "workspace", "conflicts": "conflict"}
_MEMORY_KINDS = frozenset({"note", "experience", "observation", "belief", "reflection"})


@dataclass(frozen=True, slots=True)
class _Found:
    state: FileState
    data: bytes
    record: Record


@dataclass(slots=True)
class _Pending:
    changes: list[Change]
    found: list[_Found]
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
    with session.index.read() as reader:
        stamps = {stamp.path: stamp for stamp in reader.list_files()}
    changed: list[str] = []
    for item in session.store.scan_files():
        if isinstance(item, Problem):
            continue
        stamp = stamps.get(item.path)
        if stamp is None or not is_unchanged(item, stamp) or is_same_tick(stamp):
            changed.append(item.path)
    return reconcile_paths(session, changed, reply, wait_s=wait_s) if changed else 0


def reconcile_paths(session: Session, paths: Sequence[str], reply: Reply, *, wait_s: float | None = 0) -> int:
    """Take in outside edits of some files; the lock is taken only if one really differs.

    Returns:
        How many versions were made.
    """
    try:
        with session.write(wait_s) as unit:
            return observe_under_lock(session, unit, paths, reply)
    except LockTimeoutError:
        reply.degrade("reconciling", "Another process writes; ask again in a moment.")
    except (NotWritableError, DamagedError) as error:
        reply.degrade("outside_edits_pending", error.hint)
    return 0


def observe_under_lock(session: Session, unit: WriteUnit, paths: Iterable[str], reply: Reply) -> int:
    """Take in outside edits of some files.

    Raises:
        NotWritableError: nothing of the present batch was stored.
    """
    made = 0
    pending = _Pending([], [])
    claimed: set[RecordId] = set()
    fresh: list[FileStamp] = []
    left: list[str] = []
    now_ns = session.clock.read().wall_us * 1_000
    for path in sorted(paths):
        found = _read(session, path)
        if found is None:
            continue
        with session.index.read() as reader:
            head, is_known = _identify(session, reader, found, claimed)
            change, record_id = _decide(session, reader, unit, found, head, is_known=is_known)
            left += _list_left_places(session, reader, record_id, path)
        claimed.add(record_id)
        if change is None:
            fresh.append(stamp_file(found.state, record_id, found.data, now_ns))
            continue
        pending.changes.append(change)
        pending.found.append(found)
        pending.size_bytes += len(found.data)
        if len(pending.changes) >= _BATCH_COUNT or pending.size_bytes >= BATCH_MAX_BYTES // 2:
            made += _commit(session, unit, pending, reply)
            pending = _Pending([], [])
    if pending.changes:
        made += _commit(session, unit, pending, reply)
    if fresh or left:
        session.index.apply(IndexBatch(files=fresh, removed_files=left))
    return made


def _list_left_places(session: Session, reader: IndexReader, record: RecordId, path: str) -> list[str]:
    """Return the known paths of a record that its file has left for `path`."""
    known = [stamp.path for stamp in reader.find_files_of(record) if stamp.path != path]
    return [place for place in known if session.store.stat_file(place) is None]


def _read(session: Session, path: str) -> _Found | None:
    state = session.store.stat_file(path)
    if state is None:
        return None
    try:
        data = session.store.read_file(path)
    except (NotFoundError, StorageFailedError):
        return None
    return _Found(state, data, read_record(data, path, session.yaml))


def _identify(
    session: Session, reader: IndexReader, found: _Found, claimed: set[RecordId]
) -> tuple[VersionHead | None, bool]:
    """Return the current version of the record that a file holds, or None for a new record.

    The second value tells whether the id in the file may be used for a new record.
    """
    claim = found.record.claimed_id
    stamp = reader.get_file(found.state.path)
    if claim is not None and claim not in claimed:
        head = reader.get_current(claim)
        if head is None:
            return None, True
        if not _is_elsewhere(session, reader, claim, found.state.path):
            return head, True
    if stamp is not None and stamp.record not in claimed:
        return reader.get_current(stamp.record), False
    return None, False


def _is_elsewhere(session: Session, reader: IndexReader, record: RecordId, path: str) -> bool:
    """Tell whether another file that still exists holds the record, so that this one is a copy."""
    known = reader.find_files_of(record)
    if any(stamp.path == path for stamp in known):
        return False
    return any(session.store.stat_file(stamp.path) is not None for stamp in known)


def _decide(
    session: Session,
    reader: IndexReader,
    unit: WriteUnit,
    found: _Found,
    head: VersionHead | None,
    *,
    is_known: bool,
) -> tuple[Change | None, RecordId]:
    """Return the change that a file asks for, None if its bytes are the current version's; and its record."""
    path = found.state.path
    workspace = found.record.workspace or name_workspace(path)
    if head is None:
        claim = found.record.claimed_id
        record_id = claim if is_known and claim is not None else unit.draw_record_id()
        kind = _name_kind(found.record, path)
        return Change("record.observe", _draft(found, record_id, 1, kind, workspace)), record_id
    row = session.store.read_row(head.ref)
    if session.store.is_waiting(head.ref) or (row is not None and row.draft.data == found.data):
        return None, head.id
    if head.kind == "event":
        workspace = head.workspace
        if row is not None and not _has_other_words(session, row.draft, found):
            return None, head.id
    number = max(known.version for known in reader.list_versions(head.id)) + 1
    draft = _draft(found, head.id, number, head.kind, workspace, status=head.status)
    parented = VersionDraft(
        draft.id, draft.version, draft.kind, draft.path, draft.data, draft.origin, draft.workspace,
        status=head.status, parents=(head.ref,), mode="observed",
    )  # fmt: skip
    return Change("record.observe", parented), head.id


def _has_other_words(session: Session, known: VersionDraft, found: _Found) -> bool:
    """Tell whether a transcript says other things beside its turns than it did; turns that came or changed are not."""
    before = read_record(known.data, known.path, session.yaml)
    words = [
        (record.named_title, record.tags, record.aliases, read_own_text(draft, record).split())
        for draft, record in ((known, before), (replace(known, data=found.data), found.record))
    ]
    return words[0] != words[1]


def _draft(
    found: _Found, record_id: RecordId, version: int, kind: str, workspace: str, status: str = "current"
) -> VersionDraft:
    return VersionDraft(
        record_id, version, kind, found.state.path, found.data, "file", workspace, status=status, mode="observed"
    )


def _name_kind(record: Record, path: str) -> str:
    top = path.split("/", 1)[0]
    if top in _KINDS and top != "events":
        return _KINDS[top]
    return record.claimed_kind if record.claimed_kind in _MEMORY_KINDS else "note"


def _commit(session: Session, unit: WriteUnit, pending: _Pending, reply: Reply) -> int:
    receipt = unit.commit(pending.changes, _OUTSIDE)
    now_ns = session.clock.read().wall_us * 1_000
    documents: list[Document] = []
    stamps: list[FileStamp] = []
    for row, found in zip(receipt.rows, pending.found, strict=False):
        documents.append(build_version(row, found.record))
        stamps.append(stamp_file(found.state, row.draft.id, found.data, now_ns))
    session.publish(receipt, reply, documents, stamps)
    return len(pending.changes)
