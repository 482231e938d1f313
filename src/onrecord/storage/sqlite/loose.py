"""Loose documents of the catalogue: searched, but no versions (`onrecord.domain.heads`)."""

from __future__ import annotations

import sqlite3

from onrecord.domain.heads import VersionHead
from onrecord.domain.ids import EntryRef, LogId
from onrecord.storage.sqlite.catalogue import list_heads


def list_loose(connection: sqlite3.Connection, log: LogId, kind: str | None) -> list[VersionHead]:
    """Return the loose documents of a log, of one kind or all, by seq; what was dropped has a seq below 0."""
    return list_heads(connection, "WHERE log = ? AND seq >= 0 AND kind = coalesce(?, kind) ORDER BY seq", log, kind)


def get_loose(connection: sqlite3.Connection, ref: EntryRef) -> VersionHead | None:
    """Return one loose document."""
    return next(iter(list_heads(connection, "WHERE log = ? AND seq = ?", ref.log, ref.seq)), None)
