"""Merging: the delta goes into the blocks, and what has died since goes from the live ones to those of the past.

What a read sees is the same before and after. The work is that of the documents merged, whatever lies in the blocks.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from onrecord.storage.sqlite.blocks import LIVE, PAST, Key, PostingList, insert_lists, write_list
from onrecord.storage.sqlite.catalogue import Facets, read_facets
from onrecord.storage.sqlite.forward import ForwardRow, read_forward
from onrecord.storage.sqlite.matching import list_facets
from onrecord.storage.sqlite.schema import build_damage

MERGE_DOCUMENTS: Final = 256
MERGE_POSTINGS: Final = 16_384

_CHUNK_COUNT = 20_000
_DEAD = "document IN (SELECT document FROM dead) AND document <= ?"

_Place = tuple[int, int]
_Rows = dict[str, list[tuple[int, int, int]]]


class _Changes:
    """What is to be added to and removed from the lists, by era and partition, then by term."""

    def __init__(self) -> None:
        self._added: dict[_Place, _Rows] = defaultdict(lambda: defaultdict(list))
        self._repeats: dict[_Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._removed: dict[_Place, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))

    def add(self, row: ForwardRow, facets: Facets, *, is_live: bool) -> None:
        """Add a document to the lists of its era."""
        document = row.document
        place = (LIVE if is_live else PAST, row.partition)
        lists = self._added[place]
        for term, line, packed in row.list_postings():
            lists[term].append((document, line, packed))
        for term, repeats in row.repeats.items():
            self._repeats[place][term] += repeats
        if is_live:
            for name in list_facets(*facets):
                lists[name].append((document, 0, 0))

    def bury(self, row: ForwardRow, facets: Facets) -> None:
        """Take a document from the live lists to those of the past."""
        lists = self._removed[LIVE, row.partition]
        for name in (*row.terms, *list_facets(*facets)):
            lists[name].add(row.document)
        self.add(row, facets, is_live=False)

    def write(self, connection: sqlite3.Connection) -> None:
        """Write everything, in the order of the lists."""
        (is_filled,) = connection.execute("SELECT EXISTS (SELECT 1 FROM postings)").fetchone()
        if not is_filled:
            insert_lists(connection, self._list_added())
            return
        added = dict(self._list_added())
        removed = {(*place, term): gone for place, lists in self._removed.items() for term, gone in lists.items()}
        for key in sorted(added.keys() | removed.keys()):
            write_list(connection, key, added.get(key, PostingList()), removed.get(key, ()))

    def _list_added(self) -> Iterator[tuple[Key, PostingList]]:
        for place in sorted(self._added):
            repeats = self._repeats[place]
            for term, rows in sorted(self._added[place].items()):
                documents, lines, packed = zip(*rows, strict=True)
                built = PostingList(array("I", documents), array("H", lines), array("I", packed))
                if term in repeats:
                    built.repeats.extend(repeats[term])
                yield (*place, term), built


def _get(facets: Mapping[int, Facets], row: ForwardRow) -> Facets:
    found = facets.get(row.document)
    if found is None:
        raise build_damage("a document has no head")
    return found


def is_merge_due(connection: sqlite3.Connection, documents: int, postings: int) -> bool:
    """Tell whether the delta or the dead have reached so many documents, or the delta so many postings."""
    added, pending, dead = connection.execute(
        "SELECT coalesce((SELECT max(document) FROM forward), 0) - merged, pending, (SELECT count(*) FROM dead) "
        "FROM state"
    ).fetchone()
    return bool(added >= documents or pending >= postings or dead >= documents)


def merge(connection: sqlite3.Connection) -> None:
    """Merge all of the delta, within a transaction."""
    (merged,) = connection.execute("SELECT merged FROM state").fetchone()
    (last,) = connection.execute("SELECT coalesce(max(document), 0) FROM forward").fetchone()
    dead = {document for (document,) in connection.execute("SELECT document FROM dead")}
    changes = _Changes()
    facets = read_facets(connection, _DEAD, merged)
    for row in read_forward(connection, _DEAD, merged):
        changes.bury(row, _get(facets, row))
    for first in range(merged, last, _CHUNK_COUNT):
        bounds = (first, first + _CHUNK_COUNT)
        facets = read_facets(connection, "document > ? AND document <= ?", *bounds)
        for row in read_forward(connection, "document > ? AND document <= ?", *bounds):
            changes.add(row, _get(facets, row), is_live=row.is_live and row.document not in dead)
        changes.write(connection)
        changes = _Changes()
    changes.write(connection)
    connection.execute("DELETE FROM dead")
    connection.execute("UPDATE state SET merged = ?, pending = 0", (last,))
