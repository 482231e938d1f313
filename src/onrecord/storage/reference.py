"""The index as a list in memory: slow, obvious, and the oracle of every other driver.

Nothing is kept but what was given; each question is answered by looking at everything. A state never changes, so a
read sees the state it began with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from onrecord.domain.filenames import fold_path
from onrecord.domain.heads import LOOSE_LOGS, Partition, VersionHead, order_of, turn_order_of
from onrecord.domain.ids import EntryRef, LogId, RecordId
from onrecord.domain.instants import OPEN_END, Instant
from onrecord.domain.names import fold_name
from onrecord.domain.postings import (
    REPEAT_MASK,
    REPEAT_SHIFT,
    Candidates,
    Statistics,
    TermMatches,
)
from onrecord.ports.index import Document, FileRow, FileStamp, Filter, IndexBatch


@dataclass(frozen=True)
class _State:
    documents: tuple[Document, ...] = ()
    files: Mapping[str, FileStamp] = field(default_factory=dict)
    watermarks: Mapping[LogId, int] = field(default_factory=dict)
    touched: frozenset[RecordId] = frozenset()

    @cached_property
    def heads(self) -> list[VersionHead]:
        """Heads of versions and turns; loose documents are none."""
        return [document.head for document in self.documents if document.head.ref.log not in LOOSE_LOGS]

    @cached_property
    def versions(self) -> list[VersionHead]:
        """Heads of versions (no turns) in order."""
        return sorted((head for head in self.heads if head.turn is None), key=order_of)

    @cached_property
    def turns(self) -> list[VersionHead]:
        """Heads of turns in order."""
        return sorted((head for head in self.heads if head.turn is not None), key=turn_order_of)

    @cached_property
    def ends(self) -> Mapping[EntryRef, Instant]:
        """When each version that is not displaced stopped being the newest; `OPEN_END` for current ones."""
        ends: dict[EntryRef, Instant] = {}
        earliest_later: dict[RecordId, Instant] = {}
        for head in reversed(self.versions):
            if not head.is_displaced:
                ends[head.ref] = earliest_later.get(head.id, OPEN_END)
                earliest_later[head.id] = min(head.recorded_at, ends[head.ref])
        return ends

    def apply(self, batch: IndexBatch) -> _State:
        dropped = set(batch.dropped)
        known = {document.head.ref: document for document in self.documents if document.head.ref not in dropped}
        for document in batch.documents:
            known.setdefault(document.head.ref, document)
        kept = {path: stamp for path, stamp in self.files.items() if path not in set(batch.removed_files)}
        return _State(
            documents=tuple(known.values()),
            files=kept | {stamp.path: stamp for stamp in batch.files},
            watermarks={**self.watermarks, **batch.watermarks},
            touched=(self.touched - set(batch.judged)) | set(batch.touched),
        )


class ReferenceIndex:
    """The driver; see `onrecord.ports.index.Index`."""

    def __init__(self) -> None:
        self._state = _State()

    @contextmanager
    def read(self) -> Iterator[ReferenceReader]:
        """Open a consistent read."""
        yield ReferenceReader(self._state)

    def apply(self, batch: IndexBatch) -> None:
        """Take in a batch; a document whose `ref` is known is ignored."""
        self._state = self._state.apply(batch)

    def rebuild(self, batches: Iterable[IndexBatch]) -> None:
        """Replace the whole content by the batches'."""
        state = _State()
        for batch in batches:
            state = state.apply(batch)
        self._state = state

    def close(self) -> None:
        """Do nothing: nothing is held."""


class ReferenceReader:
    """One consistent read; see `onrecord.ports.index.IndexReader`. A document's number is its place from 1."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def get_watermarks(self) -> Mapping[LogId, int]:
        """Return entries taken in, per log."""
        return dict(self._state.watermarks)

    def find_ids(self, prefix: str, limit: int) -> Sequence[RecordId]:
        """Return at most `limit` record ids that begin with `prefix`, ascending."""
        ids = {head.id for head in self._state.heads}
        return sorted(record for record in ids if record.startswith(prefix))[:limit]

    def get_current(self, record: RecordId) -> VersionHead | None:
        """Return the shown version; turns and displaced versions excluded."""
        shown = [head for head in self.list_versions(record) if not head.is_displaced]
        return shown[-1] if shown else None

    def list_versions(self, record: RecordId) -> Sequence[VersionHead]:
        """Return every version of a record in order, displaced ones included."""
        return [head for head in self._state.versions if head.id == record]

    def list_turns(self, record: RecordId) -> Sequence[VersionHead]:
        """Return the turns of a transcript by ordinal."""
        return [head for head in self._state.turns if head.id == record]

    def find_by_text(
        self, workspace: str | None, text_sha256: bytes, status: str | None = "current"
    ) -> Sequence[VersionHead]:
        """Return current versions of a status, or all, with this text hash, by id; None: of any workspace."""
        found = [
            head
            for head in self._state.versions
            if head.text_sha256 == text_sha256
            and (
                (self._state.ends.get(head.ref), head.status) == (OPEN_END, status)
                or (status is None and not head.is_displaced and head.ref.log not in LOOSE_LOGS)
            )
            and workspace in (None, head.workspace)
        ]
        return sorted(found, key=lambda head: head.id)

    def list_conflicts(self, statuses: Collection[str], *, has_file: bool = False) -> Sequence[VersionHead]:
        """Return the current versions of kind `conflict` with one of these statuses, by record time, then id."""
        ends = self._state.ends
        heads = (
            head
            for head in self._state.versions
            if head.kind == "conflict" and head.status in statuses and (not has_file or self.find_files_of(head.id))
        )
        return sorted((head for head in heads if ends.get(head.ref) == OPEN_END), key=lambda h: (h.recorded_at, h.id))

    def find_conflicts(self, records: Collection[RecordId]) -> Mapping[RecordId, Sequence[RecordId]]:
        """Return, for those of the records that open conflicts have as members, their ids."""
        pending = {head.id for head in self.list_conflicts(("pending",))}
        pairs = {
            (mention.record, document.head.id)
            for document in self._state.documents
            for mention in document.mentions
            if document.head.id in pending and mention.record in records
        }
        found: dict[RecordId, list[RecordId]] = {}
        for record, conflict in sorted(pairs):
            found.setdefault(record, []).append(conflict)
        return found

    def list_unsettled(self, log: LogId, limit: int) -> Sequence[VersionHead]:
        """Return at most `limit` displaced versions of a log that no other version mentions, by entry."""
        mentioned = {mention.ref for document in self._state.documents for mention in document.mentions}
        heads = (head for head in self._state.versions if head.is_displaced and head.ref.log == log)
        return sorted((head for head in heads if head.ref not in mentioned), key=lambda head: head.ref)[:limit]

    def find_displaced(self, path: str) -> Sequence[VersionHead]:
        """Return the displaced versions whose bytes were at this path, by log and seq."""
        heads = (head for head in self._state.versions if head.is_displaced and head.path == path)
        return sorted(heads, key=lambda head: head.ref)

    def list_spellings(self, folded: str) -> Sequence[str]:
        """Return the workspaces of all heads whose name folds to this, first recorded first."""
        heads = (*self._state.versions, *self._state.turns)
        spelled = sorted((head.recorded_at, name) for head in heads for name in {head.workspace, *head.also_in})
        return list(dict.fromkeys(name for _, name in spelled if fold_name(name) == folded))

    def find_turn(self, source: str, session: str, turn: str) -> VersionHead | None:
        """Return the turn of this name; of several the first in order."""
        return next((head for head in self._list_session(source, session) if _name_of(head) == turn), None)

    def get_last_turn(self, source: str, session: str) -> VersionHead | None:
        """Return the turn with the greatest ordinal of a session; of several the last in order."""
        return next(reversed(self._list_session(source, session)), None)

    def _list_session(self, source: str, session: str) -> list[VersionHead]:
        return [
            head
            for head in self._state.turns
            if head.turn is not None and (head.turn.source, head.turn.session) == (source, session)
        ]

    def find_by_key(self, key: str) -> Sequence[VersionHead]:
        """Return the heads written under an idempotency key, by log and seq; none for an empty key."""
        found = [head for head in self._state.heads if key and head.key == key]
        return sorted(found, key=lambda head: head.ref)

    def list_loose(self, log: LogId, kind: str | None) -> Sequence[VersionHead]:
        """Return the loose documents of a log, of one kind or all, by seq."""
        heads = (document.head for document in self._state.documents)
        found = (head for head in heads if head.ref.log == log and kind in (None, head.kind))
        return sorted(found, key=lambda head: head.ref)

    def get_loose(self, ref: EntryRef) -> VersionHead | None:
        """Return one loose document."""
        return next((document.head for document in self._state.documents if document.head.ref == ref), None)

    def get_file(self, path: str) -> FileStamp | None:
        """Return the stamp of one file."""
        return self._state.files.get(path)

    def list_files(self) -> Sequence[FileStamp]:
        """Return all stamps, by path."""
        return sorted(self._state.files.values(), key=lambda stamp: stamp.path)

    def page_files(self, after: str, limit: int) -> Sequence[FileRow]:
        """Return at most `limit` stamps with a path behind `after`, by path."""
        found = [stamp for stamp in self.list_files() if stamp.path > after][:limit]
        return [
            (
                item.path,
                item.size_bytes,
                item.mtime_ns,
                item.ctime_ns,
                str(item.device),
                str(item.inode),
                item.checked_ns,
            )
            for item in found
        ]

    def find_files_of(self, record: RecordId) -> Sequence[FileStamp]:
        """Return the stamps of the files that hold a record, by path."""
        return [stamp for stamp in self.list_files() if stamp.record == record]

    def count_filed(self) -> int:
        """Return how many records have a stamp of a file elsewhere than below `events/`."""
        return len({stamp.record for stamp in self.list_files() if not stamp.path.startswith("events/")})

    def list_pending(self) -> Sequence[FileStamp]:
        """Return the stamps that are pending, by path."""
        return [stamp for stamp in self.list_files() if stamp.is_pending]

    def find_by_path(self, path: str) -> Sequence[VersionHead]:
        """Return current, status `current` versions that were last recorded at exactly this path, by id."""
        found = [
            head
            for head in self._state.versions
            if self._state.ends.get(head.ref) == OPEN_END and (head.status, head.path) == ("current", path)
        ]
        return sorted(found, key=lambda head: head.id)

    def list_touched(self) -> Sequence[RecordId]:
        """Return the records that were touched and not judged since, ascending."""
        return sorted(self._state.touched)

    def find_files_at(self, folded_path: str) -> Sequence[FileStamp]:
        """Return the stamps of the files at the same place, in any spelling, by path."""
        return [stamp for stamp in self.list_files() if fold_path(stamp.path) == folded_path]

    def find_files_by_inode(self, device: int, inode: int) -> Sequence[FileStamp]:
        """Return the stamps of the files with this inode, by path."""
        return [stamp for stamp in self.list_files() if (stamp.device, stamp.inode) == (device, inode)]

    def match(self, terms: Sequence[str], allowed: Filter) -> Candidates:
        """Return all postings of the terms in documents that pass the filter, and the statistics."""
        distinct = list(dict.fromkeys(terms))
        numbered = [
            (number, document)
            for number, document in enumerate(self._state.documents, 1)
            if document.head.partition in allowed.partitions and self._is_allowed(document.head, allowed)
        ]
        return Candidates(
            self._count_statistics(distinct, allowed.partitions), [_collect(term, numbered) for term in distinct]
        )

    def _count_statistics(self, terms: Collection[str], partitions: Collection[Partition]) -> Statistics:
        counted = [
            document
            for document in self._state.documents
            if document.head.partition in partitions
            and self._is_current(document.head)
            and document.head.status == "current"
        ]
        frequency = dict.fromkeys(terms, 0)
        for document in counted:
            for term in document.packed.terms:
                if term in frequency:
                    frequency[term] += 1
        return Statistics(
            documents=len(counted),
            tokens=sum(document.packed.tokens for document in counted),
            lines=sum(document.packed.line_count for document in counted),
            document_frequency=frequency,
        )

    def _is_current(self, head: VersionHead) -> bool:
        if head.is_displaced:
            return False
        if head.ref.log in LOOSE_LOGS:
            return True
        return head.turn is not None or self._state.ends[head.ref] == OPEN_END

    def _is_shown(self, head: VersionHead, allowed: Filter) -> bool:
        if allowed.as_of is None:
            return self._is_current(head)
        if head.is_displaced or head.ref.log in LOOSE_LOGS or not _is_known(head, allowed.as_of, allowed.horizons):
            return False
        known = (
            other
            for other in self._state.versions
            if other.id == head.id and not other.is_displaced and _is_known(other, allowed.as_of, allowed.horizons)
        )
        return head.turn is not None or max(known, key=order_of).ref == head.ref

    def _is_allowed(self, head: VersionHead, allowed: Filter) -> bool:
        workspaces = {head.workspace, *head.also_in}
        return (
            (not allowed.workspaces or not workspaces.isdisjoint(allowed.workspaces))
            and (not allowed.statuses or head.status in allowed.statuses)
            and self._is_shown(head, allowed)
        )

    def get_heads(self, documents: Collection[int]) -> Mapping[int, VersionHead]:
        """Return the heads of document numbers got from `match` in the same read."""
        return {number: self._state.documents[number - 1].head for number in documents}

    def count(self) -> Mapping[str, int]:
        """Return counts: records, versions, turns, files."""
        return {
            "records": len({head.id for head in self._state.versions}),
            "versions": len(self._state.versions),
            "turns": len(self._state.turns),
            "files": len(self._state.files),
        }


def _is_known(head: VersionHead, as_of: Instant, horizons: Mapping[LogId, int]) -> bool:
    known = horizons.get(head.ref.log)
    return head.recorded_at <= as_of if known is None else head.ref.seq < known


def _name_of(head: VersionHead) -> str | None:
    return head.turn.turn if head.turn is not None else None


def _collect(term: str, numbered: Sequence[tuple[int, Document]]) -> TermMatches:
    documents: list[int] = []
    lines: list[int] = []
    packed: list[int] = []
    repeats: list[int] = []
    for number, document in numbered:
        found = document.packed
        if term not in found.terms:
            continue
        place = found.terms.index(term)
        documents.append(number)
        lines.append(found.lines[place] if found.lines else 0)
        packed.append(found.packed[place])
        several = (repeat for repeat in found.repeats if repeat >> REPEAT_SHIFT == place)
        repeats.extend(number << REPEAT_SHIFT | repeat & REPEAT_MASK for repeat in several)
    return TermMatches(term, documents, lines, packed, repeats)
