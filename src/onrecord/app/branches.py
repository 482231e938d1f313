"""Branches of a record: its tips, those that say the same, and records that are to be looked at for them."""

from __future__ import annotations

from collections.abc import Sequence

from onrecord.app.session import Session
from onrecord.domain import branches
from onrecord.domain.branches import Node, says_the_same
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.heads import VersionHead, order_of
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.ports.index import IndexBatch, IndexReader
from onrecord.ports.store import VersionRow


def find_tips(session: Session, reader: IndexReader, record: RecordId) -> list[VersionHead]:
    """Return the versions of a record that no other one has taken in: the current one first, then by falling order.

    Transcripts have no branches. A record whose versions OnRecord wrote in one log costs no look at its rows.

    Args:
        session: The opened vault.
        reader: Reads the index.
        record: The record; none for one that is not known.

    Raises:
        StorageFailedError: a versions store cannot be read.
    """
    heads = [head for head in reader.list_versions(record) if not head.is_displaced]
    if len(heads) < 2 or heads[-1].kind == "event" or _is_one_line(heads):
        return heads[-1:]
    by_ref = {head.ref: head for head in heads}

    def find(ref: EntryRef) -> Node | None:
        row = _read_row(session, ref)
        return _describe(row) if row is not None and row.draft.id == record else None

    nodes = [Node(head.ref, order_of(head), _list_parents(session, head.ref)) for head in heads]
    return [by_ref[ref] for ref in branches.find_tips(nodes, find)]


def list_equal_tips(session: Session, reader: IndexReader, head: VersionHead) -> tuple[EntryRef, ...]:
    """Return the parents of the version that is made from a given one, as `plan_parents`."""
    return plan_parents(session, reader, head)[0]


def plan_parents(session: Session, reader: IndexReader, base: VersionHead) -> tuple[tuple[EntryRef, ...], bool]:
    """Return the parents of the next version, and whether it leaves another tip of the record beside it.

    They are the given one, then the other tips that say the same, by falling order. Where one log alone has made the
    record no rows are read, whatever its history.

    Args:
        session: The opened vault.
        reader: Reads the index.
        base: The version that the next one is made from. If it is no tip it alone is the parent.
    """
    heads = [head for head in reader.list_versions(base.id) if not head.is_displaced]
    if all(head.ref.log == base.ref.log for head in heads):
        return (base.ref,), base.ref != heads[-1].ref
    tips = find_tips(session, reader, base.id)
    others = [tip for tip in tips if tip.ref != base.ref]
    if len(others) == len(tips):
        return (base.ref,), True
    row = _read_row(session, base.ref) if others else None
    equal = []
    for tip in others if row is not None else ():
        other = _read_row(session, tip.ref)
        if other is not None and row is not None and says_the_same(row.draft.data, other.draft.data, session.yaml):
            equal.append(tip.ref)
    return (base.ref, *equal), len(equal) < len(others)


def list_touched(session: Session) -> Sequence[RecordId]:
    """Return the records to which another log, or an edit of an older version, has added something, ascending.

    They are kept in the index until `mark_judged`; a rebuilt index lists every record that may have branches.
    """
    with session.index.read() as reader:
        return reader.list_touched()


def mark_judged(session: Session, records: Sequence[RecordId]) -> None:
    """Take records from the list of those that are to be looked at; under the vault's lock."""
    session.index.apply(IndexBatch(judged=records))


def _is_one_line(heads: Sequence[VersionHead]) -> bool:
    """Tell whether each version was made by OnRecord, in one log, and so from the one before it."""
    first = heads[0].ref.log
    return all(head.ref.log == first for head in heads) and not any(head.is_observed for head in heads[1:])


def _list_parents(session: Session, ref: EntryRef) -> tuple[EntryRef, ...]:
    row = _read_row(session, ref)
    return row.draft.parents if row is not None else ()


def _describe(row: VersionRow) -> Node:
    order = (row.draft.version, row.recorded_at, row.ref.log, row.ref.seq)
    return Node(row.ref, order, row.draft.parents)


def _read_row(session: Session, ref: EntryRef) -> VersionRow | None:
    """Return a row, None where it is damaged or of a newer format: it is named where the logs are read."""
    try:
        return session.store.read_row(ref)
    except (DamagedError, NewerFormatError):
        return None
