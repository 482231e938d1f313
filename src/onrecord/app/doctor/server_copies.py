"""What doctor says of the keys that OnRecord owns: only what a hand wrote there, never what a sync program brought."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.app.proposals import Copies
from onrecord.app.session import Session
from onrecord.domain.merge_marks import has_marks
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.record import Record
from onrecord.domain.server_keys import KeyChange
from onrecord.ports.index import IndexReader, VersionHead


def check_copies(
    session: Session, reader: IndexReader, head: VersionHead, record: Record, data: bytes
) -> Iterator[Problem]:
    """Compare the server-owned copies in a file with those that OnRecord wrote into the version it comes from.

    A file with the bytes of a version that OnRecord wrote, on any machine, has nothing changed; one with marks of git
    names two versions at once. One whose `by` was taken out names none: it is an edit of the user's own, as where the
    history of another machine never came, and only what it asks for is told.

    Args:
        session: The opened vault.
        reader: A view of the index.
        head: The current version of the file's memory.
        record: The file, read.
        data: Its bytes.
    """
    copies = Copies(session, reader)
    is_other = record.claimed_id != head.id
    if (not is_other and not copies.list_changes(head.id, record.server)) or has_marks(data):
        return
    written = copies.find_written(head.id, data)
    changes = copies.list_changes(head.id, record.server, written_as=written)
    if record.server.by is None:
        changes = [change for change in changes if change.cause]
    if is_other:
        changes.insert(0, KeyChange("id", head.id, record.claimed_id or ""))
    for change in changes:
        spans = record.reading.locate(change.key)
        told = f": it was {change.was or 'absent'}, it is {change.now or 'absent'}" if change.is_of_a_form else ""
        message = f"{change.key} was changed in the file{told}; the change is not applied"
        line = spans[0].first + 1 if spans else 1
        yield Problem(record.path, line, "server_key_changed", Severity.WARNING, message, "Undo it; it has no effect.")
