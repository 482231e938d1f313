"""Packing of sealed segments: what a store wrote and will not touch again lies in a quarter of the bytes.

A packed segment is put beside the plain one, whole and synced, before that goes; so a crash leaves one or both. Of both
the plain one goes where it is nothing but a beginning of what the packed one holds; else neither is touched, and doctor
names them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onrecord.domain.errors import DamagedError
from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.packed_segments import SEGMENT_MAX_BYTES, PackedReader, pack_lines
from onrecord.storage.files.segments import name_packed, name_segment

TEMPORARY_NAME: Final = ".pack.tmp"
_BLOCK_BYTES: Final = 1 << 20


def pack_sealed(disk: Disk, folder: str, end: int) -> None:
    """Pack the plain segments of a store before segment `end`; under the lock of who writes the store.

    Raises:
        OSError, DamagedError: one could not be packed; it is there as it was.
    """
    names = frozenset(disk.list_folder(folder))
    if TEMPORARY_NAME in names:
        disk.unlink(f"{folder}/{TEMPORARY_NAME}")
    sealed = [number for number in _list_plain(names) if number < end]
    for number in sealed:
        if f"{number:08d}.jsonl.gz" not in names:
            _pack(disk, folder, number)
        elif _is_beginning(disk, folder, number):
            disk.unlink(name_segment(folder, number))


def _list_plain(names: frozenset[str]) -> list[int]:
    stems = (name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))
    return sorted(int(stem) for stem in stems if len(stem) == 8 and stem.isdecimal() and stem.isascii())


def _pack(disk: Disk, folder: str, number: int) -> None:
    path, temporary = name_segment(folder, number), f"{folder}/{TEMPORARY_NAME}"
    packed = pack_lines(disk.read(path, 0, SEGMENT_MAX_BYTES + 1))
    if packed is None:
        return
    disk.write_new(temporary, packed)
    disk.sync(temporary)
    disk.rename(temporary, name_packed(folder, number))
    disk.sync_folder(folder)
    if _is_beginning(disk, folder, number):
        disk.unlink(path)


def _is_beginning(disk: Disk, folder: str, number: int) -> bool:
    """Tell whether the plain form of a segment is the packed one unpacked, or a beginning of that."""
    path, packed_path = name_segment(folder, number), name_packed(folder, number)
    found, plain = disk.stat(packed_path), disk.stat(path)
    if found is None or plain is None:
        return False
    reader = PackedReader(disk)
    segment = reader.open(packed_path, found)
    return plain.st_size <= segment.size_bytes and all(
        disk.read(path, offset, _BLOCK_BYTES)
        == reader.read_part(segment, offset, min(_BLOCK_BYTES, plain.st_size - offset))
        for offset in range(0, plain.st_size, _BLOCK_BYTES)
    )


def find_torn_pairs(disk: Disk, folder: str, *, is_own: bool) -> Iterator[Problem]:
    """Yield a problem for each segment that lies plain and packed and is not the same."""
    try:
        names = frozenset(disk.list_folder(folder))
    except OSError:  # absent, or something else: others name it
        return
    for number in _list_plain(names):
        if f"{number:08d}.jsonl.gz" not in names:
            continue
        try:
            is_same = _is_beginning(disk, folder, number)
        except (OSError, DamagedError):
            is_same = False
        if not is_same:
            path = name_packed(folder, number)
            message = f"it holds something else than {number:08d}.jsonl beside it, and that one is read"
            mend = "Move away the one that is not the log's; a copy of the vault has the right one."
            severity = Severity.CRITICAL if is_own else Severity.WARNING
            yield Problem(path, 0, "damaged", severity, message, mend)
