"""What a log that begins after a rollback gives up of the one before it (docs/format/ledger.md, Several logs)."""

from __future__ import annotations

from collections.abc import Mapping

from onrecord.domain.entry import Entry, read_entry
from onrecord.domain.ids import LogId


def read_given_up(start: bytes, line: bytes) -> Mapping[LogId, range]:
    """Return which sizes of other logs the first two lines of a log give up, by log: those beyond what was kept."""
    entry = read_entry(line) if b'"type":"log.adopt"' in line else None
    if not isinstance(entry, Entry):
        return {}
    first = read_entry(start)
    seen = first.members["seen"] if isinstance(first, Entry) and first.type == "log.start" else ()
    kept = {item["log"]: item["size"] for item in seen}
    return {LogId(item["log"]): range(kept.get(item["log"], 0) + 1, item["size"] + 1) for item in entry.members["seen"]}
