"""Versions of other machines that have not come yet though their ledger has: what is shown may not be the newest."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from onrecord.app.session import Reply, Session
from onrecord.domain.errors import NotFoundError
from onrecord.domain.ids import LogId, RecordId
from onrecord.ports.store import VersionRow

ROWS_WAITING: Final = "rows_waiting"
# Entries are canonical JSON, and each that commits to a row names its record so.
_BODY: Final = b'"body":'
_RECORD: Final = re.compile(rb'"rec":"([0-9a-z]{12})"')
_MEND: Final = (
    "{count} versions of another machine have not come yet, though its ledger has. Wait for the sync program; if it is "
    "done, see that it carries all of .onrecord."
)


def list_waiting(session: Session) -> Mapping[LogId, Mapping[RecordId, int]]:
    """Return, per log of another machine, how many of its told versions and turns lack, by record; empty for none.

    Only logs that the index has not taken in to their end are read, from there on.

    Raises:
        StorageFailedError, DamagedError: a log cannot be read.
    """
    with session.index.read() as reader:
        marks = reader.get_watermarks()
    found: dict[LogId, dict[RecordId, int]] = {}
    for head in session.store.list_logs():
        first = marks.get(head.log, 0)
        if head.is_own or first >= head.entries:
            continue
        there = {row.ref.seq for row in session.store.read_rows(head.log, first) if isinstance(row, VersionRow)}
        lacking: dict[RecordId, int] = {}
        for seq, line in session.store.read_entries(head.log, first):
            named = _RECORD.search(line) if _BODY in line and seq not in there else None
            if named is not None:
                record = RecordId(named[1].decode())
                lacking[record] = lacking.get(record, 0) + 1
        if lacking:
            found[head.log] = lacking
    return found


def tell_waiting(session: Session, shown: Collection[RecordId], reply: Reply, *, is_search: bool = False) -> None:
    """Mark a reply where versions of what it shows have not come yet.

    Args:
        session: The opened vault.
        shown: The memories of the reply.
        reply: Is marked `rows_waiting`.
        is_search: It answers a question, to which a memory that is not known here yet might be an answer, too.
    """
    counts = list(list_waiting(session).values())
    if not counts:
        return
    records = {record for lacking in counts for record in lacking}
    is_touched = not records.isdisjoint(shown)
    if not is_touched and is_search:
        with session.index.read() as reader:
            is_touched = any(reader.get_current(record) is None for record in records)
    if is_touched:
        mark_waiting(reply, sum(sum(lacking.values()) for lacking in counts))


def mark_waiting(reply: Reply, count: int) -> None:
    """Mark a reply `rows_waiting`, with how many versions and turns lack."""
    reply.degrade(ROWS_WAITING, _MEND.format(count=count))


def explain_unknown(session: Session, wanted: str, error: NotFoundError) -> NotFoundError:
    """Return the error of a memory or version that is not known here, with the hint to wait where one has to come."""
    records = [record for lacking in list_waiting(session).values() for record in lacking]
    if error.code != NotFoundError.code or not any(record.startswith(wanted) for record in records):
        return error
    hint = "The ledger of another machine tells of it; its versions have not come yet. Wait for the sync program."
    return NotFoundError(error.reason, field=error.field, hint=hint)
