"""Memories that lost their place to a record made of their own file: they take the file back (ADR 17).

A sync program brings a moved file before it takes the old one away. In between the new path is a copy, and a memory of
its own. Once the old one is gone the memory has moved: the record of the copy is retired as its duplicate by the
installation that made it, and what its file says since is an edit of the memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from onrecord.app.carrying import carry_over
from onrecord.app.moves import record_moves
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import COPY_MARK
from onrecord.app.twins import Twin, plan_retirement
from onrecord.domain.heads import order_of
from onrecord.domain.ids import RecordId
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, WriteUnit


def take_back_files(session: Session, unit: WriteUnit, lost: Sequence[VersionHead], reply: Reply) -> list[VersionHead]:
    """Give back to memories that have lost their place the file that a copy of them holds.

    Args:
        session: The opened vault.
        unit: The right to write.
        lost: The current versions of memories without a file.
        reply: As of `Session.publish`.

    Nothing is given back where no other installation writes: whoever copied a file there, it was the user.

    Returns:
        Those that have no file for all that.

    Raises:
        NotWritableError: those before the failing one are stored.
    """
    if not lost or all(log.is_own for log in session.store.list_logs()):
        return list(lost)
    named: dict[str, set[RecordId]] = defaultdict(set)
    with session.index.read() as reader:
        for stamp in reader.list_files():
            named[_get_name(stamp.path)].add(stamp.record)
    return [head for head in lost if not _take_back(session, unit, head, named, reply)]


def _get_name(path: str) -> str:
    return path.rpartition("/")[2]


def _take_back(
    session: Session, unit: WriteUnit, head: VersionHead, named: Mapping[str, set[RecordId]], reply: Reply
) -> bool:
    with session.index.read() as reader:
        first = _read_twin(session, reader, head.id)
        found = _find_copy(session, reader, first, named) if first is not None else None
        if first is None or found is None:
            return False
        later, stamp = found
        if later.heads[-1].status != "retired" and later.heads[0].ref.log != session.store.log:
            return True
        changes: list[Change] = []
        if later.heads[-1].status != "retired":
            changes.append(plan_retirement(session, reader, later, first.heads[-1]))
        left = [known.path for known in reader.find_files_of(first.record) if known.path != stamp.path]
    if changes:
        session.publish(unit.commit(changes, Actor()), reply)
        carry_over(session, unit, reply, later.record)
        record_moves(session, unit, {first.record: stamp.path})
    begun = later.rows[0].draft.data
    held = next((row.ref for row in reversed(first.rows) if row.draft.data == begun), None)
    # Looked at anew: what it says since is an edit of the version that it began with, its folder may be another home.
    spoiled = stamp._replace(record=first.record, ref=held, sha256=b"", size_bytes=-1)
    session.index.apply(IndexBatch(files=[spoiled], removed_files=left))
    session.settling.put_off.add(stamp.path)
    return True


def _read_twin(session: Session, reader: IndexReader, record: RecordId) -> Twin | None:
    """Return a record with its rows; None of one of which some are erased, sealed or not at hand."""
    heads = [head for head in reader.list_versions(record) if not head.is_displaced]
    rows = [row for head in heads if (row := session.store.read_row(head.ref)) is not None]
    if not heads or len(rows) < len(heads) or any(row.is_erased or row.is_sealed for row in rows):
        return None
    return Twin(record, heads, rows)


def _find_copy(
    session: Session, reader: IndexReader, first: Twin, named: Mapping[str, set[RecordId]]
) -> tuple[Twin, FileStamp] | None:
    """Return the one record made of a memory's file, with the stamp of its only file; None for none or several.

    Asked are those whose file has a name that the memory's had (`named`: who has one of a name), or its last text.
    """
    last = first.heads[-1]
    held = {record for head in first.heads for record in named.get(_get_name(head.path), ())}
    same = {head.id for head in reader.find_by_text(None, last.text_sha256)} if first.rows[-1].draft.data else set()
    copies: list[tuple[Twin, FileStamp]] = []
    for record in sorted((held | same) - {first.record, COPY_MARK}):
        stamps = [stamp for stamp in reader.find_files_of(record) if session.store.stat_file(stamp.path) is not None]
        later = _read_twin(session, reader, record) if len(stamps) == 1 and not stamps[0].is_pending else None
        if later is not None and _is_made_of(session, first, later):
            copies.append((later, stamps[0]))
    return copies[0] if len(copies) == 1 else None


def _is_made_of(session: Session, first: Twin, later: Twin) -> bool:
    """Tell whether a record began as a file with exactly the bytes of a memory, which it names or is later than."""
    begun = later.heads[0]
    is_alike = begun.kind == first.heads[-1].kind and later.heads[-1].status in ("current", "retired")
    if not is_alike or begun.version != 1 or not begun.is_observed:
        return False
    data = later.rows[0].draft.data
    if not data or data != first.rows[-1].draft.data:
        return False
    claim = read_record(data, begun.path, session.yaml).claimed_id
    return claim == first.record or order_of(first.heads[0]) < order_of(begun)
