"""Finding the record files of a vault: regular `.md` files below the record folders, through allowed links alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from onrecord.domain.filenames import RECORD_FOLDERS
from onrecord.domain.ids import is_log_id
from onrecord.domain.limits import ADOPTED_FILE_MAX_BYTES
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.index import FileRow
from onrecord.ports.store import FileState
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.placement import TEMPORARY_PREFIX

MAX_DEPTH = 40
# A later time of a file (from the year 2262 on) counts as this one, the last that the index can keep.
TIME_MAX_NS = (1 << 63) - 1
# Names looked at between two pieces of a scan.
SLICE_COUNT = 1_000
# What opening a folder costs, in names.
_FOLDER_COST = 5

# Returns what is wrong with the link at a path, None where it is followed.
LinkJudge = Callable[[str], Problem | None]


def describe_stat(path: str, found: os.stat_result) -> FileState:
    """Return a stat as a value."""
    mtime_ns, ctime_ns = min(found.st_mtime_ns, TIME_MAX_NS), min(found.st_ctime_ns, TIME_MAX_NS)
    return FileState(path, found.st_size, mtime_ns, ctime_ns, found.st_dev, found.st_ino)


def describe_file(disk: Disk, path: str) -> FileState | None:
    """Return one file's state, None when it is not there as a regular file, or lies in a folder that is closed."""
    try:
        found = disk.stat(path)
    except PermissionError:
        return None
    return describe_stat(path, found) if found is not None else None


def describe_folder(disk: Disk, path: str) -> FileState | None:
    """Return the state of the nearest folder above a path that is there; None where it cannot be looked at."""
    while path:
        path = path.rpartition("/")[0]
        try:
            with disk.folder(path) as fd:
                return describe_stat(path, os.fstat(fd))
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None


def scan_records(disk: Disk, judge: LinkJudge | None = None) -> Iterator[FileState | Problem]:
    """Yield every record file and a problem for each thing that looks like one but cannot be; any order.

    A folder that cannot be looked into is a problem with its path: of what lies below nothing is known then.
    """
    for found in compare_records(disk, {}, judge):
        yield from found


def compare_records(
    disk: Disk, known: dict[str, FileRow], judge: LinkJudge | None = None
) -> Iterator[list[FileState | Problem]]:
    """Scan as `scan_records` and leave out the files that are as known, by path; `known` keeps those that are not met.

    Yields:
        What was found among the next `SLICE_COUNT` names or some more, often nothing; what is left at the end.
    """
    waiting: list[FileState | Problem] = []
    looked = 0
    seeing = judge if judge is not None else lambda path: None if path in disk.links else _name_unfollowed(path)
    for folder in RECORD_FOLDERS:
        for names, found in _scan_folder(disk, folder, 1, known, seeing):
            waiting += found
            looked += names
            if looked >= SLICE_COUNT:
                yield waiting
                waiting, looked = [], 0
    yield waiting


def judge_file(disk: Disk, path: str, judge: LinkJudge) -> Problem | None:
    """Return the problem that a scan yields of one file, None for none."""
    parent, _, name = path.rpartition("/")
    try:
        with disk.folder(parent) as fd:
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return judge(path)
    if stat.S_ISDIR(found.st_mode):
        return None
    return _judge_size(path, found) if stat.S_ISREG(found.st_mode) else _name_unfollowed(path)


def _judge_size(path: str, found: os.stat_result) -> Problem | None:
    if found.st_size <= ADOPTED_FILE_MAX_BYTES:
        return None
    return Problem(path, 0, "file_too_large", Severity.WARNING, "the file is above 8 MiB", "Split the file.")


def _scan_folder(
    disk: Disk, folder: str, depth: int, known: dict[str, FileRow], judge: LinkJudge
) -> Iterator[tuple[int, list[FileState | Problem]]]:
    """Yield how many names were looked at, a folder counted as some, and what was found among them."""
    inner: list[str] = []
    found: list[FileState | Problem] = []
    above = f"{folder}/"
    left = SLICE_COUNT
    try:
        with disk.folder(folder) as fd, os.scandir(fd) as entries:
            for entry in entries:
                row = known.pop(above + entry.name, None)
                if row is None or not _is_as_known(entry, row):
                    item = _describe_entry(entry, above + entry.name, judge)
                    if isinstance(item, str):
                        inner.append(item)
                    elif item is not None:
                        found.append(item)
                left -= 1
                if not left:
                    yield SLICE_COUNT, found
                    found, left = [], SLICE_COUNT
    except OSError as error:
        found += _name_unread(disk, folder, judge, error)
    yield SLICE_COUNT - left + _FOLDER_COST, found
    for path in inner:
        if depth < MAX_DEPTH:
            yield from _scan_folder(disk, path, depth + 1, known, judge)
        else:
            message = f"the folder lies deeper than {MAX_DEPTH} levels, so what it holds is not a memory"
            yield 0, [Problem(path, 0, "too_deep", Severity.WARNING, message, "Move its files further up.")]


def _name_unread(disk: Disk, folder: str, judge: LinkJudge, error: OSError) -> list[Problem]:
    """Return the problem of a folder that cannot be opened; none where nothing is there."""
    parent, _, name = folder.rpartition("/")
    try:
        with disk.folder(parent) as fd:
            is_link = stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return []
    except OSError:
        is_link = False
    problem = judge(folder) if is_link else None
    if problem is None:
        message = f"the folder cannot be read: {os.strerror(error.errno or 0)}"
        mend = "Mend its permissions or bring its disk back; what it holds is judged when it can be read."
        problem = Problem(folder, 0, "folder_unreadable", Severity.WARNING, message, mend)
    return [problem]


def _name_writer(name: str) -> str:
    """Return which log a temporary file is of; its bytes are looked at by that installation alone."""
    log = name.removeprefix(TEMPORARY_PREFIX).partition("-")[0]
    return f"; it is of log {log}, and means nothing to another" if is_log_id(log) else ""


def _name_unfollowed(path: str) -> Problem:
    message = "a link or special file is not followed, so what it points to is not a memory"
    return Problem(path, 0, "not_a_regular_file", Severity.WARNING, message, "Put the file itself here.")


def _is_as_known(entry: os.DirEntry[str], row: FileRow) -> bool:
    """Tell whether a file still is as its stamp says; the one comparison that each opening makes for each file."""
    try:
        if not entry.is_file(follow_symlinks=False):
            return False
        now = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    mtime_ns, ctime_ns = min(now.st_mtime_ns, TIME_MAX_NS), min(now.st_ctime_ns, TIME_MAX_NS)
    return row[1:6] == (now.st_size, mtime_ns, ctime_ns, str(now.st_dev), str(now.st_ino))


def _describe_entry(entry: os.DirEntry[str], path: str, judge: LinkJudge) -> FileState | Problem | str | None:
    """Return a file's state, a problem, the path of a folder to enter, or None for what is no record."""
    if entry.name.startswith("."):
        if entry.name.startswith(TEMPORARY_PREFIX):
            message = f"left by a write that was cut off{_name_writer(entry.name)}"
            return Problem(path, 0, "temporary_left", Severity.INFO, message)
        return None
    try:
        path.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="replace")
        return Problem(shown, 0, "not_utf8", Severity.WARNING, "the file's name is not UTF-8", "Rename the file.")
    if entry.is_dir(follow_symlinks=False):
        return path
    is_markdown = entry.name.lower().endswith(".md")
    if entry.is_symlink():
        return judge(path) or path
    if not entry.is_file(follow_symlinks=False):
        return _name_unfollowed(path) if is_markdown else None
    if not is_markdown:
        return None
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return _judge_size(path, found) or describe_stat(path, found)
