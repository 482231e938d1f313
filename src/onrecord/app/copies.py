"""Copies beside a memory's own file, of a sync program or by hand: texts that stand aside, no memories of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onrecord.app.comparison import Comparison
from onrecord.app.current import choose_number
from onrecord.app.identity import Found
from onrecord.app.indexing import hash_text
from onrecord.app.judging import has_bytes
from onrecord.app.moves import ToldPlaces
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import COPY_MARK, stamp_file
from onrecord.domain.copy_names import is_named_copy, list_copied, list_originals
from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.likeness import is_likely_edit
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, FileState, VersionDraft, VersionRow, WriteUnit

_COMPARED_MAX_COUNT = 20
_BATCH_COUNT = 100
_WITHOUT_VERSIONS = frozenset({"event", "conflict"})


def hold_back(session: Session, states: Mapping[str, FileState]) -> set[str]:
    """Return those of some files that may be copies, by their names, of a file beside them; forget what they were.

    They are looked at once the others are taken in: a sync program may have given the copy the inode and the bytes of
    the file, and the file new ones.

    Args:
        session: The opened vault.
        states: Files that are not as stamped, by path.
    """
    held: set[str] = set()
    known: list[str] = []
    with session.index.read() as reader:
        for path in states:
            stamp = reader.get_file(path)
            if stamp is not None and stamp.record == COPY_MARK:
                known.append(path)
                held.add(path)
            elif stamp is None and any(
                name.is_certain and session.store.stat_file(name.original) is not None for name in list_originals(path)
            ):
                held.add(path)
    if known:
        session.index.apply(IndexBatch(removed_files=known))
    return held


def split_nested(held: Sequence[FileState]) -> tuple[list[FileState], list[FileState]]:
    """Return the files that may be copies, apart from those that may be copies of such, which are told last."""
    paths = {state.path for state in held}
    nested = {path for path in paths if any(name.original in paths for name in list_originals(path))}
    return [state for state in held if state.path not in nested], [state for state in held if state.path in nested]


def add_orphans(session: Session, comparison: Comparison) -> list[str]:
    """Return the files that differ, and the copies that say what a memory says which has lost its file: they are it."""
    orphans: list[str] = []
    with session.index.read() as reader:
        for stamp in reader.find_files_of(COPY_MARK) if comparison.unmet else ():
            row = session.store.read_row(stamp.ref) if stamp.ref is not None else None
            if row is not None and _is_of_lost(session, reader, row):
                orphans.append(stamp.path)
    return [*comparison.changed, *orphans]


def _is_of_lost(session: Session, reader: IndexReader, row: VersionRow) -> bool:
    text_sha256 = hash_text(read_record(row.draft.data, row.draft.path, session.yaml).text)
    return bool(row.draft.data) and find_lost(session, reader, text_sha256, row.draft.data) is not None


def find_lost(session: Session, reader: IndexReader, text_sha256: bytes, data: bytes) -> RecordId | None:
    """Return the memory that has no file and whose current version has exactly these bytes, the first by id."""
    for head in reader.find_by_text(None, text_sha256):
        is_there = any(session.store.stat_file(known.path) is not None for known in reader.find_files_of(head.id))
        if is_there or head.kind in _WITHOUT_VERSIONS or session.store.is_waiting(head.ref):
            continue
        row = session.store.read_row(head.ref)
        if row is not None and row.draft.data == data:
            return head.id
    return None


def may_be_copy(session: Session, reader: IndexReader, found: Found, known: RecordId | None) -> bool:
    """Tell whether a file may be a copy: of the memory that it would be (`known`), or else of one that it names.

    So may one that would be a new memory and has a file beside it whose copy its name tells.
    """
    if known is not None:
        return stands_aside(session, reader, found, known)
    claim = found.record.claimed_id
    if claim is not None:
        return reader.get_current(claim) is not None
    if is_named_copy(found.state.path):
        return True
    beside = [name.original for name in list_originals(found.state.path)] + list_copied(found.state.path)
    is_beside = any(session.store.stat_file(path) is not None for path in beside)
    return is_beside or bool(reader.find_displaced(found.state.path))


def find_copied(session: Session, reader: IndexReader, found: Found) -> VersionHead | None:
    """Return the current version of the memory that a file is a copy of.

    That is the one of the file beside it of which its name tells that a person copied it, while it has the bytes of one
    of its versions. Else it is the one whose id it names, if its name is a copy's or its text is an edit of one of the
    memory's (an exact duplicate under a name of its own was made by a person, as another memory; one of a conflict is
    none). Without an id it is the one whose file the name tells, if only a sync program gives such names or the text is
    an edit; or the one as whose copy the same bytes were kept before.
    """
    if found.data and find_lost(session, reader, found.text_sha256, found.data) is not None:
        return None
    head = _find_named(session, reader, found)
    if head is None or head.status == "retired":
        return None
    is_meant = not _has_lost_file(session, reader, head.id) or stands_aside(session, reader, found, head.id)
    return head if is_meant else None


def stands_aside(session: Session, reader: IndexReader, found: Found, record: RecordId) -> bool:
    """Tell whether a file is a copy although its memory has no other: the memory's own file is only absent.

    It lies where the memory's was never seen, on another inode, and either says what an earlier version said, or was
    the memory's copy there before.
    """
    head, path = reader.get_current(record), found.state.path
    if head is None or head.kind in _WITHOUT_VERSIONS or head.status == "retired":
        return False
    own = [stamp for stamp in reader.find_files_of(record) if not stamp.is_pending]
    inode = found.state.device, found.state.inode
    if any(fold_path(stamp.path) == fold_path(path) or (stamp.device, stamp.inode) == inode for stamp in own):
        return False
    if found.sha256 and any(stamp.sha256 == found.sha256 for stamp in own):
        return False  # the file itself, which was behind when it was moved
    versions = reader.list_versions(record)
    known = [version for version in versions if has_bytes(session, version, found)]
    was_aside = any(version.is_displaced and version.path == path for version in versions)
    if any(version.ref == head.ref for version in known) or not (known or was_aside):
        return False
    return ToldPlaces(session).find(reader, record, path) is None


def _find_named(session: Session, reader: IndexReader, found: Found) -> VersionHead | None:
    claim, path = found.record.claimed_id, found.state.path
    names = list_originals(path)
    copied = _find_copied_by_hand(session, reader, found)
    if copied is not None:
        return copied
    if claim is not None:
        head = reader.get_current(claim)
        if head is None or is_named_copy(path) or any(_get_record(reader, name.original) == claim for name in names):
            return head
        own = {fold_path(stamp.path) for stamp in reader.find_files_of(claim)}
        if any(name.is_certain and fold_path(name.original) in own for name in names):
            return head  # a name in another case is made where two files had one name but for that
        is_memory = head.kind != "conflict" and has_bytes(session, head, found)
        return head if not is_memory and _is_edit(session, reader, head, found) else None
    for name in names:
        record = _get_record(reader, name.original)
        head = reader.get_current(record) if record is not None else None
        if head is not None and head.kind != "event" and (name.is_certain or _is_edit(session, reader, head, found)):
            return head
    said = reader.find_by_text(None, found.text_sha256, None) if found.data else ()
    for kept in (*reader.find_displaced(path), *said):
        if kept.kind in _WITHOUT_VERSIONS or not has_bytes(session, kept, found):
            continue
        if kept.is_displaced or is_named_copy(path) or _lacks_file(session, reader, kept.id):
            return reader.get_current(kept.id)
    return None


def _find_copied_by_hand(session: Session, reader: IndexReader, found: Found) -> VersionHead | None:
    for place in list_copied(found.state.path) if found.data else ():
        record = _get_record(reader, place)
        head = reader.get_current(record) if record is not None else None
        if head is None or head.kind in _WITHOUT_VERSIONS or found.record.claimed_id not in (None, head.id):
            continue
        if any(has_bytes(session, version, found) for version in reader.list_versions(head.id)):
            return head
    return None


def _lacks_file(session: Session, reader: IndexReader, record: RecordId) -> bool:
    return all(session.store.stat_file(stamp.path) is None for stamp in reader.find_files_of(record))


def _has_lost_file(session: Session, reader: IndexReader, record: RecordId) -> bool:
    """Tell whether a memory had files and none is there, so that what looks like its copy may be the file itself."""
    own = reader.find_files_of(record)
    return bool(own) and all(session.store.stat_file(stamp.path) is None for stamp in own)


def _get_record(reader: IndexReader, path: str) -> RecordId | None:
    stamp = reader.get_file(path)
    return stamp.record if stamp is not None else None


def _is_edit(session: Session, reader: IndexReader, head: VersionHead, found: Found) -> bool:
    """Tell whether a file's text is an edit of one of the latest versions of a memory, or is one."""
    if head.kind == "event":
        return False
    for known in reversed(reader.list_versions(head.id)[-_COMPARED_MAX_COUNT:]):
        row = session.store.read_row(known.ref)
        text = read_record(row.draft.data, known.path, session.yaml).text if row is not None else ""
        if text and is_likely_edit(text, found.record.text):
            return True
    return False


def keep_copies(session: Session, unit: WriteUnit, copies: Iterable[tuple[Found, VersionHead]], reply: Reply) -> int:
    """Keep texts of copies as versions that are never current, each once; stamp the files, which stay as they are.

    Args:
        session: The opened vault.
        unit: The right to write.
        copies: The files, each with the current version of its memory.
        reply: As of `Session.publish`.

    Returns:
        How many versions were made.

    Raises:
        NotWritableError: nothing of the present batch was stored.
    """
    stamps: list[FileStamp] = []
    waiting: list[tuple[Found, Change]] = []
    made = 0
    now_ns = session.clock.read().wall_us * 1_000
    for found, head in copies:
        session.settling.clear(found.state.path)
        with session.index.read() as reader:
            versions = reader.list_versions(head.id)
        known = next((version for version in versions if has_bytes(session, version, found)), None)
        if head.kind in _WITHOUT_VERSIONS or known is not None:
            ref = known.ref if known is not None else head.ref
            stamps.append(stamp_file(found.state, COPY_MARK, found.data, now_ns, ref))
        elif not _is_ahead(session, versions, found):
            with session.index.read() as reader:
                number = choose_number(reader, head.id) + sum(
                    item.draft is not None and item.draft.id == head.id for _, item in waiting
                )
            waiting.append((found, plan_aside(session, head, versions, found, number)))
        if len(waiting) >= _BATCH_COUNT:
            made += _commit(session, unit, waiting, now_ns, reply)
            waiting = []
    if waiting:
        made += _commit(session, unit, waiting, now_ns, reply)
    if stamps:
        session.index.apply(IndexBatch(files=stamps))
    return made


def _is_ahead(session: Session, versions: Sequence[VersionHead], found: Found) -> bool:
    """Tell whether a copy was written by another installation whose entry has not arrived: it is looked at again."""
    by = found.record.server.by
    return by is not None and by.log != session.store.log and all(version.ref != by for version in versions)


def plan_aside(
    session: Session,
    head: VersionHead,
    versions: Sequence[VersionHead],
    found: Found,
    number: int,
    parents: tuple[EntryRef, ...] = (),
) -> Change:
    """Return the change that keeps a file's text as a version that is never current; `parents` if they are known."""
    draft = VersionDraft(
        head.id, number, head.kind, found.state.path, found.data, "file", head.workspace, status=head.status,
        parents=parents or (_find_parent(session, head, versions, found),), mode="displaced",
    )  # fmt: skip
    return Change("record.displace", draft)


def _find_parent(session: Session, head: VersionHead, versions: Sequence[VersionHead], found: Found) -> EntryRef:
    """Return the version that a copy derives from: the one that it names; else the one before the current.

    A merge on a version that is too old shows both edits; on one that is too new it would take one back.
    """
    by = found.record.server.by
    if any(version.ref == by for version in versions) and by is not None:
        return by
    row = session.store.read_row(head.ref)
    return row.draft.parents[0] if row is not None and row.draft.parents else head.ref


def _commit(
    session: Session, unit: WriteUnit, waiting: Sequence[tuple[Found, Change]], now_ns: int, reply: Reply
) -> int:
    receipt = unit.commit([change for _, change in waiting], Actor())
    stamps = [
        stamp_file(found.state, COPY_MARK, found.data, now_ns, row.ref)
        for row, (found, _) in zip(receipt.rows, waiting, strict=False)
    ]
    session.publish(receipt, reply, stamps=stamps)
    return len(waiting)
