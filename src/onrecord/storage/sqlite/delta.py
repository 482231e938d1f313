"""The delta in memory: documents that are in forward rows but not yet in blocks, by partition and term.

One is kept by each driver and grows with every read, so that a read decodes only what came in since the last. It is
right for every read of the same file that sees no less merged than when it began; another read makes another.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from onrecord.domain.postings import REPEAT_SHIFT
from onrecord.storage.sqlite.blocks import PostingList
from onrecord.storage.sqlite.forward import read_forward
from onrecord.storage.sqlite.schema import Seen

_MERGED_MAX_COUNT: Final = 1_024

_Lists = dict[tuple[int, str], PostingList]


@dataclass(slots=True)
class Delta:
    """The documents above `first` up to `last` of a build of the file; those merged since it began may be among them.

    `live` and `other` hold the lists of documents that were live when they came in, and of those that were not.
    """

    build: str
    first: int
    last: int
    live: _Lists = field(default_factory=lambda: defaultdict(PostingList))
    other: _Lists = field(default_factory=lambda: defaultdict(PostingList))

    def take_in(self, connection: sqlite3.Connection, last: int) -> None:
        """Take in the forward rows up to document number `last`."""
        for row in read_forward(connection, "document > ? AND document <= ?", self.last, last):
            lists = self.live if row.is_live else self.other
            for term, line, packed in row.list_postings():
                lists[row.partition, term].append(row.document, line, packed)
            for term, repeats in row.repeats.items():
                lists[row.partition, term].repeats.extend(repeats)
            self.last = row.document
        self.last = max(self.last, last)


class DeltaMemory:
    """Keeps the newest delta for the reads of one driver, whatever thread they are in."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._newest: Delta | None = None

    def get(self, connection: sqlite3.Connection, seen: Seen) -> Delta:
        """Return the delta of a read; `cut_list` leaves out what it holds beyond `seen`."""
        with self._lock:
            delta = self._newest
            if delta is None or delta.build != seen.build or not _is_fit(delta, seen.merged):
                delta = self._newest = Delta(seen.build, seen.merged, seen.merged)
            if delta.last < seen.last:
                delta.take_in(connection, seen.last)
            return delta


def _is_fit(delta: Delta, merged: int) -> bool:
    """Tell whether a delta begins where a read needs it to, or not far before that."""
    return delta.first <= merged <= delta.last and merged - delta.first <= _MERGED_MAX_COUNT


def cut_list(found: PostingList, seen: Seen) -> PostingList:
    """Return a copy of the part of a list that a read finds in no block; the list itself may go on growing."""
    first, last = seen.merged + 1, seen.last
    place = slice(bisect_left(found.documents, first), bisect_right(found.documents, last))
    start = bisect_left(found.repeats, first << REPEAT_SHIFT)
    end = bisect_left(found.repeats, (last + 1) << REPEAT_SHIFT)
    return PostingList(found.documents[place], found.lines[place], found.packed[place], found.repeats[start:end])
