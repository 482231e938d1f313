"""Where rows stand in a versions store, as far as earlier looks told: a search from the beginning is for the first."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import EntryRef
from onrecord.ports.store import VersionRow
from onrecord.storage.files.packed_segments import read_seq
from onrecord.storage.files.segments import SegmentReader

# Of each stretch that is looked through, a place is kept every so many bytes; a window around it finds the row.
_STRETCH_BYTES = 262_144
_STEP_BYTES = 8_192
_WINDOW_BYTES = 24_576
_PLACES_MAX_COUNT = 65_536
_KEPT_MAX_COUNT = 256
_KEPT_MAX_BYTES = 8 << 20


class RowPlaces:
    """Finds the lines of one versions store.

    A place that is kept is a guess: what stands there must be the row that is asked for, else the store is searched.
    So nothing is wrong when another program appends to the store or puts an older one back.
    """

    def __init__(self) -> None:
        self._places: list[tuple[int, int, int]] = []
        self._packed: list[tuple[int, int]] = []  # first row and number of packed segments
        self._window = b""  # what was read last

    def read_known(self, seq: int) -> bytes | None:
        """Return the line of exactly this row as it stood in what was read last, None where that has it not whole."""
        window = self._window
        found = window.find(b'"seq":%d,' % seq)
        start, end = window.rfind(b"\n", 0, found) + 1 if found > 0 else 0, window.find(b"\n", max(found, 0))
        line = window[start:end] if start and end > 0 else b""
        return line if line and read_seq(line) == seq else None

    def read(self, reader: SegmentReader, seq: int) -> bytes | None:
        """Return the line of the first row whose `seq` is at least `seq`, None behind the last one.

        Raises:
            OSError, DamagedError: as the reader's methods.
        """
        line = self._read_near(reader, seq) or self._read_packed(reader, seq)
        if line is not None:
            return line
        place = reader.find_line(seq)
        if place is None:
            return None
        first = reader.find_first_packed(place[0])
        if first is None:
            self._learn(reader, *place)
        elif (first, place[0]) not in self._packed:  # there the table is what tells places
            insort(self._packed, (first, place[0]))
        return next(iter(reader.read_lines(*place)))

    def _read_near(self, reader: SegmentReader, seq: int) -> bytes | None:
        """Return the line of exactly this row, if it stands right behind a place that is known."""
        after = bisect_right(self._places, (seq, 1 << 62, 0))
        if not after:
            return None
        _, segment, offset = self._places[after - 1]
        try:
            window = reader.read_part(segment, offset, _WINDOW_BYTES)
        except (OSError, DamagedError):
            return None
        # The byte before tells that a line begins there.
        if window[:1] != b"\n":
            return None
        self._window = window
        found = window.find(b'"seq":%d,' % seq)
        start = window.rfind(b"\n", 0, found) + 1 if found > 0 else 0
        if not start:
            return None
        end = window.find(b"\n", start)
        if end >= 0:
            line = window[start:end]
        else:
            line = next(iter(reader.read_lines(segment, offset + start)), b"")
        return line if read_seq(line) == seq else None

    def _read_packed(self, reader: SegmentReader, seq: int) -> bytes | None:
        """Return the line of exactly this row, if it stands in a packed segment that is known."""
        after = bisect_right(self._packed, (seq, 1 << 62))
        if not after:
            return None
        try:
            return reader.read_packed(self._packed[after - 1][1], seq)
        except (OSError, DamagedError):
            return None

    def _learn(self, reader: SegmentReader, segment: int, offset: int) -> None:
        """Keep places of what follows a line; `offset` of a place is that of the LF before its line."""
        try:
            # The first line of a segment has no LF before it, and is searched for each time.
            offset = offset - 1 if offset else len(next(iter(reader.read_lines(segment)), b""))
            block, start = reader.read_part(segment, offset, _STRETCH_BYTES), 0
        except (OSError, DamagedError):
            return
        if len(self._places) >= _PLACES_MAX_COUNT:
            self._places.clear()
        while block[start : start + 1] == b"\n":
            end = block.find(b"\n", start + 1)
            seq = read_seq(block[start + 1 : end]) if end >= 0 else -1
            if seq < 0:
                break
            place = (seq, segment, offset + start)
            after = bisect_right(self._places, place)
            if not after or self._places[after - 1] != place:
                insort(self._places, place)
            start = block.find(b"\n", start + _STEP_BYTES)
            if start < 0:
                break


class KeptRows:
    """Reads rows, and keeps those that were read last while the vault's lock is held: a pass asks for one repeatedly.

    At most so many are kept, and so many bytes of them.

    Args:
        read: Reads a row.
    """

    def __init__(self, read: Callable[[EntryRef], VersionRow | None]) -> None:
        self._read = read
        self._rows: OrderedDict[EntryRef, VersionRow] = OrderedDict()
        self._size_bytes = 0
        self._is_keeping = False

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep rows within the block; none is known at its end."""
        self._is_keeping = True
        try:
            yield
        finally:
            self._is_keeping = False
            self._rows.clear()
            self._size_bytes = 0

    def read(self, ref: EntryRef) -> VersionRow | None:
        """Return a row, None for none; raises what reading it raises."""
        row = self._rows.get(ref)
        if row is None:
            row = self._read(ref)
            if row is not None and self._is_keeping:
                self._keep(row)
        return row

    def _keep(self, row: VersionRow) -> None:
        self._rows[row.ref] = row
        self._size_bytes += len(row.draft.data)
        while len(self._rows) > _KEPT_MAX_COUNT or self._size_bytes > _KEPT_MAX_BYTES:
            self._size_bytes -= len(self._rows.popitem(last=False)[1].draft.data)
