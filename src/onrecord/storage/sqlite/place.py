"""The index file in its place: how it is opened, made and replaced while other processes may be using it.

Nothing here trusts that the file stays what it was. It is never opened with plain file calls once SQLite may hold it
in this process, since closing such a descriptor would drop SQLite's locks.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

from onrecord.domain.errors import DamagedError, OnRecordError, StorageFailedError
from onrecord.storage.sqlite.schema import (
    build_absence,
    build_damage,
    drop_everything,
    look,
    make_indexes,
    make_tables,
    translate_error,
    translated,
)

_BUSY_WAIT_MS = 10_000
_SWITCH_WAIT_S = 10.0
_PASSING_CODES = frozenset(
    {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_READONLY}
)
_SWITCH_PAUSE_S = 0.01
_CACHE_KIB = 8_192
_BUILD_CACHE_KIB = 65_536
_WAL_MAX_PAGES = 4_096
# Only a file that is empty as yet can be told this.
_GIVING_BACK = "PRAGMA auto_vacuum = INCREMENTAL"
_FREE_MAX_PAGES = 512
_FREE_SHARE = 8
# What SQLite keeps beside a database, and the database itself at last.
_SUFFIXES = ("-wal", "-shm", "-journal", "")


def open_connection(path: str, owner: str) -> sqlite3.Connection:
    """Open an index that is there, and check its format and whose it is.

    Raises:
        DamagedError: it is not there, not readable as an index, made by another program version, or of another owner.
        StorageFailedError: the disk refused.
    """
    with translated():
        if not os.path.exists(path):
            raise build_absence()
        connection = _connect(path)
        try:
            look(connection, owner)
            _switch_to_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_MAX_PAGES}")
        except BaseException:
            connection.close()
            raise
        return connection


def _connect(path: str) -> sqlite3.Connection:
    """Connect to a file that is there; none is made.

    Raises:
        DamagedError: a file that would be written in place has other names (hard links), which may lie anywhere.
        StorageFailedError: a folder lies there.
    """
    for suffix in _SUFFIXES:
        try:
            found = os.lstat(path + suffix)
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(found.st_mode):
            message = f"a folder stands in the place of {os.path.basename(path)}{suffix} of the state folder"
            raise StorageFailedError(message, hint=f"Move the folder {path}{suffix} away.")
        if found.st_nlink > 1:
            raise build_damage("it is a hard link")
    name = f"{Path(path).absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_WAIT_MS}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def _switch_to_log(connection: sqlite3.Connection) -> None:
    """Let the file have a write-ahead log; SQLite does not wait by itself for another process that does the same."""
    end = time.monotonic() + _SWITCH_WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_SWITCH_PAUSE_S)


def is_usable(path: str, owner: str) -> bool:
    """Tell whether an index of this format and owner is at `path`.

    Raises:
        StorageFailedError: the disk refused.
    """
    try:
        open_connection(path, owner).close()
    except DamagedError:
        return False
    return True


def identify(path: str) -> tuple[int, int]:
    """Return device and inode of a file, zeros where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def make_empty(path: str, owner: str) -> None:
    """Try to make an empty index at `path`, unless a usable one is there by now.

    What SQLite can open is emptied in one transaction. Anything else is removed, and made at the next try; whoever
    holds it open finds another inode at the next read.

    Raises:
        StorageFailedError: the disk refused, or another process made and removed the file meanwhile.
    """
    before = identify(path)
    try:
        with translated():
            _fill_in(path, owner)
    except DamagedError:
        if before == identify(path):
            with translated():
                remove_file(path)


def is_perhaps_passing(error: OnRecordError) -> bool:
    """Tell whether an error may come from another process that replaced the file just then."""
    cause = error.__cause__
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & 0xFF in _PASSING_CODES


def _fill_in(path: str, owner: str) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        pass
    with closing(_connect(path)) as connection:
        connection.execute(_GIVING_BACK)
        _switch_to_log(connection)
        connection.execute("BEGIN IMMEDIATE")
        if not _is_ours(connection, owner):
            drop_everything(connection)
            make_tables(connection, owner)
            make_indexes(connection)
        connection.execute("COMMIT")


def _is_ours(connection: sqlite3.Connection, owner: str) -> bool:
    try:
        look(connection, owner)
    except (DamagedError, sqlite3.Error):
        return False
    return True


def create_aside(path: str, owner: str) -> sqlite3.Connection:
    """Make a file that nobody else knows, with empty tables, to be filled fast and without regard to a crash."""
    remove_file(path)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = _connect(path)
    connection.execute(_GIVING_BACK)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute(f"PRAGMA cache_size = -{_BUILD_CACHE_KIB}")
    connection.execute("PRAGMA synchronous = OFF")
    make_tables(connection, owner)
    return connection


def install(source: sqlite3.Connection, built: str, path: str) -> None:
    """Put a finished file in the place of the index, and remove it from where it was built.

    `source` is the connection that built it, which holds most of its pages; it is closed here.

    An index that SQLite can open is overwritten page by page in one transaction of its own: readers of every process go
    on with what they see, and find the new content at their next read. Only what cannot be opened is replaced by
    renaming; whoever holds the old file open finds another inode at the next read.
    """
    with closing(source):
        if os.path.exists(path):
            try:
                _overwrite(source, path)
            except (sqlite3.Error, UnicodeDecodeError, DamagedError) as error:
                if isinstance(error, sqlite3.Error) and isinstance(translate_error(error), StorageFailedError):
                    raise
            else:
                remove_file(built)
                return
    _sync(built)
    remove_file(path)
    os.replace(built, path)


def _overwrite(source: sqlite3.Connection, path: str) -> None:
    def stop_when_busy(status: int, remaining: int, total: int) -> None:
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StorageFailedError("another process writes the index")

    with closing(_connect(path)) as target:
        _switch_to_log(target)
        target.execute("PRAGMA synchronous = NORMAL")
        source.backup(target, progress=stop_when_busy)
        truncate_log(target)


def give_back(connection: sqlite3.Connection) -> None:
    """Make the file smaller by its free pages where they are many, as forward rows leave them; in no transaction."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if free > _FREE_MAX_PAGES and free * _FREE_SHARE > pages:
        # `execute` would stop behind the first page.
        connection.executescript(f"PRAGMA incremental_vacuum({free})")


def remove_file(path: str) -> None:
    """Remove a database and what SQLite keeps beside it, where they are there."""
    for suffix in _SUFFIXES:
        try:
            os.unlink(path + suffix)
        except FileNotFoundError:
            pass


def truncate_log(connection: sqlite3.Connection) -> None:
    """Move what the write-ahead log holds into the file and empty it, as far as readers allow without waiting."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_WAIT_MS}")


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
