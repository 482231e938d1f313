"""Make the index anew from the versions stores and the files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onrecord.app.indexing import build_document
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import stamp_file
from onrecord.domain.ids import LogId, RecordId
from onrecord.domain.problem import Problem
from onrecord.domain.record import read_record
from onrecord.ports.index import Document, FileStamp, IndexBatch
from onrecord.ports.store import FileState

_BATCH_ROWS = 2_000

Progress = Callable[[int], None]


def rebuild(session: Session, progress: Progress) -> Reply:
    """Replace the index: every row of every log, then the files as they are on disk.

    Args:
        session: The opened vault; its index may be damaged.
        progress: Called with the number of rows and files done.

    Returns:
        data: documents, files.

    Raises:
        NotWritableError: the vault is busy or its journal cannot be applied.
        StorageFailedError: the state folder cannot be written.
    """
    reply = Reply()
    with session.store.write():
        counter = _Counter(progress)
        session.index.rebuild(_list_batches(session, counter))
    reconcile(session, reply, wait_s=None)
    with session.index.read() as reader:
        counts = reader.count()
    reply.data = {"documents": counts.get("versions", 0) + counts.get("turns", 0), "files": counts.get("files", 0)}
    return reply


def fill(session: Session) -> None:
    """Make the index anew as far as reading alone allows; the caller sees to it that nobody else changes it."""
    session.index.rebuild(_list_batches(session, _Counter(lambda _: None)))


class _Counter:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.done = 0

    def add(self, number: int) -> None:
        self.done += number
        self._progress(self.done)


def _list_batches(session: Session, counter: _Counter) -> Iterator[IndexBatch]:
    hashes: dict[RecordId, tuple[int, bytes]] = {}
    places: dict[str, RecordId] = {}
    for head in session.store.list_logs():
        documents: list[Document] = []
        is_known = True
        for row in session.store.read_rows(head.log):
            if isinstance(row, Problem):
                session.note(row)
                is_known = is_known and row.code != "newer_format"
                continue
            documents.extend(build_document(row, session.yaml))
            draft = row.draft
            if draft.turn is None and draft.mode != "displaced":
                known = hashes.get(draft.id)
                if known is None or known[0] <= draft.version:
                    hashes[draft.id] = (draft.version, draft.data if draft.kind != "event" else b"")
                    places[draft.path] = draft.id
            if len(documents) >= _BATCH_ROWS:
                counter.add(len(documents))
                yield IndexBatch(documents, watermarks=_mark(head.log, row.ref.seq + 1) if is_known else {})
                documents = []
        counter.add(len(documents))
        yield IndexBatch(documents, watermarks=_mark(head.log, head.entries) if is_known else {})
    yield from _stamp_known_files(session, places, {record: data for record, (_, data) in hashes.items()}, counter)


def _mark(log: LogId, entries: int) -> dict[LogId, int]:
    return {log: entries}


def _stamp_known_files(
    session: Session, places: dict[str, RecordId], current: dict[RecordId, bytes], counter: _Counter
) -> Iterator[IndexBatch]:
    """Stamp the files that hold exactly the current version; reconciling sees to the rest."""
    now_ns = session.clock.read().wall_us * 1_000
    stamps: list[FileStamp] = []
    for item in session.store.scan_files():
        if not isinstance(item, FileState):
            continue
        stamp = _stamp_known(session, item, places, current, now_ns)
        if stamp is not None:
            stamps.append(stamp)
        if len(stamps) >= _BATCH_ROWS:
            counter.add(len(stamps))
            yield IndexBatch(files=stamps)
            stamps = []
    counter.add(len(stamps))
    yield IndexBatch(files=stamps)


def _stamp_known(
    session: Session, state: FileState, places: dict[str, RecordId], current: dict[RecordId, bytes], now_ns: int
) -> FileStamp | None:
    record = places.get(state.path)
    if record is not None and not current[record]:
        return stamp_file(state, record, b"", now_ns)
    data = session.store.read_file(state.path)
    if record is None or current[record] != data:
        claim = read_record(data, state.path, session.yaml).claimed_id
        record = claim if claim is not None and current.get(claim) == data else None
    return stamp_file(state, record, data, now_ns) if record is not None else None
