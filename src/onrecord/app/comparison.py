"""The comparison of all files with their stamps, in pieces, so that a large vault can answer before it ends."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.domain.problem import Problem
from onrecord.ports.index import FileRow, Index
from onrecord.ports.store import VaultStore

# So many pieces are done when a vault is opened: some 18,000 files are then compared before the first answer.
OPENING_PIECES = 28
# What is left is compared with the calls that follow, so many pieces each.
CALL_PIECES = 8

# Stamps loaded in one piece; the store's pieces are a thousand names.
_PAGE_COUNT = 2_000
# A file saved within this time before it was hashed may have been saved again in the same tick.
_SAME_TICK_NS = 2_000_000_000


class Comparison:
    """Looks at every file once; keeps the paths of those that are not as stamped.

    A stamp that changes while the comparison is under way only makes a file be looked at again.

    Args:
        store: Scans.
        index: Knows the stamps.
    """

    def __init__(self, store: VaultStore, index: Index) -> None:
        self.changed: list[str] = []
        self._is_done = False
        self._pieces = self._compare(store, index)

    def advance(self, pieces: int | None = None) -> bool:
        """Do some more pieces of the work, None for all that is left; return whether it is done.

        Raises:
            StorageFailedError, DamagedError: index or vault cannot be read.
        """
        while not self._is_done and (pieces is None or pieces > 0):
            self._is_done = next(self._pieces, None) is None
            pieces = None if pieces is None else pieces - 1
        return self._is_done

    def _compare(self, store: VaultStore, index: Index) -> Iterator[bool]:
        """Yield after each piece of work."""
        known: dict[str, FileRow] = {}
        after = ""
        while True:
            with index.read() as reader:
                page = reader.page_files(after, _PAGE_COUNT)
            for row in page:
                after, _, mtime_ns, ctime_ns, _, _, checked_ns = row
                # A tool may set mtime back; nobody sets ctime.
                if abs(checked_ns - ctime_ns) >= _SAME_TICK_NS <= abs(checked_ns - mtime_ns):
                    known[after] = row
            if len(page) < _PAGE_COUNT:
                break
            yield True
        for found in store.compare_files(known):
            self.changed += [item.path for item in found if not isinstance(item, Problem)]
            yield True
