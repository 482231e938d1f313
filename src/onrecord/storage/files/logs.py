"""Reading the logs of a vault, whoever writes them: rows, entries, and how far each reaches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from onrecord.domain.entry import EntryFault, read_entry
from onrecord.domain.errors import DamagedError, NewerFormatError, StorageFailedError
from onrecord.domain.ids import EntryRef, LogId, Seq, is_log_id
from onrecord.domain.instants import Instant
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.pseudonym import opens_commitment
from onrecord.domain.told_row import says_same
from onrecord.ports.store import VersionRow
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.packed_segments import PackedReader, read_seq
from onrecord.storage.files.row_places import RowPlaces
from onrecord.storage.files.rows import decode_row, describe_row, is_newer_line
from onrecord.storage.files.segments import SegmentReader, name_segment
from onrecord.storage.files.vault_config import MACHINE_FOLDER

# A row's `v` stands before its `version` and `workspace` alone, and a workspace has at most 2,000 characters.
_TAIL_BYTES = 16_384
# Of a key or a signed head; what is longer is cut, and so is none.
_NOTE_MAX_BYTES = 1 << 20
_BODY = b'"body":'
_BLOCK_BYTES = 1 << 20
_UPGRADE = "Upgrade onrecord; what is here stays as it is."
_PUT_BACK = "Put the versions folder of the log back from a copy of the vault; see `onrecord doctor`."


@dataclass(slots=True)
class _Measured:
    """How far a ledger was read: entries, the newest segment and its size."""

    entries: int = 0
    segment: int = 0
    size_bytes: int = 0


class LogFolders:
    """The folders `.onrecord/<log id>` of one vault.

    `newer` tells why the vault may not be written: the first thing of a newer format that was met; `problems` has for
    each log why its ledger cannot be read.
    """

    def __init__(self, vault: Disk) -> None:
        self._vault = vault
        self._measured: dict[LogId, _Measured] = {}
        self._looked: set[LogId] = set()
        self._places: dict[LogId, RowPlaces] = {}
        self._told: dict[LogId, RowPlaces] = {}
        self._packed = PackedReader(vault)
        self.newer = ""
        self.problems: dict[LogId, Problem] = {}

    def list_ids(self) -> list[LogId]:
        """Return the logs that have a folder, ascending.

        Raises:
            StorageFailedError: the folder cannot be listed.
        """
        with storage_errors("list the logs"):
            try:
                names = self._vault.list_folder(MACHINE_FOLDER)
            except FileNotFoundError:
                return []
        return [LogId(name) for name in names if is_log_id(name) and self._is_folder(f"{MACHINE_FOLDER}/{name}")]

    def _is_folder(self, path: str) -> bool:
        try:
            with self._vault.folder(path):
                return True
        except OSError:
            return False

    def count_entries(self, log: LogId) -> int:
        """Return the whole lines of a ledger; what was counted before is not read again.

        Raises:
            StorageFailedError, DamagedError: as `read_entries`.
        """
        reader = self._open(log, "ledger")
        known = self._measured.get(log, _Measured())
        with storage_errors("read the log"):
            segments = reader.list_segments()
            found = self._vault.stat(name_segment(self._name_folder(log, "ledger"), known.segment))
        if found is None or found.st_size < known.size_bytes:
            known = _Measured()
        for number in (number for number in segments if number >= known.segment):
            offset = known.size_bytes if number == known.segment else 0
            for block in self._read_blocks(reader, number, offset):
                known.entries += block.count(b"\n")
                offset += len(block)
                if is_newer_line(block):
                    self._note_newer(log, "an entry")
            known.segment, known.size_bytes = number, offset
        self._measured[log] = known
        return known.entries

    def _read_blocks(self, reader: SegmentReader, number: int, offset: int) -> Iterator[bytes]:
        """Yield whole lines of a segment, many at once; a last one without LF is not there yet."""
        size = _BLOCK_BYTES
        while True:
            with storage_errors("read the log"):
                try:
                    block = reader.read_part(number, offset, size)
                except FileNotFoundError:  # gone since it was listed
                    return
            end = block.rfind(b"\n") + 1
            if end:
                offset += end
                yield block[:end]
            elif len(block) < size:
                return
            size = _BLOCK_BYTES if end else 2 * size

    def count_foreign(self, log: LogId) -> int:
        """Count as `count_entries`; a log that cannot be read has none and is named in `problems`: it stops nothing."""
        try:
            return self.count_entries(log)
        except (DamagedError, StorageFailedError) as error:
            path, reason = f"{MACHINE_FOLDER}/{log}", f"another log: {error.reason}"
            self.problems[log] = Problem(path, 0, "entry_unreadable", Severity.CRITICAL, reason, error.hint)
            return 0

    def look_for_newer(self, log: LogId) -> None:
        """Look, once, at the last lines of ledger and versions store: a newer program that wrote goes on doing so.

        What comes later is met where it is read: in the journal's frames, counting entries, taking in rows.

        Raises:
            StorageFailedError, DamagedError: they cannot be read.
        """
        if log in self._looked:
            return
        self._looked.add(log)
        for store, what in (("ledger", "an entry"), ("versions", "a row")):
            with storage_errors("read the log"):
                segments = self._open(log, store).list_segments()
                path = name_segment(self._name_folder(log, store), segments[-1]) if segments else ""
                found = self._vault.stat(path) if path else None
                if found is None:
                    continue
                start = max(0, found.st_size - _TAIL_BYTES)
                if is_newer_line(self._vault.read(path, start, found.st_size - start)):
                    self._note_newer(log, what)

    def scan_for_newer(self) -> str:
        """Read every line of every log; return what is of a newer format, "" for nothing.

        Raises:
            StorageFailedError, DamagedError: a segment cannot be read.
        """
        for log in self.list_ids():
            for store, what in (("ledger", "an entry"), ("versions", "a row")):
                if any(is_newer_line(line) for line in self._read_lines(self._open(log, store), (0, 0))):
                    self._note_newer(log, what)
        return self.newer

    def _note_newer(self, log: LogId, what: str) -> None:
        self.newer = self.newer or f"{what} of log {log} was written by a newer program"

    def read_rows(self, log: LogId, first: int = 0, *, is_own: bool = False) -> Iterator[VersionRow | Problem]:
        """Yield the rows of a log with seq >= first, in order; a problem for each line that is no row.

        So is a segment that cannot be read on. Of another machine's log nothing is read behind it, nor behind one that
        has not come whole: a sync program brings segments in any order, and what lies behind waits.

        Args:
            log: The log.
            first: Entries before this one are of no interest.
            is_own: Whether this installation writes the log, so that no row is on its way.

        Raises:
            StorageFailedError: a segment cannot be read.
            DamagedError: something else stands in the place of the folder.
        """
        reader, folder = self._open(log, "versions"), self._name_folder(log, "versions")
        with storage_errors("read the versions store"):
            numbers = reader.list_segments()
            try:
                start = (0, 0) if first == 0 else reader.find_line(first)
            except DamagedError as error:
                yield _name_unreadable(folder, error)
                return
        last, is_certain = first - 1, True
        for number in (number for number in numbers if start is not None and number >= start[0]):
            is_begin = True
            try:
                for item in self._read_segment(reader, number, start[1] if start and number == start[0] else 0, log):
                    if isinstance(item, Problem):
                        is_certain = False
                        yield item
                    elif item.ref.seq > last:
                        may_lack = is_begin and is_certain and not is_own and number > 0
                        if may_lack and self._lacks_rows(log, last + 1, item.ref.seq):
                            return
                        last, is_certain, is_begin = item.ref.seq, True, False
                        yield item
            except DamagedError as error:
                yield _name_unreadable(folder, error)
                if not is_own:
                    return
                is_certain = False

    def _read_segment(
        self, reader: SegmentReader, number: int, offset: int, log: LogId
    ) -> Iterator[VersionRow | Problem]:
        path = self._name_folder(log, "versions")
        with storage_errors("read the versions store"):
            for line in reader.read_segment(number, offset):
                try:
                    row: VersionRow | Problem = decode_row(line, log)
                except NewerFormatError as error:
                    self._note_newer(log, "a row")
                    row = Problem(path, 0, "newer_format", Severity.CRITICAL, error.reason, _UPGRADE)
                except DamagedError as error:
                    row = Problem(path, 0, "version_unreadable", Severity.CRITICAL, error.reason, "Put the store back.")
                yield row

    def _lacks_rows(self, log: LogId, first: int, end: int) -> bool:
        """Tell whether one of the entries from `first` to before `end` has a row, as far as the ledger has come."""
        if first >= end:
            return False
        reader = self._open(log, "ledger")
        with storage_errors("read the log"):
            start = reader.find_line(first)
        lines = self._read_lines(reader, start) if start is not None else iter(())
        return any(_BODY in line for line in takewhile(lambda line: read_seq(line) < end, lines))

    def read_row(self, ref: EntryRef) -> VersionRow | None:
        """Return one row with its bytes, or None.

        Raises:
            DamagedError, NewerFormatError: the row is damaged or not what its entry tells, or of a newer format.
            StorageFailedError: it cannot be read.
        """
        reader = self._open(ref.log, "versions")
        with storage_errors("read the versions store"):
            line = self._places.setdefault(ref.log, RowPlaces()).read(reader, ref.seq)
            if line is None:
                return None
            row = decode_row(line, ref.log)
            if row.ref != ref:
                return None
            entries = self._told.setdefault(ref.log, RowPlaces())
            told = entries.read_known(ref.seq)  # entries do not change, so that most need no look at the disk
            if told is None or not _is_told(row, told):
                told = entries.read(self._open(ref.log, "ledger"), ref.seq)
                if told is not None and not _is_told(row, told):
                    raise DamagedError("a row of the versions store is not what its ledger entry tells", hint=_PUT_BACK)
        return row

    def read_entries(self, log: LogId, first: int = 0) -> Iterator[tuple[Seq, bytes]]:
        """Yield the ledger lines of a log without their LF, in order; the number is the line's place.

        Raises:
            StorageFailedError: a segment cannot be read.
            DamagedError: a packed segment cannot be unpacked, or something else stands in the place of a part.
        """
        for number, line in enumerate(self._read_lines(self._open(log, "ledger"), (0, 0))):
            if is_newer_line(line):
                self._note_newer(log, "an entry")
            if number >= first:
                yield Seq(number), line

    def list_seen(self, own: LogId) -> dict[LogId, list[tuple[int, Instant]]]:
        """Return, per other log, the sizes that a log's entries name in `seen`, each with that entry's record time.

        Raises:
            StorageFailedError, DamagedError: as `read_entries`.
        """
        seen: dict[LogId, list[tuple[int, Instant]]] = {}
        for _, line in self.read_entries(own):
            ts, heads = read_seen(line)
            for head in heads:
                seen.setdefault(LogId(str(head["log"])), []).append((int(str(head["size"])), Instant(ts)))
        return seen

    def read_file(self, log: LogId, name: str) -> bytes | None:
        """Return `checkpoint` or `key.pub` of a log, None when absent.

        Raises:
            StorageFailedError: it cannot be read.
        """
        path = f"{MACHINE_FOLDER}/{log}/{name}"
        with storage_errors("read the log"):
            return self._vault.read(path, 0, _NOTE_MAX_BYTES) if self._vault.stat(path) is not None else None

    def _open(self, log: LogId, store: str) -> SegmentReader:
        return SegmentReader(self._vault, self._name_folder(log, store), self._packed)

    def _name_folder(self, log: LogId, store: str) -> str:
        return f"{MACHINE_FOLDER}/{log}/{store}"

    def _read_lines(self, reader: SegmentReader, start: tuple[int, int], last: int | None = None) -> Iterator[bytes]:
        with storage_errors("read the log"):
            yield from reader.read_lines(*start, last)


def _is_told(row: VersionRow, line: bytes) -> bool:
    """Tell whether a row, bytes included, is what an entry tells; one of another place or format tells nothing."""
    entry = read_entry(line)
    if isinstance(entry, EntryFault) or entry.seq != row.ref.seq:
        return True
    if "body" not in entry.members or not says_same(describe_row(row), entry):
        return False
    return row.is_erased or row.is_sealed or opens_commitment(row.salt, row.draft.data, entry.members["body"]["c"])


def _name_unreadable(folder: str, error: DamagedError) -> Problem:
    return Problem(folder, 0, "version_unreadable", Severity.CRITICAL, error.reason, error.hint)


def read_seen(line: bytes) -> tuple[str, list[dict[str, object]]]:
    """Return record time and `seen` of a ledger line that is known to be whole; nothing for one without it."""
    if b'"seen":[{' not in line:
        return "", []
    try:
        shape = json.loads(line)
        return str(shape["ts"]), list(shape["seen"])
    except (ValueError, KeyError, TypeError):
        return "", []
