"""Which documents pass a filter: the conditions on heads that answer for now, or for what was known at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from onrecord.domain.ids import LogId
from onrecord.domain.instants import OPEN_END, Instant
from onrecord.ports.index import Filter
from onrecord.storage.sqlite.catalogue import ORDER
from onrecord.storage.sqlite.schema import IS_OF_A_LOG


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
    if allowed.as_of is not None:
        conditions.append(IS_OF_A_LOG)
    if allowed.statuses:
        conditions.append(f"status IN ({', '.join('?' * len(allowed.statuses))})")
        bound += allowed.statuses
    if allowed.workspaces:
        wanted = f"IN ({', '.join('?' * len(allowed.workspaces))})"
        conditions.append(f"(workspace {wanted} OR EXISTS (SELECT 1 FROM json_each(also_in) WHERE value {wanted}))")
        bound += [*allowed.workspaces, *allowed.workspaces]
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
    order = ", ".join(f"heads.{name}" for name in ORDER.split(", "))
    later = ", ".join(f"later.{name}" for name in ORDER.split(", "))
    condition = (
        f"{is_known('heads')} AND (n IS NOT NULL OR NOT EXISTS (SELECT 1 FROM heads AS later WHERE later.id = heads.id "
        f"AND later.n IS NULL AND later.is_displaced = 0 AND ({later}) > ({order}) AND {is_known('later')}))"
    )
    return condition, [*known, *known]
