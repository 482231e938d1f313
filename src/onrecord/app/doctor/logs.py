"""What doctor asks of the logs: each line that cannot be read or contradicts; `verify` judges heads and signatures."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.app.current import Current
from onrecord.app.differences import name_mend
from onrecord.app.log_differences import read_signed_size
from onrecord.app.log_losses import MEND as CUT_BACK_MEND
from onrecord.app.log_losses import count_rows_gone, find_cut_back, list_given_up
from onrecord.app.log_material import check_every_log, list_erased
from onrecord.app.log_rows import walk_rows
from onrecord.app.session import Session
from onrecord.app.waiting import ROWS_WAITING
from onrecord.domain.errors import LedgerRolledBackError
from onrecord.domain.ledger_report import Fault, FaultCode
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.signing import Verifier

_CUT_BACK = Fault(FaultCode.CUT_BACK)


def check_logs(session: Session) -> Iterator[Problem]:
    """Yield a problem for each entry that cannot be read and each row that contradicts its entry or is gone."""
    erased = list_erased(session)
    for head in session.store.list_logs():
        for item in walk_rows(session, head.log, erased):
            if isinstance(item, Problem):
                yield item
            else:
                path = f".onrecord/{head.log}/versions"
                yield Problem(path, 0, "version_altered", Severity.CRITICAL, item.message)
        signed = 0 if head.is_own else read_signed_size(session, head.log) or 0
        if signed > head.entries:
            message = (
                f"{signed - head.entries} entries that the signed head of another machine covers have not come yet"
            )
            yield Problem(f".onrecord/{head.log}/ledger", 0, ROWS_WAITING, Severity.WARNING, message)


def check_others(session: Session) -> Iterator[Problem]:
    """Yield a problem for each log of another installation: only the user knows whether it is theirs."""
    seen, given_up = session.store.list_seen(), list_given_up(session)
    for head in session.store.list_logs():
        if head.is_own:
            continue
        path, since = f".onrecord/{head.log}", [ts for _, ts in seen.get(head.log, ())]
        if head.log in given_up:
            message = f"a log that was given up for a new one, {head.entries} entries; what it holds is used"
            mend = "Nothing needs to be done: leave its folder where it is."
            yield Problem(path, 0, "log_other", Severity.INFO, message, mend)
        elif since:
            message = f"the log of another installation, {head.entries} entries, named here since {min(since)}"
            yield Problem(path, 0, "log_other", Severity.INFO, message)
        else:
            message = f"the log of another installation, {head.entries} entries, not named here before"
            yield Problem(path, 0, "log_new", Severity.WARNING, message)


def check_seen(session: Session) -> Iterator[Problem]:
    """Yield a problem for each log that is shorter than it was here, as an own entry or the index tells."""
    for item in find_cut_back(session):
        message = f"another log: it had {item.size} entries when it was seen here, and has {item.there} now"
        yield Problem(f".onrecord/{item.log}", 0, "log_cut_back", Severity.WARNING, message, CUT_BACK_MEND)
    for log, count in sorted(count_rows_gone(session).items()):
        message = f"another log: {count} of its last versions and turns were taken in here and are gone"
        yield Problem(f".onrecord/{log}/versions", 0, "log_cut_back", Severity.WARNING, message, CUT_BACK_MEND)


def check_acknowledged(session: Session) -> Iterator[Problem]:
    """Yield that the vault does not go on from what was acknowledged here: what else its own log lacks follows."""
    rollback = session.store.find_rollback()
    if rollback is not None:
        yield Problem("", 0, LedgerRolledBackError.code, Severity.CRITICAL, rollback.reason)


def check_proofs(session: Session, verifier: Verifier) -> Iterator[Problem]:
    """Yield a problem for each log whose verification fails, at the log at fault, which may be another one."""
    for report in (item.report for item in check_every_log(session, verifier, Current())):
        fault = report.fault
        blamed = {item.log: _CUT_BACK for item in report.cut_back}
        if fault is not None:
            blamed.setdefault(fault.other or report.log, fault)
        for log, found in blamed.items():
            place = "" if found.seq is None or found.other else f"entry {found.seq}: "
            seen = f"{found.code.value} after {report.head.size} entries" if log == report.log else found.code.value
            message, mend = f"{place}{found.message}", name_mend(found.code)
            yield Problem(f".onrecord/{log}", 0, "ledger_broken", Severity.CRITICAL, message, mend, seen)
