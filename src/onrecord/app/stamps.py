"""Stamps: what tells, without reading it, that a file still is as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from onrecord.domain.ids import EntryRef, RecordId
from onrecord.ports.index import FileStamp, IndexReader
from onrecord.ports.store import FileState, VersionRow

# A sync program's copy of a record's file is stamped under this name: no record's, so that none is shown from it.
COPY_MARK: Final = RecordId("~copy")


def hash_data(data: bytes) -> bytes:
    """Return the hash of a file's bytes as its stamp has it: empty for an empty file."""
    return hashlib.sha256(data).digest() if data else b""


def has_hash(stamps: Iterable[FileStamp], ref: EntryRef, sha256: bytes) -> bool | None:
    """Tell whether a version has bytes of this hash, as far as a stamp of a file that held it knows; None: none does.

    Args:
        stamps: Those of the version's record.
        ref: The version.
        sha256: As `hash_data` gives it.
    """
    for stamp in stamps:
        if stamp.ref == ref and stamp.sha256 and not stamp.is_pending:
            return stamp.sha256 == sha256
    return None


def list_record_stamps(reader: IndexReader, record: RecordId) -> list[FileStamp]:
    """Return the stamps of the files that hold a record; what a file ahead of its row names is a claim."""
    return [stamp for stamp in reader.find_files_of(record) if not stamp.is_pending]


def says_record(stamp: FileStamp) -> bool:
    """Tell whether a stamp says which record its file holds."""
    return not stamp.is_pending and stamp.record != COPY_MARK


def stamp_file(
    state: FileState, record: RecordId, data: bytes, checked_ns: int, ref: EntryRef | None = None
) -> FileStamp:
    """Return the stamp of a file with these exact bytes (empty: a growing transcript, its hash is not kept).

    Args:
        state: The file as it was when it was read.
        record: The record that it holds.
        data: Its bytes.
        checked_ns: The wall clock.
        ref: The version whose bytes they are; None of a transcript, and where they are those of none.
    """
    return stamp_hashed(state, record, hash_data(data), checked_ns, ref)


def stamp_placed(state: FileState, row: VersionRow, checked_ns: int) -> FileStamp:
    """Return the stamp of a file that has been brought to hold a version or a turn."""
    if row.draft.kind == "event":
        return stamp_file(state, row.draft.id, b"", checked_ns)
    return stamp_file(state, row.draft.id, row.draft.data, checked_ns, row.ref)


def stamp_hashed(
    state: FileState, record: RecordId, sha256: bytes, checked_ns: int, ref: EntryRef | None = None
) -> FileStamp:
    """Return the stamp of a file whose bytes have this hash, as `stamp_file`."""
    return FileStamp(
        path=state.path,
        record=record,
        size_bytes=state.size_bytes,
        mtime_ns=state.mtime_ns,
        ctime_ns=state.ctime_ns,
        device=state.device,
        inode=state.inode,
        sha256=sha256,
        checked_ns=checked_ns,
        ref=ref,
    )


def is_as_stamped(stamp: FileStamp, sha256: bytes) -> bool:
    """Tell whether a file has the bytes that its stamp knows the version of."""
    return stamp.ref is not None and stamp.sha256 == sha256 and not stamp.is_pending
