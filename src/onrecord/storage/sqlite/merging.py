"""Merging: the delta goes into the blocks, and what has died since goes from the live ones to those of the past.

What a read sees is the same before and after. The work is that of the documents merged, whatever lies in the blocks;
they are merged a few at a time, each time a few have come in.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onrecord.storage.sqlite.blocks import LIVE, PAST, Key, Place, PostingList, write_lists
from onrecord.storage.sqlite.catalogue import read_workspaces
from onrecord.storage.sqlite.forward import ForwardRow, read_forward
from onrecord.storage.sqlite.matching import list_facets
from onrecord.storage.sqlite.numbering import describe_merged, insert_merged, number_terms, read_merged
from onrecord.storage.sqlite.schema import build_damage

_STEPS: Final = 16
_WIDER: Final = 16
_BURIAL_WEIGHT: Final = 4  # what a burial costs beside the merge of a document
_DEAD = "document IN (SELECT document FROM dead) AND document <= ?"

_Rows = dict[str, list[tuple[int, int, int]]]


@dataclass(frozen=True, slots=True)
class MergeLimits:
    """How much of the delta may wait; beyond, it is merged in steps of a sixteenth, so that no write pays for many.

    A step has at least one document. A write that brings more than a step merges as much as it brought.
    """

    documents: int = 256
    postings: int = 16_384

    @property
    def step(self) -> int:
        """Documents that are merged at once."""
        return max(self.documents // _STEPS, 1)

    @property
    def widened(self) -> MergeLimits:
        """What may wait between batches of one pass: fewer merges of more documents cost less."""
        return MergeLimits(self.documents * _WIDER, self.postings * _WIDER)


EVERYTHING: Final = MergeLimits(0, 0)


class _Changes:
    """What is to be added to and removed from the lists, by era and partition, then by name or number of the list."""

    def __init__(self) -> None:
        self._added: dict[Place, _Rows] = defaultdict(lambda: defaultdict(list))
        self._repeats: dict[Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._buried: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._left: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._terms: list[tuple[tuple[int, int], Sequence[str]]] = []

    def add(self, row: ForwardRow, workspaces: Sequence[str], *, is_live: bool) -> None:
        """Add a document to the lists of its era."""
        document = row.document
        place = (LIVE if is_live else PAST, row.partition)
        lists = self._added[place]
        for term, line, packed in row.list_postings():
            lists[term].append((document, line, packed))
        for term, repeats in row.repeats.items():
            self._repeats[place][term] += repeats
        if is_live:
            for name in list_facets(workspaces):
                lists[name].append((document, 0, 0))
        self._terms.append(((document, row.partition), row.terms))

    def bury(self, document: int, partition: int, terms: Sequence[int], workspaces: Sequence[str]) -> None:
        """Take a merged document from the live lists, those of its terms into those of the past."""
        for number in terms:
            self._buried[partition][number].add(document)
        for name in list_facets(workspaces):
            self._left[partition][name].add(document)

    def write(self, connection: sqlite3.Connection) -> None:
        """Write everything, in the order of the lists."""
        names = {name for added in self._added.values() for name in added}
        numbers = number_terms(connection, names.union(*self._left.values()))
        get = numbers.__getitem__
        insert_merged(connection, [describe_merged(*place, map(get, terms)) for place, terms in self._terms])
        added = dict(self._list_added(numbers))
        removed = {(LIVE, part, term): gone for part, lists in self._buried.items() for term, gone in lists.items()}
        for part, left in self._left.items():
            removed |= {(LIVE, part, numbers[name]): gone for name, gone in left.items()}
        facets = {(part, numbers[name]) for part, left in self._left.items() for name in left}
        live = sorted(key for key in added.keys() | removed.keys() if key[0] == LIVE)
        gone = write_lists(connection, ((key, added.pop(key, PostingList()), removed.get(key, ())) for key in live))
        for (_, partition, term), buried in gone.items():
            if (partition, term) not in facets:
                past = (PAST, partition, term)
                added[past] = added[past].join(buried).sort() if past in added else buried
        write_lists(connection, ((key, added[key], ()) for key in sorted(added)))

    def _list_added(self, numbers: Mapping[str, int]) -> Iterator[tuple[Key, PostingList]]:
        for place in sorted(self._added):
            repeats = self._repeats[place]
            for term, rows in self._added[place].items():
                documents, lines, packed = zip(*rows, strict=True)
                built = PostingList(array("I", documents), array("H", lines), array("I", packed))
                if term in repeats:
                    built.repeats.extend(repeats[term])
                yield (*place, numbers[term]), built


def _get(workspaces: Mapping[int, Sequence[str]], document: int) -> Sequence[str]:
    found = workspaces.get(document)
    if found is None:
        raise build_damage("a document has no head")
    return found


def is_merge_due(connection: sqlite3.Connection, limits: MergeLimits) -> bool:
    """Tell whether a step's worth of documents, postings or dead waits beyond what may wait."""
    waiting, pending, dead = connection.execute(
        "SELECT max(coalesce((SELECT max(document) FROM forward), 0) - merged, 0), pending, "
        "(SELECT count(*) FROM dead WHERE document <= merged) FROM state"
    ).fetchone()
    step = limits.step
    return bool(
        waiting >= limits.documents + step
        or pending >= limits.postings + limits.postings // _STEPS
        or dead >= max(step // _BURIAL_WEIGHT, 1)
    )


def merge(connection: sqlite3.Connection, limits: MergeLimits) -> None:
    """Merge the oldest of the delta until no more waits than may, and bury what is dead of it; within a transaction."""
    (merged,) = connection.execute("SELECT merged FROM state").fetchone()
    last, pending = _find_last(connection, merged, limits)
    dead = {document for (document,) in connection.execute("SELECT document FROM dead WHERE document <= ?", (last,))}
    changes = _Changes()
    workspaces = read_workspaces(connection, _DEAD, merged)
    for document, partition, terms in read_merged(connection, _DEAD, merged):
        changes.bury(document, partition, terms, _get(workspaces, document))
    bounds = (merged, last)
    workspaces = read_workspaces(connection, "document > ? AND document <= ?", *bounds)
    for row in read_forward(connection, "document > ? AND document <= ?", *bounds):
        changes.add(row, _get(workspaces, row.document), is_live=row.is_live and row.document not in dead)
    changes.write(connection)
    connection.execute("DELETE FROM forward WHERE document <= ?", (last,))
    connection.execute("DELETE FROM dead WHERE document <= ?", (last,))
    connection.execute("UPDATE state SET merged = ?, pending = ?, merges = merges + 1", (last, pending))


def _find_last(connection: sqlite3.Connection, merged: int, limits: MergeLimits) -> tuple[int, int]:
    """Return the last document to merge, and how many postings wait behind it."""
    rows = connection.execute(
        "SELECT document, length(packed) / 4 FROM forward WHERE document > ? ORDER BY document DESC", (merged,)
    )
    waiting = pending = 0
    for document, postings in rows:
        if waiting >= limits.documents or pending + postings > limits.postings:
            return document, pending
        waiting, pending = waiting + 1, pending + postings
    return merged, pending
