"""Forward rows: the postings of one document in one row, in the order in which it holds its terms.

A row is written when a document comes in and stays: until it is merged it is searched as it is (the delta), later it
tells which blocks to mend when the document is superseded. Its terms are one text, each ended by a line feed.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final

from onrecord.domain.postings import PackedPosting, pack_postings
from onrecord.ports.index import Document
from onrecord.storage.sqlite.blocks import decode_block
from onrecord.storage.sqlite.schema import build_damage

TERM_END: Final = "\n"

_PLACE_SHIFT = 32
_REPEAT_MASK = (1 << _PLACE_SHIFT) - 1
_SELECT = "SELECT document, partition, is_live, terms, lines, packed, repeats FROM forward"


class ForwardRow:
    """A forward row, decoded. `is_live` is as it was when the document came in."""

    __slots__ = ("document", "is_live", "partition", "postings")

    def __init__(self, row: Sequence[Any]) -> None:
        document, partition, is_live, terms, lines, packed, repeats = row
        if not (isinstance(document, int) and isinstance(partition, int) and isinstance(terms, str)):
            raise build_damage("a forward row cannot be read")
        self.document = document
        self.partition = partition
        self.is_live = bool(is_live)
        block = decode_block(packed, lines, packed, repeats)  # by place instead of by document
        names = terms.split(TERM_END)
        names.pop()
        if len(names) != len(block.packed):
            raise build_damage("a forward row cannot be read")
        self.postings: list[tuple[str, int, int, Sequence[int]]]
        if not block.repeats:
            self.postings = [
                (name, line, value, ()) for name, line, value in zip(names, block.lines, block.packed, strict=True)
            ]
            return
        several: dict[int, list[int]] = {}
        for repeat in block.repeats:
            several.setdefault(repeat >> _PLACE_SHIFT, []).append(repeat & _REPEAT_MASK)
        self.postings = [
            (name, block.lines[place], block.packed[place], several.get(place, ())) for place, name in enumerate(names)
        ]


def write_forward(
    connection: sqlite3.Connection, number: int, partition: int, document: Document, *, is_live: bool
) -> None:
    """Insert the forward row of a document."""
    packed = pack_postings(document.postings, document.tokens, document.lines)
    terms = TERM_END.join([posting.term for posting in packed])
    connection.execute(
        "INSERT INTO forward VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(number, partition, is_live, terms + TERM_END if packed else ""),
            *(_write_lines(packed), array("I", [posting.packed for posting in packed]).tobytes()),
            _write_repeats(packed),
        ),
    )


def _write_lines(packed: Sequence[PackedPosting]) -> bytes:
    lines = [posting.line for posting in packed]
    return array("H", lines).tobytes() if any(lines) else b""


def _write_repeats(packed: Sequence[PackedPosting]) -> bytes:
    return array(
        "Q", [place << _PLACE_SHIFT | repeat for place, posting in enumerate(packed) for repeat in posting.repeats]
    ).tobytes()


def read_forward(connection: sqlite3.Connection, where: str, *values: object) -> Iterator[ForwardRow]:
    """Yield the forward rows of a condition on `forward`, ascending by document."""
    return map(ForwardRow, connection.execute(f"{_SELECT} WHERE {where} ORDER BY document", values))
