"""Finding the record files of a vault: regular `.md` files below the record folders, never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from onrecord.domain.limits import ADOPTED_FILE_MAX_BYTES
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.store import FileState
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.placement import TEMPORARY_PREFIX

RECORD_FOLDERS = ("memories", "facts", "entities", "events", "workspaces", "conflicts")
_MAX_DEPTH = 40


def describe_stat(path: str, found: os.stat_result) -> FileState:
    """Return a stat as a value."""
    return FileState(path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_dev, found.st_ino)


def describe_file(disk: Disk, path: str) -> FileState | None:
    """Return one file's state, None when it is not there as a regular file."""
    found = disk.stat(path)
    return describe_stat(path, found) if found is not None else None


def scan_records(disk: Disk) -> Iterator[FileState | Problem]:
    """Yield every record file and a problem for each thing that looks like one but cannot be; any order."""
    for folder in RECORD_FOLDERS:
        yield from _scan_folder(disk, folder, 1)


def _scan_folder(disk: Disk, folder: str, depth: int) -> Iterator[FileState | Problem]:
    inner: list[str] = []
    found: list[FileState | Problem] = []
    try:
        with disk.folder(folder) as fd, os.scandir(fd) as entries:
            for entry in entries:
                item = _describe_entry(entry, folder)
                if isinstance(item, str):
                    inner.append(item)
                elif item is not None:
                    found.append(item)
    except FileNotFoundError:
        return
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        yield Problem(folder, 0, "not_a_regular_file", Severity.WARNING, f"the folder cannot be read: {reason}")
        return
    yield from found
    for path in inner:
        if depth < _MAX_DEPTH:
            yield from _scan_folder(disk, path, depth + 1)


def _describe_entry(entry: os.DirEntry[str], folder: str) -> FileState | Problem | str | None:
    """Return a file's state, a problem, the path of a folder to enter, or None for what is no record."""
    path = f"{folder}/{entry.name}"
    if entry.name.startswith("."):
        if entry.name.startswith(TEMPORARY_PREFIX):
            return Problem(path, 0, "temporary_left", Severity.INFO, "left by a write that was cut off")
        return None
    try:
        path.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="replace")
        return Problem(shown, 0, "not_utf8", Severity.WARNING, "the file's name is not UTF-8", "Rename the file.")
    if entry.is_dir(follow_symlinks=False):
        return path
    is_markdown = entry.name.lower().endswith(".md")
    if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
        if is_markdown or entry.is_symlink():
            message = "a link or special file is not followed, so what it points to is not a memory"
            return Problem(path, 0, "not_a_regular_file", Severity.WARNING, message, "Put the file itself here.")
        return None
    if not is_markdown:
        return None
    found = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        return None
    if found.st_size > ADOPTED_FILE_MAX_BYTES:
        return Problem(path, 0, "file_too_large", Severity.WARNING, "the file is above 8 MiB", "Split the file.")
    return describe_stat(path, found)
