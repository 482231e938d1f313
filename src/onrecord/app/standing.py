"""How a file stands that nobody has edited and that does not hold the current version: behind, or ahead of its row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from onrecord.app.edits import is_edit_of
from onrecord.app.indexing import hash_text
from onrecord.app.session import Session
from onrecord.app.stamps import hash_data
from onrecord.domain.errors import DamagedError, NewerFormatError, NotFoundError, StorageFailedError
from onrecord.domain.filenames import KIND_FOLDERS
from onrecord.domain.ids import EntryRef, LogId, RecordId
from onrecord.domain.instants import from_unix_us
from onrecord.domain.merge_marks import split_marked
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import MARKING

FILE_BEHIND = "file_behind"
PENDING_SYNC = "pending_sync"
MERGE_MARKS = "merge_marks"
_ID_LINE: Final = re.compile(rb"^id: ([0-9a-z]{12})\r?$", re.MULTILINE)
CONFLICTS = f"{KIND_FOLDERS['conflict']}/"


def name_behind(session: Session, stamp: FileStamp, data: bytes, current: int, ref: EntryRef) -> Problem | None:
    """Return the finding that a file holds a version that is not the current one, None where it holds none.

    Args:
        session: The opened vault.
        stamp: The stamp of the file.
        data: The file's bytes, other than those of the current version.
        current: The number of the current version.
        ref: Its entry, as the number alone is not unique among branches.
    """
    if stamp.ref is None or stamp.is_pending or stamp.sha256 != hash_data(data):
        return None
    try:
        row = session.store.read_row(stamp.ref)
    except (DamagedError, NewerFormatError):
        return None
    if row is None or row.actor == MARKING or row.draft.id != stamp.record or row.draft.data != data:
        return None
    held = f"version {row.draft.version}, {stamp.ref}"
    message = f"the file holds {held}; version {current}, {ref}, is current and is shown"
    way = f"onrecord read {stamp.record} | onrecord update {stamp.record} --expect {current} --text -"
    mend = f"The sync may bring the newer file. Where none comes, write it: `{way}`."
    if row.draft.kind == "conflict":
        mend = "Nothing needs to be done: it stays for what you wrote in it. Remove it when you need that no more."
    return Problem(stamp.path, 0, FILE_BEHIND, Severity.INFO, message, mend)


def is_kept(session: Session, ref: EntryRef) -> bool:
    """Tell whether a version that the index knows is in the versions store; where an older vault lies it may not be."""
    try:
        return session.store.read_row(ref) is not None
    except (DamagedError, NewerFormatError, StorageFailedError):
        return False


def is_marked(session: Session, stamp: FileStamp) -> bool:
    """Tell whether git had left marks in a file when it was last seen.

    It is stamped with the version of a side, or with that of the file as it is where no side of it is to be told.
    """
    try:
        row = session.store.read_row(stamp.ref) if stamp.ref is not None and stamp.sha256 else None
    except (DamagedError, NewerFormatError):
        return False
    if row is None or stamp.is_pending:
        return False
    return row.actor == MARKING or hash_data(row.draft.data) != stamp.sha256


def name_side(session: Session, reader: IndexReader, stamp: FileStamp, data: bytes) -> RecordId | None:
    """Return which other memory a side of a marked file is; None where it is of its own, or of none that is known.

    Args:
        session: The opened vault.
        reader: Reads the index.
        stamp: Of the marked file; its record is the file's own memory.
        data: The side.
    """
    record = read_record(data, stamp.path, session.yaml)
    named = record.claimed_id
    if named is not None:
        return named if named != stamp.record and reader.get_current(named) is not None else None
    for head in reader.find_by_text(None, hash_text(record.text)):
        if head.id == stamp.record or head.path != stamp.path:
            continue
        row = session.store.read_row(head.ref)
        if row is not None and row.draft.data == data and not may_be_one(session, reader, stamp, data):
            return head.id
    return None


def may_be_one(session: Session, reader: IndexReader, stamp: FileStamp, data: bytes) -> bool:
    """Tell whether a side without an id may be a text of the file's own memory, or of its twin: both without one."""
    head = reader.get_current(stamp.record)
    row = session.store.read_row(head.ref) if head is not None else None
    if head is None or row is None:
        return True
    has_id = read_record(row.draft.data, head.path, session.yaml).claimed_id is not None
    return not has_id and is_edit_of(session, reader, head.id, read_record(data, stamp.path, session.yaml).text)


def list_joined(session: Session, reader: IndexReader, stamp: FileStamp) -> list[RecordId]:
    """Return the memories that the sides of a file with git's marks are, that of the file first."""
    try:
        data = session.store.read_file(stamp.path)
    except (NotFoundError, StorageFailedError):
        return [stamp.record]
    sides = split_marked(data, in_code=True)
    if sides is not None:
        named = (name_side(session, reader, stamp, side) for side in (sides.ours, sides.theirs))
    else:  # marks within marks: lines alone tell who is in it
        lines = (match[1].decode() for match in _ID_LINE.finditer(data))
        named = (RecordId(line) if reader.get_current(RecordId(line)) is not None else None for line in lines)
    others = (one for one in named if one is not None and one != stamp.record)
    return list(dict.fromkeys((stamp.record, *others)))


def find_between(session: Session, reader: IndexReader, head: VersionHead) -> FileStamp | None:
    """Return the file of another memory that stands at a memory's place and has it between git's marks, else None."""
    stamp = reader.get_file(head.path)
    if stamp is None or stamp.record == head.id or not is_marked(session, stamp):
        return None
    return stamp if head.id in list_joined(session, reader, stamp) else None


def name_marked(path: str, memories: Sequence[RecordId] = ()) -> Problem:
    """Return the finding that git left its marks in a memory's file.

    Args:
        path: The file.
        memories: Those that its sides are, where they are more than one.
    """
    message = "git left marks of an unfinished merge in the file; the memory keeps its text"
    mend = "Take the marks out of the file, or settle: `onrecord conflicts` lists what it is part of."
    if len(memories) > 1:
        message = f"git joined memories {' and '.join(memories)} in one file; each keeps its text"
        mend = (
            "Leave one of them in the file; then `onrecord update ID --expect N --text -`, with what `onrecord read "
            "ID` says, gives the other one a file of its own."
        )
    return Problem(path, 0, MERGE_MARKS, Severity.WARNING, message, mend)


def name_told(path: str) -> Problem:
    """Return the finding that a memory's own text has lines that look like marks of git."""
    message = "lines of the text look like marks of an unfinished merge; they were taken as words of the memory"
    mend = "If git left them, mend the file; a text that tells of marks needs nothing, and is not named in fenced code."
    return Problem(path, 0, MERGE_MARKS, Severity.INFO, message, mend)


def name_rewriting(head: VersionHead) -> str:
    """Return the call that gives a memory a file again, empty for one that no update writes."""
    if head.kind in ("event", "conflict"):
        return ""
    return f"`onrecord update {head.id} --expect {head.version} --text -`, with what `onrecord read {head.id}` says"


def name_awaited(head: VersionHead) -> tuple[str, str]:
    """Return what is told of a memory of another machine whose file never was here, and what can be done."""
    message = f"no file of memory {head.id} is here, which another machine wrote: it may be on its way"
    way = name_rewriting(head)
    told = f"Where none brings it, {way}, gives it a file." if way else f"`onrecord read {head.id}` has its text."
    return message, f"Wait for the sync program. {told}"


def name_pending(stamp: FileStamp, given_up: Mapping[LogId, range]) -> Problem:
    """Return the finding that a file is ahead of its row: which log it waits for, and since when it lies here.

    Args:
        stamp: The stamp of the file.
        given_up: Which sizes of logs were given up, by log (`log_losses.list_given_up`).
    """
    log = stamp.ref.log if stamp.ref is not None else LogId("unknown")
    since = from_unix_us(stamp.ctime_ns // 1_000)
    if stamp.ref is not None and stamp.ref.seq + 1 in given_up.get(log, ()):
        message = f"the version of the file, {stamp.ref}, was given up; it is found, and not versioned as it is"
        mend = "Remove its `by` line to take it in as an edit of yours; or put the newest .onrecord back."
        if stamp.path.startswith(CONFLICTS):
            mend = "Remove this file: a conflict that still stands has another one; or put the newest .onrecord back."
        return Problem(stamp.path, 0, PENDING_SYNC, Severity.WARNING, message, mend)
    message = f"the file waits since {since} for its version of log {log}; until then it is found, and never versioned"
    mend = (
        f"Wait until the sync has brought .onrecord/{log}, and see that it carries hidden folders. Only where that "
        "never comes, as its machine is gone, remove the `by` line: the file is then an edit of yours, and stays one."
    )
    return Problem(stamp.path, 0, PENDING_SYNC, Severity.WARNING, message, mend)
