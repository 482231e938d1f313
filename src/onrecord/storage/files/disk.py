"""All touching of files for the write path, below one root and through no link that the user did not allow.

Every path is relative to the root, `/`-separated. Each folder on the way is opened with O_NOFOLLOW, so that no
link below the root leads out of it; an allowed link is opened once, and
gone on from if that is the very folder allowed. The calls are the primitives whose effects a power cut may keep or
drop one by one; a test replaces them by a recorder. Raises OSError; callers translate with `storage_errors`.

A file that has other names (hard links) is not written in place: those may lie outside the root, or be a backup.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from typing import NamedTuple, Self

from onrecord.domain.errors import StorageFailedError
from onrecord.storage.files import syscalls

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_SMALL_BYTES = 1 << 20
_ALONE_NAME = ".onrecord-alone.tmp"
_LEADING_OUT = frozenset(("", ".", ".."))
_NOTHING_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def storage_errors(action: str) -> Iterator[None]:
    """Translate OSError into StorageFailedError: `action` says what failed, in the infinitive."""
    try:
        yield
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "EIO")
        hint = "Free space on the disk, then repeat the call." if error.errno in _FULL else None
        raise StorageFailedError(
            f"cannot {action}: {os.strerror(error.errno or errno.EIO)} ({name})", hint=hint
        ) from error


def _sync_fd(fd: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fsync(fd)


class Inode(NamedTuple):
    """What a file is, whatever its names: device and inode."""

    device: int
    number: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """Return it of a stat."""
        return cls(found.st_dev, found.st_ino)


class Disk:
    """Files below one root folder.

    Args:
        root: Absolute path of an existing folder; it may itself be reached through links (the user's choice).

    Attributes:
        links: The links below the root that are followed, by path, each with the one folder that it may lead to.
        parted: Files that had other names and gave way to a copy of their own, by path, each once.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.links: Mapping[str, Inode] = {}
        self.parted: list[str] = []
        self._root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self) -> None:
        """Release the root folder."""
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1

    def is_at_root(self) -> bool:
        """Tell whether the folder that was opened is still the one that its path leads to."""
        try:
            return os.path.samestat(os.stat(self.root), os.fstat(self._root_fd))
        except OSError:
            return False

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """Open the folder `path` ("" is the root), following allowed links alone; yield its descriptor."""
        fd = os.dup(self._root_fd)
        done = ""
        try:
            for part in path.split("/") if path else ():
                if part in _LEADING_OUT:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
                inner = -1
                if self.links:
                    done = f"{done}/{part}" if done else part
                    inner = _open_allowed(fd, part, self.links.get(done))
                if inner < 0:
                    inner = os.open(part, _FOLDER_FLAGS, dir_fd=fd)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _open(self, path: str, flags: int, mode: int = 0o600) -> Iterator[int]:
        parent, _, name = path.rpartition("/")
        with self.folder(parent) as folder_fd:
            fd = os.open(name, flags | _FILE_FLAGS, mode, dir_fd=folder_fd)
        try:
            yield fd
        finally:
            os.close(fd)

    def get_device(self) -> int:
        """Return the number of the file system that the root lies on."""
        with self.folder("") as folder_fd:
            return os.fstat(folder_fd).st_dev

    def stat(self, path: str) -> os.stat_result | None:
        """Return a regular file's stat, None when nothing or something else is there."""
        parent, _, name = path.rpartition("/")
        return self.stat_each(parent, (name,))[0]

    def stat_each(self, folder: str, names: Sequence[str]) -> list[os.stat_result | None]:
        """Return the stats of files in one folder, as `stat`, at the cost of one opening of the folder."""
        try:
            with self.folder(folder) as folder_fd:
                return [_stat_in(folder_fd, name) for name in names]
        except OSError as error:
            if error.errno not in _NOTHING_THERE:
                raise
            return [None] * len(names)

    def read(self, path: str, offset: int = 0, size_bytes: int = -1) -> bytes:
        """Return bytes of a regular file from `offset`, at most `size_bytes` (-1: all).

        Raises:
            OSError: not there, a link (ELOOP), or not a regular file (EINVAL).
        """
        with self._open(path, os.O_RDONLY | os.O_NONBLOCK) as fd:
            return _read_open(fd, offset, size_bytes)

    def read_each(self, paths: Iterable[str], size_bytes: int) -> Iterator[bytes | None]:
        """Yield at most `size_bytes` of each regular file in the order asked, None for what cannot be read.

        Files of one folder that follow one another cost one opening of that folder.
        """
        for parent, names in groupby(paths, key=_name_parent):
            start = len(parent) + 1 if parent else 0
            with ExitStack() as stack:
                try:
                    folder_fd = stack.enter_context(self.folder(parent))
                except OSError:
                    folder_fd = -1
                for path in names:
                    yield _read_in(folder_fd, path[start:], size_bytes)

    def list_folder(self, path: str) -> list[str]:
        """Return the names in a folder, ascending."""
        with self.folder(path) as fd:
            return sorted(os.listdir(fd))

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it, mode 0700; existing ones are left alone."""
        parent, _, name = path.rpartition("/")
        try:
            with self.folder(path):
                return
        except FileNotFoundError:
            pass
        if parent:
            self.make_folder(parent)
        with self.folder(parent) as fd:
            try:
                os.mkdir(name, 0o700, dir_fd=fd)
            except FileExistsError:
                return

    def write_new(self, path: str, data: bytes) -> None:
        """Make a file that must not exist, mode 0600, with all of `data`; unsynced. A failed write leaves no file."""
        with self._open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as fd:
            try:
                self._write_all(fd, data, 0)
            except OSError:
                self.unlink(path)
                raise

    def write_at(self, path: str, offset: int, data: bytes) -> None:
        """Write `data` at `offset` of a file (made if absent) and end the file there; unsynced.

        A short write is cut back to `offset` before the error is raised.
        """
        with self._open_alone(path, offset, os.O_CREAT) as fd:
            end = offset + len(data)
            try:
                self._write_all(fd, data, offset)
                if os.fstat(fd).st_size != end:
                    os.ftruncate(fd, end)
            except OSError:
                os.ftruncate(fd, offset)
                raise

    def open_for_append(self, path: str) -> None:
        """Open a file for writing (made if absent) and close it: tells whether it can be written."""
        with self._open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK) as fd:
            _check_regular(os.fstat(fd))

    def overwrite(self, path: str, offset: int, data: bytes) -> None:
        """Write `data` at `offset` of an existing file and keep what lies behind it; unsynced."""
        with self._open_alone(path) as fd:
            self._write_all(fd, data, offset)

    @contextmanager
    def _open_alone(self, path: str, size_bytes: int = -1, flags: int = 0) -> Iterator[int]:
        """Open a file for writing; one with other names gives way to a synced copy of its first `size_bytes`.

        Raises:
            OSError: it is no regular file (EINVAL), or got another name again at once (EMLINK).
        """
        with self._open(path, os.O_RDWR | os.O_NONBLOCK | flags) as fd:
            found = os.fstat(fd)
            _check_regular(found)
            if found.st_nlink <= 1:
                yield fd
                return
            self._put_copy(path, _read_open(fd, 0, size_bytes))
        with self._open(path, os.O_RDWR | os.O_NONBLOCK) as fd:
            if os.fstat(fd).st_nlink > 1:
                raise OSError(errno.EMLINK, os.strerror(errno.EMLINK), path)
            yield fd

    def _put_copy(self, path: str, data: bytes) -> None:
        parent = _name_parent(path)
        temporary = f"{parent}/{_ALONE_NAME}" if parent else _ALONE_NAME
        with suppress(FileNotFoundError):
            self.unlink(temporary)
        self.write_new(temporary, data)
        self.sync(temporary)
        self.rename(temporary, path)
        self.sync_folder(parent)
        if path not in self.parted:
            self.parted.append(path)

    def _write_all(self, fd: int, data: bytes, offset: int) -> None:
        view = memoryview(data)
        while view:
            written = os.pwrite(fd, view, offset)
            view, offset = view[written:], offset + written

    def truncate(self, path: str, size_bytes: int) -> None:
        """Cut a file; unsynced."""
        with self._open_alone(path, size_bytes) as fd:
            os.ftruncate(fd, size_bytes)

    def sync(self, path: str) -> None:
        """Make a file's bytes durable."""
        with self._open(path, os.O_RDONLY) as fd:
            _sync_fd(fd)

    def sync_folder(self, path: str) -> None:
        """Make a folder's names durable."""
        with self.folder(path) as fd:
            os.fsync(fd)

    def unlink(self, path: str) -> None:
        """Remove a name; unsynced."""
        parent, _, name = path.rpartition("/")
        with self.folder(parent) as fd:
            os.unlink(name, dir_fd=fd)

    def rename(self, source: str, target: str) -> None:
        """Rename within one folder, replacing `target`; unsynced."""
        parent, source_name, target_name = _siblings(source, target)
        with self.folder(parent) as fd:
            os.rename(source_name, target_name, src_dir_fd=fd, dst_dir_fd=fd)

    def rename_noreplace(self, source: str, target: str) -> None:
        """Rename within one folder unless `target` exists; unsynced.

        Raises:
            FileExistsError: `target` exists.
        """
        parent, source_name, target_name = _siblings(source, target)
        with self.folder(parent) as fd:
            if not syscalls.rename_noreplace(fd, source_name, target_name):
                os.link(source_name, target_name, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
                os.unlink(source_name, dir_fd=fd)

    def exchange(self, one: str, other: str) -> bool:
        """Exchange two files of one folder in one step; unsynced. False: the file system cannot."""
        parent, one_name, other_name = _siblings(one, other)
        with self.folder(parent) as fd:
            return syscalls.exchange(fd, one_name, other_name)

    def link(self, source: str, target: str) -> None:
        """Give a file a second name in its folder; unsynced."""
        parent, source_name, target_name = _siblings(source, target)
        with self.folder(parent) as fd:
            os.link(source_name, target_name, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)


def _open_allowed(folder_fd: int, name: str, allowed: Inode | None) -> int:
    """Open the folder that an allowed link leads to; -1 if it leads to another one or none."""
    if allowed is None:
        return -1
    try:
        fd = os.open(name, _FOLDER_FLAGS & ~os.O_NOFOLLOW, dir_fd=folder_fd)
    except OSError:
        return -1
    if Inode.of(os.fstat(fd)) == allowed:
        return fd
    os.close(fd)
    return -1


def _stat_in(folder_fd: int, name: str) -> os.stat_result | None:
    try:
        found = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NOTHING_THERE:
            raise
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _name_parent(path: str) -> str:
    return path.rpartition("/")[0]


def _read_in(folder_fd: int, name: str, size_bytes: int) -> bytes | None:
    if folder_fd < 0:
        return None
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _FILE_FLAGS, dir_fd=folder_fd)
    except OSError:
        return None
    try:
        return _read_open(fd, 0, size_bytes)
    except OSError:
        return None
    finally:
        os.close(fd)


def _check_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def _read_open(fd: int, offset: int, size_bytes: int) -> bytes:
    found = os.fstat(fd)
    _check_regular(found)
    there = found.st_size - offset
    wanted = there if size_bytes < 0 else min(size_bytes, there)
    if 0 < wanted <= _SMALL_BYTES:
        part = os.pread(fd, wanted, offset)
        if len(part) == wanted:
            return part
    parts: list[bytes] = []
    while wanted > 0:
        part = os.pread(fd, min(wanted, 1 << 24), offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
        wanted -= len(part)
    return b"".join(parts)


def _siblings(one: str, other: str) -> tuple[str, str, str]:
    parent, _, one_name = one.rpartition("/")
    other_parent, _, other_name = other.rpartition("/")
    if parent != other_parent:
        raise ValueError("both names lie in one folder")
    return parent, one_name, other_name
