"""Segmented append-only line files: ledger and versions (docs/format/ledger.md, versions.md).

Lines of one log lie in `<folder>/NNNNNNNN.jsonl`, in the order of their sequence numbers. A sealed segment may be
packed as `NNNNNNNN.jsonl.gz` (`packed_segments`); a place in a store is a segment and an offset of its unpacked bytes.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from math import inf

from onrecord.domain.errors import DamagedError
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.head import StoreEnd
from onrecord.storage.files.packed_segments import MEND, SEGMENT_MAX_BYTES, PackedReader, PackedSegment, read_seq

_NAME = re.compile(r"(\d{8})\.jsonl(\.gz)?")
_READ_BYTES = 1 << 20
# What the system says where a file, a folder or a link stands in the place of another one of them.
_WRONG_KIND = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ELOOP})


def name_segment(folder: str, number: int) -> str:
    """Return the path of a segment that is not packed."""
    return f"{folder}/{number:08d}.jsonl"


def name_packed(folder: str, number: int) -> str:
    """Return the path of a packed segment."""
    return f"{name_segment(folder, number)}.gz"


class SegmentWriter:
    """Writes lines from a known end on; repeating a write changes nothing.

    Args:
        disk: The vault.
        folder: The store's folder, existing.
        end: Where the store ends.
    """

    def __init__(self, disk: Disk, folder: str, end: StoreEnd) -> None:
        self._disk = disk
        self.folder = folder
        self.end = end
        self.unsynced: set[str] = set()

    def write(self, lines: bytes, *, begin_segment: bool = False) -> None:
        """Bring the store to hold `lines` at its end and nothing after; move the end behind them.

        Args:
            lines: Whole lines, LF included, that lie in one segment.
            begin_segment: Whether they begin the next segment.

        Raises:
            OSError: not written; the end stays.
        """
        end = StoreEnd(self.end.segment + 1, 0) if begin_segment else self.end
        path = name_segment(self.folder, end.segment)
        self._disk.write_at(path, end.size_bytes, lines)
        self.unsynced.add(path)
        self.end = StoreEnd(end.segment, end.size_bytes + len(lines))

    def matches(self, lines: bytes, *, begin_segment: bool = False) -> bool:
        """Tell whether `lines` already stand at the end, and if so move the end behind them."""
        end = StoreEnd(self.end.segment + 1, 0) if begin_segment else self.end
        path = name_segment(self.folder, end.segment)
        if self._disk.stat(path) is None or self._disk.read(path, end.size_bytes, len(lines)) != lines:
            return False
        self.unsynced.add(path)
        self.end = StoreEnd(end.segment, end.size_bytes + len(lines))
        return True

    def skip(self, size_bytes: int, begin_segment: bool) -> None:
        """Move the end behind lines that are known to be there; they count as unsynced."""
        end = StoreEnd(self.end.segment + 1, 0) if begin_segment else self.end
        self.unsynced.add(name_segment(self.folder, end.segment))
        self.end = StoreEnd(end.segment, end.size_bytes + size_bytes)

    def cut_tail(self) -> None:
        """Remove bytes behind the end, left by a write that was never acknowledged."""
        path = name_segment(self.folder, self.end.segment)
        found = self._disk.stat(path)
        if found is not None and found.st_size > self.end.size_bytes:
            self._disk.truncate(path, self.end.size_bytes)
        following = name_segment(self.folder, self.end.segment + 1)
        if self._disk.stat(following) is not None:
            self._disk.unlink(following)

    def sync(self) -> None:
        """Make everything written durable."""
        for path in sorted(self.unsynced):
            self._disk.sync(path)
        if self.unsynced:
            self._disk.sync_folder(self.folder)
        self.unsynced.clear()


class SegmentReader:
    """Reads lines of a store that others may append to and pack meanwhile; a last line without LF is not there yet.

    Of a segment that lies there plain and packed the plain one is read, unless it is shorter than the packed one holds.

    Its methods raise OSError, and DamagedError where something else stands in the place of a folder or file, or a
    packed segment cannot be unpacked.

    Args:
        disk: The vault.
        folder: The store's folder.
        packed: Reads its packed segments; what it keeps is kept from one reader to the next.
    """

    def __init__(self, disk: Disk, folder: str, packed: PackedReader | None = None) -> None:
        self._disk = disk
        self._folder = folder
        self._packed = packed or PackedReader(disk)

    def list_segments(self) -> list[int]:
        """Return the numbers of the segments, ascending."""
        try:
            names = self._disk.list_folder(self._folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            if error.errno not in _WRONG_KIND:
                raise
            raise DamagedError(f"{self._folder} is no folder", hint=MEND) from error
        return sorted({int(match[1]) for name in names if (match := _NAME.fullmatch(name))})

    def read_lines(self, segment: int = 0, offset: int = 0, last: int | None = None) -> Iterator[bytes]:
        """Yield lines without LF from a place on, through the following segments up to `last` (None: all)."""
        for number in self.list_segments():
            if number >= segment and (last is None or number <= last):
                yield from self.read_segment(number, offset if number == segment else 0)

    def read_segment(self, number: int, offset: int = 0) -> Iterator[bytes]:
        """Yield the lines of one segment without LF, from an offset on; one that is gone meanwhile has none."""
        packed = self._find_packed(number)
        rest = b""
        while packed is None:
            try:
                block = self._read(name_segment(self._folder, number), offset + len(rest), _READ_BYTES)
            except FileNotFoundError:
                packed = self._find_packed(number)
                if packed is None:
                    return
                break
            if not block:
                return
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                yield line
                offset += len(line) + 1
        yield from self._packed.read_lines(packed, offset)

    def read_part(self, segment: int, offset: int, size_bytes: int) -> bytes:
        """Return at most so many bytes of a segment.

        Raises:
            OSError: it is not there.
        """
        packed = self._find_packed(segment)
        if packed is None:
            try:
                return self._read(name_segment(self._folder, segment), offset, size_bytes)
            except FileNotFoundError:
                packed = self._find_packed(segment)
                if packed is None:
                    raise
        return self._packed.read_part(packed, offset, size_bytes)

    def find_first_packed(self, segment: int) -> int | None:
        """Return the `seq` of the first line of a segment that is read from its packed form; None of any other."""
        packed = self._find_packed(segment)
        return packed.seqs[0] if packed is not None else None

    def read_packed(self, segment: int, seq: int) -> bytes | None:
        """Return the line of exactly this `seq`, if it is in a segment that is read from its packed form."""
        packed = self._find_packed(segment)
        return self._packed.read_line(packed, seq) if packed is not None else None

    def _find_packed(self, number: int) -> PackedSegment | None:
        """Return the packed form of a segment where that is the one to read.

        Raises:
            DamagedError: the form to read cannot be unpacked, or is larger than a segment can be.
        """
        path, packed_path = name_segment(self._folder, number), name_packed(self._folder, number)
        start = len(self._folder) + 1
        found, plain = self._disk.stat_each(self._folder, (packed_path[start:], path[start:]))
        if plain is not None and plain.st_size > SEGMENT_MAX_BYTES:
            raise DamagedError(f"{path} is larger than a segment can be", hint=MEND)
        if found is None:
            return None
        try:
            packed = self._packed.open(packed_path, found)
        except FileNotFoundError:
            return None
        except DamagedError:
            if plain is None:
                raise
            return None
        return packed if plain is None or plain.st_size < packed.size_bytes else None

    def _read(self, path: str, offset: int, size_bytes: int) -> bytes:
        try:
            return self._disk.read(path, offset, size_bytes)
        except OSError as error:
            if error.errno not in _WRONG_KIND:
                raise
            raise DamagedError(f"{path} is no regular file", hint=MEND) from error

    def find_line(self, seq: int) -> tuple[int, int] | None:
        """Return (segment, offset) of the first line whose `seq` is at least `seq`; None: past the end.

        A segment that cannot be unpacked is only in the way of lines that lie in it.
        """
        numbers = self.list_segments()
        damaged: dict[int, DamagedError] = {}
        low, high = 0, len(numbers)
        while low < high:
            middle = (low + high) // 2
            try:
                begins_later = self._read_first_seq(numbers[middle]) > seq
            except DamagedError as error:
                damaged[numbers.pop(middle)] = error
                low, high = 0, len(numbers)
                continue
            low, high = (low, middle) if begins_later else (middle + 1, high)
        before = numbers[low - 1] if low else -1
        for number in numbers[max(low - 1, 0) :]:
            found = self._find_in(number, seq)
            if found is not None:
                hidden = [error for other, error in damaged.items() if before < other < number]
                if hidden and number != before:
                    raise hidden[0]
                return number, found
        if any(other > before for other in damaged):
            raise damaged[max(damaged)]
        return None

    def _read_first_seq(self, number: int) -> float:
        """Return the `seq` of the first line of a segment; one without a line counts as what comes last."""
        packed = self._find_packed(number)
        if packed is not None:
            return packed.seqs[0]
        try:
            line = self._read_to_line_end(name_segment(self._folder, number), 0)
        except FileNotFoundError:
            packed = self._find_packed(number)
            return packed.seqs[0] if packed is not None else inf
        return inf if line is None else read_seq(line)

    def _find_in(self, number: int, seq: int) -> int | None:
        packed = self._find_packed(number)
        if packed is None:
            try:
                return self._bisect(name_segment(self._folder, number), seq)
            except FileNotFoundError:
                packed = self._find_packed(number)
        return self._packed.find_line(packed, seq) if packed is not None else None

    def _bisect(self, path: str, seq: int) -> int | None:
        low, best = 0, None
        self._read(path, 0, 1)
        found = self._disk.stat(path)
        high = found.st_size if found is not None else 0
        while low < high:
            middle = (low + high) // 2
            start, line = self._line_from(path, middle, low)
            if line is None:
                high = middle
            elif read_seq(line) >= seq:
                best, high = start, middle
            else:
                low = start + len(line) + 1
        return best

    def _line_from(self, path: str, offset: int, floor: int) -> tuple[int, bytes | None]:
        """Return the first whole line that begins at or after `offset` (`floor` is a line's begin)."""
        start = offset
        if offset > floor:
            skipped = self._read_to_line_end(path, offset - 1)
            if skipped is None:
                return offset, None
            start = offset - 1 + len(skipped) + 1
        return start, self._read_to_line_end(path, start)

    def _read_to_line_end(self, path: str, offset: int) -> bytes | None:
        parts: list[bytes] = []
        while block := self._read(path, offset, 4096 if not parts else _READ_BYTES):
            line, sep, _ = block.partition(b"\n")
            parts.append(line)
            if sep:
                return b"".join(parts)
            offset += len(block)
        return None
