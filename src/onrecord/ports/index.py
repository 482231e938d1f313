"""The derived index: a catalogue of versions and files, and lexical candidates. Nothing here is truth.

Everything in an index can be made anew from the versions stores and the files. A driver keeps term
frequencies and statistics exactly; it never scores: `onrecord.domain.ranking` does, so that every driver
gives the same ids in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from onrecord.domain.heads import SHARED, Partition, TurnName, VersionHead
from onrecord.domain.ids import EntryRef, LogId, RecordId
from onrecord.domain.instants import Instant
from onrecord.domain.postings import Candidates, PackedDocument, Statistics, TermMatches

__all__ = [
    "SHARED",
    "Candidates",
    "Document",
    "FileRow",
    "FileStamp",
    "Filter",
    "Index",
    "IndexBatch",
    "IndexReader",
    "Mention",
    "PackedDocument",
    "Partition",
    "Statistics",
    "TermMatches",
    "TurnName",
    "VersionHead",
]

# A stamp for comparing many at once, a plain tuple because a value for each costs more than the comparison: path, size
# in bytes, mtime and ctime in nanoseconds, device and inode in decimal digits, `checked_ns`.
FileRow = tuple[str, int, int, int, str, str, int]


class Mention(NamedTuple):
    """A version that another one speaks of: as member of a conflict, or as one of several parents."""

    record: RecordId
    ref: EntryRef


@dataclass(frozen=True, slots=True)
class Document:
    """A head with what is searched, and the versions that it speaks of."""

    head: VersionHead
    packed: PackedDocument
    mentions: tuple[Mention, ...] = ()


class FileStamp(NamedTuple):
    """What tells that a file has not changed, and which record it holds.

    `sha256` is of the exact bytes. `mtime_ns`, `ctime_ns`, `device`, `inode` as stat gives them.
    `checked_ns`: wall clock when it was hashed. `ref`: the version whose bytes it holds, the current one or another;
    None of a transcript, and where its bytes are those of no version. `is_pending`: `ref` is what the file's `by` names
    and has not arrived, and `record` is the id that the file names.
    """

    path: str
    record: RecordId
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int
    sha256: bytes
    checked_ns: int
    ref: EntryRef | None = None
    is_pending: bool = False


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """Changes that become visible together.

    `documents` in ledger order per log. `removed_files` are paths. `watermarks` gives, per log, the number of entries
    (not the last seq) that the index has taken in after this batch. `dropped` are loose documents (`domain.heads`) that
    are forgotten before the batch's documents are taken in; unknown ones are ignored. `touched` are records to which
    another log or an edit of an older version has added something: they are listed until they are `judged`. After one
    that `is_followed` another comes at once, so that a driver may put work off to that one, as far as it is bounded.
    """

    documents: Sequence[Document] = ()
    files: Sequence[FileStamp] = ()
    removed_files: Sequence[str] = ()
    watermarks: Mapping[LogId, int] = field(default_factory=dict)
    dropped: Sequence[EntryRef] = ()
    touched: Collection[RecordId] = ()
    judged: Collection[RecordId] = ()
    is_followed: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may answer. Empty collections mean no restriction, `partitions` excepted (never empty).

    `workspaces`: those whose home is one of these, or that are also in one of them.
    `as_of`: record time; None is now. Now: only current versions (and turns) with a status in `statuses`. As of t:
    of each record the version that is current among those with recorded_at <= t, and turns with recorded_at <= t,
    again with a status in `statuses`. Displaced versions never answer.

    `horizons`: for each log whose entries count from when they were seen here rather than from their `recorded_at`, how
    many of them were known at `as_of` (docs/format/time.md, Several logs); without effect where `as_of` is None.
    """

    partitions: Collection[Partition] = (SHARED,)
    workspaces: Collection[str] = ()
    statuses: Collection[str] = ("current",)
    as_of: Instant | None = None
    horizons: Mapping[LogId, int] = field(default_factory=dict)


class IndexReader(Protocol):
    """Reads of one consistent state. Every method raises only OnRecordError."""

    def get_watermarks(self) -> Mapping[LogId, int]:
        """Return entries taken in, per log."""

    def find_ids(self, prefix: str, limit: int) -> Sequence[RecordId]:
        """Return at most `limit` record ids that begin with `prefix`, ascending."""

    def get_current(self, record: RecordId) -> VersionHead | None:
        """Return the shown version: greatest (version, recorded_at, log, seq) that is not displaced; turns excluded."""

    def list_versions(self, record: RecordId) -> Sequence[VersionHead]:
        """Return every version of a record (turns excluded), ascending in the order above, displaced ones included."""

    def list_turns(self, record: RecordId) -> Sequence[VersionHead]:
        """Return the turns of a transcript by ordinal."""

    def find_by_text(
        self, workspace: str | None, text_sha256: bytes, status: str | None = "current"
    ) -> Sequence[VersionHead]:
        """Return the current versions of a status with this text hash, by id, turns excluded.

        Args:
            workspace: Their home; None for any.
            text_sha256: Hash of the text.
            status: None for versions of any status, earlier ones included, displaced ones not.
        """

    def list_conflicts(self, statuses: Collection[str], *, has_file: bool = False) -> Sequence[VersionHead]:
        """Return the current versions of kind `conflict` with one of these statuses, by record time, then id.

        Args:
            statuses: Those asked for.
            has_file: Only those of which a file is known.
        """

    def find_conflicts(self, records: Collection[RecordId]) -> Mapping[RecordId, Sequence[RecordId]]:
        """Return, for those of the records that open conflicts (status `pending`) have as members, their ids."""

    def list_unsettled(self, log: LogId, limit: int) -> Sequence[VersionHead]:
        """Return at most `limit` displaced versions of a log that no other version mentions, by entry."""

    def find_displaced(self, path: str) -> Sequence[VersionHead]:
        """Return the displaced versions whose bytes were at this path, by log and seq."""

    def list_spellings(self, folded: str) -> Sequence[str]:
        """Return the workspaces, homes and others, whose folded name (domain.names) this is, first recorded first."""

    def find_turn(self, source: str, session: str, turn: str) -> VersionHead | None:
        """Return the turn of this name."""

    def get_last_turn(self, source: str, session: str) -> VersionHead | None:
        """Return the turn with the greatest ordinal of a session."""

    def find_by_key(self, key: str) -> Sequence[VersionHead]:
        """Return the heads written under an idempotency key, in ledger order."""

    def list_loose(self, log: LogId, kind: str | None) -> Sequence[VersionHead]:
        """Return the loose documents (`domain.heads`) of one kind or all that name a log in place of theirs, by seq."""

    def get_loose(self, ref: EntryRef) -> VersionHead | None:
        """Return one loose document."""

    def get_file(self, path: str) -> FileStamp | None:
        """Return the stamp of one file."""

    def list_files(self) -> Sequence[FileStamp]:
        """Return all stamps, by path."""

    def page_files(self, after: str, limit: int) -> Sequence[FileRow]:
        """Return at most `limit` stamps with a path behind `after`, by path in order of code points."""

    def find_files_of(self, record: RecordId) -> Sequence[FileStamp]:
        """Return the stamps of the files that hold a record, by path."""

    def count_filed(self) -> int:
        """Return how many records have a stamp of a file elsewhere than below `events/`."""

    def list_pending(self) -> Sequence[FileStamp]:
        """Return the stamps that are pending, by path."""

    def find_by_path(self, path: str) -> Sequence[VersionHead]:
        """Return current, status `current` versions that were last recorded at exactly this path, by id."""

    def list_touched(self) -> Sequence[RecordId]:
        """Return the records that were touched and not judged since, ascending."""

    def find_files_at(self, folded_path: str) -> Sequence[FileStamp]:
        """Return the stamps of the files at the same place (onrecord.domain.filenames.fold_path), by path."""

    def find_files_by_inode(self, device: int, inode: int) -> Sequence[FileStamp]:
        """Return the stamps of the files that had this inode, by path; numbers of deleted files are given out again."""

    def match(self, terms: Sequence[str], allowed: Filter) -> Candidates:
        """Return, for each distinct term in the order given, its postings in documents that pass the filter.

        The statistics are those of the partitions, whatever else the filter says.
        """

    def get_heads(self, documents: Collection[int]) -> Mapping[int, VersionHead]:
        """Return the heads of document numbers got from `match` in the same read."""

    def count(self) -> Mapping[str, int]:
        """Return counts: records, versions, turns, files."""


class Index(Protocol):
    """The driver. One writer at a time (the caller holds the vault's lock); any number of readers."""

    def read(self) -> AbstractContextManager[IndexReader]:
        """Open a consistent read."""

    def apply(self, batch: IndexBatch) -> None:
        """Take in a batch in one transaction; a document whose `ref` is known is ignored.

        Raises:
            StorageFailedError: the disk refused.
            DamagedError: the stored index cannot be used; the caller rebuilds.
        """

    def rebuild(self, batches: Iterable[IndexBatch]) -> None:
        """Replace the whole content by the batches' in one step visible only when done; they drop nothing."""

    def close(self) -> None:
        """Release what is held."""
