"""Loading an empty index in bulk: the state that taking in the same batches one by one would give, for less.

Rows go in unsorted and without indexes, postings are collected in memory and written as blocks in the order of their
keys, and which version supersedes which is found out for all of them at once.
"""

from __future__ import annotations

import gc
import sqlite3
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from onrecord.domain.heads import Partition
from onrecord.domain.ids import LogId
from onrecord.domain.instants import OPEN_END
from onrecord.domain.postings import REPEAT_MASK, REPEAT_SHIFT, PackedDocument
from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite.blocks import LIVE, PAST, Key, PostingList, insert_lists, write_lists
from onrecord.storage.sqlite.catalogue import (
    count_partitions,
    describe_head,
    end_superseded,
    find_first_end,
    insert_heads,
)
from onrecord.storage.sqlite.intake import number_partition, take_rest
from onrecord.storage.sqlite.matching import list_facets
from onrecord.storage.sqlite.mentions import insert_mentions
from onrecord.storage.sqlite.merging import EVERYTHING, merge
from onrecord.storage.sqlite.numbering import describe_merged, insert_merged, insert_terms
from onrecord.storage.sqlite.schema import make_indexes
from onrecord.storage.sqlite.spellings import insert_all_spellings

_HELD_MAX_POSTINGS: Final = 4_000_000
_DOCUMENT_SHIFT: Final = 32
_LOW, _HIGH = (0, 1) if sys.byteorder == "little" else (1, 0)


class _Numbers(dict[str, int]):
    """The numbers of names, given out as they are asked for."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self) + 1
        return number


class _Lists:
    """The posting lists of one era of one partition: by number of the term an array of `document << 32 | packed`.

    `lines` holds, by number, place in that array and line, in turn, of those in another line than the first.
    """

    def __init__(self) -> None:
        self.postings: dict[int, array[int]] = defaultdict(partial(array, "Q"))
        self.lines: dict[int, list[int]] = defaultdict(list)
        self.repeats: dict[int, list[int]] = defaultdict(list)

    def add(self, document: int, terms: Sequence[int], packed: PackedDocument) -> None:
        """Add a document with the numbers of its terms; documents come in ascending order."""
        postings, first = self.postings, document << _DOCUMENT_SHIFT
        if packed.lines:
            for term, line in zip(terms, packed.lines, strict=True):
                if line:
                    self.lines[term] += (len(postings[term]), line)
        for term, value in zip(terms, packed.packed, strict=True):
            postings[term].append(first | value)
        for repeat in packed.repeats:
            term = terms[repeat >> REPEAT_SHIFT]
            self.repeats[term].append(document << REPEAT_SHIFT | repeat & REPEAT_MASK)

    def build(self, term: int) -> PostingList:
        """Return the list of a term."""
        halves = array("I", self.postings[term].tobytes())
        lines = array("H", bytes(len(halves)))
        told = self.lines.get(term, ())
        for place, line in zip(told[::2], told[1::2], strict=True):
            lines[place] = line
        return PostingList(halves[_HIGH::2], lines, halves[_LOW::2], array("Q", self.repeats.get(term, ())))


class Loader:
    """Takes batches into the empty tables behind a connection, within a transaction of the caller."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._last = 0
        self._written = 0
        self._held = 0
        self._seen: dict[LogId, set[int]] = defaultdict(set)
        self._partitions: dict[Partition, int] = {}
        self._numbers = _Numbers()
        self._facets: dict[tuple[str, ...], list[int]] = {}
        self._live: dict[int, _Lists] = defaultdict(_Lists)
        self._past: dict[int, _Lists] = defaultdict(_Lists)

    def take_in(self, batch: IndexBatch) -> None:
        """Take in a batch; a document whose `ref` is known is ignored."""
        heads, merged = [], []
        for document in batch.documents:
            head, packed = document.head, document.packed
            seen = self._seen[head.ref.log]
            if head.ref.seq in seen:
                continue
            seen.add(head.ref.seq)
            number = self._partitions.get(head.partition)
            if number is None:
                number = self._partitions[head.partition] = number_partition(self._connection, head.partition)
            self._last += 1
            ended_at = find_first_end(head)
            is_live = ended_at == OPEN_END and head.status == "current"
            heads.append(describe_head(document, self._last, number, ended_at))
            terms = list(map(self._numbers.__getitem__, packed.terms))
            merged.append(describe_merged(self._last, number, terms))
            (self._live if is_live else self._past)[number].add(self._last, terms, packed)
            if is_live:
                for name in self._number_facets((head.workspace, *head.also_in)):
                    self._live[number].postings[name].append(self._last << _DOCUMENT_SHIFT)
            insert_mentions(self._connection, self._last, document.mentions)
            self._held += len(packed.terms)
        insert_heads(self._connection, heads)
        insert_merged(self._connection, merged)
        take_rest(self._connection, batch)
        if self._held >= _HELD_MAX_POSTINGS:
            self._write()

    def _number_facets(self, place: tuple[str, ...]) -> list[int]:
        found = self._facets.get(place)
        if found is None:
            found = self._facets[place] = [self._numbers[name] for name in list_facets(place)]
        return found

    def finish(self) -> None:
        """Bring everything into the state that questions find."""
        make_indexes(self._connection)
        self._write()
        insert_terms(self._connection, self._numbers)
        merge(self._connection, EVERYTHING)
        count_partitions(self._connection)
        insert_all_spellings(self._connection)

    def _write(self) -> None:
        """Write the postings that are held as blocks; what died since it was written is left for a merge."""
        died = end_superseded(self._connection)
        buried = [(document,) for document in died if document <= self._written]
        self._connection.executemany("INSERT INTO dead VALUES (?)", buried)
        dead = set(died[len(buried) :])
        if self._written or dead:
            write = self._append if self._written else partial(insert_lists, self._connection)
            ended: dict[Key, PostingList] = {}
            facets = {number for found in self._facets.values() for number in found}
            write(_list_live(self._live, dead, facets, ended))
            write(_list_past(self._past, ended))
        else:
            insert_lists(self._connection, _list_lists(LIVE, self._live))
            insert_lists(self._connection, _list_lists(PAST, self._past))
        self._live.clear()
        self._past.clear()
        self._written, self._held = self._last, 0
        self._connection.execute("UPDATE state SET merged = ?", (self._last,))

    def _append(self, lists: Iterable[tuple[Key, PostingList]]) -> None:
        write_lists(self._connection, ((key, added, ()) for key, added in lists))


def _list_lists(era: int, lists: dict[int, _Lists]) -> Iterator[tuple[Key, PostingList]]:
    """Yield all lists by key."""
    for partition in sorted(lists):
        found = lists[partition]
        for term in sorted(found.postings):
            yield (era, partition, term), found.build(term)


def _list_live(
    lists: dict[int, _Lists], dead: set[int], facets: set[int], ended: dict[Key, PostingList]
) -> Iterator[tuple[Key, PostingList]]:
    """Yield the lists of live documents by key; what is dead of them goes to `ended`, under the keys of the past."""
    for partition in sorted(lists):
        for term in sorted(lists[partition].postings):
            found = lists[partition].build(term)
            if not dead or dead.isdisjoint(found.documents):
                yield (LIVE, partition, term), found
                continue
            if term not in facets:
                ended[PAST, partition, term] = found.keep(dead)
            left = found.drop(dead)
            if left.documents:
                yield (LIVE, partition, term), left


def _list_past(lists: dict[int, _Lists], ended: dict[Key, PostingList]) -> Iterator[tuple[Key, PostingList]]:
    """Yield the lists of the past by key, with what has ended."""
    keys = {(PAST, partition, term) for partition, found in lists.items() for term in found.postings}
    for key in sorted(keys | ended.keys()):
        found = ended.get(key, PostingList())
        if key in keys:
            found = lists[key[1]].build(key[2]).join(found).sort()
        yield key, found


@contextmanager
def paused_collection() -> Iterator[None]:
    """Keep the garbage collector from going through what a load holds, over and over; none of it is garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
