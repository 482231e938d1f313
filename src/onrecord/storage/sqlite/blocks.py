"""Posting lists as arrays, and how they lie in blocks.

The list of one term, one partition and one era (live or past) is cut into blocks of at most 1,024 documents, each a row
of `postings` named by a document number not above its first; `packing` tells what is in it. A list is named by the
number of its term (`numbering`).
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import Final

from onrecord.domain.postings import REPEAT_SHIFT, TermMatches
from onrecord.storage.sqlite.packing import pack_block, unpack_block
from onrecord.storage.sqlite.schema import build_damage

LIVE: Final = 0
PAST: Final = 1
BLOCK_MAX_COUNT: Final = 1_024

_INSERT = "INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?, ?)"
_OF_TERM = "era = ? AND partition = ? AND term = ?"

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
        """Return this list, then another; the order is the caller's."""
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


def _encode_blocks(key: Key, added: PostingList) -> Iterator[Block]:
    for piece in added.cut():
        yield (*key, piece.documents[0], piece.encode())


def write_list(connection: sqlite3.Connection, key: Key, added: PostingList, removed: Collection[int]) -> PostingList:
    """Add documents (ascending) to a list and remove others from it, rewriting the blocks that they fall into.

    Returns:
        What was removed, ascending only within each block.
    """
    gone = PostingList()
    last = connection.execute(
        f"SELECT first, block FROM postings WHERE {_OF_TERM} ORDER BY first DESC LIMIT 1", key
    ).fetchone()
    if last is None:
        if added.documents:
            _insert(connection, key, added, None)
        return gone
    if not removed:
        block = decode_block(last[1])
        if added.documents[0] > block.documents[-1]:
            _replace(connection, key, last[0], block.join(added))
            return gone
    firsts = [row[0] for row in connection.execute(f"SELECT first FROM postings WHERE {_OF_TERM} ORDER BY first", key)]
    touched: dict[int, tuple[list[bool], set[int]]] = {}
    for place, document in enumerate(added.documents):
        flags, _ = touched.setdefault(_find_block(firsts, document), ([False] * len(added.documents), set()))
        flags[place] = True
    for document in removed:
        touched.setdefault(_find_block(firsts, document), ([False] * len(added.documents), set()))[1].add(document)
    for first, (flags, leaving) in touched.items():
        row = connection.execute(f"SELECT block FROM postings WHERE {_OF_TERM} AND first = ?", (*key, first))
        block = decode_block(*row.fetchone())
        if leaving:
            gone = gone.join(block.remove(leaving))
        chosen = added.select(flags)
        is_in_order = not (block.documents and chosen.documents) or chosen.documents[0] > block.documents[-1]
        joined = block.join(chosen)
        _replace(connection, key, first, joined if is_in_order else joined.sort())
    return gone


def _find_block(firsts: Sequence[int], document: int) -> int:
    return firsts[max(bisect_right(firsts, document) - 1, 0)]


def _replace(connection: sqlite3.Connection, key: Key, first: int, block: PostingList) -> None:
    name = min(first, block.documents[0]) if block.documents else None
    if name != first:
        connection.execute(f"DELETE FROM postings WHERE {_OF_TERM} AND first = ?", (*key, first))
    if name is not None:
        _insert(connection, key, block, name)


def _insert(connection: sqlite3.Connection, key: Key, added: PostingList, first: int | None) -> None:
    """Insert a list as blocks, the first under the name `first` if given; a block of that name is replaced."""
    for piece in added.cut():
        name = piece.documents[0] if first is None else first
        connection.execute(_INSERT, (*key, name, piece.encode()))
        first = None
