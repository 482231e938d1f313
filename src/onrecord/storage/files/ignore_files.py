"""What sync programs must not carry, and the files that tell them so (docs/format/vault.md, Sync; docs/SYNC.md).

Patterns are unanchored where a program takes them so, as the vault may be a folder within what is synchronized.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.disk import Disk

_NOT_FOR_SYNC = (
    ".onrecord/lock",
    ".onrecord/*/.checkpoint.tmp",
    ".onrecord/*/versions/.pack.tmp",
    ".onrecord.toml.tmp",
    ".onrecord-*.tmp",
    ".onrecord-*.tmp.old",
)
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """One file of patterns.

    Attributes:
        name: In the vault's folder.
        tool: Whose it is.
        mark: What lies in the folder that the tool handles, or above it.
        comment: How a line of comment begins.
        lines: What it has to say.
        is_read_at_mark: Whether the tool reads it beside the mark alone, not in the vault below.
    """

    name: str
    tool: str
    mark: str
    comment: str
    lines: tuple[str, ...]
    is_read_at_mark: bool = False


# Syncthing: one file in the root of the shared folder, never carried itself; `//` begins a comment, and a pattern that
# does not begin with `/` fits at any depth. git: a pattern with a slash inside is anchored at its file's folder;
# `-text` keeps bytes whatever core.autocrlf says, `-merge` leaves a file whole where both sides changed it.
IGNORE_FILES = (
    IgnoreFile(".stignore", "Syncthing", ".stfolder", "//", _NOT_FOR_SYNC, is_read_at_mark=True),
    IgnoreFile(".gitignore", "git", ".git", "#", _NOT_FOR_SYNC),
    IgnoreFile(".gitattributes", "git", ".git", "#", ("* -text", "/.onrecord/** -merge")),
)
_HEADING = "What OnRecord keeps for this machine alone, or byte for byte; add lines of your own below."


def make_ignore_files(disk: Disk) -> None:
    """Make the files that are not there; one that is there stays as it is.

    Raises:
        OSError: one cannot be written.
    """
    for item in IGNORE_FILES:
        if not os.path.lexists(os.path.join(disk.root, item.name)):
            text = "\n".join((f"{item.comment} {_HEADING}", *item.lines, ""))
            disk.write_new(item.name, text.encode())
            disk.sync(item.name)


def list_missing_lines(folder: str) -> dict[str, list[str]]:
    """Return, per file of patterns in a folder that lacks some, the lines to be added; an absent file lacks all."""
    missing: dict[str, list[str]] = {}
    for item in IGNORE_FILES:
        lines = _find_missing(os.path.join(folder, item.name), item)
        if lines:
            missing[item.name] = lines
    return missing


def find_unguarded(folder: str) -> Iterator[Problem]:
    """Yield a problem for each sync program that handles the vault and has not been told what to leave alone.

    Args:
        folder: The vault, absolute. Folders above it are looked at for the program's mark, and for its patterns.
    """
    for item in IGNORE_FILES:
        root = _find_root(folder, item.mark)
        place = root if item.is_read_at_mark else folder
        lines = _find_missing(os.path.join(place, item.name), item) if root else []
        if lines:
            message = f"{item.tool} handles this folder and its {item.name} lacks: {', '.join(lines)}"
            mend = f"Add these lines to {item.name}; docs/SYNC.md tells why."
            yield Problem(item.name, 0, "sync_patterns_missing", Severity.WARNING, message, mend)


def _find_root(folder: str, mark: str) -> str:
    """Return the folder, this one or one above, in which a mark lies; "" for none."""
    while not os.path.lexists(os.path.join(folder, mark)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _find_missing(path: str, item: IgnoreFile) -> list[str]:
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        text = ""
    known = {" ".join(line.split()) for line in text.splitlines()}
    return [line for line in item.lines if known.isdisjoint((line, f"/{line}", f"(?d){line}", f"(?d)/{line}"))]
