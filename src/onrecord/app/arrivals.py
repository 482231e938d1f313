"""What comes in with the rows of another log: how far it is complete, which records it touches."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from onrecord.app.stamps import COPY_MARK, hash_data
from onrecord.domain.copy_names import is_named_copy
from onrecord.domain.entry import EntryFault, read_entry
from onrecord.domain.heads import PENDING_LOG, VersionHead
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.ports.index import FileStamp, IndexBatch, IndexReader
from onrecord.ports.store import LogHead, VaultStore, VersionRow

_BODY = b'"body":'
_MOVE = b'"type":"record.move"'
_NAME_BYTES = 7


def find_mark(store: VaultStore, head: LogHead, first: int, last: int) -> int:
    """Return up to where a log is taken in: to its end, or before the first row that its ledger tells and that lacks.

    A sync program may bring ledger and versions one after the other.

    Args:
        store: Reads the ledger.
        head: The log.
        first: Rows before this entry were taken in earlier.
        last: The entry of the last row that was taken in; `first - 1` for none.
    """
    if head.is_own:
        return head.entries
    told = max((seq for seq, line in store.read_entries(head.log, first) if _BODY in line), default=-1)
    return head.entries if told <= last else last + 1


def list_touched(reader: IndexReader, heads: Iterable[VersionHead]) -> set[RecordId]:
    """Return the records of new versions of another log that may have branches: all but those of that log alone.

    So is one whose first version was found at a path where this installation has found a record of its own, or says
    what that one says, and each conflict: later versions may have ended it.
    """
    touched: set[RecordId] = set()
    said = _Said(reader)
    for head in heads:
        if head.turn is not None:
            continue
        is_alone = all(known.ref.log == head.ref.log for known in reader.list_versions(head.id))
        is_plain = not (head.is_displaced or head.kind == "conflict") and is_alone
        if not is_plain or _shares_place(reader, head) or (head.is_observed and said.is_said_twice(head)):
            touched.add(head.id)
    return touched


def list_moved(store: VaultStore, reader: IndexReader, log: LogId, first: int) -> list[VersionHead]:
    """Return the records that a log tells, from an entry on, to have moved, where another one says the same.

    Its file may have come before the log, and is a record of its own (`onrecord.app.twins`).
    """
    read = (read_entry(line) for _, line in store.read_entries(log, first) if _MOVE in line)
    moved = {RecordId(entry.members["rec"]) for entry in read if not isinstance(entry, EntryFault)}
    heads = [head for record in moved if (head := reader.get_current(record)) is not None]
    said = _Said(reader)
    return [head for head in heads if said.is_said_twice(head)]


def list_unplaced(reader: IndexReader, own: LogId, heads: Iterable[VersionHead]) -> set[RecordId]:
    """Return the records of new versions of another log that this installation has written to and has no file of.

    One that was retired here as missing and is restored there is missing again, though no stamp of it is left.
    """
    new = {head.id for head in heads if head.turn is None and not head.is_displaced and head.status != "retired"}
    left = (record for record in new if not reader.find_files_of(record))
    return {record for record in left if any(known.ref.log == own for known in reader.list_versions(record))}


def list_stirred(own: LogId, heads: Iterable[VersionHead]) -> set[RecordId]:
    """Return the records of new versions that may have to do with another file than their own.

    Of a new record that OnRecord wrote here no other file can be.

    Args:
        own: The own log.
        heads: The versions.
    """
    told = (head for head in heads if head.version > 1 or head.is_observed or head.ref.log != own)
    return {head.id for head in told if head.kind != "event"}


class _Said:
    """Who says a text, asked once for each: many notes may be alike."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._records: dict[bytes, Sequence[RecordId]] = {}

    def is_said_twice(self, head: VersionHead) -> bool:
        """Tell whether another record says now what a version says."""
        text = head.text_sha256
        if text not in self._records:
            self._records[text] = [other.id for other in self._reader.find_by_text(None, text)]
        return any(record != head.id for record in self._records[text])


def list_shared_places(reader: IndexReader, heads: Iterable[VersionHead]) -> set[str]:
    """Return where new versions of another log were found, as other records were, and the files that say the same."""
    observed = [head for head in heads if head.is_observed and head.turn is None]
    return {head.path for head in observed if _shares_place(reader, head)} | list_same_files(reader, observed)


def list_same_files(reader: IndexReader, heads: Iterable[VersionHead]) -> set[str]:
    """Return the files of records that say now what some versions say."""
    texts = {head.text_sha256 for head in heads}
    same = {other.id for text_sha256 in texts for other in reader.find_by_text(None, text_sha256)}
    return {stamp.path for record in same for stamp in reader.find_files_of(record) if not stamp.is_pending}


def list_said_copies(reader: IndexReader, said: Collection[bytes]) -> list[str]:
    """Return the files that stand aside as copies and whose bytes another log has recorded: they may be its memories'.

    Args:
        reader: Reads the index.
        said: The hashes of the bytes of the new versions of that log.
    """
    return [stamp.path for stamp in reader.find_files_of(COPY_MARK) if stamp.sha256 in said] if said else []


def spoil_outdated(reader: IndexReader, heads: Iterable[VersionHead]) -> list[FileStamp]:
    """Return, so that they are looked at again, the stamps of files of memories of which another log has new versions.

    A file that is behind now may be another memory's, of which it has the current bytes.
    """
    records = {head.id for head in heads if head.turn is None and not head.is_displaced and head.kind != "event"}
    stamps = (stamp for record in sorted(records) for stamp in reader.find_files_of(record))
    return [stamp._replace(size_bytes=-1) for stamp in stamps if not stamp.is_pending]


def spoil_retired(reader: IndexReader, heads: Iterable[VersionHead]) -> list[FileStamp]:
    """Return, so that they count as changed, the stamps of files whose memory another log retires: they are here."""
    retired = {head.id for head in heads if head.status == "retired" and head.kind not in ("event", "conflict")}
    stamps = (stamp for record in sorted(retired) for stamp in reader.find_files_of(record) if not stamp.is_pending)
    return [stamp._replace(ref=None, sha256=b"", size_bytes=-1) for stamp in stamps]


def list_yielded(reader: IndexReader, heads: Iterable[VersionHead]) -> list[str]:
    """Return the files that hold a record no more, as it gets the file of another one that is retired.

    Args:
        reader: Reads the index.
        heads: New versions; of one that retires a record the one that stays says the same at the same path.
    """
    new = [head for head in heads if head.turn is None and not head.is_displaced]
    said: dict[str, list[VersionHead]] = defaultdict(list)
    for head in new:
        if head.status == "current":
            said[head.path].append(head)
    yielded: dict[str, None] = {}
    for gone in (head for head in new if head.status == "retired" and head.kind not in ("event", "conflict")):
        for other in (*reader.find_by_path(gone.path), *said.get(gone.path, ())):
            is_kept = other.id != gone.id and other.text_sha256 == gone.text_sha256
            stamps = reader.find_files_of(other.id) if is_kept else ()
            yielded |= {stamp.path: None for stamp in stamps if stamp.path != gone.path and not stamp.is_pending}
    return list(yielded)


def _shares_place(reader: IndexReader, head: VersionHead) -> bool:
    if not head.is_observed or head.turn is not None:
        return False
    place = reader.get_file(head.path)
    found = reader.find_by_path(head.path)
    return (place is not None and place.record != head.id) or any(known.id != head.id for known in found)


@dataclass(frozen=True, slots=True)
class Arrived:
    """What became of files ahead of their rows: for the index, and which must be looked at anew (`spoiled`: paths)."""

    batch: IndexBatch
    spoiled: Sequence[str]


def settle_pending(store: VaultStore, reader: IndexReader) -> Arrived | None:
    """Judge the files ahead of their rows by what has arrived; None where nothing has changed.

    The file that is its row stands for it from now on, of several that name one memory the one in its place. What was
    known of any other is forgotten, so that it is looked at as a new one: it may be a copy, or an edit.
    """
    pending = reader.list_pending()
    marks = reader.get_watermarks() if pending else {}
    gone: list[str] = []
    arrived: dict[RecordId, list[_Settled]] = {}
    for stamp in pending:
        if store.stat_file(stamp.path) is None:
            gone.append(stamp.path)
        elif stamp.ref is not None and stamp.ref.seq < marks.get(stamp.ref.log, 0):
            row = store.read_row(stamp.ref)
            is_it = row is not None and (row.draft.id, hash_data(row.draft.data)) == (stamp.record, stamp.sha256)
            is_in_place = row is not None and row.draft.path == stamp.path
            arrived.setdefault(stamp.record, []).append(_Settled(stamp, is_it, is_in_place))
    if not arrived and not gone:
        return None
    firsts = [min(settled, key=_rank_place) for settled in arrived.values()]
    stamps = [first.stamp._replace(is_pending=False) for first in firsts if first.is_row]
    settled = {stamp.path for stamp in stamps}
    spoiled = [item.stamp.path for items in arrived.values() for item in items if item.stamp.path not in settled]
    dropped = [name_loose(path) for path in (*gone, *settled, *spoiled)]
    return Arrived(IndexBatch(files=stamps, removed_files=[*gone, *spoiled], dropped=dropped), spoiled)


@dataclass(frozen=True, slots=True)
class _Settled:
    """A file whose row has arrived: whether it is that row, and whether it lies where the row says."""

    stamp: FileStamp
    is_row: bool
    is_in_place: bool


def _rank_place(settled: _Settled) -> tuple[bool, bool, bool, str]:
    """Return how a file stands among those that name one memory: the one in its place first, copies by name last."""
    path = settled.stamp.path
    return not settled.is_in_place, is_named_copy(path), not settled.is_row, path


def name_loose(path: str) -> EntryRef:
    """Return what stands for the entry of the loose document of a file ahead of its row: made of its path."""
    digest = hashlib.sha256(path.encode()).digest()
    return EntryRef(PENDING_LOG, Seq(int.from_bytes(digest[:_NAME_BYTES], "big")))


class Meetings:
    """Which records have rows of several logs, share a place, or were found with the same bytes, as the rows pass."""

    def __init__(self) -> None:
        self._logs: dict[RecordId, LogId] = {}
        self._places: dict[str | bytes, RecordId] = {}
        self.records: set[RecordId] = set()

    def take(self, row: VersionRow) -> None:
        """Take in one row of a version."""
        draft = row.draft
        if self._logs.setdefault(draft.id, row.ref.log) != row.ref.log or draft.mode == "displaced":
            self.records.add(draft.id)
        if draft.mode == "observed":
            for place in (draft.path, hash_data(draft.data)):
                other = self._places.setdefault(place, draft.id)
                if other != draft.id and self._logs[other] != row.ref.log:
                    self.records.update((other, draft.id))
