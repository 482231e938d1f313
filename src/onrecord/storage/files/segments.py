"""Segmented append-only line files: ledger and versions (docs/format/ledger.md, versions.md).

Lines of one log lie in `<folder>/NNNNNNNN.jsonl`, in the order of their sequence numbers.
"""

from __future__ import annotations

import errno
import re
import zlib
from collections.abc import Iterator

from onrecord.domain.errors import DamagedError
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.head import StoreEnd

_NAME = re.compile(r"(\d{8})\.jsonl(\.gz)?")
_SEQ = re.compile(rb'"seq":(\d{1,16})')
_READ_BYTES = 1 << 20
# A segment of the ledger has at most 65,536 lines of 4 KiB, one of the versions store 64 MiB (docs/format).
_SEGMENT_MAX_BYTES = 65_536 * 4_097
_GZIP_WINDOW = 31
# What the system says where a file, a folder or a link stands in the place of another one of them.
_WRONG_KIND = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ELOOP})
_MEND = "Move it away and put the folder of the log back from a copy of the vault."


def name_segment(folder: str, number: int) -> str:
    """Return the path of a segment."""
    return f"{folder}/{number:08d}.jsonl"


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
    """Reads lines of a store that others may append to meanwhile; a last line without LF is not there yet.

    Its methods raise OSError, and DamagedError where something else stands in the place of a folder or file.
    """

    def __init__(self, disk: Disk, folder: str) -> None:
        self._disk = disk
        self._folder = folder

    def list_segments(self) -> list[tuple[int, str]]:
        """Return (number, path) of the segments, ascending; packed and plain ones of a number once."""
        try:
            names = self._disk.list_folder(self._folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            if error.errno not in _WRONG_KIND:
                raise
            raise DamagedError(f"{self._folder} is no folder", hint=_MEND) from error
        found = {int(match[1]): f"{self._folder}/{name}" for name in names if (match := _NAME.fullmatch(name))}
        return sorted(found.items())

    def read_lines(self, segment: int = 0, offset: int = 0, last: int | None = None) -> Iterator[bytes]:
        """Yield lines without LF from a place on, through the following segments up to `last` (None: all)."""
        for number, path in self.list_segments():
            if number < segment or (last is not None and number > last):
                continue
            yield from self._read_segment(path, offset if number == segment else 0)

    def read_part(self, segment: int, offset: int, size_bytes: int) -> bytes:
        """Return at most so many bytes of a segment that is not packed.

        Raises:
            OSError: it is not there.
        """
        return self._read(name_segment(self._folder, segment), offset, size_bytes)

    def _read(self, path: str, offset: int, size_bytes: int) -> bytes:
        try:
            return self._disk.read(path, offset, size_bytes)
        except OSError as error:
            if error.errno not in _WRONG_KIND:
                raise
            raise DamagedError(f"{path} is no regular file", hint=_MEND) from error

    def _read_segment(self, path: str, offset: int) -> Iterator[bytes]:
        self._measure(path)
        if path.endswith(".gz"):
            yield from self._unpack(path)[offset:].split(b"\n")[:-1]
            return
        rest = b""
        while block := self._read(path, offset, _READ_BYTES):
            offset += len(block)
            *lines, rest = (rest + block).split(b"\n")
            yield from lines

    def _measure(self, path: str) -> int:
        """Return a segment's size in bytes.

        Raises:
            DamagedError: it is larger than a segment can be, so that reading it might never end.
        """
        found = self._disk.stat(path)
        if found is not None and found.st_size > _SEGMENT_MAX_BYTES:
            raise DamagedError(f"{path} is larger than a segment can be", hint=_MEND)
        return found.st_size if found is not None else 0

    def _unpack(self, path: str) -> bytes:
        """Return the bytes of a packed segment, which may consist of several members.

        Raises:
            zlib.error, EOFError: it cannot be unpacked.
        """
        packed, parts, left = self._read(path, 0, -1), [], _SEGMENT_MAX_BYTES
        while packed:
            unpacker = zlib.decompressobj(_GZIP_WINDOW)
            parts.append(unpacker.decompress(packed, left + 1))
            left -= len(parts[-1])
            if left < 0:
                raise DamagedError(f"{path} is larger than a segment can be", hint=_MEND)
            if not unpacker.eof:
                raise EOFError("a packed segment ends early")
            packed = unpacker.unused_data
        return b"".join(parts)

    def find_line(self, seq: int) -> tuple[int, int] | None:
        """Return (segment, offset) of the first line whose `seq` is at least `seq`; None: past the end."""
        segments = self.list_segments()
        best: tuple[int, int] | None = None
        for number, path in reversed(segments):
            if path.endswith(".gz"):
                found = self._find_packed(path, seq)
            else:
                found = self._bisect(path, seq)
            if found is None:
                break
            best = (number, found)
            if found > 0:
                break
        return best

    def _find_packed(self, path: str, seq: int) -> int | None:
        offset = 0
        for line in self._read_segment(path, 0):
            if read_seq(line) >= seq:
                return offset
            offset += len(line) + 1
        return None

    def _bisect(self, path: str, seq: int) -> int | None:
        low, best = 0, None
        high = self._measure(path)
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


def read_seq(line: bytes) -> int:
    """Return the sequence number that a line of a store names, -1 for none."""
    # Inside a JSON string the quotes are escaped, so this matches a member only.
    found = _SEQ.search(line)
    return int(found[1]) if found else -1
