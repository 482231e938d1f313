"""Check tree, signatures and commitments of every log, and compare the files with what the versions say."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from onrecord.app.admission import admit
from onrecord.app.catalog import VERIFY
from onrecord.app.current import Current
from onrecord.app.differences import (
    CONFLICT_COPY,
    RETIRED_FILE,
    Difference,
    compare_files,
    describe_difference,
    explain_pending,
    name_mend,
)
from onrecord.app.log_differences import CHECKPOINT_AHEAD, CHECKPOINT_BEHIND, explain_logs
from onrecord.app.log_material import check_every_log
from onrecord.app.pages import take_page
from onrecord.app.session import Reply, Session
from onrecord.app.standing import CONFLICTS, FILE_BEHIND
from onrecord.domain.alike import order_text
from onrecord.domain.errors import NewerFormatError
from onrecord.domain.ledger_report import LogReport, Verdict
from onrecord.ports.signing import Verifier

# What is as it may be, and needs nobody: told apart from what differs.
_NOTES = frozenset({CHECKPOINT_AHEAD, CHECKPOINT_BEHIND, CONFLICT_COPY, RETIRED_FILE})
_LEVELS = (Verdict.BROKEN, Verdict.L1, Verdict.L2)
NOT_SHOWN = (
    "what was never written",
    "whether what was written is true",
    "a past that the holder of the key wrote anew before another party saw a signed head",
)


def verify(session: Session, given: Mapping[str, object], verifier: Verifier) -> Reply:
    """Verify every log of the vault, and name each difference between files and versions.

    Args:
        session: The opened vault.
        given: Arguments of the operation `verify` (none).
        verifier: Checks signatures.

    Returns:
        data: verdict (the weakest of all logs), logs[] with verdict, entries, signed, opened, waiting, newer, fault,
        the weakest first; differences[] {code, path, record, version, expected, found, message, mend}, by path: files,
        each fault of a log, each row at fault; notes[] of the same members, of what is as it may be; all as far as the
        page has room (`truncated`), with logs_total, differences_total and notes_total; not_shown[].

    Raises:
        InvalidInputError: the call is refused.
    """
    admit(VERIFY, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply, pieces=None, intake_pieces=None)
    current = Current()
    checked = check_every_log(session, verifier, current)
    reports = [item.report for item in checked]
    doubted = {
        report.log: report.fault.seq for report in reports if report.fault is not None and report.fault.seq is not None
    }
    differing: Iterable[Difference] = compare_files(session, current, doubted)
    if session.hindrance:
        differing = explain_pending(differing, session.hindrance)
    told = {*differing, *explain_logs(session, checked)}
    found = sorted(told, key=lambda item: (item.path, item.code, order_text(item.message), item))
    differences = [item for item in found if not _is_note(item)]
    notes = [item for item in found if _is_note(item)]
    reports.sort(key=lambda report: _LEVELS.index(report.verdict))
    if any(report.newer for report in reports) or any(problem.code == "newer_format" for problem in session.problems):
        reply.degrade("newer_format", NewerFormatError.default_hint)
    budget = session.policy.page_bytes // 3
    logs = take_page([_describe(report) for report in reports], budget)
    shown, noted = _take_page(differences, budget), _take_page(notes, budget)
    reply.data = {
        "verdict": reports[0].verdict.value if reports else Verdict.L1.value,
        "logs": logs,
        "logs_total": len(reports),
        "differences": shown,
        "differences_total": len(differences),
        "notes": noted,
        "notes_total": len(notes),
        "not_shown": list(NOT_SHOWN),
    }
    if len(logs) < len(reports) or len(shown) < len(differences) or len(noted) < len(notes):
        reply.data["truncated"] = True
    return reply


def _is_note(item: Difference) -> bool:
    """Tell whether something is as it may be; so is a conflict's file that holds what a hand wrote in it."""
    return item.code in _NOTES or (item.code == FILE_BEHIND and item.path.startswith(CONFLICTS))


def _take_page(items: list[Difference], budget_bytes: int) -> list[dict[str, object]]:
    return take_page((describe_difference(item) for item in items), budget_bytes)


def _describe(report: LogReport) -> dict[str, object]:
    shape: dict[str, object] = {
        "log": report.log,
        "verdict": report.verdict.value,
        "entries": report.head.size,
        "root": base64.b64encode(report.head.root).decode(),
        "signed": report.signed.size if report.signed is not None else 0,
        "unsigned": report.unsigned,
        "opened": report.opened,
        "erased": report.erased,
        "waiting": report.waiting,
        "newer": report.newer,
    }
    if report.fault is not None:
        code = report.fault.code
        place = {} if report.fault.seq is None else {"seq": report.fault.seq}
        shape["fault"] = {**place, "code": code.value, "message": report.fault.message, "mend": name_mend(code)}
    return shape
