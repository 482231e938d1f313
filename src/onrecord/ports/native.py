"""Native sources: files of other programs that are read and searched where they lie, and never changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from onrecord.domain.problem import Problem
from onrecord.domain.sections import Format


@dataclass(frozen=True, slots=True)
class NativeSource:
    """One source: a file, or a folder with files.

    Attributes:
        name: Short name that the user gave.
        path: Absolute, without links.
        is_folder: Whether it is a folder; what takes its place and is of the other kind is not read.
        format: How its files are written; None: as their names end.
        agent: Whose it is; empty for nobody's in particular.
        is_owner_only: Whether only `agent` and the user may meet it.
    """

    name: str
    path: str
    is_folder: bool = False
    format: Format | None = None
    agent: str = ""
    is_owner_only: bool = False


@dataclass(frozen=True, slots=True)
class NativeFile:
    """A file of a source as stat sees it: `/`-separated path below the source (or its name), times in nanoseconds."""

    path: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What of a source is not taken in, and why.

    `path` as of a file, empty for the source as a whole. `is_by_rule`: it never would be (hidden, a link, beyond a
    bound); else it is a file that could not be read now.
    """

    path: str
    reason: str
    is_by_rule: bool = False


class NativeShelf(Protocol):
    """The sources of one vault on this machine, and their files. A link is never followed in any part of a path."""

    def list_sources(self) -> Sequence[NativeSource]:
        """Return the sources by name; none where their list is damaged (`inspect` says so)."""

    def save_sources(self, sources: Sequence[NativeSource]) -> None:
        """Replace the list; durable when it returns. The caller holds the lock.

        Raises:
            DamagedError: the list that is there cannot be read.
            StorageFailedError: the disk refused, or there is no state folder.
        """

    def locate(self, path: str) -> tuple[str, bool]:
        """Return the absolute path of what is to be a source, and whether it is a folder.

        Raises:
            NotFoundError: nothing is there.
            InvalidInputError: neither file nor folder, reached through a link, or part of a vault or a state folder.
        """

    def list_files(self, source: NativeSource) -> Iterator[NativeFile | LeftOut]:
        """Yield the files of a source, at most 2,000 of 20,000 names, by folder and name, and what is left out."""

    def stat_file(self, source: NativeSource, path: str) -> NativeFile | LeftOut:
        """Look at one file of a source."""

    def read_file(self, source: NativeSource, path: str) -> tuple[NativeFile, bytes] | LeftOut:
        """Return all bytes of a file of a source with what stat said of exactly them."""

    def inspect(self) -> Iterator[Problem]:
        """Yield what is wrong with the list."""
