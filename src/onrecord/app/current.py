"""Which version of a record is shown, which bytes its file should hold, what the next one is (docs/format/time.md)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.domain.instants import Instant
from onrecord.ports.index import IndexReader
from onrecord.ports.store import VersionRow


@dataclass(slots=True)
class CurrentVersion:
    """The current version of one record.

    `is_file`: it should have a file, as all have but those that are retired. `growing` hashes a transcript as its turns
    are taken, `sha256` is of a whole file; `taken` has for each log the last entry that the bytes come from.
    """

    ref: EntryRef
    version: int
    recorded_at: Instant
    path: str
    is_file: bool
    sha256: bytes
    growing: hashlib._Hash | None
    taken: dict[LogId, Seq]

    @property
    def order(self) -> tuple[int, Instant, LogId, Seq]:
        """Place among the record's versions: number, record time, log id, sequence number."""
        return (self.version, self.recorded_at, self.ref.log, self.ref.seq)

    def get_hash(self) -> bytes:
        """Return the SHA-256 of all bytes taken."""
        return self.growing.digest() if self.growing is not None else self.sha256


@dataclass(slots=True)
class Current:
    """The current version of every record by id, and the record that was last at a path, as the rows pass by."""

    records: dict[RecordId, CurrentVersion] = field(default_factory=dict)
    places: dict[str, RecordId] = field(default_factory=dict)

    def take(self, row: VersionRow) -> None:
        """Take in one row; displaced ones are never current, and erased and sealed ones have no bytes to tell."""
        draft = row.draft
        if row.is_erased or row.is_sealed or draft.mode == "displaced":
            return
        known = self.records.get(draft.id)
        if draft.turn is not None:
            if known is not None and known.growing is not None:
                known.growing.update(draft.data)
                known.taken[row.ref.log] = row.ref.seq
            return
        digest = hashlib.sha256(draft.data)
        is_file = draft.mode in ("placed", "observed") and draft.status != "retired"
        growing = digest if draft.kind == "event" else None
        taken = {row.ref.log: row.ref.seq}
        made = CurrentVersion(
            row.ref, draft.version, row.recorded_at, draft.path, is_file, digest.digest(), growing, taken
        )
        if known is None or known.order <= made.order:
            self.records[draft.id] = made
            self.places[draft.path] = draft.id


def choose_number(reader: IndexReader, record: RecordId) -> int:
    """Return the number of a known record's next version."""
    return max(known.version for known in reader.list_versions(record)) + 1
