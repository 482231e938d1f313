"""Reads a tree of Markdown for an import; links are not followed, hidden folders are passed over."""

from __future__ import annotations

import os
from collections.abc import Iterator

from onrecord.domain.errors import NotFoundError
from onrecord.domain.limits import TEXT_MAX_BYTES
from onrecord.ports.sources import SourceFile


def read_tree(root: str) -> Iterator[SourceFile]:
    """Yield every `.md` file below `root` (or the one file that it is) by path; others are yielded with a problem.

    Raises:
        NotFoundError: nothing is there.
    """
    if os.path.isfile(root):
        yield _read_one(root, os.path.basename(root))
        return
    if not os.path.isdir(root):
        raise NotFoundError("there is no such file or folder", field="path", hint="Give a folder of Markdown files.")
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in list(folders):
            if os.path.islink(os.path.join(folder, name)):
                folders.remove(name)
                yield SourceFile(_relate(root, folder, name), b"", "a linked folder is not followed")
        for name in sorted(names):
            if name.startswith("."):
                continue
            relative = _relate(root, folder, name)
            if not name.lower().endswith(".md"):
                yield SourceFile(relative, b"", "not a Markdown file")
            else:
                yield _read_one(os.path.join(folder, name), relative)


def _relate(root: str, folder: str, name: str) -> str:
    return os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def _read_one(path: str, relative: str) -> SourceFile:
    try:
        relative.encode()
    except UnicodeEncodeError:
        return SourceFile(os.fsencode(relative).decode(errors="replace"), b"", "the file's name is not UTF-8")
    if os.path.islink(path) or not os.path.isfile(path):
        return SourceFile(relative, b"", "a link or special file is not followed")
    try:
        if os.path.getsize(path) > TEXT_MAX_BYTES:
            return SourceFile(relative, b"", "the file is above 2 MiB")
        with open(path, "rb") as file:
            data = file.read(TEXT_MAX_BYTES + 1)
    except OSError as error:
        return SourceFile(relative, b"", f"the file cannot be read: {error.strerror}")
    if not data.strip():
        return SourceFile(relative, b"", "the file is empty")
    return SourceFile(relative, data)


def read_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a file.

    Raises:
        NotFoundError: it is not there or not readable.
    """
    try:
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        raise NotFoundError(f"the file cannot be read: {error.strerror}", field="path") from error
