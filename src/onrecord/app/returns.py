"""Retired memories whose file is there: which come back by it, which stay retired (ADR 17).

One that was retired because its file was gone is restored by a file with new bytes, and by one that was gone here and
is there again. A file that lies here as it did, or that a sync program brings late, is no wish to have it back: its
deletion may still be on its way. One retired at a word stays retired: new text in its file is a memory of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from onrecord.app.branches import list_equal_tips
from onrecord.app.content import locate
from onrecord.app.current import choose_number
from onrecord.app.identity import Found
from onrecord.app.indexing import hash_text
from onrecord.app.judging import has_bytes
from onrecord.app.moves import ToldPlaces
from onrecord.app.origins import weigh_origin
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import list_record_stamps
from onrecord.domain.absences import Absences
from onrecord.domain.ancestry import find_taken_in
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.ports.index import IndexReader, VersionHead
from onrecord.ports.store import Actor, Change, FileState, VersionRow, WriteUnit

_MISSING = b'"type":"record.missing"'
_BATCH_RECORDS = 400

Returned = tuple[VersionHead, FileState]


class Returns:
    """Tells the retired memories of one pass apart. Under the vault's lock."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._missing: dict[LogId, frozenset[Seq]] = {}
        self._absences: Absences | None = None
        self._told = ToldPlaces(session)

    def is_back(self, reader: IndexReader, head: VersionHead, found: Found) -> bool:
        """Tell whether a file brings its memory back, which was retired because its file was gone.

        It does where this installation retired the memory or has seen its file go, too; else if its bytes are none that
        who retired the memory knew.
        """
        if head.status != "retired" or self._session.store.read_row(head.ref) is None:
            return False
        logs = self.list_missed_by(reader, head)
        if not logs:
            return False
        if self._session.store.log in logs or self._has_seen_go(reader, head):
            return True
        return not self._was_known(reader, head, found)

    def list_missed_by(self, reader: IndexReader, head: VersionHead) -> set[LogId]:
        """Return the logs that have retired a memory because its file was gone, with nothing later."""
        known = (version for version in reader.list_versions(head.id) if version.version >= head.version)
        return {version.ref.log for version in known if version.ref.seq - 1 in self._list_missing(version.ref.log)}

    def _has_seen_go(self, reader: IndexReader, head: VersionHead) -> bool:
        """Tell whether the file of a memory that stayed retired since was seen to be gone here."""
        if self._absences is None:
            self._absences = self._session.store.absences.read()
        if head.id in self._absences.missing:
            return True
        ref = self._absences.withdrawn.get(head.id)
        versions = [version for version in reader.list_versions(head.id) if not version.is_displaced]
        at = next((number for number, version in enumerate(versions) if version.ref == ref), None)
        return at is not None and all(version.status == "retired" for version in versions[at:])

    def _was_known(self, reader: IndexReader, head: VersionHead, found: Found) -> bool:
        """Tell whether a file has the bytes of a version that a retired one descends from, or of one beside such."""
        stamps = list_record_stamps(reader, head.id)
        same = [known for known in reader.list_versions(head.id) if has_bytes(self._session, known, found, stamps)]
        asked = [self._list_parents(known.ref) if known.is_displaced else (known.ref,) for known in same]
        taken_in = find_taken_in((head.ref,), {ref for refs in asked for ref in refs}, self._list_parents)
        return any(taken_in.issuperset(refs) for refs in asked)

    def _list_parents(self, ref: EntryRef) -> tuple[EntryRef, ...]:
        row = self._session.store.read_row(ref)
        return row.draft.parents if row is not None else ()

    def _list_missing(self, log: LogId) -> frozenset[Seq]:
        """Return the entries `record.missing` of a log; the entry behind each retires the record."""
        if log not in self._missing:
            entries = self._session.store.read_entries(log)
            self._missing[log] = frozenset(seq for seq, line in entries if _MISSING in line)
        return self._missing[log]

    def find_same(self, reader: IndexReader, found: Found) -> VersionHead | None:
        """Return the retired memory that a file which is no other's holds: one of exactly its bytes.

        That is one that comes back by it, the first by id, else one whose last place is the very one.
        """
        left: VersionHead | None = None
        for head in reader.find_by_text(None, hash_text(found.record.text), "retired") if found.data else ():
            row = self._session.store.read_row(head.ref)
            if row is None or row.draft.data != found.data:
                continue
            if self.is_back(reader, head, found):
                return head
            if left is None and head.kind != "conflict" and self._is_at(reader, head, found.state.path):
                left = head
        return left

    def _is_at(self, reader: IndexReader, head: VersionHead, path: str) -> bool:
        return head.path == path or self._told.find(reader, head.id, path) is not None

    def is_other_text(self, reader: IndexReader, head: VersionHead, found: Found) -> bool:
        """Tell whether a file holds what its retired memory never said."""
        if head.status != "retired" or head.kind in ("event", "conflict"):
            return False
        digest = hash_text(found.record.text)
        same = [version.ref for version in reader.list_versions(head.id) if version.text_sha256 == digest]
        rows = (self._session.store.read_row(ref) for ref in same)
        return all(row is None or row.draft.data != found.data for row in rows)


def restore_returned(session: Session, unit: WriteUnit, returned: Sequence[Returned], reply: Reply) -> None:
    """Restore memories whose file is back: each an entry `record.found` and a version of the bytes that it had.

    Raises:
        NotWritableError: nothing of the present batch was stored.
    """
    for start in range(0, len(returned), _BATCH_RECORDS):
        changes = [
            change
            for head, state in returned[start : start + _BATCH_RECORDS]
            for change in _list_changes(session, head, state)
        ]
        if changes:
            session.publish(unit.commit(changes, Actor()), reply)


def list_withdrawn(session: Session, reader: IndexReader, records: Collection[RecordId]) -> dict[RecordId, EntryRef]:
    """Return those of some records that other installations alone retired as missing and that have no file here.

    Returns:
        By record the version that retires it.
    """
    returns = Returns(session)
    found: dict[RecordId, EntryRef] = {}
    for record in sorted(records):
        head = reader.get_current(record)
        if head is None or head.status != "retired" or session.store.is_waiting(head.ref):
            continue
        logs = returns.list_missed_by(reader, head)
        if logs and session.store.log not in logs and locate(session, reader, head).is_missing:
            found[record] = head.ref
    return found


def _list_changes(session: Session, head: VersionHead, state: FileState) -> Iterator[Change]:
    row = session.store.read_row(head.ref)
    if row is None:
        return
    with session.index.read() as reader:
        number = choose_number(reader, head.id)
        parents = list_equal_tips(session, reader, head)
        origin = weigh_origin(reader, head.id, head.text_sha256, "file")
    draft = replace(
        row.draft, version=number, path=state.path, origin=origin, status=_find_status(session, row),
        parents=parents, mode="observed",
    )  # fmt: skip
    yield Change("record.found", None, {"rec": head.id, "ver": head.version})
    yield Change("record.restore", draft)


def _find_status(session: Session, retired: VersionRow) -> str:
    """Return the status that a memory had before it was retired."""
    before = session.store.read_row(retired.draft.parents[0]) if retired.draft.parents else None
    return before.draft.status if before is not None and before.draft.status in ("draft", "pending") else "current"


def is_living(reader: IndexReader, record: RecordId) -> bool:
    """Tell whether a record is there and not retired."""
    head = reader.get_current(record)
    return head is not None and head.status != "retired"
