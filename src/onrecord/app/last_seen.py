"""What a writer that died had seen of the files: versions that it observed and whose stamps it could not note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from onrecord.app.stamps import COPY_MARK, hash_data
from onrecord.domain.ids import RecordId
from onrecord.ports.index import FileStamp, IndexReader
from onrecord.ports.store import VaultStore, VersionRow


@dataclass(slots=True)
class LastSeen:
    """Stamps that rows of the own log outdate, and the places that their files have left."""

    stamps: list[FileStamp] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def renew_stamps(store: VaultStore, reader: IndexReader, rows: Iterable[VersionRow]) -> LastSeen:
    """Return what stamps and rows together say: which version a file held last; each is looked at again.

    An edit made since is then an edit of that version, and not of the one before it.

    Args:
        store: Tells whether a file is gone.
        reader: Reads the index, which has not taken in the rows yet.
        rows: New rows of the own log, in order.
    """
    last: dict[RecordId, VersionRow] = {}
    for row in rows:
        if row.draft.mode == "observed" and row.draft.turn is None and row.draft.kind != "event":
            last[row.draft.id] = row
    seen = LastSeen()
    for row in last.values():
        stamp = _find_stamp(store, reader, row) if row.draft.status != "retired" else None
        if stamp is None:
            continue
        if stamp.path != row.draft.path:
            seen.left.append(stamp.path)
        sha256 = hash_data(row.draft.data)
        seen.stamps.append(
            stamp._replace(path=row.draft.path, record=row.draft.id, ref=row.ref, sha256=sha256, size_bytes=-1)
        )
    return seen


def _find_stamp(store: VaultStore, reader: IndexReader, row: VersionRow) -> FileStamp | None:
    """Return the stamp at the row's place, else the one of the place that its file has left."""
    stamp = reader.get_file(row.draft.path)
    if stamp is not None:
        return stamp if not stamp.is_pending and stamp.record != COPY_MARK else None
    known = (stamp for stamp in reader.find_files_of(row.draft.id) if not stamp.is_pending)
    return next((stamp for stamp in known if store.stat_file(stamp.path) is None), None)
