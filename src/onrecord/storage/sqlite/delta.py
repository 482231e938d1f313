"""The delta in memory: documents that are in forward rows but not yet in blocks, by partition and term.

One is kept by each driver and grows with every read, so that a read decodes only what came in since the last. It is
right for reads that see the same file and the same merged documents; another read makes another.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from threading import Lock

from onrecord.domain.postings import REPEAT_SHIFT
from onrecord.storage.sqlite.blocks import PostingList
from onrecord.storage.sqlite.forward import read_forward
from onrecord.storage.sqlite.schema import Seen

_Lists = dict[tuple[int, str], PostingList]


@dataclass(slots=True)
class Delta:
    """What is not merged yet of the state in which `build` and `merged` were seen.

    `live` and `other` hold the lists of documents that were live when they came in, and of those that were not.
    """

    build: str
    merged: int
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
        """Return the delta of a read; it may hold documents above `seen.last`, which `cut_list` leaves out."""
        with self._lock:
            delta = self._newest
            if delta is None or (delta.build, delta.merged) != (seen.build, seen.merged):
                delta = Delta(seen.build, seen.merged, seen.merged)
                self._newest = delta
            if delta.last < seen.last:
                delta.take_in(connection, seen.last)
            return delta


def cut_list(found: PostingList, last: int) -> PostingList:
    """Return a copy of the part of a list up to document number `last`; the list itself may go on growing."""
    end = bisect_right(found.documents, last)
    end_of_repeats = bisect_left(found.repeats, (last + 1) << REPEAT_SHIFT)
    return PostingList(found.documents[:end], found.lines[:end], found.packed[:end], found.repeats[:end_of_repeats])
