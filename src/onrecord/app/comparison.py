"""The comparison of all files with their stamps, in pieces, so that a large vault can answer before it ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Set
from itertools import accumulate
from typing import TYPE_CHECKING

from onrecord.domain.problem import Problem
from onrecord.ports.index import FileRow, Index
from onrecord.ports.store import FileState, VaultStore

if TYPE_CHECKING:
    from onrecord.app.intake import Intake

# So many pieces are done when a vault is opened: some 18,000 files are then compared before the first answer.
OPENING_PIECES = 28
# What is left is compared, and what differs is taken in, with the calls that follow: so many pieces each.
CALL_PIECES = 8

# Stamps loaded in one piece; the store's pieces are a thousand names.
_PAGE_COUNT = 2_000
# A file saved within this time before it was hashed may have been saved again in the same tick.
_SAME_TICK_NS = 2_000_000_000


class Comparison:
    """Looks at every file once; keeps the paths of those that are not as stamped, and of stamped ones it did not meet.

    A stamp that changes while the comparison is under way only makes a file be looked at again. Of what lies below a
    folder that could not be read, or at or below anything else that is no file of the vault, nothing is said.

    Attributes:
        changed: Files that are new or not as stamped, by path.
        unmet: Stamped files that were not met, by path, transcripts left out; complete when the comparison is done.
        hurried: Inodes of files that are wanted now, so that they are taken in before others.
        spent: How many pieces of work were done.
        intake: Takes in what differs, once the comparison is done and until all is taken in.
        has_unread: Whether a folder could not be read, or stamped files lie below something that is none.

    Args:
        store: Scans.
        index: Knows the stamps.
        refused: Has, when the comparison is done, what the scan refuses, by path, and nothing else.
    """

    def __init__(self, store: VaultStore, index: Index, refused: dict[str, Problem] | None = None) -> None:
        self.changed: dict[str, FileState] = {}
        self.unmet: list[str] = []
        self.has_unread = False
        self.hurried: set[tuple[int, int]] = set()
        self.spent = 0
        self.intake: Intake | None = None
        self._is_done = False
        self._refused = refused if refused is not None else {}
        self._pieces = self._compare(store, index)

    @property
    def is_done(self) -> bool:
        """Whether every file was looked at."""
        return self._is_done

    def has_missed(self, paths: Iterable[str]) -> bool:
        """Tell whether a comparison that is done met none of some files."""
        places = ((path, bisect_left(self.unmet, path)) for path in paths)
        return all(self.unmet[place : place + 1] == [path] for path, place in places)

    def advance(self, pieces: int | None = None) -> bool:
        """Do some more pieces of the work, None for all that is left; return whether it is done.

        Raises:
            StorageFailedError, DamagedError: index or vault cannot be read.
        """
        while not self._is_done and (pieces is None or pieces > 0):
            self._is_done = next(self._pieces, None) is None
            self.spent += 1
            pieces = None if pieces is None else pieces - 1
        return self._is_done

    def _compare(self, store: VaultStore, index: Index) -> Iterator[bool]:
        """Yield after each piece of work."""
        known: dict[str, FileRow] = {}
        recent: set[str] = set()
        closed: dict[str, Problem] = {}
        after = ""
        while True:
            with index.read() as reader:
                page = reader.page_files(after, _PAGE_COUNT)
            for row in page:
                after, _, mtime_ns, ctime_ns, _, _, checked_ns = row
                # A tool may set mtime back; nobody sets ctime.
                if min(abs(checked_ns - ctime_ns), abs(checked_ns - mtime_ns)) < _SAME_TICK_NS:
                    recent.add(after)
                else:
                    known[after] = row
            if len(page) < _PAGE_COUNT:
                break
            yield True
        for found in store.compare_files(known):
            for item in found:
                if isinstance(item, Problem):
                    closed[item.path] = item
                    self.has_unread = self.has_unread or item.code == "folder_unreadable"
                else:
                    self.changed[item.path] = item
            yield True
        self._refused.clear()
        self._refused.update(closed)
        self._note_unmet({*known, *recent}.difference(self.changed), closed.keys())

    def _note_unmet(self, unmet: Iterable[str], closed: Set[str]) -> None:
        """Keep what may be missing: not what is there as something else, nor what lies below a closed folder."""
        for path in sorted(unmet):
            above = accumulate(path.split("/")[:-1], "{}/{}".format)
            if closed and not closed.isdisjoint(above):
                self.has_unread = True
            elif path not in closed and not path.startswith("events/"):
                self.unmet.append(path)
