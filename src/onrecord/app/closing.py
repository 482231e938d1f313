"""Conflicts that have ended: those whose sides later versions took in are closed, and the file of a closed one goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from onrecord.app.current import choose_number
from onrecord.app.next_version import set_copies
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import COPY_MARK, hash_data
from onrecord.domain.ancestry import find_taken_in
from onrecord.domain.conflict import MERGED, OPEN, RESOLVED, STATUS_OF_STATE, SUPERSEDED, Conflict, read_conflict
from onrecord.domain.filenames import KIND_FOLDERS
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.record import read_record, replace_keys
from onrecord.ports.index import FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Change, VersionDraft, VersionRow, WriteUnit

_WRITTEN = "conflict."
_CAUSES = {MERGED: "merge", SUPERSEDED: "stale"}


def find_written(session: Session, reader: IndexReader, record: RecordId) -> tuple[Conflict, VersionRow] | None:
    """Return what the newest version of a conflict that OnRecord wrote says, and its row; None where none is sound.

    What a hand wrote into the file since says nothing: not who its members are, nor how it stands.
    """
    for head in reversed(reader.list_versions(record)):
        row = session.store.read_row(head.ref)
        if row is None or not row.type.startswith(_WRITTEN):
            continue
        conflict = read_conflict(read_record(row.draft.data, head.path, session.yaml), record)
        if conflict is not None:
            return conflict, row
    return None


def list_choices(session: Session, reader: IndexReader, conflict: RecordId) -> list[str]:
    """Return what may be kept of a conflict, as its newest version tells; none of an unsound one."""
    written = find_written(session, reader, conflict)
    return written[0].list_choices() if written is not None else []


def find_taken(session: Session, tops: Sequence[EntryRef], wanted: Collection[EntryRef]) -> set[EntryRef]:
    """Return those of some versions that one of `tops` is or comes from.

    No row is asked that is not later than the first of those sought, so that a long history costs nothing.
    """
    rows = [row for ref in wanted if (row := session.store.read_row(ref)) is not None]
    first = min((row.draft.version for row in rows), default=0)

    def list_later(ref: EntryRef) -> Sequence[EntryRef]:
        row = session.store.read_row(ref)
        return row.draft.parents if row is not None and row.draft.version > first else ()

    return find_taken_in(tops, wanted, list_later)


def list_open(session: Session, reader: IndexReader, record: RecordId) -> dict[RecordId, tuple[EntryRef, ...]]:
    """Return the members of each open conflict between versions of a record."""
    found: dict[RecordId, tuple[EntryRef, ...]] = {}
    for conflict in reader.find_conflicts((record,)).get(record, ()):
        written = find_written(session, reader, conflict)
        members = written[0].members if written is not None else ()
        refs = tuple(member.ref for member in members if member.ref is not None and member.record == record)
        if refs and len(refs) == len(members):
            found[conflict] = refs
    return found


def list_alike(session: Session, reader: IndexReader, record: RecordId) -> dict[EntryRef, frozenset[EntryRef]]:
    """Return, for the versions of a record of whose bytes several are, at least one of them displaced, which are alike.

    Two installations that saw one file have kept its text as a version each; what becomes of one becomes of both. A
    displaced version is like all of the same bytes; two others are not, as of these one may take back what the other
    said.
    """
    by_text: dict[bytes, list[VersionHead]] = {}
    for head in reader.list_versions(record):
        by_text.setdefault(head.text_sha256, []).append(head)
    alike: dict[EntryRef, frozenset[EntryRef]] = {}
    for heads in by_text.values():
        if len(heads) < 2 or not any(head.is_displaced for head in heads):
            continue
        by_bytes: dict[bytes, list[VersionHead]] = {}
        for head in heads:
            row = session.store.read_row(head.ref)
            if row is not None and not row.is_erased and not row.is_sealed:
                by_bytes.setdefault(row.draft.data, []).append(head)
        for same in by_bytes.values():
            aside = frozenset(head.ref for head in same if head.is_displaced)
            every = frozenset(head.ref for head in same)
            alike |= {head.ref: every if head.is_displaced else aside | {head.ref} for head in same}
    return alike


def _takes(
    session: Session,
    tops: Sequence[EntryRef],
    members: Sequence[EntryRef],
    alike: Mapping[EntryRef, frozenset[EntryRef]],
) -> bool:
    """Tell whether each of some versions, or one that is alike, is one of `tops` or one that these come from."""
    groups = [alike.get(member, frozenset((member,))) for member in members]
    taken = find_taken(session, tops, frozenset().union(*groups))
    return all(group & taken for group in groups)


def is_told(session: Session, reader: IndexReader, record: RecordId, sides: Sequence[EntryRef]) -> bool:
    """Tell whether an open conflict stands between versions of which each side goes on from one, and from it alone."""
    for members in list_open(session, reader, record).values():
        taken = [find_taken(session, (side,), members) for side in sides]
        if all(len(refs) == 1 for refs in taken) and len(members) == len(sides) == len(set().union(*taken)):
            return True
    return False


def close_ended(session: Session, unit: WriteUnit, reply: Reply, record: RecordId) -> None:
    """Close the open conflicts of a record, or the one that this is, of which no side is left.

    That is one whose sides the current version took in, by whatever hand, or are all told by another open conflict.

    Args:
        session: The opened vault.
        unit: The right to write.
        reply: As of `Session.publish`.
        record: A record that has conflicts, or a conflict.

    Raises:
        NotWritableError: nothing was stored.
    """
    with session.index.read() as reader:
        written = find_written(session, reader, record)
        current = reader.get_current(written[0].members[0].record if written is not None else record)
        conflicts = list_open(session, reader, current.id) if current is not None else {}
        alike = list_alike(session, reader, current.id) if current is not None and conflicts else {}
    if current is None:
        return
    for conflict in list(conflicts):
        members = conflicts[conflict]
        if any(session.store.read_row(ref) is None for ref in members):
            continue
        telling = [other for other, refs in conflicts.items() if _takes(session, refs, members, alike)]
        decision = ""
        if _takes(session, (current.ref,), members, alike):
            decision = MERGED
        # Of two that tell each other's sides the first by id stays, on every installation.
        elif any(
            other < conflict or not _takes(session, members, conflicts[other], alike)
            for other in telling
            if other != conflict
        ):
            decision = SUPERSEDED
        if decision:
            _close(session, unit, reply, conflict, decision)
            del conflicts[conflict]


def _close(session: Session, unit: WriteUnit, reply: Reply, conflict: RecordId, decision: str) -> None:
    with session.index.read() as reader:
        head = reader.get_current(conflict)
    change = plan_resolution(session, unit, head, 0, decision, _CAUSES[decision]) if head is not None else None
    if change is not None:
        session.publish(unit.commit([change], session.caller.actor), reply)


def plan_resolution(
    session: Session, unit: WriteUnit, head: VersionHead, place: int, decision: str, cause: str
) -> Change | None:
    """Return the change that makes a conflict's last version, for which no file is written; None of an unsound one.

    Args:
        session: The opened vault.
        unit: The right to write.
        head: The conflict's current version.
        place: Where in the next commit the change stands.
        decision: What was kept, or why nothing was left to decide.
        cause: Of the entry.
    """
    with session.index.read() as reader:
        written = find_written(session, reader, head.id)
        number = choose_number(reader, head.id)
    if written is None:
        return None
    stamp, origin = unit.stamp(place), session.caller.origin
    closed = head._replace(status=STATUS_OF_STATE[RESOLVED])
    data = replace_keys(written[1].draft.data, {"state": RESOLVED, "decision": decision}, session.yaml)
    data = set_copies(session, data, closed, number, stamp.ref, stamp.recorded_at, origin)
    draft = VersionDraft(
        head.id, number, head.kind, head.path, data, origin, head.workspace, status=closed.status, parents=(head.ref,),
        mode="observed",
    )  # fmt: skip
    return Change("conflict.resolve", draft, {"cause": cause})


def clear_files(session: Session, unit: WriteUnit) -> None:
    """Delete the files of closed conflicts, and the copies of them, which hold what OnRecord wrote.

    So is the file that another installation made of an open one, under another name than the version that is shown.
    A file in which a hand wrote stays, as does one that has not arrived whole.

    Raises:
        StorageFailedError: the disk refused.
    """
    with session.index.read() as reader:
        closed = reader.list_conflicts((STATUS_OF_STATE[RESOLVED],), has_file=True)
        stamps = [stamp for head in closed for stamp in reader.find_files_of(head.id)]
        beside = KIND_FOLDERS["conflict"] + "/"
        copies = [stamp for stamp in reader.find_files_of(COPY_MARK) if stamp.path.startswith(beside)]
        stamps += [stamp for stamp in copies if _is_spent(session, reader, stamp)]
    gone = [stamp.path for stamp in stamps if _is_written(session, stamp) and _remove(session, unit, stamp)]
    if gone:
        session.index.apply(IndexBatch(removed_files=gone))


def _is_spent(session: Session, reader: IndexReader, stamp: FileStamp) -> bool:
    """Tell whether a copy is of a closed conflict, or the file that another installation made of one that is shown."""
    row = session.store.read_row(stamp.ref) if stamp.ref is not None else None
    head = reader.get_current(row.draft.id) if row is not None else None
    if head is None or row is None or head.kind != "conflict":
        return False
    is_shown = any(own.path == head.path for own in reader.find_files_of(head.id))
    is_second = stamp.path == row.draft.path != head.path and is_shown
    return head.status != STATUS_OF_STATE[OPEN] or (is_second and session.store.stat_file(head.path) is not None)


def _is_written(session: Session, stamp: FileStamp) -> bool:
    """Tell whether a file holds what OnRecord wrote into it, and nothing else."""
    row = session.store.read_row(stamp.ref) if stamp.ref is not None and not stamp.is_pending else None
    return row is not None and row.type.startswith(_WRITTEN) and hash_data(row.draft.data) == stamp.sha256


def _remove(session: Session, unit: WriteUnit, stamp: FileStamp) -> bool:
    """Delete a file if it is as stamped; tell whether nothing is there now."""
    return session.store.stat_file(stamp.path) is None or unit.remove_file(stamp.path, stamp.sha256)
