"""Taking in a batch: heads, forward rows, statistics, files and watermarks, within a transaction of the caller."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence

from onrecord.domain.heads import Partition
from onrecord.domain.ids import EntryRef
from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite.catalogue import drop_head, take_in
from onrecord.storage.sqlite.forward import encode_forward, insert_forward
from onrecord.storage.sqlite.mentions import insert_mentions
from onrecord.storage.sqlite.stamps import write_files, write_touched


def take_batch(connection: sqlite3.Connection, batch: IndexBatch) -> None:
    """Take in a batch; a document whose `ref` is known is ignored."""
    _drop(connection, batch.dropped)
    _take_documents(connection, batch)
    take_rest(connection, batch)


def take_rest(connection: sqlite3.Connection, batch: IndexBatch) -> None:
    """Take in what a batch holds beside documents: files, watermarks and what was touched."""
    connection.executemany("DELETE FROM files WHERE path = ?", ((path,) for path in batch.removed_files))
    write_files(connection, batch.files)
    connection.executemany("INSERT OR REPLACE INTO watermarks VALUES (?, ?)", batch.watermarks.items())
    write_touched(connection, batch.touched, batch.judged)


def _drop(connection: sqlite3.Connection, refs: Sequence[EntryRef]) -> None:
    """Forget loose documents: they leave the live ones as if superseded, and no question finds their heads any more."""
    changed: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for ref in refs:
        for died in drop_head(connection, ref):
            _add(changed[died.partition], -1, -died.tokens, -died.lines)
            connection.execute("INSERT INTO dead VALUES (?)", (died.document,))
    _write_sums(connection, changed)


def _take_documents(connection: sqlite3.Connection, batch: IndexBatch) -> None:
    if not batch.documents:
        return
    (last,) = connection.execute("SELECT coalesce(max(document), 0) FROM heads").fetchone()
    partitions: dict[Partition, int] = {}
    changed: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    postings = 0
    for document in batch.documents:
        name = document.head.partition
        number = partitions.get(name)
        if number is None:
            number = partitions[name] = number_partition(connection, name)
        taken = take_in(connection, document, last + 1, number)
        if taken is None:
            continue
        last += 1
        packed = document.packed
        insert_forward(connection, [encode_forward(last, number, packed, is_live=taken.is_live)])
        insert_mentions(connection, last, document.mentions)
        postings += len(packed.terms)
        if taken.is_live:
            _add(changed[number], 1, packed.tokens, packed.line_count)
        for died in taken.died:
            _add(changed[died.partition], -1, -died.tokens, -died.lines)
            connection.execute("INSERT INTO dead VALUES (?)", (died.document,))
    _write_sums(connection, changed)
    connection.execute("UPDATE state SET pending = pending + ?", (postings,))


def _write_sums(connection: sqlite3.Connection, changed: Mapping[int, Sequence[int]]) -> None:
    connection.executemany(
        "UPDATE partitions SET documents = documents + ?, tokens = tokens + ?, lines = lines + ? WHERE number = ?",
        ((*sums, number) for number, sums in changed.items()),
    )


def _add(sums: list[int], documents: int, tokens: int, lines: int) -> None:
    sums[0] += documents
    sums[1] += tokens
    sums[2] += lines


def number_partition(connection: sqlite3.Connection, name: Partition) -> int:
    """Return the number of a partition; one that is new gets its number now."""
    row = connection.execute("SELECT number FROM partitions WHERE name = ?", (name,)).fetchone()
    if row is None:
        row = connection.execute("INSERT INTO partitions (name) VALUES (?) RETURNING number", (name,)).fetchone()
    return int(row[0])
