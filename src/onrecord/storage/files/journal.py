"""The write-ahead journal: the sync of a frame is the commit (docs/format/vault.md, journal)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.storage.files.disk import Disk, storage_errors

MAGIC = b"ORJ1"
_HEAD = struct.Struct("<4sI16s")
HEAD_BYTES = _HEAD.size


@dataclass(frozen=True, slots=True)
class Frame:
    """One commit as it lies in the journal: payload and the offset after it."""

    payload: bytes
    end: int


def _digest(generation: int, offset: int, payload: bytes) -> bytes:
    digest = hashlib.blake2b(struct.pack("<QQ", generation, offset), digest_size=16)
    digest.update(payload)
    return digest.digest()


def encode_frame(generation: int, offset: int, payload: bytes) -> bytes:
    """Return the bytes of a frame that begins at `offset` of the journal of `generation`."""
    return _HEAD.pack(MAGIC, len(payload), _digest(generation, offset, payload)) + payload


def decode_frames(generation: int, data: bytes, offset: int = 0) -> list[Frame]:
    """Read frames from `data`, which begins at `offset` of the journal; stop at the first that is not whole."""
    frames: list[Frame] = []
    place = 0
    while place + HEAD_BYTES <= len(data):
        magic, size, digest = _HEAD.unpack_from(data, place)
        body = data[place + HEAD_BYTES : place + HEAD_BYTES + size]
        if magic != MAGIC or len(body) != size or _digest(generation, offset + place, body) != digest:
            break
        place += HEAD_BYTES + size
        frames.append(Frame(body, offset + place))
    return frames


def has_later_frame(generation: int, data: bytes, offset: int, behind: int) -> bool:
    """Tell whether a whole frame lies somewhere behind `behind`; a digest covers its place, so chance cannot make one.

    Args:
        generation: The journal's.
        data: Bytes of the journal from `offset` on.
        offset: Where they begin.
        behind: Offset up to which frames are whole.
    """
    place = data.find(MAGIC, behind - offset + 1)
    while place >= 0:
        if decode_frames(generation, data[place:], offset + place):
            return True
        place = data.find(MAGIC, place + 1)
    return False


class Journal:
    """The live journal file of one generation.

    Args:
        disk: The state folder.
        generation: Number of the file, from `head.json`.
    """

    def __init__(self, disk: Disk, generation: int) -> None:
        self._disk = disk
        self.generation = generation
        self.name = f"journal.{generation}"
        self.end = 0

    def create(self) -> None:
        """Make the empty file and sync it with its folder."""
        self._disk.write_at(self.name, 0, b"")
        self._disk.sync(self.name)
        self._disk.sync_folder("")

    def read_new(self) -> Sequence[Frame]:
        """Return whole frames beyond what was read or written before, and move `end` behind them.

        Raises:
            DamagedError: a frame that is not whole is followed by one that is, so it was acknowledged.
            OSError: the file cannot be read.
        """
        data = self._disk.read(self.name, self.end)
        frames = decode_frames(self.generation, data, self.end)
        whole = frames[-1].end if frames else self.end
        if has_later_frame(self.generation, data, self.end, whole):
            raise DamagedError("the journal is damaged in the middle", hint="Check the disk; keep the state folder.")
        self.end = whole
        return frames

    def has_grown(self) -> bool:
        """Tell whether the file is not as long as `end` says."""
        found = self._disk.stat(self.name)
        return found is None or found.st_size != self.end

    def append(self, payload: bytes) -> None:
        """Write one frame and sync it: the commit.

        A short write is cut back. After a failed sync the frame is cut back and the journal read anew from the
        start, as the pages of a failed sync may be gone though marked clean; the sync is not repeated.

        Raises:
            StorageFailedError: nothing was committed.
            DamagedError: earlier frames cannot be read any more.
        """
        frame = encode_frame(self.generation, self.end, payload)
        with storage_errors("write the journal"):
            self._disk.write_at(self.name, self.end, frame)
        try:
            with storage_errors("sync the journal"):
                self._disk.sync(self.name)
        except StorageFailedError:
            self._cut_back()
            raise
        self.end += len(frame)

    def _cut_back(self) -> None:
        with storage_errors("cut the journal back"):
            self._disk.truncate(self.name, self.end)
            frames = decode_frames(self.generation, self._disk.read(self.name))
        if (frames[-1].end if frames else 0) != self.end:
            raise DamagedError("the journal cannot be read back after a failed sync", hint="Check the disk.")

    def remove(self) -> None:
        """Remove the file; its content is in the vault and synced."""
        if self._disk.stat(self.name) is not None:
            self._disk.unlink(self.name)
