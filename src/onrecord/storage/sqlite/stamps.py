"""Stamps of files: which record a file holds and how it was when last compared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import RecordId
from onrecord.ports.index import FileRow, FileStamp
from onrecord.storage.sqlite.schema import build_damage

_COLUMNS = "path, record, size_bytes, mtime_ns, ctime_ns, device, inode, sha256, checked_ns"


def write_files(connection: sqlite3.Connection, stamps: Iterable[FileStamp]) -> None:
    """Insert or replace stamps."""
    rows = (
        (
            *(stamp.path, fold_path(stamp.path), stamp.record, stamp.size_bytes, stamp.mtime_ns, stamp.ctime_ns),
            *(str(stamp.device), str(stamp.inode), bytearray(stamp.sha256), stamp.checked_ns),
        )
        for stamp in stamps
    )
    connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def list_files(connection: sqlite3.Connection, where: str = "", *values: object) -> list[FileStamp]:
    """Return the stamps of a condition on `files`, by path."""
    try:
        return [
            FileStamp(path, RecordId(record), size, mtime_ns, ctime_ns, int(device), int(inode), sha256, checked_ns)
            for path, record, size, mtime_ns, ctime_ns, device, inode, sha256, checked_ns in connection.execute(
                f"SELECT {_COLUMNS} FROM files {where} ORDER BY path", values
            )
        ]
    except (ValueError, TypeError) as error:
        raise build_damage("a stamp cannot be read") from error


def page_files(connection: sqlite3.Connection, after: str, limit: int) -> list[FileRow]:
    """Return at most `limit` stamps with a path behind `after`, by path, as they are stored."""
    return connection.execute(
        "SELECT path, size_bytes, mtime_ns, ctime_ns, device, inode, checked_ns FROM files WHERE path > ? "
        "ORDER BY path LIMIT ?",
        (after, limit),
    ).fetchall()
