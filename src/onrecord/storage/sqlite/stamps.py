"""Stamps of files: which record a file holds and how it was when last compared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.ports.index import FileRow, FileStamp
from onrecord.storage.sqlite.once import LastAnswers, asked_again, reading
from onrecord.storage.sqlite.schema import build_damage

_COLUMNS = "path, record, size_bytes, mtime_ns, ctime_ns, device, inode, sha256, checked_ns, log, seq, pending"


def write_files(connection: sqlite3.Connection, stamps: Iterable[FileStamp]) -> None:
    """Insert or replace stamps."""
    rows = (
        (
            *(stamp.path, fold_path(stamp.path), stamp.record, stamp.size_bytes, stamp.mtime_ns, stamp.ctime_ns),
            *(str(stamp.device), str(stamp.inode), bytearray(stamp.sha256), stamp.checked_ns),
            *((stamp.ref.log, stamp.ref.seq) if stamp.ref is not None else ("", 0)),
            int(stamp.is_pending),
        )
        for stamp in stamps
    )
    connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def list_files(connection: sqlite3.Connection, where: str = "", *values: object) -> list[FileStamp]:
    """Return the stamps of a condition on `files`, by path."""
    try:
        rows = connection.execute(f"SELECT {_COLUMNS} FROM files {where} ORDER BY path", values)
        return [_read_stamp(*row) for row in rows]
    except (ValueError, TypeError) as error:
        raise build_damage("a stamp cannot be read") from error


def count_filed(connection: sqlite3.Connection) -> int:
    """Return how many records have a stamp of a file elsewhere than below `events/`."""
    query = "SELECT count(DISTINCT record) FROM files WHERE substr(path, 1, 7) <> 'events/'"
    (count,) = connection.execute(query).fetchone()
    return int(count)


def _read_stamp(
    path: str, record: str, size_bytes: int, mtime_ns: int, ctime_ns: int, device: str, inode: str, sha256: bytes,
    checked_ns: int, log: str, seq: int, pending: int,
) -> FileStamp:  # fmt: skip
    ref = EntryRef(LogId(log), Seq(seq)) if log else None
    return FileStamp(
        path, RecordId(record), size_bytes, mtime_ns, ctime_ns, int(device), int(inode), sha256, checked_ns, ref,
        bool(pending),
    )  # fmt: skip


def list_touched(connection: sqlite3.Connection) -> list[RecordId]:
    """Return the records that were touched and not judged since, ascending."""
    return [RecordId(record) for (record,) in connection.execute("SELECT record FROM touched ORDER BY record")]


def write_touched(connection: sqlite3.Connection, touched: Iterable[RecordId], judged: Iterable[RecordId]) -> None:
    """Forget the judged records, then take note of the touched ones."""
    connection.executemany("DELETE FROM touched WHERE record = ?", ((record,) for record in judged))
    connection.executemany("INSERT OR IGNORE INTO touched VALUES (?)", ((record,) for record in touched))


def page_files(connection: sqlite3.Connection, after: str, limit: int) -> list[FileRow]:
    """Return at most `limit` stamps with a path behind `after`, by path, as they are stored."""
    return connection.execute(
        "SELECT path, size_bytes, mtime_ns, ctime_ns, device, inode, checked_ns FROM files WHERE path > ? "
        "ORDER BY path LIMIT ?",
        (after, limit),
    ).fetchall()


class StampReader(LastAnswers):
    """The part of `onrecord.ports.index.IndexReader` that is about files."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._connection = connection

    @asked_again
    @reading
    def get_file(self, path: str) -> FileStamp | None:
        """Return the stamp of one file."""
        return next(iter(list_files(self._connection, "WHERE path = ?", path)), None)

    @reading
    def list_files(self) -> Sequence[FileStamp]:
        """Return all stamps, by path."""
        return list_files(self._connection)

    @reading
    def page_files(self, after: str, limit: int) -> Sequence[FileRow]:
        """Return at most `limit` stamps with a path behind `after`, by path."""
        return page_files(self._connection, after, limit)

    @asked_again
    @reading
    def find_files_of(self, record: RecordId) -> Sequence[FileStamp]:
        """Return the stamps of the files that hold a record, by path."""
        return list_files(self._connection, "WHERE record = ?", record)

    @reading
    def count_filed(self) -> int:
        """Return how many records have a stamp of a file elsewhere than below `events/`."""
        return count_filed(self._connection)

    @reading
    def list_pending(self) -> Sequence[FileStamp]:
        """Return the stamps that are pending, by path."""
        return list_files(self._connection, "WHERE pending = 1")

    @reading
    def find_files_at(self, folded_path: str) -> Sequence[FileStamp]:
        """Return the stamps of the files at the same place, in any spelling, by path."""
        return list_files(self._connection, "WHERE place = ?", folded_path)

    @reading
    def find_files_by_inode(self, device: int, inode: int) -> Sequence[FileStamp]:
        """Return the stamps of the files with this inode, by path."""
        return list_files(self._connection, "WHERE inode = ? AND device = ?", str(inode), str(device))

    @reading
    def list_touched(self) -> Sequence[RecordId]:
        """Return the records that were touched and not judged since, ascending."""
        return list_touched(self._connection)
