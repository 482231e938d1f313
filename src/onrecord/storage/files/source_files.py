"""Reading the files of native sources: regular files alone, never through a link, never of a vault or a state folder.

Every folder of a path is opened by itself without following links, so that nothing that takes the place of one later
leads elsewhere. A file is judged by kind before it is opened and again once it is: a FIFO would wait, a device never
ends.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from onrecord.domain.errors import InvalidInputError, NotFoundError
from onrecord.domain.limits import (
    SOURCE_FILE_MAX_BYTES,
    SOURCE_FILES_MAX_COUNT,
    SOURCE_MAX_DEPTH,
    SOURCE_NAMES_MAX_COUNT,
)
from onrecord.domain.near_names import find_near
from onrecord.ports.native import LeftOut, NativeFile, NativeSource
from onrecord.storage.files.scan import TIME_MAX_NS
from onrecord.storage.files.vault_config import is_vault, list_upwards

ENDINGS: Final = (".md", ".mdc", ".markdown", ".txt")

_FOLDER_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WALK_FLAGS = _FOLDER_FLAGS | getattr(os, "O_PATH", os.O_RDONLY)
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TRIES = 3
_LINK = "a link is not followed"
_OWN = "it is part of a vault or of a state folder"
_OWN_HINT = "Name a file or folder outside of it; a vault finds its memories by itself."
_TOO_LARGE = f"the file is above {SOURCE_FILE_MAX_BYTES} bytes"
_BEING_WRITTEN = "the file is being written"
_NO_FILE = "not a regular file"

_Identity = tuple[int, int]


class SourceFiles:
    """The files of sources.

    Args:
        closed: Absolute paths of the folders that hold nothing for a source: vault, state folders.
    """

    def __init__(self, closed: tuple[str, ...]) -> None:
        self._closed = closed

    def locate(self, path: str) -> tuple[str, bool]:
        """Return the absolute path of what is to be a source, and whether it is a folder.

        Raises:
            NotFoundError: nothing is there.
            InvalidInputError: neither file nor folder, reached through a link, or part of a vault or a state folder,
                or a folder that holds one.
        """
        try:
            whole = os.path.abspath(os.path.expanduser(path))
            whole.encode()
            mode = os.lstat(whole).st_mode
        except UnicodeEncodeError as error:
            raise InvalidInputError("the file's name is not UTF-8", field="path") from error
        except OSError as error:
            reason = "there is no such file or folder"
            if error.errno != errno.ENOENT:
                reason = f"it cannot be looked at: {os.strerror(error.errno or 0)}"
            raise NotFoundError(
                reason, field="path", hint="Give a text file, or a folder of them.", did_you_mean=_find_beside(path)
            ) from error
        real = os.path.realpath(whole)
        if real != whole:
            raise InvalidInputError(
                "the path leads through a link", field="path", hint=f"Name the place itself: {real}"
            )
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise InvalidInputError(f"{_NO_FILE} or folder", field="path")
        self._check_apart(whole)
        try:
            with self._open_folder(whole if stat.S_ISDIR(mode) else os.path.dirname(whole), _WALK_FLAGS):
                return whole, stat.S_ISDIR(mode)
        except _RefusedError as error:
            raise InvalidInputError(error.reason, field="path", hint=_OWN_HINT) from error
        except OSError as error:
            raise NotFoundError(f"it cannot be opened: {os.strerror(error.errno or 0)}", field="path") from error

    def _check_apart(self, path: str) -> None:
        for folder in self._closed:
            if os.path.realpath(folder).startswith(f"{path.rstrip('/')}/"):
                reason = "the folder holds the vault, a folder that it has a link to, or the state folder"
                raise InvalidInputError(reason, field="path", hint="Name the folders beside it, each as a source.")
        if any(is_vault(folder) for folder in list_upwards(path)):
            raise InvalidInputError(_OWN, field="path", hint=_OWN_HINT)

    def list_files(self, source: NativeSource) -> Iterator[NativeFile | LeftOut]:
        """Yield the files of a source by folder and name, and what is left out."""
        try:
            mode = os.lstat(source.path).st_mode
        except OSError as error:
            yield LeftOut("", _explain(error))
            return
        if source.is_folder and not stat.S_ISDIR(mode):
            yield LeftOut("", "a file took the place of the folder")
            return
        if not source.is_folder:
            found = self.stat_file(source, os.path.basename(source.path))
            yield LeftOut("", found.reason) if isinstance(found, LeftOut) else found
            return
        files = 0
        for names, item in enumerate(self._walk(source, "", 0), 1):
            files += isinstance(item, NativeFile)
            if names > SOURCE_NAMES_MAX_COUNT or files > SOURCE_FILES_MAX_COUNT:
                most = f"{SOURCE_FILES_MAX_COUNT} files or {SOURCE_NAMES_MAX_COUNT} names"
                yield LeftOut("", f"what lies beyond {most} of the folder", is_by_rule=True)
                return
            if item is not None:
                yield item

    def _walk(self, source: NativeSource, folder: str, depth: int) -> Iterator[NativeFile | LeftOut | None]:
        """Yield something for every name below a folder of a source, None for what is no text file."""
        inner: list[str] = []
        found: list[NativeFile | LeftOut | None] = []
        try:
            with self._open_folder(_join(source, folder), _FOLDER_FLAGS | os.O_RDONLY) as folder_fd:
                for name in sorted(os.listdir(folder_fd))[: SOURCE_NAMES_MAX_COUNT + 1]:
                    path = f"{folder}/{name}" if folder else name
                    item = self._judge(folder_fd, name, path)
                    if item == path:
                        inner.append(path)
                    else:
                        assert not isinstance(item, str)
                        found.append(item)
        except OSError as error:
            yield LeftOut(_show(folder), _explain(error), is_by_rule=isinstance(error, _RefusedError))
            return
        yield from found
        for path in inner:
            if depth < SOURCE_MAX_DEPTH:
                yield from self._walk(source, path, depth + 1)
            else:
                yield LeftOut(path, f"it lies deeper than {SOURCE_MAX_DEPTH} folders", is_by_rule=True)

    def _judge(self, folder_fd: int, name: str, path: str) -> NativeFile | LeftOut | str | None:
        """Return a file's state, why it is left out, None for no text file, or the path itself of a folder to enter."""
        try:
            state = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        is_folder, is_text = stat.S_ISDIR(state.st_mode), name.lower().endswith(ENDINGS)
        if not is_folder and not is_text and not stat.S_ISLNK(state.st_mode):
            return None
        reason = ""
        if name.startswith("."):
            reason = "a hidden name is not read"
        elif stat.S_ISLNK(state.st_mode):
            reason = _LINK
        elif not is_folder and not stat.S_ISREG(state.st_mode):
            reason = _NO_FILE
        elif _show(path) != path:
            reason = "the file's name is not UTF-8"
        if reason:
            return LeftOut(_show(path), reason, is_by_rule=True)
        return path if is_folder else _judge_size(_describe(path, state))

    def stat_file(self, source: NativeSource, path: str) -> NativeFile | LeftOut:
        """Look at one file of a source."""
        whole = _join(source, path)
        try:
            with self._open_folder(os.path.dirname(whole), _WALK_FLAGS) as folder_fd:
                state = os.stat(os.path.basename(whole), dir_fd=folder_fd, follow_symlinks=False)
        except OSError as error:
            return LeftOut(path, _explain(error))
        if not stat.S_ISREG(state.st_mode):
            return LeftOut(path, _LINK if stat.S_ISLNK(state.st_mode) else _NO_FILE)
        return _judge_size(_describe(path, state))

    def read_file(self, source: NativeSource, path: str) -> tuple[NativeFile, bytes] | LeftOut:
        """Return all bytes of a file of a source with what stat said of exactly them."""
        for _ in range(_TRIES):
            found = self.stat_file(source, path)
            if isinstance(found, LeftOut):
                return found
            try:
                read = self._read_once(_join(source, path), path)
            except OSError as error:
                return LeftOut(path, _explain(error))
            if isinstance(read, LeftOut) or read is not None:
                return read
        return LeftOut(path, _BEING_WRITTEN)

    def _read_once(self, whole: str, path: str) -> tuple[NativeFile, bytes] | LeftOut | None:
        """Read a file once; None where it changed meanwhile."""
        with self._open_folder(os.path.dirname(whole), _WALK_FLAGS) as folder_fd:
            fd = os.open(os.path.basename(whole), _FILE_FLAGS, dir_fd=folder_fd)
        with os.fdopen(fd, "rb") as file:
            before = os.fstat(fd)
            if not stat.S_ISREG(before.st_mode):
                return LeftOut(path, _NO_FILE)
            data = file.read(SOURCE_FILE_MAX_BYTES + 1)
            if len(data) > SOURCE_FILE_MAX_BYTES:
                return LeftOut(path, _TOO_LARGE)
            after = _describe(path, os.fstat(fd))
        return (after, data) if after == _describe(path, before) and len(data) == after.size_bytes else None

    @contextmanager
    def _open_folder(self, path: str, flags: int) -> Iterator[int]:
        """Open an absolute folder part by part without following links; yield its descriptor.

        Raises:
            _RefusedError: the folder, or one above it, is closed to sources.
            OSError: it cannot be opened.
        """
        closed = {identity for folder in self._closed if (identity := _identify(folder)) is not None}
        parts = [part for part in path.split("/") if part]
        fd = os.open("/", os.O_CLOEXEC | os.O_DIRECTORY | (flags if not parts else _WALK_FLAGS))
        try:
            for number, part in enumerate(parts, 1):
                inner = os.open(part, flags if number == len(parts) else _WALK_FLAGS, dir_fd=fd)
                os.close(fd)
                fd = inner
                found = os.fstat(fd)
                if (found.st_dev, found.st_ino) in closed:
                    raise _RefusedError
            yield fd
        finally:
            os.close(fd)


class _RefusedError(OSError):
    """The folder is closed to sources."""

    reason = _OWN


def _find_beside(path: str) -> str | None:
    """Return the name that may be meant by the last one of a path where nothing is."""
    parent, name = os.path.split(path.rstrip("/"))
    try:
        return find_near(name, sorted(os.listdir(os.path.expanduser(parent or "."))))
    except OSError:
        return None


def _identify(folder: str) -> _Identity | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _join(source: NativeSource, path: str) -> str:
    """Return the absolute path of a file of a source; a source that is a file has one, of its own name."""
    if not path or not source.is_folder:
        return source.path
    return f"{source.path.rstrip('/')}/{path}"


def _describe(path: str, found: os.stat_result) -> NativeFile:
    mtime_ns, ctime_ns = min(found.st_mtime_ns, TIME_MAX_NS), min(found.st_ctime_ns, TIME_MAX_NS)
    return NativeFile(path, found.st_size, mtime_ns, ctime_ns, found.st_dev, found.st_ino)


def _judge_size(file: NativeFile) -> NativeFile | LeftOut:
    return file if file.size_bytes <= SOURCE_FILE_MAX_BYTES else LeftOut(file.path, _TOO_LARGE)


def _show(path: str) -> str:
    return os.fsencode(path).decode(errors="replace")


def _explain(error: OSError) -> str:
    """Return why something cannot be read, without its name."""
    if isinstance(error, _RefusedError):
        return error.reason
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "it is gone, or a link took the place of a folder" if error.errno == errno.ENOTDIR else "it is gone"
    return _LINK if error.errno == errno.ELOOP else f"it cannot be read: {os.strerror(error.errno or 0)}"
