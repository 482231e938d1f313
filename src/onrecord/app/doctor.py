"""Name every file and part of a vault that needs attention, once outside edits are taken in; works on broken parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from onrecord.app.admission import admit
from onrecord.app.catalog import DOCTOR
from onrecord.app.content import locate
from onrecord.app.indexing import hash_text
from onrecord.app.pages import take_page
from onrecord.app.places import is_unchanged
from onrecord.app.session import Reply, Session
from onrecord.app.verify import describe_row
from onrecord.domain.entry import EntryFault, read_entry
from onrecord.domain.errors import DamagedError, NewerFormatError, NotFoundError, OnRecordError
from onrecord.domain.ids import LogId, RecordId
from onrecord.domain.ledger_check import judge_row, list_erasures
from onrecord.domain.ledger_report import MESSAGES, FaultCode
from onrecord.domain.problem import Problem, Severity, describe_displaced
from onrecord.domain.record import Record, read_record
from onrecord.domain.redaction import find_secrets
from onrecord.domain.transcript import Block, parse_transcript
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import FileState, VersionRow

_ALL = 2**31
_MEND_LOG = "`onrecord verify` judges the log; put its folder back from a copy."
_RANK = {Severity.CRITICAL: 0, Severity.WARNING: 1, Severity.INFO: 2}


def diagnose(session: Session, given: Mapping[str, object]) -> Reply:
    """Collect the findings of every check.

    Returns:
        data: findings[] {path, line, code, severity, message, mend}, gravest first, then by path, as many as the page
        has room for (`truncated`); `total` and `counts` by severity are of all.

    Raises:
        InvalidInputError: the call is refused.
    """
    admit(DOCTOR, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply, pieces=None)
    findings = set(session.problems)
    for check in (_check_installation, _check_store, _check_settings, _check_logs, _check_files, _check_displaced):
        try:
            for finding in check(session):
                findings.add(finding)
        except OnRecordError as error:
            findings.add(Problem("", 0, error.code, Severity.CRITICAL, error.reason, error.hint))
    codes = {finding.code for finding in findings}
    for degraded in reply.degraded:
        if degraded.reason not in codes:
            message = "the vault cannot be written"
            findings.add(Problem("", 0, degraded.reason, Severity.CRITICAL, message, degraded.mend))
    named = {finding.message for finding in findings if finding.path or finding.code.startswith("state_")}
    findings = {
        finding
        for finding in findings
        if finding.path or finding.code.startswith("state_") or finding.message not in named
    }
    ordered = sorted(findings, key=lambda item: (_RANK[item.severity], item.path, item.line, item.code))
    shown = take_page([describe_problem(item) for item in ordered], session.policy.page_bytes)
    reply.data = {
        "findings": shown,
        "counts": {level.value: sum(item.severity is level for item in ordered) for level in Severity},
        "total": len(ordered),
    }
    if len(shown) < len(ordered):
        reply.data["truncated"] = True
    return reply


def describe_problem(problem: Problem) -> dict[str, object]:
    """Return a problem's wire form."""
    shape: dict[str, object] = {
        "path": problem.path,
        "line": problem.line,
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem.message,
    }
    if problem.mend:
        shape["mend"] = problem.mend
    return shape


def _check_installation(session: Session) -> Iterator[Problem]:
    yield from session.store.inspect()


def _check_settings(session: Session) -> Iterator[Problem]:
    for name in session.policy.unknown_settings:
        source, _, key = name.partition(":")
        path = "onrecord.toml" if source == "project" else ""
        message = f"unknown setting {key[:80]!r}; it has no effect"
        mend = "`onrecord config` lists the names; correct or remove it."
        if source != "project":
            message = f"config.toml of the user: {message}"
        yield Problem(path, 0, "unknown_setting", Severity.WARNING, message, mend)


def _check_store(session: Session) -> Iterator[Problem]:
    yield from session.store.find_problems()


def _check_logs(session: Session) -> Iterator[Problem]:
    """Name each line of a log that cannot be read or contradicts; `verify` judges heads, counters and signatures."""
    logs = [head.log for head in session.store.list_logs()]
    erased = {name for log in logs for name in list_erasures(line for _, line in session.store.read_entries(log))}
    for log in logs:
        yield from _check_log(session, log, erased)


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
            yield Problem(f".onrecord/{log}/ledger", seq + 1, code, Severity.CRITICAL, message, _MEND_LOG)
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
                row = item
        found = row if row is not None and row.ref.seq == seq else None
        fault = judge_row(describe_row(found) if found is not None else None, entry)
        if found is None and is_whole and f"{log}:{seq}" not in erased:
            fault = FaultCode.UNEXPLAINED_ABSENCE
        if fault is not None:
            message = f"entry {seq}: {MESSAGES[fault]}"
            yield Problem(f".onrecord/{log}/versions", 0, "version_altered", Severity.CRITICAL, message, _MEND_LOG)
    yield from (item for item in rows if isinstance(item, Problem))


def _check_files(session: Session) -> Iterator[Problem]:
    with session.index.read() as reader:
        stamps = {stamp.path: stamp for stamp in reader.list_files()}
        present: set[str] = set()
        for item in session.store.scan_files():
            present.add(item.path)
            if isinstance(item, Problem):
                yield item
                continue
            yield from _check_file(session, reader, item, stamps.get(item.path))
        for path, stamp in sorted(stamps.items()):
            if path not in present:
                yield from _check_missing(reader, path, stamp, present)
        yield from _check_forgotten(session, reader, {stamp.record for stamp in stamps.values()})


def _check_missing(reader: IndexReader, path: str, stamp: FileStamp, present: set[str]) -> Iterator[Problem]:
    others = [other.path for other in reader.find_files_of(stamp.record)]
    is_transcript = path.startswith("events/")
    if is_transcript or not any(other in present for other in others):
        yield _name_missing(path, stamp.record)


def _check_forgotten(session: Session, reader: IndexReader, known: set[RecordId]) -> Iterator[Problem]:
    """Name the records whose file was gone already when the index was made."""
    for record in reader.find_ids("", _ALL):
        head = reader.get_current(record) if record not in known else None
        if head is not None and locate(session, reader, head).is_missing:
            yield _name_missing(head.path, record)


def _name_missing(path: str, record: RecordId) -> Problem:
    message = f"the file of memory {record} is gone; its versions are kept"
    mend = f"Put it back, or see `onrecord history {record}`."
    return Problem(path, 0, "missing_file", Severity.WARNING, message, mend)


def _check_file(session: Session, reader: IndexReader, state: FileState, stamp: FileStamp | None) -> Iterator[Problem]:
    try:
        data = session.store.read_file(state.path)
    except (NotFoundError, OnRecordError) as error:
        yield Problem(state.path, 0, "not_a_regular_file", Severity.WARNING, error.reason, error.hint)
        return
    if stamp is None:
        yield Problem(state.path, 0, "unknown_file", Severity.WARNING, "not taken in yet", "Run `onrecord reindex`.")
        head = None
    else:
        head = reader.get_current(stamp.record)
    record = read_record(data, state.path, session.yaml)
    yield from record.problems
    for finding in find_secrets(record.searchable_text):
        message = f"looks like a secret (rule {finding.rule}); a file of yours is only flagged"
        yield Problem(state.path, 0, "secret_found", Severity.WARNING, message, "Remove it from the file.")
    if head is None or stamp is None:
        return
    if head.kind == "event":
        yield from _check_transcript(reader, head.id, state.path, data)
        return
    yield from _check_version(head, state, stamp, data)
    claim = record.claimed_id
    if claim is not None and claim != head.id and reader.get_current(claim) is not None:
        message = "the id in the file belongs to another memory; this one has its own"
        yield Problem(state.path, 0, "duplicate_id", Severity.WARNING, message, "Remove the id line from the copy.")
    elif claim is not None:
        yield from _check_copies(session, reader, head, record)


def _check_version(head: VersionHead, state: FileState, stamp: FileStamp, data: bytes) -> Iterator[Problem]:
    if not is_unchanged(state, stamp) and hashlib.sha256(data).digest() != stamp.sha256:
        message = "edited outside and not taken in yet"
        yield Problem(state.path, 0, "edited_outside", Severity.WARNING, message, "Run any onrecord command.")
    elif head.is_observed:
        message = f"version {head.version} was written outside OnRecord; its author is not known"
        yield Problem(state.path, 0, "edited_outside", Severity.INFO, message)


def _check_copies(session: Session, reader: IndexReader, head: VersionHead, record: Record) -> Iterator[Problem]:
    """Compare the server-owned copies in a file with those that OnRecord wrote there last."""
    placed = [known for known in reader.list_versions(head.id) if not known.is_observed and not known.is_displaced]
    try:
        row = session.store.read_row(placed[-1].ref) if placed else None
    except (DamagedError, NewerFormatError):
        return  # named where the logs are read
    # Of a file that came with its keys there is nothing to compare them with but the id.
    written = read_record(row.draft.data, record.path, session.yaml).server if row is not None else record.server
    if record.claimed_id != head.id or replace(record.server, id=None) != replace(written, id=None):
        message = "a key that OnRecord owns was changed in the file; the change is not applied"
        yield Problem(record.path, 1, "server_key_changed", Severity.WARNING, message, "Undo it; it has no effect.")


def _check_transcript(reader: IndexReader, record: RecordId, path: str, data: bytes) -> Iterator[Problem]:
    """Compare the blocks of a transcript with the turns that were captured; what is found are the captured ones."""
    parsed = parse_transcript(data, path)
    yield from parsed.problems
    captured = {head.turn.block: head for head in reader.list_turns(record) if head.turn is not None}
    found = {block.block for block in parsed.turns}
    told = {
        "not in the file any more; their versions are kept": [(0, name) for name in captured.keys() - found],
        "not as they were captured; the captured ones are found and shown": [],
        "of nobody's capture; they are not found": [],
    }
    line, counted = 1, 0
    for block in parsed.turns:
        line += data.count(b"\n", counted, block.at)
        counted = block.at
        known = captured.get(block.block)
        if known is None:
            told["of nobody's capture; they are not found"].append((line, block.block))
        elif not _is_as_captured(block, known):
            told["not as they were captured; the captured ones are found and shown"].append((line, block.block))
    for what, places in told.items():
        if places:
            message = f"{len(places)} turns are {what}"
            mend = "Transcripts only grow; undo the edit."
            yield Problem(path, min(places)[0], "transcript_edited", Severity.WARNING, message, mend)


def _is_as_captured(block: Block, head: VersionHead) -> bool:
    turn, name = block.turn, head.turn
    assert name is not None
    is_same = (turn.role, turn.speaker, turn.time) == (name.role, name.speaker, name.time)
    return is_same and turn.origin == head.origin and hash_text(turn.text) == head.text_sha256


def _check_displaced(session: Session) -> Iterator[Problem]:
    with session.index.read() as reader:
        for record, path in _list_records(reader):
            for head in reader.list_versions(record):
                if head.is_displaced:
                    yield describe_displaced(path, record, head.version)


def _list_records(reader: IndexReader) -> list[tuple[RecordId, str]]:
    return sorted({(stamp.record, stamp.path) for stamp in reader.list_files()})
