"""Which version of a record is shown, which bytes its file should hold, what the next one is (docs/format/time.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.domain.instants import Instant
from onrecord.ports.index import IndexReader
from onrecord.ports.store import VersionRow


@dataclass(slots=True)
class CurrentVersion:
    """The current version of one record.

    `is_file`: it should have a file, as all have but those that are retired (`is_retired`). `sha256` and `size_bytes`
    are of the version's own bytes; a transcript's file goes on with the turns behind them.
    """

    ref: EntryRef
    version: int
    recorded_at: Instant
    path: str
    is_file: bool
    sha256: bytes
    size_bytes: int
    is_transcript: bool
    is_retired: bool

    @property
    def order(self) -> tuple[int, Instant, LogId, Seq]:
        """Place among the record's versions: number, record time, log id, sequence number."""
        return (self.version, self.recorded_at, self.ref.log, self.ref.seq)


class TurnPlace(NamedTuple):
    """Where the block of a turn should stand in its transcript, its hash and its entry."""

    offset_bytes: int
    size_bytes: int
    sha256: bytes
    ref: EntryRef


@dataclass(slots=True)
class Current:
    """The current version of every record by id, and the record that was last at a path, as the rows pass by.

    `turns` are those of each transcript in the order of their rows: logs follow one another in any order, so that only
    their offsets tell the order of the blocks. `contested` are paths at which the logs have found several records.
    """

    records: dict[RecordId, CurrentVersion] = field(default_factory=dict)
    places: dict[str, RecordId] = field(default_factory=dict)
    turns: dict[RecordId, list[TurnPlace]] = field(default_factory=dict)
    contested: set[str] = field(default_factory=set)

    def take(self, row: VersionRow) -> None:
        """Take in one row; displaced ones are never current, and erased and sealed ones have no bytes to tell."""
        draft = row.draft
        if row.is_erased or row.is_sealed or draft.mode == "displaced":
            return
        known = self.records.get(draft.id)
        digest = hashlib.sha256(draft.data).digest()
        if draft.turn is not None:
            place = TurnPlace(draft.turn.offset_bytes, len(draft.data), digest, row.ref)
            self.turns.setdefault(draft.id, []).append(place)
            return
        is_file = draft.mode in ("placed", "observed") and draft.status != "retired"
        is_transcript = draft.kind == "event"
        made = CurrentVersion(
            row.ref,
            draft.version,
            row.recorded_at,
            draft.path,
            is_file,
            digest,
            len(draft.data),
            is_transcript,
            draft.status == "retired" and draft.kind != "conflict",  # the file of a closed one may not have gone yet
        )
        if known is None or known.order <= made.order:
            self.records[draft.id] = made
            other = self.places.setdefault(draft.path, draft.id)
            if other != draft.id and self.records[other].ref.log != row.ref.log:
                self.contested.add(draft.path)
            self.places[draft.path] = draft.id

    def forget_moved(self, moved: Mapping[RecordId, Instant]) -> None:
        """Let the bytes alone not tell what lies at the last recorded place of a memory that was moved since.

        Args:
            moved: Record time of the last move, by record.
        """
        for record, recorded_at in moved.items():
            known = self.records.get(record)
            if known is not None and known.recorded_at <= recorded_at:
                self.contested.add(known.path)

    def list_refs(self, record: RecordId) -> list[EntryRef]:
        """Return the entries that the bytes of a record's file come from."""
        known = self.records.get(record)
        return [*([known.ref] if known is not None else []), *(place.ref for place in self.turns.get(record, ()))]

    def find_strange(self, record: RecordId, data: bytes) -> list[TurnPlace] | None:
        """Return the turns that do not stand in a file as they were captured; None where it is as it should be.

        Args:
            record: The record of the file, whose current version is known.
            data: The file's bytes. A file whose own words differ, or that holds more, has no strange turns.
        """
        known = self.records[record]
        ordered = sorted(place for place in self.turns.get(record, ()) if place.offset_bytes >= known.size_bytes)
        strange = [
            place
            for place in ordered
            if _hash(data[place.offset_bytes : place.offset_bytes + place.size_bytes]) != place.sha256
        ]
        end = max((place.offset_bytes + place.size_bytes for place in ordered), default=known.size_bytes)
        is_same = _hash(data[: known.size_bytes]) == known.sha256 and len(data) == end
        return None if is_same and not strange else strange


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def choose_number(reader: IndexReader, record: RecordId) -> int:
    """Return the number of a known record's next version."""
    return max(known.version for known in reader.list_versions(record)) + 1
