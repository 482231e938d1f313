"""Reads what an import names: a tree of Markdown, or lines. Links in a tree are not followed, hidden names not read.

Only regular files are read, judged by kind before they are opened and again once they are: a FIFO would wait, a device
never ends. What grows while it is read is read as far as it went when it was looked at first.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from typing import BinaryIO

from onrecord.domain.errors import InvalidInputError, NotFoundError
from onrecord.domain.limits import IMPORT_LINE_MAX_BYTES, RECORD_FILE_MAX_BYTES
from onrecord.domain.near_names import find_near
from onrecord.ports.sources import SourceFile

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_VAULT_MARK, _VAULT_CONFIG = ".onrecord", "onrecord.toml"
_OUTSIDE = "Import what lies outside of it; a note that is moved to memories/ of the vault is taken in as it is."
_NO_FILE = "not a regular file"


def read_tree(root: str, closed: Sequence[str] = ()) -> Iterator[SourceFile]:
    """Yield every `.md` file below `root` (or the one file that it is) by path; others are yielded with a problem.

    The tree is listed before the first file is read, so that files which an import makes in it are not taken in again.

    Args:
        root: File or folder.
        closed: Absolute folders outside the vault whose notes are memories already, as a link of it leads there.

    Raises:
        NotFoundError: nothing is there.
        InvalidInputError: it is neither file nor folder, or lies in a vault or a closed folder.
    """
    mode = _look(root, "Give a folder of Markdown files, or one of them.")
    _check_outside(root, closed)
    if stat.S_ISREG(mode):
        folder, name = os.path.split(os.path.realpath(root))
        yield _read_one(folder, name, os.path.basename(root))
        return
    if not stat.S_ISDIR(mode):
        raise InvalidInputError(f"{_NO_FILE} or folder", field="path", hint="Give a folder of Markdown files.")
    for relative, problem in list(_list_tree(root, {os.path.realpath(folder) for folder in closed})):
        yield SourceFile(_show(relative), b"", problem) if problem else _read_one(root, relative, relative)


def _check_outside(root: str, closed: Sequence[str]) -> None:
    folder = os.path.realpath(root)
    inner = {os.path.realpath(place) for place in closed}
    while True:
        if folder in inner or _is_vault(folder):
            what = "a folder that the vault has a link to" if folder in inner else "a vault"
            raise InvalidInputError(f"it lies in {what}, whose notes are memories already", field="path", hint=_OUTSIDE)
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def _is_vault(folder: str) -> bool:
    is_marked = os.path.isdir(os.path.join(folder, _VAULT_MARK))
    return is_marked and os.path.lexists(os.path.join(folder, _VAULT_CONFIG))


def _look(path: str, hint: str) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = "there is no such file or folder"
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            reason = f"the path cannot be read: {error.strerror}"
        raise NotFoundError(reason, field="path", hint=hint, did_you_mean=_find_beside(path)) from error


def _find_beside(path: str) -> str | None:
    """Return the name that may be meant by the last one of a path where nothing is."""
    parent, name = os.path.split(path.rstrip("/"))
    try:
        return find_near(name, sorted(os.listdir(parent or ".")))
    except (OSError, ValueError):
        return None


def _list_tree(root: str, closed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield path below the root, and why it is not read (or nothing), by folder and name.

    A vault, or a closed folder, is passed over as a whole: an import would take in its own copies, each time more.
    """
    unread: list[tuple[str, str]] = []

    def note(error: OSError) -> None:
        unread.append((str(error.filename), f"the folder cannot be read: {error.strerror}"))

    for folder, folders, names in os.walk(root, onerror=note):
        if os.path.isdir(os.path.join(folder, _VAULT_MARK)) or os.path.realpath(folder) in closed:
            folders.clear()
            yield _relate(root, folder), "a vault is not taken in: its memories are kept already"
            continue
        folders.sort()
        for name in list(folders):
            path = os.path.join(folder, name)
            if name.startswith(".") or os.path.islink(path):
                folders.remove(name)
                problem = "a hidden folder is not read" if name.startswith(".") else "a linked folder is not followed"
                yield _relate(root, path), problem
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield _relate(root, path), _judge_name(name)
    yield from ((_relate(root, path), problem) for path, problem in unread)


def _judge_name(name: str) -> str:
    """Return why a file of this name is not read, or nothing."""
    if name.startswith("."):
        return "a hidden file is not read"
    return "" if name.lower().endswith(".md") else "not a Markdown file"


def _relate(root: str, path: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _show(relative: str) -> str:
    return os.fsencode(relative).decode(errors="replace")


def _read_one(folder: str, inner: str, relative: str) -> SourceFile:
    try:
        relative.encode()
    except UnicodeEncodeError:
        return SourceFile(_show(relative), b"", "the file's name is not UTF-8")
    try:
        with _open_below(folder, inner) as file:
            data = file.read(RECORD_FILE_MAX_BYTES + 1)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) or str(error) == _NO_FILE:
            return SourceFile(relative, b"", "a link or special file is not followed")
        return SourceFile(relative, b"", f"the file cannot be read: {error.strerror}")
    if len(data) > RECORD_FILE_MAX_BYTES:
        return SourceFile(relative, b"", f"the file is above {RECORD_FILE_MAX_BYTES} bytes")
    if not data.strip():
        return SourceFile(relative, b"", "the file is empty")
    return SourceFile(relative, data)


def _open_below(folder: str, inner: str) -> BinaryIO:
    """Open a regular file below a folder part by part: no link that takes the place of one since is followed.

    Raises:
        OSError: it cannot be opened, or is of another kind.
    """
    *parts, name = inner.split("/")
    fd = os.open(folder, _FOLDER_FLAGS)
    try:
        for part in parts:
            next_fd = os.open(part, _FOLDER_FLAGS | _NO_LINK, dir_fd=fd)
            os.close(fd)
            fd = next_fd
        if not stat.S_ISREG(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            raise OSError(_NO_FILE)
        return _check_opened(os.open(name, _OPEN_FLAGS | _NO_LINK, dir_fd=fd))
    finally:
        os.close(fd)


def _check_opened(descriptor: int) -> BinaryIO:
    """Return an opened regular file, and no other kind even if it has taken the file's place meanwhile.

    Raises:
        OSError: it is of another kind, and closed.
    """
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(_NO_FILE)
    return os.fdopen(descriptor, "rb")


def read_lines(source: str | BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a regular file, as far as it goes now, or of a stream to its end.

    A line above the limit of an import is yielded cut one byte above it, so that it is refused and the next one read.

    Raises:
        NotFoundError: it is not there or not readable.
        InvalidInputError: it is no regular file.
    """
    if not isinstance(source, str):
        yield from _cut_lines(source, None)
        return
    hint = "Give a file of JSON lines, or - for standard input."
    if not stat.S_ISREG(_look(source, hint)):
        raise InvalidInputError(_NO_FILE, field="path", hint=hint)
    try:
        with _check_opened(os.open(source, _OPEN_FLAGS)) as file:
            yield from _cut_lines(file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror or _NO_FILE}"
        raise NotFoundError(reason, field="path", hint=hint) from error


def _cut_lines(stream: BinaryIO, size_bytes: int | None) -> Iterator[bytes]:
    left = size_bytes
    is_cut = False
    while left is None or left > 0:
        most = IMPORT_LINE_MAX_BYTES + 2 if left is None else min(left, IMPORT_LINE_MAX_BYTES + 2)
        line = stream.readline(most)
        if not line:
            return
        if left is not None:
            left -= len(line)
        if not is_cut:
            yield line
        is_cut = not line.endswith(b"\n")
