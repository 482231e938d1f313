"""The rows of a log against its entries: each row that contradicts its entry, is gone, or has none."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from onrecord.app.log_material import describe_row
from onrecord.app.session import Session
from onrecord.app.waiting import ROWS_WAITING
from onrecord.domain.entry import EntryFault, read_entry
from onrecord.domain.ids import LogId
from onrecord.domain.ledger_check import judge_row
from onrecord.domain.ledger_report import MESSAGES, FaultCode
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.store import VersionRow

ROW_WITHOUT_ENTRY: Final = "row_without_entry"


@dataclass(frozen=True, slots=True)
class RowFault:
    """One row at fault, or one that is gone.

    Attributes:
        log: The log.
        seq: Place of the entry, or that of which the row says that it is its entry's.
        code: That of the fault of a log, or `ROW_WITHOUT_ENTRY`.
        record: The memory, as the entry says, else as the row does.
        version: Its version, likewise.
        data: The row's bytes, None for no row.
    """

    log: LogId
    seq: int
    code: str
    record: str
    version: int
    data: bytes | None

    @property
    def message(self) -> str:
        """What is wrong, one clause."""
        if self.code == ROW_WITHOUT_ENTRY:
            return f"row {self.seq}: no entry speaks of it"
        return f"entry {self.seq}: {MESSAGES[FaultCode(self.code)]}"


def walk_rows(session: Session, log: LogId, erased: AbstractSet[str]) -> Iterator[RowFault | Problem]:
    """Yield each row of a log that is at fault, and a problem for each line that is no entry or no row.

    Args:
        session: The opened vault.
        log: The log.
        erased: `<log id>:<seq>` of every entry whose content an erasure says is gone.
    """
    rows = session.store.read_rows(log)
    row: VersionRow | None = None
    is_whole = True
    absent: list[RowFault] = []
    for seq, line in session.store.read_entries(log):
        entry = read_entry(line)
        if isinstance(entry, EntryFault):
            is_whole = False
            code = "newer_format" if entry is EntryFault.NEWER_FORMAT else "entry_unreadable"
            message = f"entry {seq} is no entry of this format: {entry.value}"
            yield Problem(f".onrecord/{log}/ledger", seq + 1, code, Severity.CRITICAL, message)
            continue
        if "body" not in entry.members:
            continue
        while row is None or row.ref.seq < seq:
            item = next(rows, None)
            if item is None:
                break
            if isinstance(item, Problem):
                is_whole = False
                yield item
            else:
                if is_whole and item.ref.seq < seq and not session.store.is_waiting(item.ref):
                    yield _name_unspoken(log, item)
                row = item
        found = row if row is not None and row.ref.seq == seq else None
        if found is not None:
            yield from absent
            absent.clear()
        fault = judge_row(describe_row(found) if found is not None else None, entry)
        if found is None and is_whole and f"{log}:{seq}" not in erased:
            fault = FaultCode.UNEXPLAINED_ABSENCE
        if fault is not None:
            data = found.draft.data if found is not None else None
            named = RowFault(log, seq, fault.value, str(entry.members["rec"]), int(entry.members["ver"]), data)
            if found is None and log != session.store.log:
                absent.append(named)
            else:
                yield named
    if absent:
        message = f"{len(absent)} versions at the end of another machine's log have not come yet"
        yield Problem(f".onrecord/{log}/versions", 0, ROWS_WAITING, Severity.WARNING, message)
    for item in rows:
        if isinstance(item, Problem):
            yield item
        elif is_whole and not session.store.is_waiting(item.ref):
            yield _name_unspoken(log, item)


def _name_unspoken(log: LogId, row: VersionRow) -> RowFault:
    return RowFault(log, row.ref.seq, ROW_WITHOUT_ENTRY, row.draft.id, row.draft.version, row.draft.data)
