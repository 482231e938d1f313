"""Which versions others speak of: members of conflicts, parents of merges; and the displaced ones nobody speaks of."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence

from onrecord.domain.heads import VersionHead
from onrecord.domain.ids import LogId, RecordId
from onrecord.domain.instants import OPEN_END
from onrecord.ports.index import Mention
from onrecord.storage.sqlite.catalogue import list_heads


def insert_mentions(connection: sqlite3.Connection, document: int, mentions: Sequence[Mention]) -> None:
    """Take note of the versions that a document speaks of."""
    if not mentions:
        return
    rows = ((mention.record, mention.ref.log, mention.ref.seq, document) for mention in mentions)
    connection.executemany("INSERT OR IGNORE INTO mentions VALUES (?, ?, ?, ?)", rows)


def list_conflicts(connection: sqlite3.Connection, statuses: Collection[str], *, has_file: bool) -> list[VersionHead]:
    """Return the current versions of conflicts with one of these statuses, by record time, then id."""
    marks = ", ".join("?" * len(statuses))
    where = f"WHERE kind = 'conflict' AND ended_at = ? AND status IN ({marks})"
    if has_file:
        where += " AND EXISTS (SELECT 1 FROM files WHERE files.record = heads.id)"
    return list_heads(connection, f"{where} ORDER BY recorded_at, id", OPEN_END, *statuses)


def find_conflicts(connection: sqlite3.Connection, records: Collection[RecordId]) -> dict[RecordId, list[RecordId]]:
    """Return, for those of the records that open conflicts have as members, their ids."""
    rows = connection.execute(
        "SELECT DISTINCT mentions.record, heads.id FROM mentions JOIN heads USING (document) "
        "JOIN heads AS now ON now.id = heads.id AND now.n IS NULL AND now.ended_at = ? AND now.status = 'pending' "
        "WHERE mentions.record IN (SELECT value FROM json_each(?)) AND heads.kind = 'conflict' ORDER BY 1, 2",
        (OPEN_END, json.dumps(list(records))),
    )
    found: dict[RecordId, list[RecordId]] = {}
    for record, conflict in rows:
        found.setdefault(record, []).append(conflict)
    return found


def list_unsettled(connection: sqlite3.Connection, log: LogId, limit: int) -> list[VersionHead]:
    """Return at most `limit` displaced versions of a log that no other version mentions, by entry."""
    where = (
        "WHERE is_displaced = 1 AND n IS NULL AND log = ? AND NOT EXISTS "
        "(SELECT 1 FROM mentions WHERE mentions.log = heads.log AND mentions.seq = heads.seq) ORDER BY seq LIMIT ?"
    )
    return list_heads(connection, where, log, limit)


def find_displaced(connection: sqlite3.Connection, path: str) -> list[VersionHead]:
    """Return the displaced versions whose bytes were at a path, by log and seq."""
    return list_heads(connection, "WHERE is_displaced = 1 AND n IS NULL AND path = ? ORDER BY log, seq", path)
