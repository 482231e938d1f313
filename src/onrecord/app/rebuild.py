"""Make the index anew from the versions stores and the files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from onrecord.app.absences import list_homeless, look
from onrecord.app.arrivals import Meetings, find_mark
from onrecord.app.current import Current
from onrecord.app.indexing import build_document
from onrecord.app.moves import ToldPlaces
from onrecord.app.natives import take_in_all
from onrecord.app.reconcile import reconcile, reconcile_paths
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import stamp_hashed
from onrecord.app.told_rows import read_told_rows
from onrecord.domain.errors import DamagedError, LockTimeoutError, NotWritableError, StorageFailedError
from onrecord.domain.ids import RecordId
from onrecord.domain.problem import Problem
from onrecord.ports.index import Document, FileStamp, IndexBatch
from onrecord.ports.store import FileState

_BATCH_ROWS = 2_000


def rebuild(session: Session) -> Reply:
    """Replace the index: every row of every log, then the files as they are on disk.

    Outside edits are taken in before by the index that is there: it alone knows which file had which inode.

    Args:
        session: The opened vault; its index may be damaged. Its `on_progress` gets the number of versions done, then
            that of files.

    Returns:
        data: documents, files.

    Raises:
        NotWritableError: the vault is busy or its journal cannot be applied.
        StorageFailedError: the state folder cannot be written.
    """
    reply = Reply()
    counter = _Counter(session)
    left: list[str] = []
    stamped: set[RecordId] = set()
    current = Current()
    _take_in_edits(session)
    with session.store.write():
        session.index.rebuild(_list_batches(session, counter, left, current, stamped))
    if left:
        reconcile_paths(session, left, reply, wait_s=None)
    take_in_all(session, reply)
    with session.index.read() as reader:
        counts = reader.count()
        homeless = list_homeless(session, reader, current.records.keys() - stamped)
    look(session, reply, suspects=homeless, wait_s=None)
    if session.settling.put_off:
        reconcile_paths(session, sorted(session.settling.put_off), reply, wait_s=None)
    reply.data = {"documents": counts.get("versions", 0) + counts.get("turns", 0), "files": counts.get("files", 0)}
    return reply


def _take_in_edits(session: Session) -> None:
    """Take in outside edits by the old index, if it is there and can be used; what hinders it is met again below."""
    with suppress(DamagedError, StorageFailedError):
        with session.index.read() as reader:
            if not reader.get_watermarks():
                return
        session.refresh()
        reconcile(session, Reply(), wait_s=None)


def fill(session: Session) -> None:
    """Make the index anew as far as reading alone allows; the caller sees to it that nobody else changes it."""
    session.index.rebuild(_list_batches(session, _Counter(session), [], Current(), set()))


def fill_anyhow(session: Session, reply: Reply) -> None:
    """Fill the empty index of an opening: where nothing may be written, of what can be read; without room, in memory.

    Args:
        session: The vault being opened.
        reply: Is told what is less than it could be.

    Raises:
        LockTimeoutError: another process writes.
        StorageFailedError, DamagedError: the vault cannot be read.
    """
    if session.owns_index:
        fill(session)
        return
    try:
        rebuild(session)
        return
    except LockTimeoutError:
        raise
    except (NotWritableError, DamagedError) as error:
        reply.degrade(error.code, error.hint)
    try:
        with session.store.hold():
            fill(session)
    except StorageFailedError as error:
        if session.make_index is None:
            raise
        reply.degrade("index_in_memory", f"{error.reason}; the index is made in memory. {error.hint}")
        session.own_index(session.make_index())
        fill(session)


class _Counter:
    def __init__(self, session: Session) -> None:
        self._session = session
        self.done = 0
        self.total: int | None = None

    def start(self, total: int | None) -> None:
        """Begin with what is counted next."""
        self.done, self.total = 0, total
        self._session.on_progress(0, total)

    def add(self, number: int) -> None:
        self.done += number
        self._session.on_progress(self.done, self.total)


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _list_batches(
    session: Session, counter: _Counter, left: list[str], current: Current, stamped: set[RecordId]
) -> Iterator[IndexBatch]:
    """Yield all rows, then the stamps of files that hold the current version; `left` gets the paths of all others.

    `stamped` gets the records of those files.
    `current` is empty and gets the current version of each record.
    """
    meetings = Meetings()
    logs = session.store.list_logs()
    counter.start(sum(head.entries for head in logs))
    for head in logs:
        documents: list[Document] = []
        is_known, last = True, -1
        for row in read_told_rows(session.store, head.log):
            if isinstance(row, Problem):
                session.note(row)
                is_known = is_known and row.code != "newer_format"
                continue
            documents.extend(build_document(row, session.yaml))
            last = row.ref.seq
            if row.draft.turn is None:
                current.take(row)
                meetings.take(row)
            if len(documents) >= _BATCH_ROWS:
                counter.add(len(documents))
                yield IndexBatch(documents, watermarks={head.log: row.ref.seq + 1} if is_known else {})
                documents = []
        counter.add(len(documents))
        mark = find_mark(session.store, head, 0, last)
        yield IndexBatch(documents, watermarks={head.log: mark} if is_known else {})
    yield IndexBatch(touched=meetings.records)
    current.forget_moved(ToldPlaces(session).list_moved())
    now_ns = session.clock.read().wall_us * 1_000
    counter.start(None)
    states = (item for item in session.store.scan_files() if isinstance(item, FileState))
    while batch := sorted(islice(states, _BATCH_ROWS), key=lambda state: state.path):
        stamps = _stamp_known(session, batch, current, now_ns, left)
        stamped.update(stamp.record for stamp in stamps)
        yield IndexBatch(files=stamps)
        counter.add(len(batch))


def _stamp_known(
    session: Session, states: Sequence[FileState], current: Current, now_ns: int, left: list[str]
) -> list[FileStamp]:
    """Stamp the files that hold what the record known at their place says; the rest is left to reconciling."""
    stamps: list[FileStamp] = []
    whole: list[FileState] = []
    for state in states:
        record = current.places.get(state.path)
        if record is not None and current.records[record].is_transcript:
            stamps.append(stamp_hashed(state, record, b"", now_ns))
        else:
            whole.append(state)
    for state, data in zip(whole, session.store.read_files(state.path for state in whole), strict=True):
        sha256 = _hash(data) if data is not None else b""
        record = current.places.get(state.path)
        known = current.records[record] if record is not None else None
        is_told = state.path not in current.contested and known is not None and known.is_file
        if record is None or known is None or not is_told or known.sha256 != sha256:
            left.append(state.path)
        else:
            stamps.append(stamp_hashed(state, record, sha256, now_ns, current.records[record].ref))
    return stamps
