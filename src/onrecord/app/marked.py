"""Files in which git left its marks: the memory keeps its text, both sides are kept as versions that stand aside."""

from __future__ import annotations

from dataclasses import replace

from onrecord.app.copies import plan_aside
from onrecord.app.current import choose_number
from onrecord.app.identity import Found
from onrecord.app.judging import has_bytes
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import hash_data, stamp_file
from onrecord.domain.ids import EntryRef
from onrecord.domain.merge_marks import Sides
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexBatch, VersionHead
from onrecord.ports.store import Actor, Change, WriteUnit


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
    refs: list[EntryRef] = []
    for data in dict.fromkeys((sides.ours, sides.theirs)):
        side = replace(found, data=data, sha256=hash_data(data), record=read_record(data, head.path, session.yaml))
        known = next((version for version in versions if has_bytes(session, version, side)), None)
        if known is not None:
            refs.append(known.ref)
        else:
            changes.append(plan_aside(session, head, versions, side, number + len(changes)))
    if changes:
        receipt = unit.commit(changes, Actor())
        session.publish(receipt, reply)
        refs += [row.ref for row in receipt.rows]
    other = next((ref for ref in reversed(refs) if ref != head.ref), None)
    stamp = stamp_file(found.state, head.id, found.data, session.clock.read().wall_us * 1_000, other)
    session.index.apply(IndexBatch(files=[stamp]))
    reply.warnings.append(f"{found.state.path} has marks of an unfinished merge; the memory keeps its text")
    return len(changes)
