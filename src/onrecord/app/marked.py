"""Files in which git left its marks: the memory keeps its text, both sides are kept as versions that stand aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onrecord.app.conflicts import open_conflict
from onrecord.app.copies import plan_aside
from onrecord.app.current import choose_number
from onrecord.app.identity import Found
from onrecord.app.judging import has_bytes
from onrecord.app.merging import list_parents
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import hash_data, stamp_file
from onrecord.domain.ancestry import find_nearest_common
from onrecord.domain.branches import says_the_same
from onrecord.domain.ids import EntryRef
from onrecord.domain.merge_marks import Sides, split_marked
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, WriteUnit


def find_sides(session: Session, reader: IndexReader, found: Found, head: VersionHead) -> Sides | None:
    """Return what git's marks in a memory's file stand between, None where there are none.

    A note may tell of marks in fenced code. They are git's own only if a side of them is a version that was there.
    """
    sides, whole = split_marked(found.data), split_marked(found.data, in_code=True)
    if whole is None or whole == sides:
        return sides
    versions = reader.list_versions(head.id)
    files = [_make_side(session, found, head, data) for data in (whole.ours, whole.theirs)]
    return whole if any(has_bytes(session, version, side) for version in versions for side in files) else sides


def _make_side(session: Session, found: Found, head: VersionHead, data: bytes) -> Found:
    return replace(found, data=data, sha256=hash_data(data), record=read_record(data, head.path, session.yaml))


def keep_sides(session: Session, unit: WriteUnit, found: Found, head: VersionHead, sides: Sides, reply: Reply) -> int:
    """Keep both sides of a marked file as versions that are never current, each once; the file stays as it is.

    Its stamp says that it holds another version than the current one, so that the memory is shown from the versions
    store until the file is mended or the conflict is settled.

    Args:
        session: The opened vault.
        unit: The right to write.
        found: The file, marks included.
        head: The current version of its memory.
        sides: What the marks stand between.
        reply: As of `Session.publish`.

    Returns:
        How many versions were made.

    Raises:
        NotWritableError: nothing was stored.
    """
    with session.index.read() as reader:
        versions = reader.list_versions(head.id)
        number = choose_number(reader, head.id)
    changes: list[Change] = []
    refs: list[EntryRef | None] = []
    is_one = says_the_same(sides.ours, sides.theirs, session.yaml)
    for data in (sides.ours,) if is_one else (sides.ours, sides.theirs):
        side = _make_side(session, found, head, data)
        known = next((version for version in versions if has_bytes(session, version, side)), None)
        if known is not None:
            refs.append(known.ref)
        else:
            refs.append(None)
            changes.append(plan_aside(session, head, versions, side, number + len(changes)))
    if changes:
        receipt = unit.commit(changes, Actor())
        session.publish(receipt, reply)
        made = [row.ref for row in receipt.rows]
        refs = [ref if ref is not None else made.pop(0) for ref in refs]
    kept = [ref for ref in refs if ref is not None]
    _open_between(session, unit, kept, reply)
    other = next((ref for ref in reversed(kept) if ref != head.ref), None)
    stamp = stamp_file(found.state, head.id, found.data, session.clock.read().wall_us * 1_000, other)
    session.index.apply(IndexBatch(files=[stamp]))
    reply.warnings.append(f"{found.state.path} has marks of an unfinished merge; the memory keeps its text")
    return len(changes)


def _open_between(session: Session, unit: WriteUnit, refs: Sequence[EntryRef], reply: Reply) -> None:
    """Open one conflict between both sides, ours first; none where one of them comes from the other."""
    rows = [row for ref in refs if (row := session.store.read_row(ref)) is not None]
    if len(rows) < 2 or any(row.is_erased or row.is_sealed for row in rows):
        return
    one, other = rows
    if find_nearest_common(one.ref, other.ref, lambda ref: list_parents(session, ref)) not in refs:
        open_conflict(session, unit, reply, rows)
