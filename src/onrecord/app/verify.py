"""Check tree, signatures and commitments of every log, and compare the files with what the versions say."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping

from onrecord.app.admission import admit
from onrecord.app.catalog import VERIFY
from onrecord.app.current import Current, CurrentVersion
from onrecord.app.log_material import check_every_log
from onrecord.app.pages import take_page
from onrecord.app.session import Reply, Session
from onrecord.app.standing import name_behind, name_pending
from onrecord.domain.errors import NewerFormatError, NotFoundError, StorageFailedError
from onrecord.domain.ids import LogId, RecordId, Seq
from onrecord.domain.ledger_report import LogReport, Verdict
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.index import FileStamp, IndexReader
from onrecord.ports.signing import Verifier
from onrecord.ports.store import FileState

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
        the weakest first; differences[] {code, path, message}; both as far as the page has room (`truncated`), with
        logs_total and differences_total; not_shown[].

    Raises:
        InvalidInputError: the call is refused.
    """
    admit(VERIFY, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply, pieces=None)
    current = Current()
    reports = check_every_log(session, verifier, current)
    doubted = {
        report.log: report.fault.seq for report in reports if report.fault is not None and report.fault.seq is not None
    }
    differences = [
        {"code": item.code, "path": item.path, "message": item.message}
        for item in sorted(_compare_files(session, current, doubted))
    ]
    reports.sort(key=lambda report: _LEVELS.index(report.verdict))
    if any(report.newer for report in reports) or any(problem.code == "newer_format" for problem in session.problems):
        reply.degrade("newer_format", NewerFormatError.default_hint)
    logs = take_page([_describe(report) for report in reports], session.policy.page_bytes // 2)
    shown = take_page(differences, session.policy.page_bytes // 2)
    reply.data = {
        "verdict": reports[0].verdict.value if reports else Verdict.L1.value,
        "logs": logs,
        "logs_total": len(reports),
        "differences": shown,
        "differences_total": len(differences),
        "not_shown": list(NOT_SHOWN),
    }
    if len(logs) < len(reports) or len(shown) < len(differences):
        reply.data["truncated"] = True
    return reply


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
        shape["fault"] = {"code": report.fault.code.value, "message": report.fault.message}
        if report.fault.seq is not None:
            shape["fault"] = {"seq": report.fault.seq, "code": report.fault.code.value, "message": report.fault.message}
    return shape


def _compare_files(session: Session, current: Current, doubted: Mapping[LogId, Seq]) -> Iterator[Problem]:
    """Yield every difference between the files on disk and the current versions.

    Args:
        session: The opened vault.
        current: The current versions.
        doubted: Where each broken log contradicts first: what it says from there on accuses no file.
    """
    with session.index.read() as reader:
        stamps = {stamp.path: stamp for stamp in reader.list_files()}
        records = {stamp.record for stamp in stamps.values()}
        unclear = {record for record in records if doubted and _is_doubted(reader, record, current, doubted)}
    present: set[RecordId] = set(unclear)
    for item in session.store.scan_files():
        stamp = stamps.get(item.path)
        owner = stamp.record if stamp is not None else None
        if not isinstance(item, FileState):
            if owner is not None:
                present.add(owner)
                yield item
            continue
        if owner in unclear:
            continue
        if stamp is not None and stamp.is_pending:
            present.add(stamp.record)
            yield name_pending(stamp)
            continue
        expected = current.records.get(owner) if owner is not None else None
        if stamp is None or owner is None or expected is None:
            yield _name(item.path, "unknown_file", "not taken in yet")
            continue
        present.add(owner)
        yield from _compare_file(session, stamp, expected)
    for record, expected in current.records.items():
        if record not in present and expected.is_file and not _is_from_doubted(expected, doubted):
            is_waiting = session.store.is_waiting(expected.ref)
            code, what = ("not_placed", "has not been placed") if is_waiting else ("missing_file", "is gone")
            yield _name(expected.path, code, f"the file of memory {record}, version {expected.version}, {what}")


def _is_doubted(reader: IndexReader, record: RecordId, current: Current, doubted: Mapping[LogId, Seq]) -> bool:
    """Tell whether a record's current version, by the index or the stores, is of the doubted part of a log."""
    head = reader.get_current(record)
    if head is not None and head.ref.seq >= doubted.get(head.ref.log, head.ref.seq + 1):
        return True
    expected = current.records.get(record)
    return expected is not None and _is_from_doubted(expected, doubted)


def _is_from_doubted(expected: CurrentVersion, doubted: Mapping[LogId, Seq]) -> bool:
    return any(seq >= doubted.get(log, seq + 1) for log, seq in expected.taken.items())


def _compare_file(session: Session, stamp: FileStamp, expected: CurrentVersion) -> Iterator[Problem]:
    path = stamp.path
    try:
        data = session.store.read_file(path)
    except (NotFoundError, StorageFailedError) as error:
        yield _name(path, "missing_file", error.reason)
        return
    if hashlib.sha256(data).digest() != expected.get_hash():
        behind = name_behind(session, stamp, data)
        if behind is not None:
            yield behind
            return
        is_transcript = path.startswith("events/")
        code = "transcript_edited" if is_transcript else "edited_outside"
        yield _name(path, code, f"the file is not version {expected.version}")


def _name(path: str, code: str, message: str) -> Problem:
    return Problem(path, 0, code, Severity.WARNING, message)
