"""Where files of memories were found, as the ledgers tell: one entry `record.move` for each that was renamed by hand.

An index made anew tells by them which file is whose, as one that has seen the files renamed does (ADR 14).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

from onrecord.app.session import Session
from onrecord.domain.entry import EntryFault, read_entry
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.ids import EntryRef, LogId, RecordId, parse_entry_ref
from onrecord.domain.instants import Instant
from onrecord.domain.limits import BATCH_MAX_COUNT
from onrecord.domain.pseudonym import commit_place
from onrecord.ports.index import IndexBatch, IndexReader
from onrecord.ports.store import Actor, Change, VersionRow, WriteUnit

_MOVE = b'"type":"record.move"'


class Told(IntEnum):
    """Who tells a place: the own log, or another one alone."""

    HERE = 0
    ELSEWHERE = 1


@dataclass(frozen=True, slots=True)
class _Move:
    at: EntryRef
    recorded_at: Instant
    version: EntryRef
    place: str


class ToldPlaces:
    """The last places of records in the own log and in the others, by their versions and moves; read when first asked.

    Args:
        session: The opened vault.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._moves: dict[RecordId, dict[LogId, _Move]] | None = None

    def find(self, reader: IndexReader, record: RecordId, path: str) -> Told | None:
        """Return who tells that the file of a record was found last at a path; None for nobody."""
        own = self._session.store.log
        last: dict[Told, tuple[tuple[Instant, EntryRef], str | _Move]] = {}
        for at, recorded_at, place in self._list_places(reader, record):
            told = Told.HERE if at.log == own else Told.ELSEWHERE
            if told not in last or last[told][0] < (recorded_at, at):
                last[told] = ((recorded_at, at), place)
        return next((told for told in Told if told in last and self._is_at(last[told][1], path)), None)

    def is_last(self, reader: IndexReader, record: RecordId, path: str) -> bool:
        """Tell whether a path is where a record was found last: as the own log tells, else as the others do."""
        own, told = self._session.store.log, self.find(reader, record, path)
        is_own_silent = all(at.log != own for at, _, _ in self._list_places(reader, record))
        return told is Told.HERE or (told is Told.ELSEWHERE and is_own_silent)

    def list_moved(self) -> Mapping[RecordId, Instant]:
        """Return the records that were moved, each with the record time of its last move."""
        moves = self._read()
        return {record: max(move.recorded_at for move in logs.values()) for record, logs in moves.items()}

    def _list_places(self, reader: IndexReader, record: RecordId) -> Iterator[tuple[EntryRef, Instant, str | _Move]]:
        for head in reader.list_versions(record):
            if not head.is_displaced:
                yield head.ref, head.recorded_at, head.path
        for move in self._read().get(record, {}).values():
            yield move.at, move.recorded_at, move

    def _is_at(self, place: str | _Move, path: str) -> bool:
        if isinstance(place, str):
            return place == path
        row = _read_whole(self._session, place.version)
        return row is not None and commit_place(row.salt, path) == place.place

    def _read(self) -> dict[RecordId, dict[LogId, _Move]]:
        if self._moves is None:
            self._moves = {}
            for head in self._session.store.list_logs():
                for seq, line in self._session.store.read_entries(head.log):
                    if _MOVE in line:
                        self._take(EntryRef(head.log, seq), line, self._moves)
        return self._moves

    @staticmethod
    def _take(at: EntryRef, line: bytes, moves: dict[RecordId, dict[LogId, _Move]]) -> None:
        entry = read_entry(line)
        if isinstance(entry, EntryFault):
            return
        version = parse_entry_ref(entry.members["to"][0])
        move = _Move(at, entry.ts, version, entry.members["place"])
        moves.setdefault(RecordId(entry.members["rec"]), {})[at.log] = move


def record_moves(
    session: Session, unit: WriteUnit, moved: Mapping[RecordId, str], salts: Mapping[EntryRef, bytes] | None = None
) -> None:
    """Write the entries, in commits of as many as one takes; transcripts are left out, their place is their name.

    Args:
        session: The opened vault.
        unit: The right to write.
        moved: The paths at which the files of records were found.
        salts: Those of rows that the same pass wrote, which need not be read for them.

    Raises:
        NotWritableError: those of the present batch were not written.
    """
    changes = _list_changes(session, moved, salts or {})
    while batch := list(islice(changes, BATCH_MAX_COUNT)):
        unit.commit(batch, Actor())
    session.index.apply(IndexBatch(watermarks={session.store.log: session.store.entries}))


def record_strays(session: Session, unit: WriteUnit, found: Mapping[RecordId, str]) -> None:
    """Write the entries for those of some files that lie where no log tells, as `record_moves`."""
    told = ToldPlaces(session)
    with session.index.read() as reader:
        moved = {record: path for record, path in found.items() if told.find(reader, record, path) is None}
    if moved:
        record_moves(session, unit, moved)


def _list_changes(session: Session, moved: Mapping[RecordId, str], salts: Mapping[EntryRef, bytes]) -> Iterator[Change]:
    for record in sorted(moved):
        with session.index.read() as reader:
            head = reader.get_current(record)
        if head is None or head.kind == "event":
            continue
        salt = salts.get(head.ref)
        row = _read_whole(session, head.ref) if salt is None else None
        salt = row.salt if row is not None else salt
        if salt is not None:
            place = {"to": [str(head.ref)], "place": commit_place(salt, moved[record])}
            yield Change("record.move", None, {"rec": head.id, "ver": head.version, **place})


def _read_whole(session: Session, ref: EntryRef) -> VersionRow | None:
    """Return a row with its salt; None where it is erased or sealed, or cannot be read."""
    try:
        row = session.store.read_row(ref)
    except (DamagedError, NewerFormatError):
        return None
    return row if row is not None and not (row.is_erased or row.is_sealed) else None
