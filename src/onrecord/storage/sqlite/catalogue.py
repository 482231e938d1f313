"""The catalogue: heads of versions and turns; which version of a record is current since when."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from onrecord.domain.heads import LOOSE_LOGS, TurnName, VersionHead, order_of
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.instants import OPEN_END, Instant
from onrecord.ports.index import Document
from onrecord.storage.sqlite.schema import IS_OF_A_LOG, build_damage
from onrecord.storage.sqlite.spellings import insert_spellings

_NEVER = Instant("")
_AFTER_IDS = "{"  # follows every character of base32
_LIST_MAX_COUNT = 64

# In the order of the fields of VersionHead and TurnName.
_COLUMNS = (
    "log, seq, id, version, kind, status, origin, workspace, partitions.name, path, title, recorded_at, text_sha256, "
    "also_in, tags, event_time, is_displaced, is_observed, key, source, session, turn, n, block, role, speaker, time, "
    "offset_bytes, size_bytes, redacted, document"
)
_SELECT = f"SELECT {_COLUMNS} FROM heads JOIN partitions ON partitions.number = heads.partition "
_WRITTEN = (
    "document, log, seq, id, version, kind, status, origin, workspace, partition, path, title, recorded_at, "
    "text_sha256, is_displaced, is_observed, key, offset_bytes, size_bytes, tokens, lines, ended_at, "
    "also_in, tags, event_time, redacted"
)
# An empty text stands for NULL in the last four: the driver is slow in taking None, as it is with bool and bytes.
_VERSION_COLUMNS = 26
_VALUES = f"{', '.join('?' * 22)}, nullif(?, ''), nullif(?, ''), nullif(?, ''), nullif(?, '')"
_INSERT = f"INSERT OR IGNORE INTO heads ({_WRITTEN}) VALUES ({_VALUES})"
_INSERT_TURN = (
    f"INSERT OR IGNORE INTO heads ({_WRITTEN}, n, source, session, turn, block, role, speaker, time) "
    f"VALUES ({_VALUES}, {', '.join('?' * 8)})"
)
_IS_VERSION = "n IS NULL AND ended_at <> ''"  # an end before all time is that of a displaced version
ORDER = "version, recorded_at, log, seq"
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


def take_in(connection: sqlite3.Connection, document: Document, number: int, partition: int) -> Taken | None:
    """Insert a head under a new document number and end what it supersedes; return None where its entry is known."""
    head = document.head
    earlier: list[Any] = []
    ended_at = find_first_end(head)
    if ended_at == OPEN_END and head.turn is None:
        earlier, ended_at = _find_neighbours(connection, head)
    inserted = _insert(connection, describe_head(document, number, partition, ended_at))
    if not inserted.rowcount:
        return None
    if head.ref.log not in LOOSE_LOGS:
        insert_spellings(connection, head)
    died = []
    for superseded, part, tokens, lines, end, status, *_ in earlier:
        connection.execute("UPDATE heads SET ended_at = ? WHERE document = ?", (head.recorded_at, superseded))
        if end == OPEN_END and status == "current":
            died.append(Died(superseded, part, tokens, lines))
    return Taken(ended_at == OPEN_END and head.status == "current", died)


def drop_head(connection: sqlite3.Connection, ref: EntryRef) -> list[Died]:
    """Forget a loose document's head and return what died of it, if it was live; postings of it are passed over.

    The row stays, without what it said, until the index is made anew: its number is in the posting lists.
    """
    row = connection.execute(
        "SELECT document, partition, tokens, lines, status FROM heads WHERE log = ? AND seq = ?", (ref.log, ref.seq)
    ).fetchone()
    if row is None:
        return []
    *died, status = row
    connection.execute(
        "UPDATE heads SET seq = -document, id = '', path = '', title = '', key = '', text_sha256 = x'', tags = NULL, "
        "is_displaced = 1, ended_at = '' WHERE document = ?",
        (row[0],),
    )
    return [Died(*died)] if status == "current" else []


def find_first_end(head: VersionHead) -> Instant:
    """Return since when a head is not current as far as it alone tells: open, or never was for a displaced version."""
    return _NEVER if head.is_displaced and head.turn is None else OPEN_END


def describe_head(document: Document, number: int, partition: int, ended_at: Instant) -> tuple[object, ...]:
    """Return the row of a head."""
    head, packed, turn = document.head, document.packed, document.head.turn
    ref = head.ref
    row = (
        *(number, ref.log, ref.seq, head.id, head.version, head.kind, head.status, head.origin, head.workspace),
        *(partition, head.path, head.title, head.recorded_at, bytearray(head.text_sha256)),
        *(int(head.is_displaced), int(head.is_observed), head.key, head.offset_bytes, head.size_bytes),
        *(packed.tokens, packed.line_count, ended_at),
        _write_list(head.also_in) if head.also_in else "",
        _write_list(head.tags) if head.tags else "",
        head.event_time or "",
        _write_list(head.redacted) if head.redacted else "",
    )
    if turn is None:
        return row
    return (*row, turn.n, turn.source, turn.session, turn.turn, turn.block, turn.role, turn.speaker, turn.time)


def _insert(connection: sqlite3.Connection, values: Sequence[object]) -> sqlite3.Cursor:
    statement = _INSERT if len(values) == _VERSION_COLUMNS else _INSERT_TURN
    try:
        return connection.execute(statement, values)
    except UnicodeEncodeError:
        return connection.execute(statement, _repair(values))


def insert_heads(connection: sqlite3.Connection, rows: Sequence[Sequence[object]]) -> None:
    """Insert heads of new entries as `describe_head` gives them."""
    versions = [row for row in rows if len(row) == _VERSION_COLUMNS]
    turns = [row for row in rows if len(row) > _VERSION_COLUMNS] if len(versions) < len(rows) else []
    for statement, chosen in ((_INSERT, versions), (_INSERT_TURN, turns)):
        try:
            connection.executemany(statement, chosen)
        except UnicodeEncodeError:  # those before the row at fault are in, and are ignored now
            connection.executemany(statement, map(_repair, chosen))


def _repair(values: Sequence[object]) -> list[object]:
    """Replace half a surrogate pair, out of an escape in a file that somebody else wrote."""
    return [value.encode(errors="replace").decode() if isinstance(value, str) else value for value in values]


def _find_neighbours(connection: sqlite3.Connection, head: VersionHead) -> tuple[list[Any], Instant]:
    """Return the rows that a version ends, and when itself it stopped being the newest.

    A version ends when the first of those after it in order is recorded, whenever that comes in.
    """
    order = order_of(head)
    rows = connection.execute(
        f"SELECT document, partition, tokens, lines, ended_at, status, {ORDER} FROM heads "
        f"WHERE id = ? AND ended_at > ? AND {_IS_VERSION}",
        (head.id, head.recorded_at),
    ).fetchall()
    earlier = [row for row in rows if row[6:] < order]
    if len(earlier) == len(rows):
        return earlier, OPEN_END
    (end,) = connection.execute(
        f"SELECT min(recorded_at) FROM heads WHERE id = ? AND ({ORDER}) > (?, ?, ?, ?) AND {_IS_VERSION}",
        (head.id, *order),
    ).fetchone()
    return earlier, OPEN_END if end is None else Instant(end)


def _write_list(items: Sequence[str]) -> str:
    return json.dumps(items, ensure_ascii=False)


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
            also_in=_read_list(row[13]),
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


def end_superseded(connection: sqlite3.Connection) -> list[int]:
    """End every version that another of its record supersedes; return the live documents that died, ascending."""
    rows = connection.execute(
        "SELECT document, is_live, end FROM "
        "(SELECT document, ended_at, ended_at = ?1 AND status = 'current' AS is_live, "
        f"min(recorded_at) OVER (PARTITION BY id ORDER BY {ORDER} ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) "
        f"AS end FROM heads WHERE {_IS_VERSION} AND id IN "
        f"(SELECT id FROM heads WHERE {_IS_VERSION} GROUP BY id HAVING count(*) > 1)) "
        "WHERE end IS NOT NULL AND end <> ended_at ORDER BY document",
        (OPEN_END,),
    ).fetchall()
    connection.executemany("UPDATE heads SET ended_at = ? WHERE document = ?", ((end, doc) for doc, _, end in rows))
    return [document for document, is_live, _ in rows if is_live]


def count_partitions(connection: sqlite3.Connection) -> None:
    """Count the live documents of each partition anew, with their tokens and lines."""
    counts = connection.execute(
        "SELECT count(*), sum(tokens), sum(lines), partition FROM heads "
        "WHERE ended_at = ? AND status = 'current' GROUP BY partition",
        (OPEN_END,),
    ).fetchall()
    connection.executemany("UPDATE partitions SET documents = ?, tokens = ?, lines = ? WHERE number = ?", counts)


def find_ids(connection: sqlite3.Connection, prefix: str, limit: int) -> list[RecordId]:
    """Return at most `limit` record ids that begin with `prefix`, ascending."""
    found: list[RecordId] = []
    last, end = prefix, prefix + _AFTER_IDS
    comparison = ">="
    query = f"SELECT id FROM heads WHERE id {{}} ? AND id < ? AND {IS_OF_A_LOG} ORDER BY id LIMIT 1"
    while len(found) < limit:
        row = connection.execute(query.format(comparison), (last, end)).fetchone()
        if row is None:
            break
        last, comparison = row[0], ">"
        found.append(RecordId(last))
    return found


def get_current(connection: sqlite3.Connection, record: RecordId) -> VersionHead | None:
    """Return the shown version of a record."""
    row = connection.execute(
        f"{_SELECT} WHERE id = ? AND ended_at = ? AND {_IS_VERSION} ORDER BY {ORDER}", (record, OPEN_END)
    ).fetchone()
    return None if row is None else read_head(row)


def list_versions(connection: sqlite3.Connection, record: RecordId) -> list[VersionHead]:
    """Return every version of a record in order."""
    return list_heads(connection, f"WHERE id = ? AND n IS NULL ORDER BY {ORDER}", record)


def list_turns(connection: sqlite3.Connection, record: RecordId) -> list[VersionHead]:
    """Return the turns of a transcript in order."""
    return list_heads(connection, f"WHERE id = ? AND n IS NOT NULL ORDER BY {_TURN_ORDER}", record)


def find_by_text(
    connection: sqlite3.Connection, workspace: str | None, text_sha256: bytes, status: str | None
) -> list[VersionHead]:
    """Return current versions of a status, or all, with this text hash, by id; None: of any workspace."""
    return list_heads(
        connection,
        f"WHERE substr(text_sha256, 1, 8) = ? AND text_sha256 = ? AND workspace = coalesce(?, workspace) "
        f"AND (? IS NULL OR (ended_at = ? AND status = ?)) AND {_IS_VERSION} AND {IS_OF_A_LOG} ORDER BY id",
        *(text_sha256[:8], text_sha256, workspace, status, OPEN_END, status),
    )


def find_by_path(connection: sqlite3.Connection, path: str) -> list[VersionHead]:
    """Return current, status `current` versions that were last recorded at exactly this path, by id."""
    return list_heads(
        connection,
        f"WHERE path = ? AND ended_at = ? AND status = 'current' AND {_IS_VERSION} AND {IS_OF_A_LOG} ORDER BY id",
        *(path, OPEN_END),
    )


def find_by_key(connection: sqlite3.Connection, key: str) -> list[VersionHead]:
    """Return the heads written under an idempotency key, by log and seq; none for an empty key."""
    return list_heads(connection, "WHERE key = ? AND key <> '' ORDER BY log, seq", key)


def find_turn(connection: sqlite3.Connection, source: str, session: str, turn: str) -> VersionHead | None:
    """Return the turn of this name; of several the first in order."""
    where = f"WHERE source = ? AND session = ? AND turn = ? AND n IS NOT NULL ORDER BY {_TURN_ORDER} LIMIT 1"
    return next(iter(list_heads(connection, where, source, session, turn)), None)


def get_last_turn(connection: sqlite3.Connection, source: str, session: str) -> VersionHead | None:
    """Return the turn with the greatest ordinal of a session; of several the last in order."""
    where = (
        "WHERE source = ?1 AND session = ?2 AND n = (SELECT max(n) FROM heads WHERE source = ?1 AND session = ?2 "
        "AND n IS NOT NULL) ORDER BY recorded_at DESC, log DESC, seq DESC LIMIT 1"
    )
    return next(iter(list_heads(connection, where, source, session)), None)


def list_heads(connection: sqlite3.Connection, where: str, *values: object) -> list[VersionHead]:
    """Return the heads of a condition with its values, in the order that it asks for."""
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


def read_workspaces(connection: sqlite3.Connection, where: str, *values: object) -> dict[int, tuple[str, ...]]:
    """Return the workspaces of the heads of a condition on `document`, home first, by document number."""
    rows = connection.execute(f"SELECT document, workspace, also_in FROM heads WHERE {where}", values)
    return {document: (workspace, *_read_list(also_in)) for document, workspace, also_in in rows}


def count(connection: sqlite3.Connection) -> dict[str, int]:
    """Return counts: records, versions, turns, files."""
    records, versions, heads = connection.execute(
        "SELECT count(DISTINCT CASE WHEN n IS NULL THEN id END), count(CASE WHEN n IS NULL THEN 1 END), count(*) "
        f"FROM heads WHERE {IS_OF_A_LOG}"
    ).fetchone()
    (files,) = connection.execute("SELECT count(*) FROM files").fetchone()
    return {"records": records, "versions": versions, "turns": heads - versions, "files": files}
