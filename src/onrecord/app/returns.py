"""Retired memories whose file is there: which come back by it, which stay retired (ADR 17).

One that an installation retired because its file was gone is restored when the file is back, or was never gone here.
Any other stays retired: a file with bytes that it has had changes nothing, and new text in its file is a memory of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from onrecord.app.branches import list_equal_tips
from onrecord.app.current import choose_number
from onrecord.app.identity import Found
from onrecord.app.indexing import hash_text
from onrecord.app.origins import weigh_origin
from onrecord.app.session import Reply, Session
from onrecord.domain.ids import LogId, RecordId, Seq
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

    def is_back(self, reader: IndexReader, head: VersionHead) -> bool:
        """Tell whether a memory whose file is there was retired because it was gone, and nothing came later."""
        if head.status != "retired" or self._session.store.read_row(head.ref) is None:
            return False
        known = (version for version in reader.list_versions(head.id) if version.version >= head.version)
        return any(version.ref.seq - 1 in self._list_missing(version.ref.log) for version in known)

    def _list_missing(self, log: LogId) -> frozenset[Seq]:
        """Return the entries `record.missing` of a log; the entry behind each retires the record."""
        if log not in self._missing:
            entries = self._session.store.read_entries(log)
            self._missing[log] = frozenset(seq for seq, line in entries if _MISSING in line)
        return self._missing[log]

    def find_same(self, reader: IndexReader, found: Found) -> VersionHead | None:
        """Return the retired memory that a file which is no other's holds: one of exactly its bytes.

        That is one that comes back by it, the first by id, else one that was recorded last at the very place.
        """
        left: VersionHead | None = None
        for head in reader.find_by_text(None, hash_text(found.record.text), "retired") if found.data else ():
            row = self._session.store.read_row(head.ref)
            if row is None or row.draft.data != found.data:
                continue
            if self.is_back(reader, head):
                return head
            if left is None and head.path == found.state.path and head.kind != "conflict":
                left = head
        return left

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
