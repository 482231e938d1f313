"""Memories that stand between git's marks in the file of another one.

Git joins two files that two branches made at one path, though each is a memory of its own. A side that is another
memory is no text of this one, and that one has not lost its file.
"""

from __future__ import annotations

from dataclasses import replace

from onrecord.app.edits import is_edit_of
from onrecord.app.identity import Found
from onrecord.app.judging import has_bytes
from onrecord.app.pending import find_awaited
from onrecord.app.session import Session
from onrecord.app.stamps import hash_data, stamp_file
from onrecord.app.standing import name_side
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexReader, VersionHead


def make_side(session: Session, found: Found, head: VersionHead, data: bytes) -> Found:
    """Return a side of a marked file as a file of its own at that place."""
    return replace(found, data=data, sha256=hash_data(data), record=read_record(data, head.path, session.yaml))


def is_of_another(session: Session, reader: IndexReader, side: Found, head: VersionHead) -> bool:
    """Tell whether a side is another memory than that of the file: one that is known, or whose row is on its way.

    A side without an id is, where the file's own memory has one, unless its words may be an edit of it.

    Args:
        session: The opened vault.
        reader: Reads the index.
        side: The side, as `make_side` returns it.
        head: The current version of the memory of the marked file; what that names itself is no other memory.
    """
    named = side.record.claimed_id
    if named == head.id or any(has_bytes(session, version, side) for version in reader.list_versions(head.id)):
        return False
    if name_other(session, reader, side, head) is not None:
        return named is None or named != _read_claim(session, head)
    if named is not None:
        return find_awaited(session, reader, side, None) is not None
    return _read_claim(session, head) is not None and not is_edit_of(session, reader, head.id, side.record.text)


def name_other(session: Session, reader: IndexReader, side: Found, head: VersionHead) -> VersionHead | None:
    """Return the current version of the other memory that a side is; None where it is of none that is known."""
    stamp = stamp_file(side.state, head.id, side.data, 0, None)
    named = name_side(session, reader, stamp, side.data)
    return reader.get_current(named) if named is not None else None


def _read_claim(session: Session, head: VersionHead) -> str | None:
    try:
        row = session.store.read_row(head.ref)
    except (DamagedError, NewerFormatError):
        return None
    return read_record(row.draft.data, head.path, session.yaml).claimed_id if row is not None else None
