"""What doctor asks of the logs: each line that cannot be read or contradicts; `verify` judges heads and signatures."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.app.current import Current
from onrecord.app.log_material import check_every_log, describe_row
from onrecord.app.session import Session
from onrecord.domain.entry import EntryFault, read_entry
from onrecord.domain.ids import LogId
from onrecord.domain.ledger_check import judge_row, list_erasures
from onrecord.domain.ledger_report import MESSAGES, FaultCode
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.signing import Verifier
from onrecord.ports.store import VersionRow


def check_logs(session: Session) -> Iterator[Problem]:
    """Yield a problem for each entry that cannot be read and each row that contradicts its entry or is gone."""
    logs = [head.log for head in session.store.list_logs()]
    erased = {name for log in logs for name in list_erasures(line for _, line in session.store.read_entries(log))}
    for log in logs:
        yield from _check_log(session, log, erased)


def check_others(session: Session) -> Iterator[Problem]:
    """Yield a problem for each log of another installation: only the user knows whether it is theirs."""
    seen = session.store.list_seen()
    for head in session.store.list_logs():
        if head.is_own:
            continue
        path, since = f".onrecord/{head.log}", [ts for _, ts in seen.get(head.log, ())]
        if since:
            message = f"the log of another installation, {head.entries} entries, named here since {min(since)}"
            yield Problem(path, 0, "log_other", Severity.INFO, message)
        else:
            message = f"the log of another installation, {head.entries} entries, not named here before"
            yield Problem(path, 0, "log_new", Severity.WARNING, message)


def check_proofs(session: Session, verifier: Verifier) -> Iterator[Problem]:
    """Yield a problem for each log whose verification fails."""
    for report in check_every_log(session, verifier, Current()):
        if report.fault is not None:
            place = "" if report.fault.seq is None else f"entry {report.fault.seq}: "
            seen = f"{report.fault.code.value} after {report.head.size} entries"
            path = f".onrecord/{report.log}"
            message = f"{place}{report.fault.message}"
            yield Problem(path, 0, "ledger_broken", Severity.CRITICAL, message, evidence=seen)


def _check_log(session: Session, log: LogId, erased: set[str]) -> Iterator[Problem]:
    rows = session.store.read_rows(log)
    row: VersionRow | None = None
    is_whole = True
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
                if is_whole and item.ref.seq < seq:
                    yield _name_unspoken(log, item.ref.seq)
                row = item
        found = row if row is not None and row.ref.seq == seq else None
        fault = judge_row(describe_row(found) if found is not None else None, entry)
        if found is None and is_whole and f"{log}:{seq}" not in erased:
            fault = FaultCode.UNEXPLAINED_ABSENCE
        if fault is not None:
            message = f"entry {seq}: {MESSAGES[fault]}"
            yield Problem(f".onrecord/{log}/versions", 0, "version_altered", Severity.CRITICAL, message)
    for item in rows:
        if isinstance(item, Problem):
            yield item
        elif is_whole:
            yield _name_unspoken(log, item.ref.seq)


def _name_unspoken(log: LogId, seq: int) -> Problem:
    message = f"row {seq}: no entry speaks of it"
    return Problem(f".onrecord/{log}/versions", 0, "version_altered", Severity.CRITICAL, message)
