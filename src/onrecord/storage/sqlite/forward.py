"""Forward rows: the postings of one document in one row, in the order in which it holds its terms.

A row is written when a document comes in, and is there until it is merged: so long it is searched as it is (the delta).
Its terms are one text, each ended by a line feed.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from onrecord.domain.postings import REPEAT_MASK, REPEAT_SHIFT, PackedDocument
from onrecord.storage.sqlite.blocks import decode_arrays
from onrecord.storage.sqlite.schema import build_damage

TERM_END: Final = "\n"

_SELECT = "SELECT document, partition, is_live, terms, lines, packed, repeats FROM forward"


class ForwardRow:
    """A forward row, decoded. `is_live` is as it was when the document came in."""

    __slots__ = ("document", "is_live", "lines", "packed", "partition", "repeats", "terms")

    def __init__(self, row: Sequence[Any]) -> None:
        document, partition, is_live, terms, lines, packed, repeats = row
        if not (isinstance(document, int) and isinstance(partition, int) and isinstance(terms, str)):
            raise build_damage("a forward row cannot be read")
        self.document = document
        self.partition = partition
        self.is_live = bool(is_live)
        block = decode_arrays(packed, lines, packed, repeats)  # by place instead of by document
        self.lines, self.packed = block.lines, block.packed
        self.terms = terms.split(TERM_END)
        self.terms.pop()
        if len(self.terms) != len(block.packed):
            raise build_damage("a forward row cannot be read")
        self.repeats: dict[str, list[int]] = {}
        for repeat in block.repeats:
            place = repeat >> REPEAT_SHIFT
            if place >= len(self.terms):
                raise build_damage("a forward row cannot be read")
            self.repeats.setdefault(self.terms[place], []).append(document << REPEAT_SHIFT | repeat & REPEAT_MASK)

    def list_postings(self) -> Iterator[tuple[str, int, int]]:
        """Return term, line and packed posting of each term; `repeats` has the rest, by term."""
        return zip(self.terms, self.lines, self.packed, strict=True)


def encode_forward(number: int, partition: int, packed: PackedDocument, *, is_live: bool) -> tuple[object, ...]:
    """Return the forward row of a document; arrays as `bytearray`, which the driver takes quicker than `bytes`."""
    return (
        *(number, partition, int(is_live), TERM_END.join((*packed.terms, ""))),
        bytearray(array("H", packed.lines)) if packed.lines else bytearray(),
        bytearray(array("I", packed.packed)),
        bytearray(array("Q", packed.repeats)) if packed.repeats else bytearray(),
    )


def insert_forward(connection: sqlite3.Connection, rows: Iterable[tuple[object, ...]]) -> None:
    """Insert forward rows as `encode_forward` gives them."""
    connection.executemany("INSERT INTO forward VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def read_forward(connection: sqlite3.Connection, where: str, *values: object) -> Iterator[ForwardRow]:
    """Yield the forward rows of a condition on `forward`, ascending by document."""
    return map(ForwardRow, connection.execute(f"{_SELECT} WHERE {where} ORDER BY document", values))
