"""The index driver on SQLite: connections, transactions, rebuilding; see `onrecord.ports.index`.

Readers never wait for the writer (write-ahead log). Each read and each write looks first whether the file is still the
one that was opened. A power cut may take the last batches back, with their watermarks, so that the caller finds what
is missing.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from threading import Lock

from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.domain.heads import VersionHead
from onrecord.domain.ids import EntryRef, LogId, RecordId
from onrecord.domain.postings import Candidates
from onrecord.ports.index import Filter, IndexBatch
from onrecord.storage.sqlite import catalogue, loose, mentions
from onrecord.storage.sqlite.delta import DeltaMemory
from onrecord.storage.sqlite.intake import take_batch
from onrecord.storage.sqlite.loading import Loader, paused_collection
from onrecord.storage.sqlite.matching import match
from onrecord.storage.sqlite.members import MemberMemory
from onrecord.storage.sqlite.merging import MergeLimits, is_merge_due, merge
from onrecord.storage.sqlite.once import asked_again, reading
from onrecord.storage.sqlite.place import (
    create_aside,
    give_back,
    identify,
    install,
    is_perhaps_passing,
    is_usable,
    make_empty,
    open_connection,
    remove_file,
)
from onrecord.storage.sqlite.schema import Seen, look, translated
from onrecord.storage.sqlite.spellings import list_spellings
from onrecord.storage.sqlite.stamps import StampReader

_IDLE_READERS_MAX_COUNT = 8
_CREATE_TRIES = 20
_CREATE_PAUSE_S = 0.01
_LIMITS = MergeLimits()


class SqliteReader(StampReader):
    """One consistent read; see `onrecord.ports.index.IndexReader`."""

    def __init__(self, connection: sqlite3.Connection, seen: Seen, memory: DeltaMemory, members: MemberMemory) -> None:
        super().__init__(connection)
        self._seen = seen
        self._memory = memory
        self._members = members

    @reading
    def get_watermarks(self) -> Mapping[LogId, int]:
        """Return entries taken in, per log."""
        return {LogId(log): entries for log, entries in self._connection.execute("SELECT log, entries FROM watermarks")}

    @reading
    def find_ids(self, prefix: str, limit: int) -> Sequence[RecordId]:
        """Return at most `limit` record ids that begin with `prefix`, ascending."""
        return catalogue.find_ids(self._connection, prefix, limit)

    @asked_again
    @reading
    def get_current(self, record: RecordId) -> VersionHead | None:
        """Return the shown version; turns and displaced versions excluded."""
        return catalogue.get_current(self._connection, record)

    @asked_again
    @reading
    def list_versions(self, record: RecordId) -> Sequence[VersionHead]:
        """Return every version of a record in order, displaced ones included."""
        return catalogue.list_versions(self._connection, record)

    @reading
    def list_turns(self, record: RecordId) -> Sequence[VersionHead]:
        """Return the turns of a transcript by ordinal."""
        return catalogue.list_turns(self._connection, record)

    @reading
    def find_by_text(
        self, workspace: str | None, text_sha256: bytes, status: str | None = "current"
    ) -> Sequence[VersionHead]:
        """Return current versions of a status, or all, with this text hash, by id; None: of any workspace."""
        return catalogue.find_by_text(self._connection, workspace, text_sha256, status)

    @reading
    def list_conflicts(self, statuses: Collection[str], *, has_file: bool = False) -> Sequence[VersionHead]:
        """Return the current versions of kind `conflict` with one of these statuses, by record time, then id."""
        return mentions.list_conflicts(self._connection, statuses, has_file=has_file)

    @reading
    def find_conflicts(self, records: Collection[RecordId]) -> Mapping[RecordId, Sequence[RecordId]]:
        """Return, for those of the records that open conflicts have as members, their ids."""
        return mentions.find_conflicts(self._connection, records)

    @reading
    def list_unsettled(self, log: LogId, limit: int) -> Sequence[VersionHead]:
        """Return at most `limit` displaced versions of a log that no other version mentions, by entry."""
        return mentions.list_unsettled(self._connection, log, limit)

    @reading
    def find_displaced(self, path: str) -> Sequence[VersionHead]:
        """Return the displaced versions whose bytes were at this path, by log and seq."""
        return mentions.find_displaced(self._connection, path)

    @reading
    def list_spellings(self, folded: str) -> Sequence[str]:
        """Return the workspaces of all heads whose name folds to this, first recorded first."""
        return list_spellings(self._connection, folded)

    @reading
    def find_turn(self, source: str, session: str, turn: str) -> VersionHead | None:
        """Return the turn of this name; of several the first in order."""
        return catalogue.find_turn(self._connection, source, session, turn)

    @reading
    def get_last_turn(self, source: str, session: str) -> VersionHead | None:
        """Return the turn with the greatest ordinal of a session; of several the last in order."""
        return catalogue.get_last_turn(self._connection, source, session)

    @reading
    def find_by_key(self, key: str) -> Sequence[VersionHead]:
        """Return the heads written under an idempotency key, by log and seq; none for an empty key."""
        return catalogue.find_by_key(self._connection, key)

    @reading
    def list_loose(self, log: LogId, kind: str | None) -> Sequence[VersionHead]:
        """Return the loose documents of a log, of one kind or all, by seq."""
        return loose.list_loose(self._connection, log, kind)

    @reading
    def get_loose(self, ref: EntryRef) -> VersionHead | None:
        """Return one loose document."""
        return loose.get_loose(self._connection, ref)

    @reading
    def find_by_path(self, path: str) -> Sequence[VersionHead]:
        """Return current, status `current` versions that were last recorded at exactly this path, by id."""
        return catalogue.find_by_path(self._connection, path)

    @reading
    def match(self, terms: Sequence[str], allowed: Filter) -> Candidates:
        """Return all postings of the terms in documents that pass the filter, and the statistics."""
        delta = self._memory.get(self._connection, self._seen)
        return match(self._connection, self._seen, delta, self._members, terms, allowed)

    @reading
    def get_heads(self, documents: Collection[int]) -> Mapping[int, VersionHead]:
        """Return the heads of document numbers got from `match` in the same read."""
        return catalogue.get_heads(self._connection, documents)

    @reading
    def count(self) -> Mapping[str, int]:
        """Return counts: records, versions, turns, files."""
        return catalogue.count(self._connection)


class SqliteIndex:
    """The driver; see `onrecord.ports.index.Index`.

    Args:
        path: The index file.
        owner: Whose index it is to be, such as the ids of vault and log; that of another counts as missing.
        limits: How much may wait to be merged.

    Raises:
        DamagedError: the file is missing, damaged, of another owner, program version or analyzer: `create` makes an
            empty one, `rebuild` fills it.
        StorageFailedError: the disk refused.
    """

    def __init__(self, path: str, owner: str = "", *, limits: MergeLimits = _LIMITS) -> None:
        self._path = path
        self._owner = owner
        self._limits = limits
        self._lock = Lock()
        self._writing = Lock()
        self._memory = DeltaMemory()
        self._members = MemberMemory()
        self._has_put_off = False
        self._identity: tuple[int, int] | None = None
        self._idle: list[sqlite3.Connection] = []
        self._writer: tuple[sqlite3.Connection, tuple[int, int]] | None = None
        self._give_back(*self._borrow())

    @classmethod
    def create(cls, path: str, owner: str = "", *, limits: MergeLimits = _LIMITS) -> SqliteIndex:
        """Open the index; where no usable one is, make an empty one.

        Raises:
            StorageFailedError: the disk refused.
        """
        for _ in range(_CREATE_TRIES):  # another process may be about to make it, too
            try:
                if not is_usable(path, owner):
                    make_empty(path, owner)
                return cls(path, owner, limits=limits)
            except DamagedError:
                pass
            except StorageFailedError as error:
                if not is_perhaps_passing(error):
                    raise
            time.sleep(_CREATE_PAUSE_S)
        return cls(path, owner, limits=limits)

    @contextmanager
    def read(self) -> Iterator[SqliteReader]:
        """Open a consistent read."""
        connection, identity = self._borrow()
        try:
            with translated():
                connection.execute("BEGIN")
                seen = look(connection, self._owner)
            yield SqliteReader(connection, seen, self._memory, self._members)
        finally:
            self._give_back(connection, identity)

    def apply(self, batch: IndexBatch) -> None:
        """Take in a batch in one transaction; a document whose `ref` is known is ignored."""
        with self._write() as connection:
            with _transaction(connection):
                look(connection, self._owner)
                take_batch(connection, batch)
            limits = self._limits.widened if batch.is_followed else self._limits
            is_end = self._has_put_off and not batch.is_followed
            may_be_due, self._has_put_off = bool(batch.documents) or self._has_put_off, batch.is_followed
            if may_be_due and is_merge_due(connection, limits):
                _merge_if_disk_allows(connection, self._limits)
            if is_end:
                _give_back_if_disk_allows(connection)

    def rebuild(self, batches: Iterable[IndexBatch]) -> None:
        """Replace the whole content by the batches' in one step visible to readers only when done."""
        with self._writing:
            self._build(batches)

    def _build(self, batches: Iterable[IndexBatch]) -> None:
        built = f"{self._path}.new"
        try:
            with translated():
                connection = create_aside(built, self._owner)
            with closing(connection), paused_collection():
                with translated():
                    connection.execute("BEGIN")
                    loader = Loader(connection)
                for batch in batches:
                    with translated():
                        loader.take_in(batch)
                with translated():
                    loader.finish()
                    connection.execute("COMMIT")
                self._close_writer()
                self._close_idle()
                with translated():
                    install(connection, built, self._path)
        except BaseException:
            with translated():
                remove_file(built)
            raise

    def close(self) -> None:
        """Release what is held."""
        with self._writing:
            self._close_writer()
            self._close_idle()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """Give the writer's connection; after an error the next write opens another."""
        with self._writing, translated():
            identity = self._notice_other_file()
            if self._writer is not None and self._writer[1] != identity:
                self._close_writer()
            if self._writer is None:
                self._writer = (open_connection(self._path, self._owner), identity)
            try:
                yield self._writer[0]
            except BaseException:
                self._close_writer()
                raise

    def _borrow(self) -> tuple[sqlite3.Connection, tuple[int, int]]:
        with translated():
            identity = self._notice_other_file()
            with self._lock:
                if self._idle:
                    return self._idle.pop(), identity
            return open_connection(self._path, self._owner), identity

    def _give_back(self, connection: sqlite3.Connection, identity: tuple[int, int]) -> None:
        try:
            connection.rollback()
        except sqlite3.Error:
            connection.close()
            return
        with self._lock:
            if identity == self._identity and len(self._idle) < _IDLE_READERS_MAX_COUNT:
                self._idle.append(connection)
                return
        connection.close()

    def _notice_other_file(self) -> tuple[int, int]:
        """Return device and inode of the file; let go of idle connections to another one."""
        identity = identify(self._path)
        if identity != self._identity:
            self._close_idle()
            self._identity = identity
        return identity

    def _close_idle(self) -> None:
        with self._lock:
            connections, self._idle = self._idle, []
        for connection in connections:
            connection.close()

    def _close_writer(self) -> None:
        """Let go of the writer's connection; only who holds `_writing` may."""
        if self._writer is not None:
            self._writer[0].close()
            self._writer = None


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _merge_if_disk_allows(connection: sqlite3.Connection, limits: MergeLimits) -> None:
    """Merge; the batch before it stands, and what is not merged is found all the same, so a full disk can wait."""
    try:
        with translated(), _transaction(connection):
            merge(connection, limits)
    except StorageFailedError:
        pass


def _give_back_if_disk_allows(connection: sqlite3.Connection) -> None:
    """Make the file smaller after many batches; what is free is used again in any case."""
    try:
        with translated():
            give_back(connection)
    except StorageFailedError:
        pass
