"""The numbers of terms: lists are named by them, and merged documents keep the numbers of theirs.

A name has its number from when it is first merged on, whatever partition or era its lists are of; numbers count from 1
without a gap. The names of `matching.list_facets` are among them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from onrecord.storage.sqlite.packing import pack_numbers, unpack_numbers
from onrecord.storage.sqlite.schema import build_damage

_ASKED_MAX_COUNT: Final = 256

Merged = tuple[int, int, bytearray]  # document, partition, terms


def number_terms(connection: sqlite3.Connection, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of some names; those that are new get theirs now, in order of their names."""
    wanted = sorted(set(names))
    found: dict[str, int] = {}
    for start in range(0, len(wanted), _ASKED_MAX_COUNT):
        asked = wanted[start : start + _ASKED_MAX_COUNT]
        found.update(
            connection.execute(f"SELECT term, number FROM terms WHERE term IN ({', '.join('?' * len(asked))})", asked)
        )
    fresh = [name for name in wanted if name not in found]
    if fresh:
        (count,) = connection.execute("SELECT terms FROM state").fetchone()
        numbers = {name: number for number, name in enumerate(fresh, count + 1)}
        insert_terms(connection, numbers)
        found |= numbers
    return found


def insert_terms(connection: sqlite3.Connection, numbers: Mapping[str, int]) -> None:
    """Insert new names with the numbers that follow those that are there."""
    connection.executemany("INSERT INTO terms VALUES (?, ?)", sorted(numbers.items()))
    connection.execute("UPDATE state SET terms = terms + ?", (len(numbers),))


def describe_merged(document: int, partition: int, numbers: Iterable[int]) -> Merged:
    """Return the row that says which terms a merged document has."""
    return document, partition, bytearray(pack_numbers(numbers))


def insert_merged(connection: sqlite3.Connection, rows: Sequence[Merged]) -> None:
    """Insert the rows of documents that are merged."""
    connection.executemany("INSERT INTO merged VALUES (?, ?, ?)", rows)


def read_merged(connection: sqlite3.Connection, where: str, *values: object) -> list[tuple[int, int, list[int]]]:
    """Return document, partition and numbers of the terms of the merged documents of a condition, by document.

    Raises:
        DamagedError: a row cannot be read.
    """
    rows = connection.execute(f"SELECT document, partition, terms FROM merged WHERE {where} ORDER BY document", values)
    found = [(document, partition, unpack_numbers(terms)) for document, partition, terms in rows]
    if not all(isinstance(partition, int) for _, partition, _ in found):
        raise build_damage("the terms of a document cannot be read")
    return found
