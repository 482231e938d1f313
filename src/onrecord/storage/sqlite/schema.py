"""What the index file holds: its tables and format; and what SQLite's errors mean.

The file belongs to one machine, one analyzer and one owner (an installation of a vault); any other is damaged as far as
this program goes, and made anew.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from onrecord.domain.errors import DamagedError, InvalidInputError, OnRecordError, StorageFailedError
from onrecord.domain.heads import LOOSE_LOGS
from onrecord.domain.postings import PACKING_VERSION
from onrecord.domain.terms import ANALYZER_VERSION

_TABLES_VERSION = 7
FORMAT: Final = f"{_TABLES_VERSION}/{ANALYZER_VERSION}/{PACKING_VERSION}/{sys.byteorder}"

# What a query about versions and turns asks of `heads`: loose documents are neither.
IS_OF_A_LOG: Final = f"log NOT IN ({', '.join(repr(str(log)) for log in sorted(LOOSE_LOGS))})"

_REBUILD_HINT = "Run `onrecord reindex`."

_TABLES = """
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 0), format TEXT NOT NULL, owner TEXT NOT NULL, build TEXT NOT NULL,
    merged INTEGER NOT NULL, pending INTEGER NOT NULL, merges INTEGER NOT NULL, terms INTEGER NOT NULL
);
CREATE TABLE watermarks (log TEXT PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE partitions (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    documents INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, lines INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE heads (
    document INTEGER PRIMARY KEY, log TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
    kind TEXT NOT NULL, status TEXT NOT NULL, origin TEXT NOT NULL, workspace TEXT NOT NULL,
    partition INTEGER NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL, recorded_at TEXT NOT NULL,
    text_sha256 BLOB NOT NULL, also_in TEXT, tags TEXT, event_time TEXT, is_displaced INTEGER NOT NULL,
    is_observed INTEGER NOT NULL, key TEXT NOT NULL, offset_bytes INTEGER NOT NULL, size_bytes INTEGER NOT NULL,
    redacted TEXT, tokens INTEGER NOT NULL, lines INTEGER NOT NULL, ended_at TEXT NOT NULL,
    n INTEGER, source TEXT, session TEXT, turn TEXT, block TEXT, role TEXT, speaker TEXT, time TEXT
);
CREATE TABLE workspaces (
    folded TEXT NOT NULL, name TEXT NOT NULL, since TEXT NOT NULL, PRIMARY KEY (folded, name)
) WITHOUT ROWID;
CREATE TABLE mentions (
    record TEXT NOT NULL, log TEXT NOT NULL, seq INTEGER NOT NULL, document INTEGER NOT NULL,
    PRIMARY KEY (record, log, seq, document)
) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, place TEXT NOT NULL, record TEXT NOT NULL, size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, device TEXT NOT NULL, inode TEXT NOT NULL,
    sha256 BLOB NOT NULL, checked_ns INTEGER NOT NULL, log TEXT NOT NULL, seq INTEGER NOT NULL, pending INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE touched (record TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE forward (
    document INTEGER PRIMARY KEY, partition INTEGER NOT NULL, is_live INTEGER NOT NULL, terms TEXT NOT NULL,
    lines BLOB NOT NULL, packed BLOB NOT NULL, repeats BLOB NOT NULL
);
CREATE TABLE merged (document INTEGER PRIMARY KEY, partition INTEGER NOT NULL, terms BLOB NOT NULL);
CREATE TABLE dead (document INTEGER PRIMARY KEY);
CREATE TABLE terms (term TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE postings (
    era INTEGER NOT NULL, partition INTEGER NOT NULL, term INTEGER NOT NULL, first INTEGER NOT NULL,
    block BLOB NOT NULL,
    PRIMARY KEY (era, partition, term, first)
) WITHOUT ROWID;
"""
# Made after the rows in bulk: sorted, which costs less than one by one.
_INDEXES = """
CREATE UNIQUE INDEX heads_by_entry ON heads (log, seq);
CREATE INDEX heads_by_id ON heads (id, n, ended_at);
CREATE INDEX heads_by_text ON heads (substr(text_sha256, 1, 8)) WHERE n IS NULL AND ended_at <> '';
CREATE INDEX heads_by_path ON heads (path) WHERE n IS NULL AND ended_at <> '';
CREATE INDEX heads_by_key ON heads (key) WHERE key <> '';
CREATE INDEX heads_by_turn ON heads (source, session, turn) WHERE n IS NOT NULL;
CREATE INDEX heads_by_ordinal ON heads (source, session, n) WHERE n IS NOT NULL;
CREATE INDEX heads_of_conflicts ON heads (ended_at) WHERE kind = 'conflict';
CREATE INDEX heads_displaced ON heads (path) WHERE is_displaced = 1;
CREATE INDEX mentions_by_entry ON mentions (log, seq);
CREATE INDEX files_by_record ON files (record);
CREATE INDEX files_by_place ON files (place);
CREATE INDEX files_by_inode ON files (inode, device);
CREATE INDEX files_pending ON files (path) WHERE pending = 1;
"""

_HELD_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_HELD_HINT = "Ask again in a moment; if another program keeps the file index.sqlite3 open, end it."
_STORAGE_CODES = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOLFS,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_TOOBIG,
    }
)


def build_absence() -> DamagedError:
    """Return the error of an index that has no file."""
    return DamagedError("the index is not there", hint=_REBUILD_HINT)


def build_damage(reason: str) -> DamagedError:
    """Return the error of an index whose bytes make no sense."""
    return DamagedError(f"the index is damaged: {reason}", hint=_REBUILD_HINT)


def translate_error(error: sqlite3.Error) -> OnRecordError:
    """Return what an error of SQLite means: the disk refused, or the file is damaged."""
    code = getattr(error, "sqlite_errorcode", None)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if code is not None and code & 0xFF in _HELD_CODES:
        return StorageFailedError(f"another process holds the index: {name}", hint=_HELD_HINT)
    if isinstance(error, sqlite3.ProgrammingError) or (code is not None and code & 0xFF in _STORAGE_CODES):
        return StorageFailedError(f"the index cannot be used: {name}")
    return build_damage(str(name))


@contextmanager
def translated() -> Iterator[None]:
    """Turn every error of SQLite and of the operating system within into one of ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate_error(error) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it finds in a broken file
        raise build_damage("text is not UTF-8") from error
    except UnicodeEncodeError as error:
        raise InvalidInputError("text holds half a surrogate pair") from error
    except OSError as error:
        raise StorageFailedError(f"the index cannot be used: {error.strerror or type(error).__name__}") from error


@dataclass(frozen=True, slots=True)
class Seen:
    """The state that a read sees.

    Attributes:
        build: Which build of the file it is.
        merges: How often that was merged.
        merged: The last document in blocks.
        last: The last document of all.
    """

    build: str
    merges: int
    merged: int
    last: int


def look(connection: sqlite3.Connection, owner: str) -> Seen:
    """Return the state of the file, after a look at its format and at whose it is.

    Raises:
        DamagedError: another format, or the index of another owner.
    """
    row = connection.execute(
        "SELECT format, owner, build, merges, merged, "
        "max(merged, (SELECT coalesce(max(document), 0) FROM forward)) FROM state"
    ).fetchone()
    if row is None or row[0] != FORMAT or not all(isinstance(count, int) for count in row[3:]):
        raise build_damage("it has another format")
    if row[1] != owner:
        raise build_damage("it belongs to another vault or installation")
    return Seen(*row[2:])


def make_tables(connection: sqlite3.Connection, owner: str) -> None:
    """Make the tables of an empty index, without the indexes over them."""
    for statement in _list_statements(_TABLES):
        connection.execute(statement)
    connection.execute("INSERT INTO state VALUES (0, ?, ?, ?, 0, 0, 0, 0)", (FORMAT, owner, os.urandom(8).hex()))


def make_indexes(connection: sqlite3.Connection) -> None:
    """Make the indexes over the rows that are in."""
    for statement in _list_statements(_INDEXES):
        connection.execute(statement)


def drop_everything(connection: sqlite3.Connection) -> None:
    """Drop every table, whoever made it."""
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall():
        quoted = str(name).replace('"', '""')
        connection.execute(f'DROP TABLE "{quoted}"')


def _list_statements(script: str) -> list[str]:
    return [statement for statement in script.split(";\n") if statement.strip()]
