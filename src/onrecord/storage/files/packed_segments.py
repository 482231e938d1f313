"""Packed segments: gzip of several members with a table in front, so that a row costs the inflating of one member.

Each member is gzip (RFC 1952) of whole lines; the first is empty and has the table in its extra field (section
2.3.1.1, subfield `OR`), as dictzip keeps the lengths of its chunks there and BGZF (SAM/BAM specification, section 4.1)
the length of each block. For each further member the table has, little endian, its bytes packed (32 bits), its bytes
unpacked (32) and the `seq` of its first line (64); docs/format/versions.md. Any gunzip reads the whole.
"""

from __future__ import annotations

import os
import re
import zlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from struct import Struct
from typing import Final

from onrecord.domain.errors import DamagedError
from onrecord.storage.files.disk import Disk

# Lines are added to a member until it has so many bytes.
MEMBER_BYTES: Final = 64 << 10
# A line is at most an adopted file of 8 MiB, each byte of it escaped as six.
MEMBER_MAX_BYTES: Final = 64 << 20
# A segment of the ledger has at most 65,536 lines of 4 KiB, one of the versions store less (docs/format).
SEGMENT_MAX_BYTES: Final = 65_536 * 4_097
MEND: Final = "Move it away and put the folder of the log back from a copy of the vault."

_SEQ = re.compile(rb'"seq":(\d{1,16})')
_HEAD: Final = Struct("<2sBBIBBHBBH")  # RFC 1952 up to the extra field, with one subfield: magic … XLEN, SI1, SI2, LEN
_ROW: Final = Struct("<IIQ")
_MAGIC, _DEFLATE, _EXTRA, _ANY_SYSTEM, _NAME = b"\x1f\x8b", 8, 4, 255, (ord("O"), ord("R"))
_EMPTY_BODY: Final = b"\x03\x00" + bytes(8)  # nothing deflated, its CRC and its length
_TABLE_MAX_COUNT: Final = (65_535 - 4) // _ROW.size
_GZIP_WINDOW: Final = 31
_LEVEL: Final = 1  # 37 % of a versions store of notes; level 6 has 31 % and takes four times as long
_FIRST_READ_BYTES: Final = 4_096
_KEPT_MAX_COUNT: Final = 4
_KEPT_MAX_BYTES: Final = 1 << 20
_TABLES_MAX_COUNT: Final = 512

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class PackedSegment:
    """The table of a packed segment.

    Attributes:
        path: Where it lies.
        stamp: Inode, mtime and size of the file that the table was read from.
        places: Where each member begins in the file, and where the last ends.
        offsets: Where the bytes of each begin in the segment as it was, and where the last end.
        seqs: Of the first line of each.
    """

    path: str
    stamp: Stamp
    places: Sequence[int]
    offsets: Sequence[int]
    seqs: Sequence[int]

    @property
    def size_bytes(self) -> int:
        """The size of the segment unpacked."""
        return self.offsets[-1]

    def find_member(self, offset: int) -> int:
        """Return which member an unpacked offset lies in, from 0; behind the end, how many there are."""
        return bisect_right(self.offsets, offset) - 1


def read_seq(line: bytes) -> int:
    """Return the sequence number that a line of a store names, -1 for none."""
    # Inside a JSON string the quotes are escaped, so this matches a member only.
    found = _SEQ.search(line)
    return int(found[1]) if found else -1


def pack_lines(data: bytes) -> bytes | None:
    """Return lines as a packed segment; None where they cannot be one: not whole, without `seq`, or too large."""
    rows: list[bytes] = []
    members: list[bytes] = []
    start = 0
    while start < len(data):
        end = data.find(b"\n", min(start + MEMBER_BYTES, len(data)) - 1) + 1
        seq = read_seq(data[start : data.find(b"\n", start)])
        if not end or seq < 0 or end - start > MEMBER_MAX_BYTES or len(members) == _TABLE_MAX_COUNT:
            return None
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
        members.append(packer.compress(data[start:end]) + packer.flush())
        rows.append(_ROW.pack(len(members[-1]), end - start, seq))
        start = end
    if not members:
        return None
    size = _ROW.size * len(rows)
    head = _HEAD.pack(_MAGIC, _DEFLATE, _EXTRA, 0, 0, _ANY_SYSTEM, size + 4, *_NAME, size)
    return b"".join((head, *rows, _EMPTY_BODY, *members))


class PackedReader:
    """Reads packed segments below one disk; keeps the tables and the few members that were read last.

    Its methods raise OSError, and DamagedError for what is no packed segment or lacks a part.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._tables: OrderedDict[str, PackedSegment] = OrderedDict()
        self._members: OrderedDict[tuple[str, Stamp, int], bytes] = OrderedDict()

    def open(self, path: str, found: os.stat_result) -> PackedSegment:
        """Return the table of a file of this stat."""
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        known = self._tables.get(path)
        if known is None or known.stamp != stamp:
            if found.st_size > SEGMENT_MAX_BYTES:
                raise DamagedError(f"{path} is larger than a segment can be", hint=MEND)
            self._tables[path] = known = self._read_table(path, stamp)
            if len(self._tables) > _TABLES_MAX_COUNT:
                self._tables.popitem(last=False)
        return known

    def _read_table(self, path: str, stamp: Stamp) -> PackedSegment:
        data = self._disk.read(path, 0, _FIRST_READ_BYTES)
        if len(data) < _HEAD.size:
            raise _name_damage(path)
        magic, method, flags, _, _, _, extra, one, other, size = _HEAD.unpack_from(data)
        if (magic, method, flags, (one, other)) != (_MAGIC, _DEFLATE, _EXTRA, _NAME):
            raise _name_damage(path)
        if extra != size + 4 or not size or size % _ROW.size:
            raise _name_damage(path)
        end = _HEAD.size + size
        if end + len(_EMPTY_BODY) > len(data):
            data = self._disk.read(path, 0, end + len(_EMPTY_BODY))
        if data[end : end + len(_EMPTY_BODY)] != _EMPTY_BODY:
            raise _name_damage(path)
        rows = list(_ROW.iter_unpack(data[_HEAD.size : end]))
        places = list(accumulate((packed for packed, _, _ in rows), initial=end + len(_EMPTY_BODY)))
        offsets = list(accumulate((unpacked for _, unpacked, _ in rows), initial=0))
        if places[-1] != stamp[2] or offsets[-1] > SEGMENT_MAX_BYTES:
            raise _name_damage(path)
        if not all(packed and 0 < unpacked <= MEMBER_MAX_BYTES for packed, unpacked, _ in rows):
            raise _name_damage(path)
        return PackedSegment(path, stamp, places, offsets, [seq for _, _, seq in rows])

    def read_member(self, segment: PackedSegment, number: int) -> bytes:
        """Return the lines of a member."""
        key = (segment.path, segment.stamp, number)
        data = self._members.get(key)
        if data is None:
            data = self._inflate(segment, number)
            if len(data) <= _KEPT_MAX_BYTES:
                self._members[key] = data
                if len(self._members) > _KEPT_MAX_COUNT:
                    self._members.popitem(last=False)
        return data

    def _inflate(self, segment: PackedSegment, number: int) -> bytes:
        start, end = segment.places[number : number + 2]
        size = segment.offsets[number + 1] - segment.offsets[number]
        packed = self._disk.read(segment.path, start, end - start)
        unpacker = zlib.decompressobj(_GZIP_WINDOW)
        try:
            data = unpacker.decompress(packed, size + 1)
        except zlib.error as error:
            raise _name_damage(segment.path) from error
        if len(data) != size or not unpacker.eof or unpacker.unused_data or data[-1:] != b"\n":
            raise _name_damage(segment.path)
        if read_seq(data[: data.find(b"\n")]) != segment.seqs[number]:
            raise _name_damage(segment.path)
        return data

    def read_part(self, segment: PackedSegment, offset: int, size_bytes: int) -> bytes:
        """Return at most so many of the unpacked bytes from an offset on."""
        parts: list[bytes] = []
        number = segment.find_member(offset)
        while size_bytes > 0 and number < len(segment.seqs):
            begin = offset - segment.offsets[number]
            parts.append(self.read_member(segment, number)[begin : begin + size_bytes])
            size_bytes -= len(parts[-1])
            offset += len(parts[-1])
            number += 1
        return b"".join(parts)

    def read_lines(self, segment: PackedSegment, offset: int) -> Iterator[bytes]:
        """Yield the lines without LF from an offset on, which is that of a line."""
        for number in range(segment.find_member(offset), len(segment.seqs)):
            begin = max(offset - segment.offsets[number], 0)
            yield from self.read_member(segment, number)[begin:].split(b"\n")[:-1]

    def read_line(self, segment: PackedSegment, seq: int) -> bytes | None:
        """Return the line of exactly this `seq`, None for none."""
        number = bisect_right(segment.seqs, seq) - 1
        if number < 0:
            return None
        lines = self.read_member(segment, number)
        found = lines.find(b'"seq":%d,' % seq)
        line = lines[lines.rfind(b"\n", 0, found) + 1 : lines.find(b"\n", found)] if found >= 0 else b""
        return line if read_seq(line) == seq else None

    def find_line(self, segment: PackedSegment, seq: int) -> int | None:
        """Return the offset of the first line whose `seq` is at least `seq`, None for none."""
        first = max(bisect_right(segment.seqs, seq) - 1, 0)
        for number in range(first, len(segment.seqs)):
            offset = segment.offsets[number]
            for line in self.read_member(segment, number).split(b"\n")[:-1]:
                if read_seq(line) >= seq:
                    return offset
                offset += len(line) + 1
        return None


def _name_damage(path: str) -> DamagedError:
    return DamagedError(f"{path}: a packed segment of the log cannot be unpacked", hint=MEND)
