"""What differs between files and versions, each explained: what was expected, what was found, what mends it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from onrecord.app.current import Current, CurrentVersion
from onrecord.app.log_losses import MEND as CUT_BACK_MEND
from onrecord.app.log_losses import list_given_up
from onrecord.app.session import Session
from onrecord.app.shut import count_below
from onrecord.app.stamps import COPY_MARK
from onrecord.app.standing import (
    find_between,
    is_marked,
    list_joined,
    name_awaited,
    name_behind,
    name_marked,
    name_pending,
)
from onrecord.app.untaken import assume_stamp
from onrecord.domain.errors import DamagedError, NewerFormatError, NotFoundError, StorageFailedError
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.domain.ledger_report import ROWS, SIGNED, FaultCode
from onrecord.domain.problem import Problem
from onrecord.ports.index import FileStamp, IndexReader
from onrecord.ports.store import FileState

_HASH_CHARS: Final = 16
_TURNS_MAX_COUNT: Final = 5
UNTAKEN: Final = frozenset({"edited_outside", "unknown_file"})
RETIRED_FILE: Final = "retired_file"
CONFLICT_COPY: Final = "conflict_copy"
_MENDS: Final = {
    "edited_outside": "Run any onrecord command: the edit becomes a version. To undo it, put the version back.",
    "transcript_edited": "Transcripts only grow; undo the edit. The captured turns are found and shown.",
    "unknown_file": "Run any onrecord command, or `onrecord reindex`: it is taken in.",
    "missing_file": "Put it back (see `onrecord read ID`); if you deleted it: `onrecord repair missing --retire`.",
    "not_placed": "Free space or mend permissions; the next command places it.",
    "link_away": "Let the cloud program bring it back to this disk, or connect the disk or share.",
    "file_behind": "The sync may bring the newer file; where none comes, `onrecord update ID` writes it.",
    RETIRED_FILE: "Leave it to the sync program or remove it; what you change in it is found again.",
    CONFLICT_COPY: "`onrecord conflicts` lists what it is part of; remove it when its text is not needed.",
}
_SHUT_MEND: Final = (
    "`onrecord doctor` names the link or folder above it; once it may be entered, the next command places it."
)
_OWN_HEADS: Final = frozenset({FaultCode.ROLLED_BACK, FaultCode.PINNED_MISMATCH})
_KEYS: Final = frozenset({FaultCode.KEY_MISMATCH, FaultCode.ROTATION_UNSIGNED})


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One difference; hashes are shortened, content is never told.

    Attributes:
        path: The file.
        code: As in docs/format/tree.md, Differences.
        message: What it is, one clause.
        record: The memory, empty where none is known.
        version: Which version the file should hold, 0 for none.
        expected: What should be there.
        found: What is there.
        mend: What a person can do.
    """

    path: str
    code: str
    message: str
    record: str = ""
    version: int = 0
    expected: str = ""
    found: str = ""
    mend: str = ""


def describe_difference(item: Difference) -> dict[str, object]:
    """Return a difference's wire form; what is not known is left out."""
    shape: dict[str, object] = {
        "code": item.code,
        "path": item.path,
        "message": item.message,
        "record": item.record,
        "version": item.version,
        "expected": item.expected,
        "found": item.found,
        "mend": item.mend or _MENDS.get(item.code, ""),
    }
    return {name: value for name, value in shape.items() if value or name in ("code", "path", "message")}


def name_mend(code: FaultCode) -> str:
    """Return what a person can do about the fault of a log."""
    if code in _OWN_HEADS or code is FaultCode.TRUNCATED:
        return "An older vault lies here: put the newest one back. If it is lost, `onrecord adopt` shows the way on."
    if code is FaultCode.FORK:
        return "Put the folder of the other log back from the machine that writes it; two pasts of it exist."
    if code is FaultCode.CUT_BACK:
        return CUT_BACK_MEND
    if code in SIGNED:
        return "Put the checkpoint of the log back from a copy; an own one that is away is written anew."
    if code in _KEYS:
        return "Put key.pub of the log back from a copy; one that no earlier key named is not trusted."
    if code in ROWS:
        return "Put the versions folder of the log back from a copy; what the entry commits to cannot be made up."
    return "Put the ledger folder of the log back from a copy; entries before this one stand."


def compare_files(session: Session, current: Current, doubted: Mapping[LogId, Seq]) -> Iterator[Difference]:
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
    places: dict[RecordId, list[str]] = {}
    for path, known in stamps.items():
        places.setdefault(known.record, []).append(path)
    closed: dict[str, Problem] = {}
    given_up = list_given_up(session) if any(stamp.is_pending for stamp in stamps.values()) else {}
    for item in session.store.scan_files():
        stamp = stamps.get(item.path)
        owner = stamp.record if stamp is not None else None
        if not isinstance(item, FileState):
            if owner is None:
                closed[item.path] = item
            else:
                present.add(owner)
                yield _take_problem(item, current, owner)
            continue
        if stamp is not None and owner == COPY_MARK:
            yield from _name_copy(session, stamp)
            continue
        if owner in unclear:
            continue
        expected = current.records.get(owner) if owner is not None else None
        if stamp is not None and stamp.is_pending:
            present.add(stamp.record)
            yield _name_pending(stamp, given_up)
            continue
        if stamp is None:
            with session.index.read() as reader:
                stamp = assume_stamp(session, reader, item)
            owner = stamp.record if stamp is not None else None
            expected = current.records.get(owner) if owner is not None and owner not in present else None
        if stamp is None or owner is None or expected is None:
            seen = f"{item.size_bytes} bytes"
            yield Difference(item.path, "unknown_file", "not taken in yet", found=seen)
            continue
        present.add(owner)
        yield from _compare_file(session, current, stamp, expected)
    lost = {
        record: version
        for record, version in current.records.items()
        if version.is_file and record not in present and not _is_from_doubted(current.list_refs(record), doubted)
    }
    yield from _name_lost(session, lost, places, closed)


def explain_pending(found: Iterable[Difference], mend: str) -> Iterator[Difference]:
    """Yield differences; what a command would take in gets what must be mended before one can."""
    for item in found:
        yield replace(item, mend=f"It cannot be taken in yet. {mend}") if item.code in UNTAKEN else item


def _name_lost(
    session: Session,
    lost: Mapping[RecordId, CurrentVersion],
    places: Mapping[RecordId, Sequence[str]],
    closed: Mapping[str, Problem],
) -> Iterator[Difference]:
    """Yield why each memory has no file: it waits for its place, is gone, or lies where nobody can look.

    Args:
        session: The opened vault.
        lost: The current versions whose files were not met, by record.
        places: Where the index knows files of each record.
        closed: What stands in the place of files and folders, by path.
    """
    links = session.store.links
    with session.index.read() as reader:
        heads = {record: (*reader.list_versions(record), *reader.list_turns(record)) for record in lost}
        shown = {record: reader.get_current(record) for record in lost}
        between = {record for record, head in shown.items() if head is not None and find_between(session, reader, head)}
    # A memory that only others wrote and of which no file was met here has none that could be gone.
    known_here = {
        record
        for record in lost
        if record in places or any(head.ref.log == session.store.log for head in heads[record])
    }
    hidden: list[str] = []
    for record, expected in lost.items():
        if record in between:
            continue
        asked = f"sha256 {shorten(expected.sha256)}"
        known = places.get(record, (expected.path,))
        unseen = [path for path in known if links.is_away(path) or links.is_shut(path)]
        if session.store.is_waiting(expected.ref):
            mend = _SHUT_MEND if links.is_shut(expected.path) else ""
            yield _name_unplaced(record, expected, expected.path, "no file", mend)
        elif unseen:
            hidden.append(unseen[0])
        elif record in known_here:
            message = f"the file of memory {record}, version {expected.version}, is gone"
            yield Difference(expected.path, "missing_file", message, record, expected.version, asked, "no file")
        else:
            head = shown[record]
            message, mend = name_awaited(head) if head is not None else ("no file of this memory is here", "")
            yield Difference(expected.path, "missing_file", message, record, expected.version, asked, "no file", mend)
    counts, others = count_below(closed, hidden)
    for path, count in counts.items():
        problem, what = closed[path], "1 memory" if count == 1 else f"{count} memories"
        message = f"{problem.message}; the files of {what} below it were not compared"
        yield Difference(path, problem.code, message, mend=problem.mend)
    for path in others:
        yield Difference(path, "link_away", "the file cannot be reached now, so that it was not compared")


def _is_doubted(reader: IndexReader, record: RecordId, current: Current, doubted: Mapping[LogId, Seq]) -> bool:
    """Tell whether a record's current version, by the index or the stores, is of the doubted part of a log."""
    head = reader.get_current(record)
    if head is not None and head.ref.seq >= doubted.get(head.ref.log, head.ref.seq + 1):
        return True
    return _is_from_doubted(current.list_refs(record), doubted)


def _is_from_doubted(refs: list[EntryRef], doubted: Mapping[LogId, Seq]) -> bool:
    return any(ref.seq >= doubted.get(ref.log, ref.seq + 1) for ref in refs)


def _compare_file(
    session: Session, current: Current, stamp: FileStamp, expected: CurrentVersion
) -> Iterator[Difference]:
    path, record, version = stamp.path, stamp.record, expected.version
    try:
        data = session.store.read_file(path)
    except (NotFoundError, StorageFailedError) as error:
        yield Difference(path, "missing_file", error.reason, record, version, found="it cannot be read")
        return
    digest = hashlib.sha256(data).digest()
    if expected.is_retired:
        yield _name_retired(path, record, expected, digest)
    asked, seen = f"sha256 {shorten(expected.sha256)}", f"sha256 {shorten(digest)}"
    if expected.is_transcript:
        strange = current.find_strange(record, data)
        waiting = [place for place in strange or () if session.store.is_waiting(place.ref)]
        if waiting:
            yield _name_unplaced(record, expected, path, seen)
            strange = [place for place in strange or () if place not in waiting] or None
        if strange is None:
            return
        names = ", ".join(str(place.ref) for place in strange[:_TURNS_MAX_COUNT])
        what = f"the turns of entries {names}" if strange else "the words around the turns"
        message = f"the file is not version {version}: {what} {'are' if strange else 'differ'}"
        message += " not as they were captured" if strange else ""
        count = f"{len(current.turns.get(record, ()))} turns"
        yield Difference(path, "transcript_edited", message, record, version, count, f"{len(strange)} of them differ")
        return
    if digest != expected.sha256 and session.store.is_waiting(expected.ref):
        yield _name_unplaced(record, expected, path, seen)
        if digest == stamp.sha256:
            return
    if digest != expected.sha256:
        behind = name_behind(session, stamp, data, version, expected.ref)
        if stamp.sha256 == digest and is_marked(session, stamp):
            with session.index.read() as reader:
                behind = name_marked(path, list_joined(session, reader, stamp))
        if behind is not None:
            yield Difference(path, behind.code, behind.message, record, version, asked, seen, behind.mend)
        else:
            yield Difference(path, "edited_outside", f"the file is not version {version}", record, version, asked, seen)


def _name_unplaced(record: RecordId, expected: CurrentVersion, path: str, seen: str, mend: str = "") -> Difference:
    message = f"the file of memory {record}, version {expected.version}, has not been placed"
    asked = f"sha256 {shorten(expected.sha256)}"
    return Difference(path, "not_placed", message, record, expected.version, asked, seen, mend)


def _take_problem(item: Problem, current: Current, record: RecordId) -> Difference:
    known = current.records.get(record)
    if known is None:
        return Difference(item.path, item.code, item.message, mend=item.mend)
    asked = f"sha256 {shorten(known.sha256)}"
    return Difference(item.path, item.code, item.message, record, known.version, asked, item.evidence, item.mend)


def _name_pending(stamp: FileStamp, given_up: Mapping[LogId, range]) -> Difference:
    item, asked = name_pending(stamp, given_up), f"version {stamp.ref}" if stamp.ref is not None else ""
    seen = f"sha256 {shorten(stamp.sha256)}"
    return Difference(item.path, item.code, item.message, stamp.record, 0, asked, seen, item.mend)


def _name_copy(session: Session, stamp: FileStamp) -> Iterator[Difference]:
    """Explain a copy: of which version that stands aside it is the file."""
    try:
        row = session.store.read_row(stamp.ref) if stamp.ref is not None else None
    except (DamagedError, NewerFormatError):
        row = None
    if row is not None:
        draft, seen = row.draft, f"sha256 {shorten(stamp.sha256)}"
        message = f"a copy beside the file of memory {draft.id}, kept as version {draft.version}, which stands aside"
        asked = f"sha256 {shorten(hashlib.sha256(draft.data).digest())}"
        yield Difference(stamp.path, CONFLICT_COPY, message, draft.id, draft.version, asked, seen)


def _name_retired(path: str, record: RecordId, expected: CurrentVersion, digest: bytes) -> Difference:
    message = f"memory {record} is retired, so that `find` does not show this file"
    seen = f"sha256 {shorten(digest)}"
    return Difference(path, RETIRED_FILE, message, record, expected.version, "no file", seen)


def shorten(sha256: bytes) -> str:
    """Return a hash as a difference tells it."""
    return sha256.hex()[:_HASH_CHARS]
