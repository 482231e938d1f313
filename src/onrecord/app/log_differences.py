"""What differs between the parts of a log, each explained: ledger, versions store, signed head, known heads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from onrecord.app.differences import Difference, name_mend, shorten
from onrecord.app.log_material import CheckedLog, list_erased
from onrecord.app.log_rows import ROW_WITHOUT_ENTRY, RowFault, walk_rows
from onrecord.app.session import Session
from onrecord.app.waiting import ROWS_WAITING
from onrecord.domain.alike import ALIKE_MAX_COUNT, tell_range
from onrecord.domain.checkpoint import parse_checkpoint, parse_note
from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import LogId
from onrecord.domain.ledger_report import MESSAGES, ROWS, SIGNED, Fault, FaultCode, LogReport

CHECKPOINT_BEHIND: Final = "checkpoint_behind"
CHECKPOINT_AHEAD: Final = "checkpoint_ahead"
_LINES: Final = frozenset({"entry_unreadable", "newer_format", ROWS_WAITING})


def explain_logs(session: Session, checked: Iterable[CheckedLog]) -> Iterator[Difference]:
    """Yield what the verification of each log found: its first fault, each row at fault, a head ahead or behind.

    Only the rows of a log that has a fault, or rows of nobody, are read again.
    """
    erased: frozenset[str] | None = None
    for item in checked:
        report = item.report
        told: set[tuple[str, int | None]] = set()
        yield from _name_cut_back(report)
        if report.fault is not None or item.has_strays:
            erased = list_erased(session) if erased is None else erased
            rows = list(_explain_rows(session, report.log, erased))
            told |= {(difference.code, seq) for seq, difference in rows}
            yield from _fold_rows(rows)
        ahead, size = read_signed_size(session, report.log) or 0, report.head.size
        if report.fault is not None:
            size = sum(1 for _ in session.store.read_entries(report.log))
        if ahead > size and report.log != session.store.log:
            yield _name_ahead(report.log, ahead, size)
        elif ahead > size and report.fault is not None:
            told.add((FaultCode.TRUNCATED, None))
            yield _name_fault(report.log, Fault(FaultCode.TRUNCATED), f"{ahead} entries", f"{size} entries")
        if report.fault is None:
            yield from _name_behind(item) if ahead <= size else ()
        elif report.fault.code is not FaultCode.CUT_BACK and (report.fault.code, report.fault.seq) not in told:
            is_pinned = report.fault.code in (FaultCode.ROLLED_BACK, FaultCode.PINNED_MISMATCH)
            asked = f"{session.store.get_pinned()[0]} entries" if is_pinned else ""
            found = f"{report.head.size} entries" if report.fault.seq is None else f"entry {report.fault.seq}"
            yield _name_fault(report.log, report.fault, asked, found)


def _explain_rows(session: Session, log: LogId, erased: AbstractSet[str]) -> Iterator[tuple[int | None, Difference]]:
    path = f".onrecord/{log}/versions"
    for item in walk_rows(session, log, erased):
        if isinstance(item, RowFault):
            yield item.seq, _name_row(path, item)
        elif item.code not in _LINES:
            yield None, Difference(item.path, item.code, item.message, mend=item.mend)


def _fold_rows(rows: Iterable[tuple[int | None, Difference]]) -> Iterator[Difference]:
    """Yield what differs in the rows of a log; many that differ alike are one, with the first and the last entry."""
    alike: dict[str, list[tuple[int | None, Difference]]] = {}
    for seq, item in rows:
        alike.setdefault(item.code, []).append((seq, item))
    for found in alike.values():
        numbers = [seq for seq, _ in found if seq is not None]
        if len(numbers) == len(found) > ALIKE_MAX_COUNT:
            first = found[0][1]
            message = f"{tell_range('entries', numbers)}: {first.message.partition(': ')[2]}"
            yield Difference(first.path, first.code, message, mend=first.mend)
        else:
            yield from (item for _, item in found)


def _name_row(path: str, item: RowFault) -> Difference:
    seen = "no row" if item.data is None else f"sha256 {shorten(hashlib.sha256(item.data).digest())}"
    if item.code == ROW_WITHOUT_ENTRY:
        mend = "It is no version. Put the versions folder of the log back from a copy."
        return Difference(path, item.code, item.message, item.record, item.version, "no row", seen, mend)
    asked = f"the bytes of entry {item.seq}"
    return Difference(
        path, item.code, item.message, item.record, item.version, asked, seen, name_mend(FaultCode(item.code))
    )


def _name_fault(log: LogId, fault: Fault, expected: str, found: str) -> Difference:
    code = fault.code
    if fault.other:
        path, message = f".onrecord/{fault.other}/ledger", f"{fault.message}: entry {fault.seq} of {log} says so"
        return Difference(path, code.value, message, "", 0, expected, "", name_mend(code))
    part = "/versions" if code in ROWS else "/checkpoint" if code in SIGNED else "" if fault.seq is None else "/ledger"
    place = "" if fault.seq is None else f"entry {fault.seq}: "
    message = f"{place}{fault.message}"
    return Difference(f".onrecord/{log}{part}", code.value, message, "", 0, expected, found, name_mend(code))


def _name_cut_back(report: LogReport) -> Iterator[Difference]:
    """Name each log that was longer when the log of the report saw it here, in the place of that log."""
    for item in report.cut_back:
        mend, message = name_mend(FaultCode.CUT_BACK), MESSAGES[FaultCode.CUT_BACK]
        path, asked = f".onrecord/{item.log}/ledger", f"at least {item.size} entries"
        yield Difference(path, FaultCode.CUT_BACK.value, message, "", 0, asked, f"{item.there} entries", mend)


def _name_ahead(log: LogId, ahead: int, size: int) -> Difference:
    message = f"{ahead - size} entries that the signed head covers have not come yet"
    mend = "Wait for the sync program; if it is done, see that it carries all of .onrecord."
    path = f".onrecord/{log}/checkpoint"
    return Difference(path, CHECKPOINT_AHEAD, message, "", 0, f"{ahead} entries", f"{size} entries", mend)


def _name_behind(item: CheckedLog) -> Iterator[Difference]:
    report = item.report
    if report.unsigned:
        signed = f"{report.signed.size} entries signed" if report.signed is not None else "no checkpoint"
        message = f"{report.unsigned} entries came after the newest signed head"
        if report.signed is None:
            message = f"{report.unsigned} entries are under no signed head: there is none"
        mend = "Nothing needs to be done: a later write of the log's machine signs them."
        path, asked = f".onrecord/{report.log}/checkpoint", f"{report.head.size} entries"
        yield Difference(path, CHECKPOINT_BEHIND, message, "", 0, asked, signed, mend)


def read_signed_size(session: Session, log: LogId) -> int | None:
    """Return the size of the signed head of a log, None where there is none or it cannot be read."""
    data = session.store.read_log_file(log, "checkpoint")
    if data is None:
        return None
    try:
        return parse_checkpoint(parse_note(data).text).size
    except DamagedError:
        return None
