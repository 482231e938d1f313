"""Which memory a file holds that nothing is known of yet, where it cannot be taken in: looked at, never decided."""

from __future__ import annotations

from onrecord.app.session import Session
from onrecord.domain.errors import NotFoundError, StorageFailedError
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexReader
from onrecord.ports.store import FileState


def assume_stamp(
    session: Session, reader: IndexReader, state: FileState, data: bytes | None = None
) -> FileStamp | None:
    """Return a stamp of no bytes for a file without one: of the memory that it names, else of the one of its place.

    None where that is no memory, is retired, or has another file: then a new text lies here. An index that was made
    anew while nothing can be written knows no edited file, which is its memory's all the same.

    Args:
        session: The opened vault.
        reader: Knows the memories and the files.
        state: The file.
        data: Its bytes; None reads them.
    """
    try:
        data = session.store.read_file(state.path) if data is None else data
    except (NotFoundError, StorageFailedError):
        return None
    claim = read_record(data, state.path, session.yaml).claimed_id
    named = reader.get_current(claim) if claim is not None else None
    heads = [named] if named is not None else reader.find_by_path(state.path)
    if len(heads) != 1 or heads[0].status == "retired" or reader.find_files_of(heads[0].id):
        return None
    known = (state.size_bytes, state.mtime_ns, state.ctime_ns, state.device, state.inode)
    return FileStamp(state.path, heads[0].id, *known, b"", 0)
