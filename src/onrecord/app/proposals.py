"""Wishes that a hand wrote into the server-owned keys of a file: asked for once, listed until they are taken back.

A wish grants nothing. The ledger has one `approval.request` for it; which key it is and what it asks for follow from
the versions store: the wishes that a version has and its parent has not, in their order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from onrecord.app.admission import admit
from onrecord.app.content import find_path
from onrecord.app.identity import Found
from onrecord.app.outside_operations import PROPOSALS
from onrecord.app.pages import fill_page
from onrecord.app.session import Reply, Session
from onrecord.domain.entry import Entry, read_entry
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.record import read_record
from onrecord.domain.record_fields import ServerCopies
from onrecord.domain.server_keys import KeyChange, list_changes, list_wishes
from onrecord.ports.index import IndexReader, VersionHead
from onrecord.ports.store import Change, VersionDraft, VersionRow

_SILENT: Final = ServerCopies()
_REQUEST = b'"type":"approval.request"'


class Copies:
    """Compares what files and versions say of server-owned keys with what OnRecord wrote last."""

    def __init__(self, session: Session, reader: IndexReader) -> None:
        self._session = session
        self._reader = reader

    def list_changes(
        self,
        record: RecordId,
        found: ServerCopies,
        until: VersionHead | None = None,
        written_as: VersionHead | None = None,
    ) -> list[KeyChange]:
        """Return the keys that differ from what was written last, before a version or at all, or as one version."""
        heads = self._reader.list_versions(record)
        if until is not None:
            heads = heads[: [head.ref for head in heads].index(until.ref) + 1]
        placed = [head for head in heads if _is_written(head)]
        written_as = placed[-1] if written_as is None and placed else written_as
        row = self._read(written_as.ref) if written_as is not None else None
        last = self._read(heads[-1].ref) if heads else None
        written = read_record(row.draft.data, row.draft.path, self._session.yaml).server if row is not None else None
        return list_changes(written, last.draft.protection if last is not None else "normal", found)

    def find_written(self, record: RecordId, data: bytes) -> VersionHead | None:
        """Return the version that OnRecord wrote and that bytes are, else come from; None where they are of none.

        An edit comes from the version that its file held, which another machine may have written.
        """
        heads = {head.ref: head for head in self._reader.list_versions(record)}
        rows = [row for ref in heads if (row := self._read(ref)) is not None and row.draft.data == data]
        rows.sort(key=lambda row: _is_written(heads[row.ref]))
        head = heads[rows[-1].ref] if rows else None
        for _ in range(len(heads)):
            if head is None or _is_written(head):
                return head
            row = self._read(head.ref)
            if row is None or not row.draft.parents:
                return None
            found = read_record(row.draft.data, row.draft.path, self._session.yaml).server
            head = self.find_named(row.draft, found) or heads.get(row.draft.parents[0])
        return None

    def find_named(self, draft: VersionDraft, found: ServerCopies) -> VersionHead | None:
        """Return which of several parents the file of a merge by hand has its copies from: the one its `by` names."""
        if len(draft.parents) < 2 or found.by not in draft.parents:
            return None
        heads = (head for head in self._reader.list_versions(draft.id) if head.ref == found.by)
        return next((head for head in heads if _is_written(head)), None)

    def list_wishes(self, head: VersionHead) -> list[KeyChange]:
        """Return what a version's file asks for."""
        row = self._read(head.ref)
        if row is None:
            return []
        found = read_record(row.draft.data, row.draft.path, self._session.yaml).server
        return list_wishes(self.list_changes(head.id, found, head, self.find_named(row.draft, found)))

    def find_parent(self, head: VersionHead) -> VersionHead | None:
        """Return the version that one was made from."""
        row = self._read(head.ref)
        first = row.draft.parents[0] if row is not None and row.draft.parents else None
        return next((known for known in self._reader.list_versions(head.id) if known.ref == first), None)

    def _read(self, ref: EntryRef) -> VersionRow | None:
        try:
            return self._session.store.read_row(ref)
        except (DamagedError, NewerFormatError):
            return None  # named where the logs are read


def _is_written(head: VersionHead) -> bool:
    return not head.is_observed and not head.is_displaced


class Requests:
    """Makes the requests of one pass over files, numbered on from those in the ledger. Under the vault's lock."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: int | None = None

    def list_new(self, reader: IndexReader, draft: VersionDraft, found: Found) -> list[Change]:
        """Return a request for each wish of an outside edit that the version before it has not."""
        if draft.kind == "event" or (draft.version == 1 and found.record.server == _SILENT):
            return []
        copies = Copies(self._session, reader)
        named = copies.find_named(draft, found.record.server)
        wishes = list_wishes(copies.list_changes(draft.id, found.record.server, written_as=named))
        if not wishes:
            return []
        before = [head for head in reader.list_versions(draft.id) if head.ref in draft.parents[:1]]
        known = {(wish.key, wish.now) for head in before for wish in copies.list_wishes(head)}
        return [self._request(draft, wish) for wish in wishes if (wish.key, wish.now) not in known]

    def _request(self, draft: VersionDraft, wish: KeyChange) -> Change:
        if self._last is None:
            self._last = max((int(entry.members["n"]) for entry in list_requests(self._session)), default=0)
        self._last += 1
        members = {"rec": draft.id, "ver": draft.version, "n": self._last, "cause": wish.cause}
        return Change("approval.request", None, members)


def list_requests(session: Session) -> Iterator[Entry]:
    """Yield the requests of the own log, in order."""
    for _, line in session.store.read_entries(session.store.log) if session.store.log else ():
        entry = read_entry(line) if _REQUEST in line else None
        if isinstance(entry, Entry) and entry.type == "approval.request":
            yield entry


def list_proposals(session: Session, given: Mapping[str, object]) -> Reply:
    """List what edits of files ask for and the user has to decide, oldest first.

    Returns:
        data: proposals[] {id, record, title, path, version, key, from, to, by, since}, path the place of
        the memory's file now (null: it has none), `by` the entry of the edit; truncated and next_offset
        where there are more.

    Raises:
        InvalidInputError: the call is refused.
    """
    offset = admit(PROPOSALS, given).get("offset", 0)
    assert isinstance(offset, int)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply, pieces=None, intake_pieces=None)
    open_ones = find_open(session)
    page = fill_page(open_ones[offset:], session.policy.page_bytes)
    reply.data = {"proposals": page.items, "total": len(open_ones)}
    if page.is_full:
        reply.data |= {"truncated": True, "next_offset": offset + len(page.items)}
    return reply


def find_open(session: Session) -> list[dict[str, object]]:
    """Return the proposals that stand, by number."""
    asked: dict[tuple[RecordId, int], list[Entry]] = defaultdict(list)
    for entry in list_requests(session):
        if "rec" in entry.members and "ver" in entry.members:
            asked[(RecordId(entry.members["rec"]), entry.members["ver"])].append(entry)
    found: list[dict[str, object]] = []
    with session.index.read() as reader:
        copies = Copies(session, reader)
        for (record, version), entries in asked.items():
            edit = _find_edit(reader, record, version, entries[0])
            if edit is not None:
                path = find_path(session, reader, reader.get_current(record) or edit)
                found += _describe(copies, reader, edit, entries, path)
    return sorted(found, key=lambda item: int(str(item["id"])))


def _find_edit(reader: IndexReader, record: RecordId, version: int, request: Entry) -> VersionHead | None:
    """Return the version that a request was written with: the own one of its number, just before it."""
    heads = (head for head in reader.list_versions(record) if head.version == version and head.is_observed)
    own = [head for head in heads if head.ref.log == request.log and head.ref.seq < request.seq]
    return max(own, key=lambda head: head.ref.seq, default=None)


def _describe(
    copies: Copies, reader: IndexReader, edit: VersionHead, entries: list[Entry], path: str | None
) -> Iterator[dict[str, object]]:
    parent = copies.find_parent(edit)
    known = {(wish.key, wish.now) for wish in copies.list_wishes(parent)} if parent is not None else set()
    wishes = [wish for wish in copies.list_wishes(edit) if (wish.key, wish.now) not in known]
    for entry in entries:
        wish = next((wish for wish in wishes if wish.cause == entry.members["cause"]), None)
        if wish is None:
            continue
        wishes.remove(wish)
        if _is_taken_back(copies, reader, edit, wish):
            continue
        yield {
            "id": entry.members["n"],
            "record": edit.id,
            "title": edit.title,
            "path": path,
            "version": edit.version,
            "key": wish.key,
            "from": wish.was,
            "to": wish.now,
            "by": str(edit.ref),
            "since": edit.recorded_at,
        }


def _is_taken_back(copies: Copies, reader: IndexReader, edit: VersionHead, wish: KeyChange) -> bool:
    """Tell whether a later edit by hand took a wish out of the file, or the record is by now as it asks.

    A write by OnRecord that brings the copies up to date takes nothing back.
    """
    heads = reader.list_versions(edit.id)
    current = reader.get_current(edit.id)
    if wish.key == "status" and current is not None and current.status == wish.now:
        return True
    later = heads[[head.ref for head in heads].index(edit.ref) + 1 :]
    for head in later:
        parent = copies.find_parent(head) if head.is_observed and not head.is_displaced else None
        if parent is not None and _has(copies, parent, wish) and not _has(copies, head, wish):
            return True
    return False


def _has(copies: Copies, head: VersionHead, wish: KeyChange) -> bool:
    return any((other.key, other.now) == (wish.key, wish.now) for other in copies.list_wishes(head))
