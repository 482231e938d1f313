"""Whether the text of a file may be an edit of a record's, and of which of two rather."""

from __future__ import annotations

from onrecord.app.session import Session
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.likeness import is_likely_edit, measure_likeness
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexReader


def is_edit_of(session: Session, reader: IndexReader, record: RecordId, text: str, ref: EntryRef | None = None) -> bool:
    """Tell whether a text is an edit of a version of a record: of `ref`, else of the current one."""
    before = _read_text(session, reader, record, ref)
    return before is not None and is_likely_edit(before, text)


def is_nearer(session: Session, reader: IndexReader, text: str, one: FileStamp, other: FileStamp) -> bool:
    """Tell whether a file's text is nearer to what one stamped file held than to what another did.

    An editor that saves by renaming gives a note the inode number that another note has just given up.
    """
    before, instead = (_read_text(session, reader, stamp.record, stamp.ref) for stamp in (one, other))
    if before is None or instead is None:
        return before is not None
    return measure_likeness(before, text) > measure_likeness(instead, text)


def _read_text(session: Session, reader: IndexReader, record: RecordId, ref: EntryRef | None) -> str | None:
    """Return the text of a version, of the current one for None; None of a transcript and of what is not here."""
    head = reader.get_current(record)
    ref = ref or (head.ref if head is not None else None)
    kept = session.store.read_row(ref) if ref is not None else None
    if kept is None or kept.draft.kind == "event":
        return None
    return read_record(kept.draft.data, kept.draft.path, session.yaml).text
