"""How workspaces are spelled: every name of one, by its folded form, with when it was first recorded."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from onrecord.domain.heads import VersionHead
from onrecord.domain.instants import Instant
from onrecord.domain.names import fold_name
from onrecord.storage.sqlite.schema import IS_OF_A_LOG


def insert_spellings(connection: sqlite3.Connection, head: VersionHead) -> None:
    """Take note of the workspaces of a head."""
    _insert(connection, ((name, head.recorded_at) for name in {head.workspace, *head.also_in}))


def insert_all_spellings(connection: sqlite3.Connection) -> None:
    """Take note of the workspaces of every head that is in."""
    _insert(
        connection,
        connection.execute(
            f"SELECT workspace, min(recorded_at) FROM heads WHERE {IS_OF_A_LOG} GROUP BY workspace"
        ).fetchall(),
    )
    others = connection.execute(
        f"SELECT also_in, min(recorded_at) FROM heads WHERE also_in IS NOT NULL AND {IS_OF_A_LOG} GROUP BY also_in"
    ).fetchall()
    _insert(connection, ((name, since) for names, since in others for name in json.loads(names)))


def _insert(connection: sqlite3.Connection, names: Iterable[tuple[str, Instant]]) -> None:
    connection.executemany(
        "INSERT INTO workspaces VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET since = ?3 WHERE ?3 < since",
        ((_repair(fold_name(name)), _repair(name), since) for name, since in names),
    )


def _repair(name: str) -> str:
    return name.encode(errors="replace").decode()


def list_spellings(connection: sqlite3.Connection, folded: str) -> list[str]:
    """Return the workspaces whose name folds to this, first recorded first."""
    rows = connection.execute("SELECT name FROM workspaces WHERE folded = ? ORDER BY since, name", (folded,))
    return [name for (name,) in rows]
