"""How a block of a posting list lies in its row: as planes of bytes, those of zeros left out, deflated where it pays.

A plane is one byte of each element of a column. The columns are documents (32 bits), packed postings (32), lines (16)
and repeats (64), in the machine's byte order. Six bytes stand before the planes: which there are, with a flag for
deflate, and how many documents; with repeats four more: how many of those. Up to eight documents without lines and
repeats stand whole, and so do up to four with a few: most lists are so short that planes cost more time than they save
bytes. Columns are cut and joined without a step for each posting, as gaps between documents would need
(6 % smaller, and a question half as long again).
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable
from itertools import accumulate, chain
from operator import sub
from struct import Struct
from struct import error as StructError
from typing import Final

from onrecord.storage.sqlite.schema import build_damage

Columns = tuple["array[int]", "array[int]", "array[int]", "array[int]"]  # documents, packed, lines, repeats

_HEADER: Final = Struct("=IH")
_REPEATS: Final = Struct("=I")
_IS_DEFLATED: Final = 1 << 31
_IS_WHOLE: Final = 1 << 30  # no planes: documents, then packed postings, as they are in memory
_IS_WHOLE_WITH_REST: Final = 1 << 29  # the same, how many repeats there are before them, lines and repeats behind
_WHOLE_MAX_COUNT: Final = 8
_WITH_REST_MAX_COUNT: Final = 4
_TYPES: Final = (("I", 4), ("I", 4), ("H", 2), ("Q", 8))
_POSTING_PLANES, _REPEAT_PLANES = 0x003FF, 0x3FC00
_DEFLATE_MIN_BYTES: Final = 128
# Runs and Huffman codes only, in blocks of about a plane: half the time of a search for repeated strings, and smaller.
_LEVEL, _WINDOW_BITS, _MEMORY_LEVEL = 1, -12, 4
_KEPT_VARINTS: Final = 1 << 14


def pack_block(documents: array[int], packed: array[int], lines: array[int], repeats: array[int]) -> bytes:
    """Return the columns of a `PostingList` as a block; 1 to 65,535 documents."""
    if len(documents) <= _WHOLE_MAX_COUNT and not repeats and not any(lines):
        return _HEADER.pack(_IS_WHOLE, len(documents)) + documents.tobytes() + packed.tobytes()
    if len(documents) <= _WITH_REST_MAX_COUNT and len(repeats) <= _WHOLE_MAX_COUNT:
        head = _HEADER.pack(_IS_WHOLE_WITH_REST, len(documents)) + _REPEATS.pack(len(repeats))
        return head + documents.tobytes() + packed.tobytes() + lines.tobytes() + repeats.tobytes()
    mask, shift, planes = 0, 0, []
    for column, width in ((documents, 4), (packed, 4), (lines, 2), (repeats, 8)):
        data = column.tobytes()
        count = len(column)
        if data.count(0) < len(data):
            for number in range(width):
                plane = data[number::width]
                if plane.count(0) < count:
                    mask |= 1 << shift + number
                    planes.append(plane)
        shift += width
    body = b"".join(planes)
    if len(body) >= _DEFLATE_MIN_BYTES:
        deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_RLE)
        deflated = deflater.compress(body) + deflater.flush()
        if len(deflated) < len(body):
            mask, body = mask | _IS_DEFLATED, deflated
    told = _REPEATS.pack(len(repeats)) if repeats else b""
    return _HEADER.pack(mask, len(documents)) + told + body


def unpack_block(block: bytes) -> Columns:
    """Return the columns of a block.

    Raises:
        DamagedError: it is not one.
    """
    try:
        return _unpack(block)
    except (ValueError, TypeError, StructError, zlib.error) as error:
        raise build_damage("a block cannot be read") from error


def _unpack(block: bytes) -> Columns:
    mask, count = _HEADER.unpack_from(block)
    if mask == _IS_WHOLE:
        if not count or len(block) != _HEADER.size + 8 * count:
            raise ValueError
        middle = _HEADER.size + 4 * count
        documents, packed = array("I", block[_HEADER.size : middle]), array("I", block[middle:])
        return documents, packed, array("H", bytes(2 * count)), array("Q")
    if mask == _IS_WHOLE_WITH_REST:
        return _unpack_with_rest(block, count)
    start, size = _HEADER.size, 0
    if mask & _REPEAT_PLANES:
        (size,) = _REPEATS.unpack_from(block, start)
        start += _REPEATS.size
    body = block[start:]
    if mask & _IS_DEFLATED:
        body = zlib.decompress(body, _WINDOW_BITS)
    expected = (mask & _POSTING_PLANES).bit_count() * count + (mask & _REPEAT_PLANES).bit_count() * size
    if not count or len(body) != expected:
        raise ValueError
    place, columns = 0, []
    for kind, width in _TYPES:
        length = size if kind == "Q" else count
        joined = bytearray(width * length)
        for number in range(width):
            if mask & 1:
                joined[number::width] = body[place : place + length]
                place += length
            mask >>= 1
        column = array(kind)
        column.frombytes(joined)
        columns.append(column)
    return columns[0], columns[1], columns[2], columns[3]


def _unpack_with_rest(block: bytes, count: int) -> Columns:
    (size,) = _REPEATS.unpack_from(block, _HEADER.size)
    start = _HEADER.size + _REPEATS.size
    if not count or len(block) != start + 10 * count + 8 * size:
        raise ValueError
    middle, lines, end = start + 4 * count, start + 8 * count, start + 10 * count
    whole = array("I", block[start:middle]), array("I", block[middle:lines])
    return *whole, array("H", block[lines:end]), array("Q", block[end:])


class _Varints(dict[int, bytes]):
    """The bytes of a number: seven bits in each, the lowest first, the highest bit set in all but the last."""

    def __missing__(self, number: int) -> bytes:
        parts = bytearray()
        rest = number
        while rest > 0x7F:
            parts.append(rest & 0x7F | 0x80)
            rest >>= 7
        parts.append(rest)
        found = bytes(parts)
        if number < _KEPT_VARINTS:
            self[number] = found
        return found


_VARINTS: Final = _Varints()


def pack_numbers(numbers: Iterable[int]) -> bytes:
    """Return numbers (distinct, in any order, not negative) as the gaps between them in ascending order."""
    ordered = sorted(numbers)
    return b"".join(map(_VARINTS.__getitem__, map(sub, ordered, chain((0,), ordered))))


def unpack_numbers(packed: object) -> list[int]:
    """Return the numbers of `pack_numbers`, ascending.

    Raises:
        DamagedError: they are not such.
    """
    if not isinstance(packed, bytes) or (packed and packed[-1] > 0x7F):
        raise build_damage("the terms of a document cannot be read")
    gaps, gap, shift = [], 0, 0
    for part in packed:
        gap |= (part & 0x7F) << shift
        shift += 7
        if part <= 0x7F:
            gaps.append(gap)
            gap = shift = 0
    return list(accumulate(gaps))
