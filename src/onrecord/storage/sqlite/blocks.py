"""Posting lists as arrays, and how they lie in blocks.

The list of one term, one partition and one era (live or past) is cut into blocks of at most 1,024 documents, each a row
of `postings` named by a document number not above its first; `packing` tells what is in it. A list is named by the
number of its term (`numbering`).
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress, groupby, islice
from json import dumps
from typing import Any, Final

from onrecord.domain.postings import REPEAT_SHIFT, TermMatches
from onrecord.storage.sqlite.packing import pack_block, unpack_block
from onrecord.storage.sqlite.schema import build_damage

LIVE: Final = 0
PAST: Final = 1
BLOCK_MAX_COUNT: Final = 1_024

_INSERT = "INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?, ?)"
_OF_TERM = "era = ? AND partition = ? AND term = ?"

# What is read and written at once.
_LISTS_AT_ONCE: Final = 512
_BLOCKS_AT_ONCE: Final = 256
_TERM_SHIFT: Final = 32

_LAST_FIRST = (
    "SELECT value, (SELECT max(first) FROM postings WHERE era = ?1 AND partition = ?2 AND term = value) "
    "FROM json_each(?3)"
)
_ALL_FIRSTS = (
    "SELECT term, first FROM json_each(?3) CROSS JOIN postings ON era = ?1 AND partition = ?2 AND term = value "
    "ORDER BY term, first"
)
_CHOSEN = (
    "SELECT term, first, block FROM json_each(?3) CROSS JOIN postings ON era = ?1 AND partition = ?2 "
    "AND term = value >> 32 AND first = value & 4294967295"
)

Place = tuple[int, int]  # era and partition
Key = tuple[int, int, int]
Block = tuple[int, int, int, int, bytearray]  # key, name, and the block as the driver takes it quickest


@dataclass(slots=True)
class PostingList:
    """A posting list in memory, ascending by document."""

    documents: array[int] = field(default_factory=partial(array, "I"))
    lines: array[int] = field(default_factory=partial(array, "H"))
    packed: array[int] = field(default_factory=partial(array, "I"))
    repeats: array[int] = field(default_factory=partial(array, "Q"))

    def append(self, document: int, line: int, packed: int) -> None:
        """Add a document."""
        self.documents.append(document)
        self.lines.append(line)
        self.packed.append(packed)

    def join(self, other: PostingList) -> PostingList:
        """Return this list, then another, or one of them itself where the other is empty; the order is the caller's."""
        if not self.documents:
            return other
        if not other.documents:
            return self
        return PostingList(
            self.documents + other.documents,
            self.lines + other.lines,
            self.packed + other.packed,
            self.repeats + other.repeats,
        )

    def select(self, flags: Sequence[bool] | bytes) -> PostingList:
        """Return the documents whose flag is set; this list itself where all are."""
        if all(flags):
            return self
        chosen = PostingList(
            array("I", compress(self.documents, flags)),
            array("H", compress(self.lines, flags)),
            array("I", compress(self.packed, flags)),
        )
        if self.repeats:
            kept = set(chosen.documents)
            chosen.repeats = array("Q", (item for item in self.repeats if item >> REPEAT_SHIFT in kept))
        return chosen

    def keep(self, documents: Collection[int]) -> PostingList:
        """Return what lies in a set of documents."""
        return self.select(list(map(documents.__contains__, self.documents)))

    def drop(self, documents: Collection[int]) -> PostingList:
        """Return what lies outside a set of documents."""
        return self.select([document not in documents for document in self.documents])

    def remove(self, documents: Iterable[int]) -> PostingList:
        """Take some documents out of this list and return them; the work is theirs, not that of what is left."""
        gone = PostingList()
        for document in sorted(documents):
            place = bisect_left(self.documents, document)
            if place < len(self.documents) and self.documents[place] == document:
                gone.append(document, self.lines[place], self.packed[place])
                del self.documents[place], self.lines[place], self.packed[place]
                start = bisect_left(self.repeats, document << REPEAT_SHIFT)
                end = bisect_left(self.repeats, (document + 1) << REPEAT_SHIFT, start)
                gone.repeats.extend(self.repeats[start:end])
                del self.repeats[start:end]
        return gone

    def sort(self) -> PostingList:
        """Return the list ascending by document."""
        rows = sorted(zip(self.documents, self.lines, self.packed, strict=True))
        return PostingList(
            array("I", (document for document, _, _ in rows)),
            array("H", (line for _, line, _ in rows)),
            array("I", (packed for _, _, packed in rows)),
            array("Q", sorted(self.repeats)),
        )

    def cut(self) -> Iterator[PostingList]:
        """Yield the list in pieces that fit into blocks."""
        if len(self.documents) <= BLOCK_MAX_COUNT:
            yield self
            return
        for start in range(0, len(self.documents), BLOCK_MAX_COUNT):
            piece = slice(start, start + BLOCK_MAX_COUNT)
            documents = self.documents[piece]
            last = documents[-1]
            repeats = (
                (item for item in self.repeats if documents[0] <= item >> REPEAT_SHIFT <= last) if self.repeats else ()
            )
            yield PostingList(documents, self.lines[piece], self.packed[piece], array("Q", repeats))

    def encode(self) -> bytearray:
        """Return the block of the list, as the driver takes it quickest."""
        return bytearray(pack_block(self.documents, self.packed, self.lines, self.repeats))

    def to_matches(self, term: str) -> TermMatches:
        """Return the list as the answer for a term."""
        return TermMatches(term, self.documents, self.lines, self.packed, self.repeats)


ListChange = tuple[Key, PostingList, Collection[int]]  # a list, what is added to it, and which documents leave it


def decode_arrays(documents: bytes, lines: bytes, packed: bytes, repeats: bytes) -> PostingList:
    """Return the list of four arrays as they are in memory; lines that are left out are all the first.

    Raises:
        DamagedError: the arrays do not fit each other.
    """
    try:
        decoded = PostingList(
            array("I", documents),
            array("H", lines or bytes(len(documents) // 2)),
            array("I", packed),
            array("Q", repeats),
        )
    except (ValueError, TypeError) as error:
        raise build_damage("a block cannot be read") from error
    if not len(decoded.documents) == len(decoded.packed) == len(decoded.lines):
        raise build_damage("a block cannot be read")
    return decoded


def decode_block(block: bytes) -> PostingList:
    """Return the list of a block.

    Raises:
        DamagedError: it cannot be read.
    """
    documents, packed, lines, repeats = unpack_block(block)
    return PostingList(documents, lines, packed, repeats)


def read_lists(
    connection: sqlite3.Connection, era: int, partition: int, terms: Sequence[str]
) -> Iterator[tuple[str, PostingList]]:
    """Yield the blocks of some terms; those of one term one after the other, ascending."""
    for start in range(0, len(terms), 256):
        asked = terms[start : start + 256]
        rows = connection.execute(
            "SELECT terms.term, block FROM terms CROSS JOIN postings "
            "ON era = ? AND partition = ? AND postings.term = number "
            f"WHERE terms.term IN ({', '.join('?' * len(asked))}) ORDER BY terms.term, first",
            (era, partition, *asked),
        )
        for term, block in rows:
            yield term, decode_block(block)


def read_documents(
    connection: sqlite3.Connection, era: int, partition: int, terms: Sequence[str]
) -> Iterator[array[int]]:
    """Yield the documents of some lists, block by block."""
    for _, block in read_lists(connection, era, partition, terms):
        yield block.documents


def insert_lists(connection: sqlite3.Connection, lists: Iterable[tuple[Key, PostingList]]) -> None:
    """Insert lists that are not there yet; fastest in the order of their keys."""
    connection.executemany(_INSERT, (block for key, added in lists for block in _encode_blocks(key, added)))


def _encode_blocks(key: Key, added: PostingList, first: int | None = None) -> Iterator[Block]:
    """Yield a list as blocks; the first is named `first`, if given, the others after their first documents."""
    if added.documents:
        for piece in added.cut():
            yield (*key, piece.documents[0] if first is None else first, piece.encode())
            first = None


def write_lists(connection: sqlite3.Connection, changes: Iterable[ListChange]) -> dict[Key, PostingList]:
    """Add documents (ascending) to lists and remove others from them, rewriting the blocks that they fall into.

    Args:
        connection: Within a transaction.
        changes: Each list once; fastest in the order of their keys. What it is about is read, and written, for many
            lists at once: one document may have as many terms as all others together.

    Returns:
        What was removed, ascending; lists of which nothing was are left out.
    """
    gone: dict[Key, PostingList] = {}
    for place, among in groupby(changes, key=lambda change: change[0][:2]):
        while some := {change[0][2]: change[1:] for change in islice(among, _LISTS_AT_ONCE)}:
            for term, removed in _write_some(connection, place, some):
                gone[*place, term] = removed
    return gone


def _write_some(
    connection: sqlite3.Connection, place: Place, changes: Mapping[int, tuple[PostingList, Collection[int]]]
) -> Iterator[tuple[int, PostingList]]:
    """Change some lists of one era and partition; yield what was removed of them, by term."""
    removed: dict[int, PostingList] = {}
    left: list[tuple[int, ...]] = []
    written: list[Block] = []
    lasts = dict(_read_firsts(connection, place, _LAST_FIRST, changes))
    for term, last in lasts.items():
        if last is None:
            written += _encode_blocks((*place, term), changes[term][0])
    touched = _find_touched(connection, place, lasts, changes)
    for term, first, packed in _read_blocks(connection, place, touched):
        added, leaving = touched[term, first]
        block = decode_block(packed)
        if leaving:
            gone = block.remove(leaving)
            removed[term] = removed[term].join(gone) if term in removed else gone
        is_in_order = not (block.documents and added.documents) or added.documents[0] > block.documents[-1]
        joined = block.join(added) if is_in_order else block.join(added).sort()
        name = min(first, joined.documents[0]) if joined.documents else None
        if name != first:
            left.append((*place, term, first))
        written += _encode_blocks((*place, term), joined, name)
    connection.executemany(f"DELETE FROM postings WHERE {_OF_TERM} AND first = ?", left)
    connection.executemany(_INSERT, written)
    yield from ((term, gone) for term, gone in removed.items() if gone.documents)


def _find_touched(
    connection: sqlite3.Connection,
    place: Place,
    lasts: Mapping[int, int | None],
    changes: Mapping[int, tuple[PostingList, Collection[int]]],
) -> dict[tuple[int, int], tuple[PostingList, Collection[int]]]:
    """Return the blocks that changes fall into, ascending, with what comes into each and what leaves it."""
    touched: dict[tuple[int, int], tuple[PostingList, Collection[int]]] = {}
    spread: dict[int, list[int]] = {}
    for term, last in lasts.items():
        added, removed = changes[term]
        if last is None or not (added.documents or removed):
            continue
        if (added.documents and added.documents[0] < last) or min(removed, default=last) < last:
            spread[term] = []
        else:
            touched[term, last] = added, removed
    for term, first in _read_firsts(connection, place, _ALL_FIRSTS, spread):
        spread[term].append(first)
    for term, firsts in spread.items():
        added, removed = changes[term]
        coming = [_find_block(firsts, document) for document in added.documents]
        leaving = [(_find_block(firsts, document), document) for document in removed]
        for first in {*coming, *(first for first, _ in leaving)}:
            chosen = added.select([other == first for other in coming])
            touched[term, first] = chosen, {document for other, document in leaving if other == first}
    return dict(sorted(touched.items()))


def _read_firsts(
    connection: sqlite3.Connection, place: Place, query: str, terms: Collection[int]
) -> list[tuple[int, Any]]:
    return connection.execute(query, (*place, dumps(list(terms)))).fetchall()


def _read_blocks(
    connection: sqlite3.Connection, place: Place, names: Collection[tuple[int, int]]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield term, first and bytes of some blocks, in the order of `names`."""
    asked = [term << _TERM_SHIFT | first for term, first in names]
    for start in range(0, len(asked), _BLOCKS_AT_ONCE):
        yield from connection.execute(_CHOSEN, (*place, dumps(asked[start : start + _BLOCKS_AT_ONCE]))).fetchall()


def _find_block(firsts: Sequence[int], document: int) -> int:
    return firsts[max(bisect_right(firsts, document) - 1, 0)]
