"""Conflicts of a record that was retired as the duplicate of another one: they go over to the one that stays (ADR 15).

The installation that retired it carries the texts over, as it did with the record's own; so no two do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onrecord.app.closing import find_taken, find_written, list_open, plan_resolution
from onrecord.app.current import choose_number
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import COPY_MARK
from onrecord.domain.conflict import SUPERSEDED
from onrecord.domain.entry import EntryFault, read_entry
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.ports.index import IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, VersionRow, WriteUnit


def carry_over(session: Session, unit: WriteUnit, reply: Reply, record: RecordId) -> bool:
    """Make the undecided texts of a retired duplicate displaced versions of the record that stays; close its conflicts.

    Those that its last version took in, and those that the record that stays has had, are decided. All is one commit.

    Args:
        session: The opened vault.
        unit: The right to write.
        reply: As of `Session.publish`.
        record: The retired record, or a conflict of it; mostly it is neither.

    Returns:
        Whether texts were carried over, which are to be attended to.

    Raises:
        NotWritableError: nothing was stored.
    """
    with session.index.read() as reader:
        written = find_written(session, reader, record)
        gone = reader.get_current(written[0].members[0].record if written is not None else record)
        if gone is None or gone.status != "retired" or gone.ref.log != session.store.log:
            return False
        conflicts = list_open(session, reader, gone.id)
        kept = _find_kept(session, reader, gone) if conflicts else None
        rows = _read_members(session, gone, conflicts) if kept is not None else None
        if kept is None or rows is None:
            return False
        changes = _plan_texts(session, reader, gone, kept, rows)
        heads = [head for conflict in conflicts if (head := reader.get_current(conflict)) is not None]
        copies = reader.find_files_of(COPY_MARK)
    planned = [*changes.values()]
    for head in heads:
        change = plan_resolution(session, unit, head, len(planned), SUPERSEDED, "stale")
        planned += [change] if change is not None else []
    if not planned:
        return False
    receipt = unit.commit(planned, Actor())
    now = dict(zip(changes, (row.ref for row in receipt.rows), strict=False))
    stamps = [stamp._replace(ref=now[stamp.ref]) for stamp in copies if stamp.ref in now]
    session.publish(receipt, reply, stamps=stamps)
    return bool(changes)


def _find_kept(session: Session, reader: IndexReader, gone: VersionHead) -> VersionHead | None:
    """Return the current version of the record that stays for one that was retired here; None of another retirement."""
    line = next((line for _, line in session.store.read_entries(gone.ref.log, gone.ref.seq)), b"")
    entry = read_entry(line)
    if isinstance(entry, EntryFault) or entry.members.get("cause") != "duplicate":
        return None
    kept = next((RecordId(ref["rec"]) for ref in entry.members.get("refs", ()) if ref["rel"] == "merged"), None)
    head = reader.get_current(kept) if kept is not None else None
    return head if head is not None and head.id != gone.id and head.status != "retired" else None


def _read_members(
    session: Session, gone: VersionHead, conflicts: Mapping[RecordId, Sequence[EntryRef]]
) -> list[VersionRow] | None:
    """Return the members of the conflicts that the record's last version did not take in; None if some are not here."""
    refs = dict.fromkeys(ref for members in conflicts.values() for ref in members)
    rows = [session.store.read_row(ref) for ref in refs]
    taken = find_taken(session, (gone.ref,), refs) if all(row is not None for row in rows) else set()
    here = [row for row in rows if row is not None and not row.is_erased and not row.is_sealed]
    return [row for row in here if row.ref not in taken] if len(here) == len(rows) else None


def _plan_texts(
    session: Session, reader: IndexReader, gone: VersionHead, kept: VersionHead, rows: Sequence[VersionRow]
) -> dict[EntryRef, Change]:
    """Return the change that carries each text over which the record that stays never had, by its version."""
    had: dict[bytes, EntryRef] = {}
    for head in reader.list_versions(kept.id):
        row = session.store.read_row(head.ref)
        if row is not None and not row.is_erased and not row.is_sealed:
            had.setdefault(row.draft.data, row.ref)
    shared = [
        had[row.draft.data]
        for head in reader.list_versions(gone.id)
        if not head.is_displaced and (row := session.store.read_row(head.ref)) is not None and row.draft.data in had
    ]
    first = reader.list_versions(kept.id)[0].ref
    number = choose_number(reader, kept.id)
    changes: dict[EntryRef, Change] = {}
    for row in rows:
        if row.draft.data in had:
            continue
        befores = (session.store.read_row(ref) for ref in row.draft.parents)
        parents = [had[before.draft.data] for before in befores if before is not None and before.draft.data in had]
        draft = replace(
            row.draft, id=kept.id, version=number + len(changes), kind=kept.kind, status=kept.status,
            workspace=kept.workspace, parents=(*parents, *shared[-1:], first)[:1], mode="displaced", redacted=(),
        )  # fmt: skip
        had[row.draft.data] = first
        changes[row.ref] = Change("record.displace", draft)
    return changes
