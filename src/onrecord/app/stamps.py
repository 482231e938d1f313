"""Stamps: what tells, without reading it, that a file still is as it was."""

from __future__ import annotations

import hashlib

from onrecord.domain.ids import RecordId
from onrecord.ports.index import FileStamp
from onrecord.ports.store import FileState


def stamp_file(state: FileState, record: RecordId, data: bytes, checked_ns: int) -> FileStamp:
    """Return the stamp of a file with these exact bytes (empty: a growing transcript, its hash is not kept)."""
    return stamp_hashed(state, record, hashlib.sha256(data).digest() if data else b"", checked_ns)


def stamp_hashed(state: FileState, record: RecordId, sha256: bytes, checked_ns: int) -> FileStamp:
    """Return the stamp of a file whose bytes have this hash."""
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
    )
