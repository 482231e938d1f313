"""The catalogue: heads of versions and turns, files, watermarks; which version of a record is current since when."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onrecord.domain.filenames import fold_path
from onrecord.domain.heads import TurnName, VersionHead, order_of
from onrecord.domain.ids import EntryRef, LogId, RecordId
from onrecord.domain.instants import OPEN_END, Instant
from onrecord.domain.names import fold_name
from onrecord.ports.index import Document, FileRow, FileStamp, Filter
from onrecord.storage.sqlite.schema import build_damage

Facets = tuple[str, tuple[str, ...]]

_NEVER = Instant("")
_NO_TURN = (None,) * 8
_AFTER_IDS = "{"  # follows every character of base32
_LIST_MAX_COUNT = 64

# In the order of the fields of VersionHead and TurnName.
_COLUMNS = (
    "log, seq, id, version, kind, status, origin, workspace, partitions.name, path, title, recorded_at, text_sha256, "
    "type, tags, event_time, is_displaced, is_observed, key, source, session, turn, n, block, role, speaker, time, "
    "offset_bytes, size_bytes, redacted, document"
)
_SELECT = f"SELECT {_COLUMNS} FROM heads JOIN partitions ON partitions.number = heads.partition "
_INSERT = f"INSERT OR IGNORE INTO heads VALUES ({', '.join('?' * 35)})"
_FILE_COLUMNS = "path, record, size_bytes, mtime_ns, ctime_ns, device, inode, sha256, checked_ns"
_IS_VERSION = "n IS NULL AND is_displaced = 0"
_ORDER = "version, recorded_at, log, seq"
_TURN_ORDER = "n, recorded_at, log, seq"


@dataclass(frozen=True, slots=True)
class Died:
    """A document that is no longer current: its number and what it counted for in its partition's statistics."""

    document: int
    partition: int
    tokens: int
    lines: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What taking in a head did: whether the document is live (current, with status `current`), and what died of it."""

    is_live: bool
    died: Sequence[Died]


def take_in(
    connection: sqlite3.Connection, document: Document, number: int, partition: int, *, is_new_record: bool
) -> Taken | None:
    """Insert a head under a new document number and end what it supersedes; return None where its entry is known.

    `is_new_record` spares the search for other versions of the record; it may be False for want of knowledge.
    """
    head = document.head
    turn = head.turn
    earlier: list[Any] = []
    ended_at = OPEN_END
    named: tuple[object, ...] = _NO_TURN
    if turn is not None:
        named = (turn.n, turn.source, turn.session, turn.turn, turn.block, turn.role, turn.speaker, turn.time)
    elif head.is_displaced:
        ended_at = _NEVER
    elif not is_new_record:
        earlier, ended_at = _find_neighbours(connection, head)
    ref, tags = head.ref, head.tags
    first = (number, ref.log, ref.seq, head.id, head.version, head.kind, head.status, head.origin, head.workspace)
    second = (partition, head.path, head.title, head.recorded_at, head.text_sha256, head.type, _write_list(tags))
    third = (head.event_time, head.is_displaced, head.is_observed, head.key, head.offset_bytes, head.size_bytes)
    fourth = (_write_list(fold_tags(tags)) if tags else None, document.tokens, document.lines, ended_at)
    inserted = _insert(connection, first + second + third + (_write_list(head.redacted),) + named + fourth)
    if not inserted.rowcount:
        return None
    _insert_workspace(connection, head)
    died = []
    for superseded, part, tokens, lines, end, status, *_ in earlier:
        connection.execute("UPDATE heads SET ended_at = ? WHERE document = ?", (head.recorded_at, superseded))
        if end == OPEN_END and status == "current":
            died.append(Died(superseded, part, tokens, lines))
    return Taken(ended_at == OPEN_END and head.status == "current", died)


def _insert_workspace(connection: sqlite3.Connection, head: VersionHead) -> None:
    connection.execute(
        "INSERT INTO workspaces VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET since = ?3 WHERE ?3 < since",
        [value.encode(errors="replace").decode() for value in (fold_name(head.workspace), head.workspace)]
        + [head.recorded_at],
    )


def list_spellings(connection: sqlite3.Connection, folded: str) -> list[str]:
    """Return the workspaces whose name folds to this, first recorded first."""
    rows = connection.execute("SELECT name FROM workspaces WHERE folded = ? ORDER BY since, name", (folded,))
    return [name for (name,) in rows]


def _insert(connection: sqlite3.Connection, values: Sequence[object]) -> sqlite3.Cursor:
    try:
        return connection.execute(_INSERT, values)
    except UnicodeEncodeError:  # half a surrogate pair, out of an escape in a file that somebody else wrote
        repaired = [value.encode(errors="replace").decode() if isinstance(value, str) else value for value in values]
        return connection.execute(_INSERT, repaired)


def _find_neighbours(connection: sqlite3.Connection, head: VersionHead) -> tuple[list[Any], Instant]:
    """Return the rows that a version ends, and when itself it stopped being the newest.

    A version ends when the first of those after it in order is recorded, whenever that comes in.
    """
    order = order_of(head)
    rows = connection.execute(
        f"SELECT document, partition, tokens, lines, ended_at, status, {_ORDER} FROM heads "
        f"WHERE id = ? AND ended_at > ? AND {_IS_VERSION}",
        (head.id, head.recorded_at),
    ).fetchall()
    earlier = [row for row in rows if row[6:] < order]
    if len(earlier) == len(rows):
        return earlier, OPEN_END
    (end,) = connection.execute(
        f"SELECT min(recorded_at) FROM heads WHERE id = ? AND ({_ORDER}) > (?, ?, ?, ?) AND {_IS_VERSION}",
        (head.id, *order),
    ).fetchone()
    return earlier, OPEN_END if end is None else Instant(end)


def fold_tags(tags: Iterable[str]) -> list[str]:
    """Return the tags as they are compared."""
    return [tag.casefold() for tag in tags]


def _write_list(items: Sequence[str]) -> str | None:
    return json.dumps(items, ensure_ascii=False) if items else None


def _read_list(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    try:
        return tuple(json.loads(text))
    except (ValueError, TypeError) as error:
        raise build_damage("a list cannot be read") from error


def read_head(row: Sequence[Any]) -> VersionHead:
    """Return the head of a row of `_COLUMNS`.

    Raises:
        DamagedError: the row is not one.
    """
    try:
        return VersionHead(
            ref=EntryRef(row[0], row[1]),
            id=row[2],
            version=row[3],
            kind=row[4],
            status=row[5],
            origin=row[6],
            workspace=row[7],
            partition=row[8],
            path=row[9],
            title=row[10],
            recorded_at=row[11],
            text_sha256=row[12],
            type=row[13],
            tags=_read_list(row[14]),
            event_time=row[15],
            is_displaced=bool(row[16]),
            is_observed=bool(row[17]),
            key=row[18],
            turn=None if row[22] is None else TurnName(*row[19:27]),
            offset_bytes=row[27],
            size_bytes=row[28],
            redacted=_read_list(row[29]),
        )
    except (ValueError, TypeError) as error:
        raise build_damage("a head cannot be read") from error


def find_ids(connection: sqlite3.Connection, prefix: str, limit: int) -> list[RecordId]:
    """Return at most `limit` record ids that begin with `prefix`, ascending."""
    found: list[RecordId] = []
    last, end = prefix, prefix + _AFTER_IDS
    comparison = ">="
    while len(found) < limit:
        row = connection.execute(
            f"SELECT id FROM heads WHERE id {comparison} ? AND id < ? ORDER BY id LIMIT 1", (last, end)
        ).fetchone()
        if row is None:
            break
        last, comparison = row[0], ">"
        found.append(RecordId(last))
    return found


def get_current(connection: sqlite3.Connection, record: RecordId) -> VersionHead | None:
    """Return the shown version of a record."""
    row = connection.execute(
        f"{_SELECT} WHERE id = ? AND ended_at = ? AND {_IS_VERSION} ORDER BY {_ORDER}", (record, OPEN_END)
    ).fetchone()
    return None if row is None else read_head(row)


def list_versions(connection: sqlite3.Connection, record: RecordId) -> list[VersionHead]:
    """Return every version of a record in order."""
    return _list(connection, f"WHERE id = ? AND n IS NULL ORDER BY {_ORDER}", record)


def list_turns(connection: sqlite3.Connection, record: RecordId) -> list[VersionHead]:
    """Return the turns of a transcript in order."""
    return _list(connection, f"WHERE id = ? AND n IS NOT NULL ORDER BY {_TURN_ORDER}", record)


def find_by_text(connection: sqlite3.Connection, workspace: str | None, text_sha256: bytes) -> list[VersionHead]:
    """Return current, status `current` versions with this text hash, by id; None: of any workspace."""
    return _list(
        connection,
        f"WHERE substr(text_sha256, 1, 8) = ? AND text_sha256 = ? AND workspace = coalesce(?, workspace) "
        f"AND ended_at = ? AND status = 'current' AND {_IS_VERSION} ORDER BY id",
        *(text_sha256[:8], text_sha256, workspace, OPEN_END),
    )


def find_by_key(connection: sqlite3.Connection, key: str) -> list[VersionHead]:
    """Return the heads written under an idempotency key, by log and seq; none for an empty key."""
    return _list(connection, "WHERE key = ? AND key <> '' ORDER BY log, seq", key)


def find_turn(connection: sqlite3.Connection, source: str, session: str, turn: str) -> VersionHead | None:
    """Return the turn of this name; of several the first in order."""
    where = f"WHERE source = ? AND session = ? AND turn = ? AND n IS NOT NULL ORDER BY {_TURN_ORDER} LIMIT 1"
    return next(iter(_list(connection, where, source, session, turn)), None)


def get_last_turn(connection: sqlite3.Connection, source: str, session: str) -> VersionHead | None:
    """Return the turn with the greatest ordinal of a session; of several the last in order."""
    where = (
        "WHERE source = ?1 AND session = ?2 AND n = (SELECT max(n) FROM heads WHERE source = ?1 AND session = ?2 "
        "AND n IS NOT NULL) ORDER BY recorded_at DESC, log DESC, seq DESC LIMIT 1"
    )
    return next(iter(_list(connection, where, source, session)), None)


def _list(connection: sqlite3.Connection, where: str, *values: object) -> list[VersionHead]:
    return [read_head(row) for row in connection.execute(f"{_SELECT} {where}", values)]


def get_heads(connection: sqlite3.Connection, documents: Collection[int]) -> dict[int, VersionHead]:
    """Return heads by document number.

    Raises:
        DamagedError: a document has no head.
    """
    where, values = choose_documents(documents)
    heads = {row[-1]: read_head(row) for row in connection.execute(f"{_SELECT} WHERE {where}", values)}
    if len(heads) < len(documents):
        raise build_damage("a document has no head")
    return heads


def choose_documents(documents: Collection[int]) -> tuple[str, tuple[object, ...]]:
    """Return a condition on `document` with its values."""
    if len(documents) <= _LIST_MAX_COUNT:
        return f"document IN ({', '.join('?' * len(documents))})", tuple(documents)
    return "document IN (SELECT value FROM json_each(?))", (json.dumps(list(documents)),)


def filter_documents(
    connection: sqlite3.Connection, chosen: str, values: Sequence[object], allowed: Filter
) -> set[int]:
    """Return those of the chosen documents (a condition with its values) that pass a filter but for its partitions."""
    conditions = [chosen, "is_displaced = 0"]
    bound = list(values)
    if allowed.as_of is None:
        conditions.append("ended_at = ?")
        bound.append(OPEN_END)
    elif not allowed.horizons:
        conditions.append("recorded_at <= ? AND (ended_at > ? OR ended_at = ?)")
        bound += (allowed.as_of, allowed.as_of, OPEN_END)
    else:
        condition, more = _describe_known(allowed.as_of, allowed.horizons)
        conditions.append(condition)
        bound += more
    named: Mapping[str, Collection[str]] = {
        "workspace": allowed.workspaces,
        "kind": allowed.kinds,
        "status": allowed.statuses,
        "origin": allowed.origins,
        "type": allowed.types,
    }
    for column, wanted in named.items():
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            bound += wanted
    for tag in fold_tags(allowed.tags):
        conditions.append("EXISTS (SELECT 1 FROM json_each(folded_tags) WHERE value = ?)")
        bound.append(tag)
    rows = connection.execute(f"SELECT document FROM heads WHERE {' AND '.join(conditions)}", bound)
    return {document for (document,) in rows}


def _describe_known(as_of: Instant, horizons: Mapping[LogId, int]) -> tuple[str, list[object]]:
    """Return the condition, with its values, that a head was known and newest, other logs by what was seen of them.

    `ended_at` does not help: it is when the next version was recorded, not when it was seen here.
    """

    def is_known(table: str) -> str:
        seen = f"SELECT value FROM json_each(?) WHERE key = {table}.log"
        return f"coalesce({table}.seq < ({seen}), {table}.recorded_at <= ?)"

    known = [json.dumps(dict(horizons)), as_of]
    order = ", ".join(f"heads.{name}" for name in _ORDER.split(", "))
    later = ", ".join(f"later.{name}" for name in _ORDER.split(", "))
    condition = (
        f"{is_known('heads')} AND (n IS NOT NULL OR NOT EXISTS (SELECT 1 FROM heads AS later WHERE later.id = heads.id "
        f"AND later.n IS NULL AND later.is_displaced = 0 AND ({later}) > ({order}) AND {is_known('later')}))"
    )
    return condition, [*known, *known]


def read_facets(connection: sqlite3.Connection, where: str, *values: object) -> dict[int, Facets]:
    """Return workspace and folded tags of the heads of a condition on `document`, by document number."""
    rows = connection.execute(f"SELECT document, workspace, folded_tags FROM heads WHERE {where}", values)
    return {document: (workspace, _read_list(tags)) for document, workspace, tags in rows}


def count(connection: sqlite3.Connection) -> dict[str, int]:
    """Return counts: records, versions, turns, files."""
    records, versions = connection.execute("SELECT count(DISTINCT id), count(*) FROM heads WHERE n IS NULL").fetchone()
    (heads,) = connection.execute("SELECT count(*) FROM heads").fetchone()
    (files,) = connection.execute("SELECT count(*) FROM files").fetchone()
    return {"records": records, "versions": versions, "turns": heads - versions, "files": files}


def write_file(connection: sqlite3.Connection, stamp: FileStamp) -> None:
    """Insert or replace a stamp."""
    connection.execute(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(stamp.path, fold_path(stamp.path), stamp.record, stamp.size_bytes, stamp.mtime_ns, stamp.ctime_ns),
            *(str(stamp.device), str(stamp.inode), stamp.sha256, stamp.checked_ns),
        ),
    )


def list_files(connection: sqlite3.Connection, where: str = "", *values: object) -> list[FileStamp]:
    """Return the stamps of a condition on `files`, by path."""
    try:
        return [
            FileStamp(path, RecordId(record), size, mtime_ns, ctime_ns, int(device), int(inode), sha256, checked_ns)
            for path, record, size, mtime_ns, ctime_ns, device, inode, sha256, checked_ns in connection.execute(
                f"SELECT {_FILE_COLUMNS} FROM files {where} ORDER BY path", values
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
