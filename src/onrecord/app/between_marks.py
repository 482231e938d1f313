"""Memories that stand between git's marks in the file of another one.

Git joins two files that two branches made at one path, though each is a memory of its own. A side that names another
memory is no text of this one, and that one has not lost its file.
"""

from __future__ import annotations

from dataclasses import replace

from onrecord.app.identity import Found
from onrecord.app.pending import find_awaited
from onrecord.app.session import Session
from onrecord.app.stamps import hash_data
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexReader, VersionHead


def make_side(session: Session, found: Found, head: VersionHead, data: bytes) -> Found:
    """Return a side of a marked file as a file of its own at that place."""
    return replace(found, data=data, sha256=hash_data(data), record=read_record(data, head.path, session.yaml))


def is_of_another(session: Session, reader: IndexReader, side: Found, head: VersionHead) -> bool:
    """Tell whether a side names another memory than that of the file: one that is known, or whose row is on its way.

    Args:
        session: The opened vault.
        reader: Reads the index.
        side: The side, as `make_side` returns it.
        head: The current version of the memory of the marked file; what that names itself is no other memory.
    """
    named = side.record.claimed_id
    if named is None or named == head.id:
        return False
    if reader.get_current(named) is None and find_awaited(session, reader, side, None) is None:
        return False
    try:
        row = session.store.read_row(head.ref)
    except (DamagedError, NewerFormatError):
        row = None
    return row is None or read_record(row.draft.data, head.path, session.yaml).claimed_id != named
