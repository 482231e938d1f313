"""Files ahead of their rows: searched as loose documents and read where they lie, never versioned, until the row comes.

A file is one whose `by` names an entry of another log that has not arrived. What it claims gains it nothing: its origin
is unknown, and nothing but its path names its document.
"""

from __future__ import annotations

from collections.abc import Sequence

from onrecord.app.arrivals import name_loose
from onrecord.app.content import FilePlace
from onrecord.app.identity import Found
from onrecord.app.indexing import hash_text
from onrecord.app.judging import has_bytes, name_kind
from onrecord.app.pages import cut_text
from onrecord.app.places import is_unchanged, is_whole
from onrecord.app.session import Reply, Session
from onrecord.domain.documents import analyze_document
from onrecord.domain.errors import AmbiguousIdError, DamagedError, NotFoundError, PendingSyncError, StorageFailedError
from onrecord.domain.heads import PENDING_LOG, SHARED
from onrecord.domain.ids import RECORD_ID_CHARS, EntryRef, RecordId
from onrecord.domain.instants import from_unix_us
from onrecord.domain.record import name_workspace, read_record
from onrecord.ports.index import Document, FileStamp, IndexReader, VersionHead

# Before the claimed id in a loose document's `id`, which must be no record's, and no other file's that names the same.
_MARK = "~"


def is_pending(head: VersionHead) -> bool:
    """Tell whether a document is that of a file ahead of its row."""
    return head.ref.log == PENDING_LOG


def get_claim(head: VersionHead) -> RecordId:
    """Return the id that such a file names."""
    return RecordId(head.id.removeprefix(_MARK)[:RECORD_ID_CHARS])


def find_awaited(session: Session, reader: IndexReader, found: Found, stamp: FileStamp | None) -> EntryRef | None:
    """Return the entry that a file names and that has not arrived; None of a file that is not ahead of its row.

    It names an id and an entry of another log beyond what was taken in, and its bytes are those of no version. A file
    that was changed in its place so that it names an unknown memory and still has the very words of the one that it
    held is ahead of nothing: its lines were changed by hand, as a sync program would not rename a memory.

    Args:
        session: The opened vault.
        reader: Reads the index.
        found: The file.
        stamp: What is known of the file at its path; None for nothing.
    """
    claim, by = found.record.claimed_id, found.record.server.by
    if claim is None or by is None or by.log == session.store.log:
        return None
    if by.seq < reader.get_watermarks().get(by.log, 0):
        return None
    known = [*reader.list_versions(claim), *reader.find_by_text(None, hash_text(found.record.text))]
    if any(has_bytes(session, head, found) for head in known):
        return None
    is_in_place = stamp is not None and (stamp.device, stamp.inode) == (found.state.device, found.state.inode)
    if stamp is not None and is_in_place and stamp.record != claim and reader.get_current(claim) is None:
        return None if hash_text(found.record.text) in _list_texts(reader, stamp.record) else by
    return by


def _list_texts(reader: IndexReader, record: RecordId) -> set[bytes]:
    return {version.text_sha256 for version in reader.list_versions(record)}


def build_loose(session: Session, reader: IndexReader, found: Found) -> Document:
    """Return the loose document of a file that is ahead of its row; `recorded_at` is when it was first met."""
    record, path, ref = found.record, found.state.path, name_loose(found.state.path)
    before = reader.get_loose(ref)
    head = VersionHead(
        ref=ref,
        id=RecordId(f"{_MARK}{record.claimed_id}{ref.seq:014x}"),
        version=record.server.version or 1,
        kind=name_kind(record, path),
        status="current",
        origin="unknown",
        workspace=record.workspace or name_workspace(path),
        partition=SHARED,
        path=path,
        title=record.named_title or record.title,
        recorded_at=before.recorded_at if before is not None else from_unix_us(session.clock.read().wall_us),
        text_sha256=hash_text(record.text),
        also_in=record.keys.also_in,
        tags=record.tags,
        event_time=record.event_time,
    )
    packed = analyze_document(
        title=record.named_title, tags=record.tags, aliases=record.aliases, text=record.searchable_text
    )
    return Document(head, packed)


def locate_pending(session: Session, reader: IndexReader, head: VersionHead) -> FilePlace:
    """Find the file of a loose document."""
    stamp = reader.get_file(head.path)
    state = session.store.stat_file(head.path)
    if stamp is None or not stamp.is_pending or state is None:
        return FilePlace(None, is_unchanged=False, is_missing=True)
    return FilePlace(stamp, is_unchanged(state, stamp), is_missing=False)


def read_pending(session: Session, path: str) -> bytes:
    """Return the bytes of a file that is ahead of its row, as it is now.

    Raises:
        DamagedError: it is gone or cannot be read.
    """
    try:
        return session.store.read_file(path)
    except (NotFoundError, StorageFailedError) as error:
        raise DamagedError("the file is gone, and its version has not arrived") from error


def find_unknown(reader: IndexReader, prefix: str) -> FileStamp | None:
    """Return the file that waits for the first row of the one record whose id begins with `prefix`; None for none.

    Raises:
        AmbiguousIdError: more than one id begins so, known or waited for.
    """
    claim = RecordId(prefix) if is_whole(prefix) else _find_claim(reader, prefix)
    if claim is None or reader.get_current(claim) is not None:
        return None
    return next(iter(list_pending_of(reader, claim)), None)


def _find_claim(reader: IndexReader, prefix: str) -> RecordId | None:
    waiting = {get_claim(head) for head in reader.list_loose(PENDING_LOG, None)}
    begun = {claim for claim in waiting if claim.startswith(prefix)}
    if begun and len(begun.union(reader.find_ids(prefix, 2))) > 1:
        raise AmbiguousIdError("more than one id begins so", field="id")
    return next(iter(begun), None)


def list_pending_of(reader: IndexReader, record: RecordId) -> Sequence[FileStamp]:
    """Return the files ahead of their rows that name a record, by path."""
    return [stamp for stamp in reader.find_files_of(record) if stamp.is_pending]


def describe_unknown(stamp: FileStamp, reply: Reply) -> None:
    """Say in place of a history that a memory has none here yet: its file came first."""
    reply.data = {"id": stamp.record, "versions": [], "path": stamp.path, "pending_sync": True}
    reply.degrade(PendingSyncError.code, f"Its history has not come yet. {PendingSyncError.default_hint}")


def explain_version(reader: IndexReader, prefix: str, error: NotFoundError) -> NotFoundError:
    """Return the error of a version of a memory that is not here, with the hint to wait where its file came first."""
    if error.own_hint or find_unknown(reader, prefix) is None:
        return error
    reason = "the history of this memory has not come yet"
    return NotFoundError(reason, field="version", hint=PendingSyncError.default_hint)


def describe_pending(
    session: Session, stamp: FileStamp, span: tuple[int, int] | None, budget_bytes: int, reply: Reply
) -> None:
    """Read a file whose record is not known here into a reply, as `read` does a version.

    Raises:
        DamagedError: the file is gone.
        InvalidInputError: the span begins behind the text.
    """
    record = read_record(read_pending(session, stamp.path), stamp.path, session.yaml)
    cut, warning = cut_text(record.text, span, budget_bytes)
    with session.index.read() as reader:
        head = reader.get_loose(name_loose(stamp.path))
    reply.data = {
        "id": stamp.record,
        "version": record.server.version or 1,
        "title": record.title,
        "origin": "unknown",
        "status": "current",
        "kind": name_kind(record, stamp.path),
        "workspace": record.workspace or name_workspace(stamp.path),
        "path": stamp.path,
        "recorded_at": head.recorded_at if head is not None else from_unix_us(stamp.ctime_ns // 1_000),
        "by": str(stamp.ref),
        **cut,
        "pending_sync": True,
    }
    if record.tags:
        reply.data["tags"] = list(record.tags)
    if warning:
        reply.warnings.append(warning)
