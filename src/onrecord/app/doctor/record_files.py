"""What doctor asks of the record files: each one that cannot be read, says other things than it should, or is gone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from onrecord.app.content import FilePlace, holds_version, locate
from onrecord.app.doctor.decisions import name_marks, read_known
from onrecord.app.doctor.server_copies import check_copies
from onrecord.app.doctor.transcripts import check_transcript
from onrecord.app.log_losses import list_given_up
from onrecord.app.places import is_unchanged
from onrecord.app.refusals import read_bytes
from onrecord.app.session import Session
from onrecord.app.stamps import COPY_MARK
from onrecord.app.standing import is_kept, name_awaited, name_behind, name_pending, name_rewriting, name_told
from onrecord.app.untaken import assume_stamp
from onrecord.domain.copy_names import describe_copy
from onrecord.domain.errors import NotFoundError, OnRecordError
from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import RecordId
from onrecord.domain.merge_marks import has_marks
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.record import read_record
from onrecord.domain.redaction import find_secrets
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import FileState, VersionDraft

_ALL = 2**31


def check_files(session: Session) -> Iterator[Problem]:
    """Yield the problems of every record file and of every memory whose file is gone."""
    with session.index.read() as reader:
        stamps = {stamp.path: stamp for stamp in reader.list_files()}
        has_logs = bool(session.store.list_logs())  # else nothing can be taken in: all waits for them
        present: set[str] = set()
        places: dict[str, str] = {}
        states: list[FileState] = []
        closed: dict[str, Problem] = {}
        for item in session.store.scan_files():
            present.add(item.path)
            if isinstance(item, Problem):
                closed[item.path] = item
                continue
            other = places.setdefault(fold_path(item.path), item.path)
            if other != item.path:
                message = f"on some systems this is the same file as {other[-120:]!r}"
                yield Problem(item.path, 0, "name_collision", Severity.WARNING, message, "Rename one of them.")
            states.append(item)
        # Files of one folder are read one after another, which costs least.
        whole = session.store.read_files(state.path for state in states)
        for state, data in zip(states, whole, strict=True):
            found = _check_file(session, reader, state, stamps.get(state.path), data)
            yield from (item for item in found if has_logs or item.code != "unknown_file")
        pending = [stamp for path, stamp in stamps.items() if stamp.is_pending and path in present]
        given_up = list_given_up(session) if pending else {}
        yield from (name_pending(stamp, given_up) for stamp in pending)
        for path, stamp in sorted(stamps.items()):
            if path not in present and not session.store.links.is_away(path) and not session.store.links.is_shut(path):
                yield from _check_missing(session, reader, path, stamp, present)
        forgotten = list(_list_forgotten(session, reader, {stamp.record for stamp in stamps.values()}))
        for head, place in forgotten:
            if place.is_missing:
                versions = reader.list_versions(head.id)
                is_own = any(known.ref.log == session.store.log for known in versions)
                yield _name_missing(session, head.path, versions, head) if is_own else _name_awaited(head)
        shut = [path for path in stamps if path not in present]
        shut += [head.path for head, place in forgotten if place.is_shut]
        yield from _name_closed(closed, shut)


def _name_closed(closed: Mapping[str, Problem], shut: Iterable[str]) -> Iterator[Problem]:
    """Yield what stands in the place of files and folders, with how many memories lie below a link not followed."""
    below = Counter(folder for path in shut for folder in accumulate(path.split("/")[:-1], "{}/{}".format))
    for path, problem in closed.items():
        if problem.code == "not_a_regular_file" and below[path]:
            told = f"{problem.message}; {below[path]} memories below it are not found until then, and are not missing"
            yield replace(problem, message=told)
        else:
            yield problem


def _check_missing(
    session: Session, reader: IndexReader, path: str, stamp: FileStamp, present: set[str]
) -> Iterator[Problem]:
    if stamp.record == COPY_MARK:
        return
    others = [other.path for other in reader.find_files_of(stamp.record)]
    is_transcript = path.startswith("events/")
    head = reader.get_current(stamp.record)
    if head is not None and head.status == "retired":
        return
    if head is not None and session.store.is_waiting(head.ref):
        return
    if is_transcript or not any(other in present for other in others):
        versions = [*reader.list_versions(stamp.record), *reader.list_turns(stamp.record)]
        yield _name_missing(session, path, versions, head)


def _list_forgotten(
    session: Session, reader: IndexReader, known: set[RecordId]
) -> Iterator[tuple[VersionHead, FilePlace]]:
    """Yield the records that have no known file: it was gone, or shut off, already when the index was made."""
    for record in reader.find_ids("", _ALL):
        head = reader.get_current(record) if record not in known else None
        if head is not None and head.status != "retired":
            yield head, locate(session, reader, head)


def _name_missing(session: Session, path: str, versions: Sequence[VersionHead], current: VersionHead | None) -> Problem:
    record = versions[0].id
    lost = sum(not is_kept(session, head.ref) for head in versions)
    if lost:
        message = f"the file of memory {record} is gone, and {lost} of its {len(versions)} versions are not here either"
        mend = "Put it back, and the newest .onrecord, which has them."
        return Problem(path, 0, "missing_file", Severity.WARNING, message, mend)
    message = f"the file of memory {record} is gone; its versions are kept"
    back = f"Put it back (`onrecord read {record}` has its text)"
    if current is not None and (way := name_rewriting(current)):
        back = f"Put it back, or write it: {way}"
    mend = f"{back}; if you deleted it: `onrecord repair missing --retire`."
    return Problem(path, 0, "missing_file", Severity.WARNING, message, mend)


def _name_awaited(head: VersionHead) -> Problem:
    message, mend = name_awaited(head)
    return Problem(head.path, 0, "missing_file", Severity.WARNING, message, mend)


def _check_file(
    session: Session, reader: IndexReader, state: FileState, stamp: FileStamp | None, data: bytes | None
) -> Iterator[Problem]:
    try:
        data = session.store.read_file(state.path) if data is None else data
    except (NotFoundError, OnRecordError) as error:
        yield Problem(state.path, 0, "not_a_regular_file", Severity.WARNING, error.reason, error.hint)
        return
    if stamp is None and assume_stamp(session, reader, state, data) is not None:
        yield _name_edited(state.path)
        head = None
    elif stamp is None:
        yield Problem(state.path, 0, "unknown_file", Severity.WARNING, "not taken in yet", "Run `onrecord reindex`.")
        head = None
    else:
        head = reader.get_current(stamp.record)
    record = read_record(data, state.path, session.yaml)
    marks = list(_list_marks(session, reader, head, stamp, data))
    # What marks of git make of a front matter is told by the marks.
    yield from (item for item in record.problems if not (marks and item.code.startswith("front_matter_")))
    yield from marks
    for finding in find_secrets(record.searchable_text):
        message = f"looks like a secret (rule {finding.rule}); a file of yours is only flagged"
        yield Problem(state.path, 0, "secret_found", Severity.WARNING, message, "Remove it from the file.")
    if stamp is not None and stamp.is_pending:
        return
    if stamp is not None and stamp.record == COPY_MARK:
        yield from _name_copy(session, reader, stamp, data)
    if head is None or stamp is None:
        return
    if head.kind == "event":
        yield from check_transcript(session, reader, head.id, state.path, data)
        return
    if head.status == "retired" and head.kind != "conflict":
        message = f"memory {head.id} is retired, so that `find` does not show this file"
        mend = "Leave it to the sync program or remove it; what you change in it is found again."
        yield Problem(state.path, 0, "retired_file", Severity.INFO, message, mend)
    yield from _check_version(session, head, state, stamp, data)
    claim = record.claimed_id
    if claim is not None and claim != head.id and reader.get_current(claim) is not None:
        message = "the id in the file belongs to another memory; this one has its own"
        yield Problem(state.path, 0, "duplicate_id", Severity.WARNING, message, "Remove the id line from the copy.")
    elif claim is not None and not session.store.is_waiting(head.ref):
        yield from check_copies(session, reader, head, record, data)


def _list_marks(
    session: Session, reader: IndexReader, head: VersionHead | None, stamp: FileStamp | None, data: bytes
) -> Iterator[Problem]:
    if head is None or stamp is None or stamp.is_pending:
        return
    if head.kind not in ("event", "conflict") and stamp.ref != head.ref:
        yield from name_marks(session, reader, stamp, data)
    elif head.kind not in ("event", "conflict") and head.status != "retired" and has_marks(data):
        yield name_told(stamp.path)


def _name_copy(session: Session, reader: IndexReader, stamp: FileStamp, data: bytes) -> Iterator[Problem]:
    """Name the copy of a file whose bytes are kept as a version, or nowhere; of one in an open conflict that tells."""
    row = session.store.read_row(stamp.ref) if stamp.ref is not None else None
    if row is None or _is_aside(session, reader, stamp, row.draft.id):
        return
    if row.draft.data == data:
        kept = f"its text is kept as version {row.draft.version} of {row.draft.id}, {row.ref}"
        message = f"{describe_copy(stamp.path)}; {kept}"
        yield Problem(stamp.path, 0, "sync_copy", Severity.INFO, message, "It may be deleted.")
    elif new := _list_new_lines(session, reader, row.draft, data):
        what = "transcript" if row.draft.kind == "event" else row.draft.kind
        message = f"a copy of {what} {row.draft.id} with {len(new)} lines that it has not; they are kept nowhere"
        mend = "Write what they say into a file of its own, without the id line; then delete the copy."
        yield Problem(stamp.path, new[0], "copy_unkept", Severity.WARNING, message, mend)


def _is_aside(session: Session, reader: IndexReader, stamp: FileStamp, record: RecordId) -> bool:
    """Tell whether the text of a copy stands in an open conflict: it is told with that."""
    aside = [head for head in reader.list_versions(record) if head.is_displaced]
    has_conflict = bool(aside and reader.find_conflicts((record,)))
    rows = (read_known(session, head.ref) for head in aside if has_conflict)
    return any(row is not None and hashlib.sha256(row.draft.data).digest() == stamp.sha256 for row in rows)


def _list_new_lines(session: Session, reader: IndexReader, draft: VersionDraft, data: bytes) -> list[int]:
    """Return the numbers of the lines below the front matter that the file of which this is a copy has not."""
    states = (session.store.stat_file(stamp.path) for stamp in reader.find_files_of(draft.id))
    own = next((whole for state in states if state is not None and (whole := read_bytes(session, state))), draft.data)
    known = {line.strip() for line in read_record(own, draft.path, session.yaml).text.splitlines()}
    parts = read_record(data, draft.path, session.yaml).parts
    lines = enumerate(parts.text.split("\n"), parts.body_line)
    return [number for number, line in lines if line.strip() and line.strip() not in known]


def _name_edited(path: str) -> Problem:
    message = "edited outside and not taken in yet"
    return Problem(path, 0, "edited_outside", Severity.WARNING, message, "Run any onrecord command.")


def _check_version(
    session: Session, head: VersionHead, state: FileState, stamp: FileStamp, data: bytes
) -> Iterator[Problem]:
    if not is_unchanged(state, stamp) and hashlib.sha256(data).digest() != stamp.sha256:
        yield _name_edited(state.path)
        return
    is_held = session.store.is_waiting(head.ref) or holds_version(session, head, stamp)
    behind = None if is_held else name_behind(session, stamp, data, head.version, head.ref)
    if behind is not None:
        yield behind
