"""Files that were renamed by hand: one entry `record.move` for each memory whose file lies at another place."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from onrecord.app.session import Session
from onrecord.domain.ids import RecordId
from onrecord.domain.limits import BATCH_MAX_COUNT
from onrecord.ports.index import IndexBatch
from onrecord.ports.store import Actor, Change, WriteUnit


def record_moves(session: Session, unit: WriteUnit, moved: Collection[RecordId]) -> None:
    """Write the entries, in commits of as many as one takes; transcripts are left out, their place is their name.

    Raises:
        NotWritableError: those of the present batch were not written.
    """
    with session.index.read() as reader:
        heads = [reader.get_current(record) for record in sorted(moved)]
    changes = iter(
        Change("record.move", None, {"rec": head.id, "ver": head.version})
        for head in heads
        if head is not None and head.kind != "event"
    )
    while batch := list(islice(changes, BATCH_MAX_COUNT)):
        unit.commit(batch, Actor())
    session.index.apply(IndexBatch(watermarks={session.store.log: session.store.entries}))
