"""Rows as their ledger tells them: what a row says of itself counts only where its entry says the same."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.domain.ids import LogId
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.told_row import is_mode_told
from onrecord.ports.store import VaultStore, VersionRow

_BODY = b'"body":'
_MEND = "Put the log's folder back from a copy of the vault, then run `onrecord reindex`."


def read_told_rows(store: VaultStore, log: LogId, first: int = 0) -> Iterator[VersionRow | Problem]:
    """Yield what `store.read_rows` yields, with a problem in the place of each row that its entry contradicts.

    So is one whose entry commits to no row. One whose entry has not come is yielded.

    Raises:
        StorageFailedError, DamagedError: as `VaultStore.read_rows` and `read_entries`.
    """
    entries = store.read_entries(log, first)
    seq, line = -1, b""
    for row in store.read_rows(log, first):
        if isinstance(row, VersionRow):
            while seq < row.ref.seq:
                found = next(entries, None)
                if found is None:
                    seq, line = 1 << 62, b""
                else:
                    seq, line = found
            if seq == row.ref.seq and not (_BODY in line and _says_same(row, line)):
                told = "says something else than its entry" if _BODY in line else "is a row that no entry speaks of"
                message = f"row {seq} {told}"
                yield Problem(f".onrecord/{log}/versions", 0, "version_altered", Severity.CRITICAL, message, _MEND)
                continue
        yield row


def _says_same(row: VersionRow, line: bytes) -> bool:
    """Tell whether an entry, canonical JSON in which a quote inside a string is escaped, has the members of a row."""
    draft = row.draft
    version = f'"ver":{draft.version}'
    entry = line.decode(errors="replace")
    parents = '"from":["' + '","'.join(map(str, draft.parents)) + '"]' if draft.parents else ""
    return (
        f'"rec":"{draft.id}"' in entry
        and (f"{version}}}" in entry or f"{version}," in entry)
        and f'"kind":"{draft.kind}"' in entry
        and f'"origin":"{draft.origin}"' in entry
        and f'"ts":"{row.recorded_at}"' in entry
        and f'"type":"{row.type}"' in entry
        and (parents in entry if parents else '"from":' not in entry)
        and (draft.turn is not None or is_mode_told(draft.mode, row.type))
        and _is_as_told(entry, "status", draft.status, "current")
        and _is_as_told(entry, "protection", draft.protection, "normal")
    )


def _is_as_told(entry: str, name: str, value: str, usual: str) -> bool:
    """Tell whether an entry says a value; the usual one is not said."""
    return f'"{name}":' not in entry if value == usual else f'"{name}":"{value}"' in entry
