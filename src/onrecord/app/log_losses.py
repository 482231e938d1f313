"""Other logs of which more was here than is left, and how much of them their own writer has given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from onrecord.app.session import Session
from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.domain.given_up import read_given_up
from onrecord.domain.ids import LogId
from onrecord.domain.ledger_report import CutBack
from onrecord.ports.store import VersionRow

MEND: Final = (
    "Put the folder of that log back from the machine that writes it, from another one or from a backup: what is gone "
    "was here. While a sync program is bringing it anew, wait."
)
# `log.adopt` is the first entry behind `log.start` (docs/format/ledger.md).
_ADOPT_SEQ = 1
_BODY: Final = b'"body":'


def list_given_up(session: Session) -> Mapping[LogId, range]:
    """Return which sizes of a log were given up by the one that follows it, by log.

    A log that cannot be read gives none up; its check names it.
    """
    given_up: dict[LogId, range] = {}
    for head in session.store.list_logs():
        try:
            lines = [line for _, line in islice(session.store.read_entries(head.log), _ADOPT_SEQ + 1)]
        except (DamagedError, StorageFailedError):
            continue
        if len(lines) > _ADOPT_SEQ:
            for log, sizes in read_given_up(lines[0], lines[_ADOPT_SEQ]).items():
                known = given_up.get(log, sizes)
                given_up[log] = range(min(known.start, sizes.start), max(known.stop, sizes.stop))
    return given_up


def find_cut_back(session: Session) -> Sequence[CutBack]:
    """Return the logs that are shorter than an own entry has seen them here, by log.

    What their own writer has given up after a rollback is no loss.

    Raises:
        StorageFailedError, DamagedError: the logs cannot be listed.
    """
    seen = session.store.get_seen_sizes()
    there = {head.log: head.entries for head in session.store.list_logs()}
    shorter = [CutBack(log, size, there.get(log, 0)) for log, size in sorted(seen.items()) if size > there.get(log, 0)]
    given_up = list_given_up(session) if shorter else {}
    return [item for item in shorter if item.size not in given_up.get(item.log, ())]


def count_rows_gone(session: Session) -> Mapping[LogId, int]:
    """Return, per other log, how many versions and turns at its end were taken in here and are not there any more.

    The index is the witness: its mark passes an entry only when the row of that entry was here. Where it was made anew
    since, what is gone counts as still to come.

    A log that cannot be read has none; its check names it.

    Raises:
        StorageFailedError, DamagedError: the index cannot be read, or the logs cannot be listed.
    """
    with session.index.read() as reader:
        marks = reader.get_watermarks()
    gone: dict[LogId, int] = {}
    for head in session.store.list_logs():
        mark = 0 if head.is_own else marks.get(head.log, 0)
        with suppress(DamagedError, StorageFailedError):
            count = _count_gone(session, head.log, mark) if mark else 0
            if count:
                gone[head.log] = count
    return gone


def _count_gone(session: Session, log: LogId, mark: int) -> int:
    """Count the entries before a mark that commit to a row and stand behind the last row that is there."""
    told = [seq for seq, line in session.store.read_entries(log) if seq < mark and _BODY in line]
    if not told or next(session.store.read_rows(log, told[-1]), None) is not None:
        return 0
    rows = session.store.read_rows(log)
    last = max((row.ref.seq for row in rows if isinstance(row, VersionRow)), default=-1)
    return sum(seq > last for seq in told)
