"""Plain notes that two installations took in on their own: one file, two records, of which one stays (ADR 15).

The record that is first in order keeps the file. The installation whose log has the other one retires it, as it alone
is sure to have all of its versions; what its text said and the first never did becomes a version of that, a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onrecord.app.arrivals import list_yielded
from onrecord.app.branches import list_equal_tips
from onrecord.app.current import choose_number
from onrecord.app.moves import ToldPlaces
from onrecord.app.session import Reply, Session
from onrecord.domain.heads import order_of
from onrecord.domain.ids import RecordId
from onrecord.domain.likeness import is_likely_edit
from onrecord.domain.limits import TWINS_ALIKE_MAX_COUNT
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, VersionRow, WriteUnit


@dataclass(frozen=True, slots=True)
class Twin:
    """One of two records of a file: its versions in order, none of them displaced, with their rows."""

    record: RecordId
    heads: Sequence[VersionHead]
    rows: Sequence[VersionRow]

    @property
    def path(self) -> str:
        """Where it was found first."""
        return self.heads[0].path


def join_twins(session: Session, unit: WriteUnit, reply: Reply, record: RecordId) -> tuple[RecordId, RecordId] | None:
    """Retire the later one of two records of one plain note, if it is of the own log.

    Args:
        session: The opened vault.
        unit: The right to write.
        reply: As of `Session.publish`.
        record: One of the two; mostly it is none of any.

    Returns:
        The record that stays and the one that was retired, None where there are no two.

    Raises:
        NotWritableError: nothing was stored.
    """
    with session.index.read() as reader:
        one = _find_plain(session, reader, record)
        other = _find_other(session, reader, one) if one is not None else None
        if one is None or other is None:
            return None
        first, later = sorted((one, other), key=lambda twin: order_of(twin.heads[0]))
        if later.heads[0].ref.log != session.store.log:
            return None
        changes = _plan(session, reader, first, later)
        held = [stamp for stamp in reader.find_files_of(later.record) if not stamp.is_pending]
        stamp = held[0] if len(held) == 1 else None
        yielded = list_yielded(reader, [later.heads[-1]._replace(status="retired")])
    receipt = unit.commit(changes, Actor())
    rows = [*first.rows, *(row for row in receipt.rows if row.draft.id == first.record)]
    stamps = _give_file(later, rows, stamp) if stamp is not None else []
    # The retired one is looked at once more: what stands in conflict there goes over.
    session.publish(receipt, reply, stamps=stamps, removed=yielded, touched=[later.record])
    session.settling.put_off.update(yielded)
    return first.record, later.record


def _find_plain(session: Session, reader: IndexReader, record: RecordId) -> Twin | None:
    """Return a record that began as a plain note found on disk; None of any other."""
    heads = [head for head in reader.list_versions(record) if not head.is_displaced]
    if not heads or heads[-1].status != "current" or heads[0].kind in ("event", "conflict", "workspace"):
        return None
    if heads[0].version != 1 or not heads[0].is_observed:
        return None
    rows = [row for head in heads if (row := session.store.read_row(head.ref)) is not None]
    if len(rows) < len(heads) or any(row.is_erased or row.is_sealed for row in rows):
        return None
    if read_record(rows[0].draft.data, heads[0].path, session.yaml).claimed_id is not None:
        return None
    return Twin(record, heads, rows)


def _find_other(session: Session, reader: IndexReader, one: Twin) -> Twin | None:
    """Return the other record of a plain note: first found at the same path, or where one has moved, and alike."""
    paths = {one.path, one.heads[-1].path, *_list_files(reader, one.record)}
    named = {head.id for path in paths for head in reader.find_by_path(path)}
    named |= {stamp.record for path in paths if (stamp := reader.get_file(path)) is not None}
    told = ToldPlaces(session)
    named |= _list_moved(reader, told, one)
    for record in sorted(named - {one.record}):
        other = _find_plain(session, reader, record)
        if other is None or other.heads[0].ref.log == one.heads[0].ref.log:
            continue
        if other.path != one.path and not _has_moved_to(reader, told, one, other):
            continue
        is_alike = other.heads[0].kind == one.heads[0].kind and _is_alike(session, one, other)
        if is_alike and (_say_the_same(session, reader, one, other) or _share_place(session, reader, one, other)):
            return other
    return None


def _list_moved(reader: IndexReader, told: ToldPlaces, one: Twin) -> set[RecordId]:
    """Return the records that say the same, of which one or the other was moved; of too many alike none is told."""
    moved = told.list_moved()
    same = {head.id for head in reader.find_by_text(None, one.heads[-1].text_sha256)} if moved else set()
    if len(same) > TWINS_ALIKE_MAX_COUNT:
        return set()
    return same if one.record in moved else {record for record in same if record in moved}


def _has_moved_to(reader: IndexReader, told: ToldPlaces, one: Twin, other: Twin) -> bool:
    """Tell whether one of two that had a text in common was moved last to where the other was found first."""
    if not {head.text_sha256 for head in one.heads} & {head.text_sha256 for head in other.heads}:
        return False
    pairs = ((one, other), (other, one))
    return any(told.find(reader, moved.record, found.path) is not None for moved, found in pairs)


def _list_files(reader: IndexReader, record: RecordId) -> set[str]:
    return {stamp.path for stamp in reader.find_files_of(record) if not stamp.is_pending}


def _say_the_same(session: Session, reader: IndexReader, one: Twin, other: Twin) -> bool:
    """Tell whether both have the same bytes at the same path now: one file, whichever other one holds the first.

    So the logs alone say; which files a machine took for whose says nothing, but for one that only the later one has.
    """
    last, said = (one.heads[-1], other.heads[-1]), one.rows[-1].draft.data
    if not said or said != other.rows[-1].draft.data or last[0].path != last[1].path:
        return False
    later = max(one, other, key=lambda twin: order_of(twin.heads[0]))
    if _list_files(reader, later.record) - {last[0].path}:
        return False
    moved = ToldPlaces(session).list_moved()
    return all(head.id not in moved or moved[head.id] < head.recorded_at for head in last)


def _share_place(session: Session, reader: IndexReader, one: Twin, other: Twin) -> bool:
    """Tell whether no file of either lies anywhere but where both were found first, or were both told to be last."""
    told = ToldPlaces(session)
    return all(
        path == one.path or told.find(reader, twin.record, path) is not None
        for holder, twin in ((one, other), (other, one))
        for path in _list_files(reader, holder.record)
    )


def _is_alike(session: Session, one: Twin, other: Twin) -> bool:
    """Tell whether two records had a text in common, or began with texts of which one may be an edit of the other."""
    if {head.text_sha256 for head in one.heads} & {head.text_sha256 for head in other.heads}:
        return True
    before, after = (read_record(twin.rows[0].draft.data, twin.path, session.yaml).text for twin in (one, other))
    return is_likely_edit(before, after)


def _plan(session: Session, reader: IndexReader, first: Twin, later: Twin) -> list[Change]:
    """Return the changes: a version of the first with the later one's text if it has never had it, the retirement."""
    changes: list[Change] = []
    kept, gone = first.heads[-1], later.rows[-1]
    if not _has_had(session, reader, first, gone.draft.data):
        changes.append(_take_over(reader, first, later))
        kept = kept._replace(version=choose_number(reader, first.record))
    return [*changes, plan_retirement(session, reader, later, kept)]


def _has_had(session: Session, reader: IndexReader, first: Twin, data: bytes) -> bool:
    """Tell whether a record has bytes already, in a conflict too: there they are decided on, or wait for it."""
    aside = (session.store.read_row(head.ref) for head in reader.list_versions(first.record) if head.is_displaced)
    return any(row is not None and row.draft.data == data for row in (*first.rows, *aside))


def plan_retirement(session: Session, reader: IndexReader, later: Twin, kept: VersionHead) -> Change:
    """Return the change that retires a record as the duplicate of another one, whose version says what it said."""
    refs = [{"rel": "merged", "rec": kept.id, "ver": kept.version}]
    number, gone = choose_number(reader, later.record), later.rows[-1]
    parents = list_equal_tips(session, reader, later.heads[-1])
    draft = replace(gone.draft, version=number, status="retired", parents=parents, mode="observed", redacted=())
    return Change("record.retire", draft, {"cause": "duplicate", "refs": refs})


def _take_over(reader: IndexReader, first: Twin, later: Twin) -> Change:
    """Return the version of the first record that has the later one's text; its parent is what both have had."""
    gone = later.rows[-1]
    said = {row.draft.data for row in later.rows}
    shared = [row.ref for row in first.rows if row.draft.data in said]
    draft = replace(
        gone.draft, id=first.record, version=choose_number(reader, first.record), kind=first.heads[-1].kind,
        workspace=first.heads[-1].workspace, parents=tuple(shared[-1:]), mode="observed", redacted=(),
    )  # fmt: skip
    refs = [{"rel": "merged", "rec": later.record, "ver": gone.draft.version}]
    return Change("record.observe", draft, {"refs": refs})


def _give_file(later: Twin, rows: Sequence[VersionRow], stamp: FileStamp) -> list[FileStamp]:
    """Return the stamp by which the file is the first one's; with bytes that this never had it is looked at anew."""
    record = rows[0].draft.id
    held = [row.draft.data for row in later.rows if row.ref == stamp.ref]
    for row in reversed(rows):
        if row.draft.data in held:
            return [stamp._replace(record=record, ref=row.ref)]
    return [stamp._replace(record=record, ref=None, sha256=b"", size_bytes=-1)]
