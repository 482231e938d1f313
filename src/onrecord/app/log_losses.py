"""Other logs of which more was here than is left, and how much of them their own writer has given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from onrecord.app.session import Session
from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.domain.given_up import read_given_up
from onrecord.domain.ids import LogId
from onrecord.domain.ledger_report import CutBack

MEND: Final = (
    "Put the folder of that log back from the machine that writes it, from another one or from a backup: what is gone "
    "was here. While a sync program is bringing it anew, wait."
)
# `log.adopt` is the first entry behind `log.start` (docs/format/ledger.md).
_ADOPT_SEQ = 1


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
