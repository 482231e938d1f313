"""Placing committed bytes: a file in one step, a transcript block at its end; what a placement displaces is kept.

Temporary names are `.onrecord-<log>-<seq>.tmp` beside the target, so that a crash leaves nothing that cannot be told,
and what a sync program brings from another installation is never taken for one's own.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from onrecord.domain.ids import LogId
from onrecord.storage.files.disk import Disk

CAS_WEAK = "cas=weak: this file system has no atomic exchange; a hard link keeps old bytes instead"
TEMPORARY_PREFIX = ".onrecord-"
TEMPORARY_SUFFIX = ".tmp"
_MAX_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class Placed:
    """Where bytes lie now, and the bytes of an outside edit that gave way, if any."""

    path: str
    displaced: bytes | None = None


def name_temporary(path: str, log: LogId, seq: int) -> str:
    """Return the temporary name beside `path` for the change that a log committed as `seq`."""
    parent = path.rpartition("/")[0]
    name = f"{TEMPORARY_PREFIX}{log}-{seq}{TEMPORARY_SUFFIX}"
    return f"{parent}/{name}" if parent else name


def is_torn_remnant(found: bytes, wanted: bytes) -> bool:
    """Tell whether `found` is what a power cut may leave of `wanted`: a part of it, the rest cut off or zeros."""
    kept = found.rstrip(b"\0")
    return len(found) <= len(wanted) and wanted.startswith(kept)


def probe_exchange(vault: Disk, state: Disk) -> bool | None:
    """Tell whether the file system of the vault exchanges two files in one step, without a write to the vault.

    It is tried in the state folder, where that lies on the same file system; nothing is left behind.

    Returns:
        None where that cannot be told: another file system, a folder that cannot be written, or another process that
        tries just now. Then the first placement tells.
    """
    names = (f".exchange-one{TEMPORARY_SUFFIX}", f".exchange-other{TEMPORARY_SUFFIX}")
    can = None
    with suppress(OSError):
        if vault.get_device() != state.get_device():
            return None
        _remove_all(state, names)
        for name in names:
            state.write_new(name, b"")
        can = state.exchange(*names)
    with suppress(OSError):
        _remove_all(state, names)
    return can


def _remove_all(disk: Disk, paths: Iterable[str]) -> None:
    for path in paths:
        if disk.stat(path) is not None:
            disk.unlink(path)


class Placer:
    """Places files of one log's changes below the vault; remembers what must be synced at the next checkpoint."""

    def __init__(self, disk: Disk, log: LogId) -> None:
        self._disk = disk
        self._log = log
        self.unsynced: set[str] = set()
        self.kept: set[str] = set()
        self.is_exchange_atomic = True

    def drop_kept(self) -> None:
        """Remove the temporary files of displaced edits, once these are committed; what stays is met by a replay."""
        for name in sorted(self.kept):
            with suppress(OSError):
                self._disk.unlink(name)
        self.kept.clear()

    def create(self, path: str, data: bytes, seq: int) -> Placed:
        """Place a file that should not exist yet; if the name was taken meanwhile, ` (2)`, ` (3)` … is added.

        Raises:
            OSError: not placed.
        """
        temporary = self._write_temporary(path, data, seq)
        for target in list_candidate_paths(path):
            try:
                self._disk.rename_noreplace(temporary, target)
            except FileExistsError:
                if self._disk.stat(target) is not None and self._disk.read(target) == data:
                    self._disk.unlink(temporary)
                    return self._note(target)
                continue
            return self._note(target)
        self._disk.unlink(temporary)
        raise OSError(errno.EEXIST, "no free name", path)

    def replace(self, path: str, data: bytes, pre_sha256: bytes, seq: int) -> Placed:
        """Exchange a file for `data` in one step. Other bytes than the pre-image are returned as displaced.

        Their temporary file stays until `drop_kept`.

        Raises:
            OSError: not placed.
        """
        temporary = self._write_temporary(path, data, seq)
        try:
            if not self._disk.exchange(temporary, path):
                self._replace_keeping_link(temporary, path)
        except FileNotFoundError:
            self._disk.rename_noreplace(temporary, path)
            return self._note(path)
        found = self._disk.read(temporary)
        placed = self._note(path)
        if hashlib.sha256(found).digest() == pre_sha256 or found == data:
            self._disk.unlink(temporary)
            return placed
        self.kept.add(temporary)  # a crash before it is committed must not take it
        return Placed(path, found)

    def _replace_keeping_link(self, temporary: str, path: str) -> None:
        """Replace where there is no exchange: a hard link keeps the old bytes under the temporary's name."""
        self.is_exchange_atomic = False
        kept = temporary + ".old"
        if self._disk.stat(kept) is not None:
            self._disk.unlink(kept)
        self._disk.link(path, kept)
        self._disk.rename(temporary, path)
        self._disk.rename(kept, temporary)

    def append(self, path: str, data: bytes, offset: int, seq: int) -> Placed:
        """Put a block behind a transcript of `offset` bytes; if the user has edited the file, at its end.

        A file that has other names (hard links) gives way to one of its own first: those may lie outside the vault.

        Raises:
            OSError: not placed.
        """
        found = self._disk.stat(path)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "the transcript is gone", path)
        displaced = self._separate(path, seq) if found.st_nlink > 1 else None
        if found.st_size == offset:
            self._disk.write_at(path, offset, data)
        else:
            there = self._disk.read(path)
            gap = b"" if not there or there.endswith(b"\n") else b"\n\n"
            self._disk.write_at(path, len(there), gap + data)
        self._note(path)
        return Placed(path, displaced)

    def _separate(self, path: str, seq: int) -> bytes | None:
        """Put a file of the same bytes in the place of one with several names; return an edit that gave way, if any."""
        there = self._disk.read(path)
        return self.replace(path, there, hashlib.sha256(there).digest(), seq).displaced

    def settle_region(self, path: str, data: bytes, offset: int, seq: int) -> Placed:
        """After a crash: bring a transcript's head (offset 0) or one block to its place; what follows it is kept.

        Raises:
            OSError: not placed.
        """
        temporary = name_temporary(path, self._log, seq)
        if self._disk.stat(temporary) is not None:
            self._disk.unlink(temporary)
        if self._disk.stat(path) is None and offset == 0:
            return self.create(path, data, seq)
        there = self._disk.read(path)
        region = there[offset : offset + len(data)]
        if region == data or data in there:
            return self._note(path)
        if (
            not self._has_other_names(path)
            and len(there) >= offset
            and all(byte in (0, wanted) for byte, wanted in zip(region, data, strict=False))
        ):
            self._disk.overwrite(path, offset, data)
            return self._note(path)
        return self.append(path, data, -1, seq)

    def _has_other_names(self, path: str) -> bool:
        found = self._disk.stat(path)
        return found is not None and found.st_nlink > 1

    def settle(self, path: str, data: bytes, pre_sha256: bytes | None, seq: int, mark: bytes) -> Placed | None:
        """After a crash: bring a committed file to its place unless the user has edited there since.

        Args:
            path: Where the bytes belong.
            data: The committed bytes.
            pre_sha256: Hash of the bytes to be replaced; None for a new file.
            seq: The change's sequence number.
            mark: Bytes that the record's own file holds (its id); a new file's name is taken by another where they
                are missing, and the next free one is used.

        Returns:
            None when the file holds an outside edit and was left alone.

        Raises:
            OSError: not placed.
        """
        displaced = self._settle_temporary(path, data, pre_sha256, seq)
        found = self._disk.stat(path)
        there = self._disk.read(path) if found is not None else None
        if there == data:
            self._note(path)
            return Placed(path, displaced)
        if there is None or (pre_sha256 is None and mark not in there and not is_torn_remnant(there, data)):
            placed = self.create(path, data, seq)
        elif is_torn_remnant(there, data) or (pre_sha256 and hashlib.sha256(there).digest() == pre_sha256):
            placed = self.replace(path, data, hashlib.sha256(there).digest(), seq)
        else:
            return Placed(path, displaced) if displaced is not None else None
        return Placed(placed.path, displaced if displaced is not None else placed.displaced)

    def _settle_temporary(self, path: str, data: bytes, pre_sha256: bytes | None, seq: int) -> bytes | None:
        """Remove what the crash left beside the target; an outside edit that was displaced is returned and stays."""
        displaced = None
        temporary = name_temporary(path, self._log, seq)
        for name in (temporary, temporary + ".old"):
            if self._disk.stat(name) is None:
                continue
            left = self._disk.read(name)
            is_ours = is_torn_remnant(left, data) or hashlib.sha256(left).digest() == pre_sha256
            if is_ours:
                self._disk.unlink(name)
            else:
                displaced = left
                self.kept.add(name)
        return displaced

    def _write_temporary(self, path: str, data: bytes, seq: int) -> str:
        parent = path.rpartition("/")[0]
        self._disk.make_folder(parent)
        temporary = name_temporary(path, self._log, seq)
        if temporary in self.kept:
            self._disk.rename(temporary, temporary + ".old")
            self.kept.add(temporary + ".old")
            self.kept.discard(temporary)
        elif self._disk.stat(temporary) is not None:
            self._disk.unlink(temporary)
        self._disk.write_new(temporary, data)
        return temporary

    def _note(self, path: str) -> Placed:
        self.unsynced.add(path)
        return Placed(path)

    def sync(self) -> None:
        """Make everything placed durable, names included."""
        folders: set[str] = set()
        for path in sorted(self.unsynced):
            if self._disk.stat(path) is not None:
                self._disk.sync(path)
            folders.update(_folders_above(path))
        for folder in sorted(folders, reverse=True):
            with suppress(FileNotFoundError):  # the user has removed it
                self._disk.sync_folder(folder)
        self.unsynced.clear()


def _folders_above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def list_candidate_paths(path: str) -> Iterator[str]:
    """Yield the names that a file may get, best first: its own, then with ` (2)`, ` (3)` and so on."""
    stem = path.removesuffix(".md")
    yield path
    for number in range(2, _MAX_NAMES):
        yield f"{stem} ({number}).md"
