"""Taking in a batch: heads, forward rows, statistics, files and watermarks, within a transaction of the caller."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

from onrecord.domain.heads import Partition
from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite.catalogue import take_in, write_file
from onrecord.storage.sqlite.forward import write_forward


def take_batch(connection: sqlite3.Connection, batch: IndexBatch, records: set[int] | None = None) -> None:
    """Take in a batch; a document whose `ref` is known is ignored.

    `records`, if given, holds hashes of all record ids that are in, and gets those of the batch.
    """
    _take_documents(connection, batch, records)
    connection.executemany("DELETE FROM files WHERE path = ?", ((path,) for path in batch.removed_files))
    for stamp in batch.files:
        write_file(connection, stamp)
    connection.executemany("INSERT OR REPLACE INTO watermarks VALUES (?, ?)", batch.watermarks.items())
    connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?)", batch.notes.items())


def _take_documents(connection: sqlite3.Connection, batch: IndexBatch, records: set[int] | None) -> None:
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
            number = partitions[name] = _number_partition(connection, name)
        record = hash(document.head.id)
        is_new_record = records is not None and record not in records
        taken = take_in(connection, document, last + 1, number, is_new_record=is_new_record)
        if taken is None:
            continue
        last += 1
        if records is not None:
            records.add(record)
        write_forward(connection, last, number, document, is_live=taken.is_live)
        postings += len(document.postings)
        if taken.is_live:
            _add(changed[number], 1, document.tokens, document.lines)
        for died in taken.died:
            _add(changed[died.partition], -1, -died.tokens, -died.lines)
            connection.execute("INSERT INTO dead VALUES (?)", (died.document,))
    connection.executemany(
        "UPDATE partitions SET documents = documents + ?, tokens = tokens + ?, lines = lines + ? WHERE number = ?",
        ((*sums, number) for number, sums in changed.items()),
    )
    connection.execute("UPDATE state SET pending = pending + ?", (postings,))


def _add(sums: list[int], documents: int, tokens: int, lines: int) -> None:
    sums[0] += documents
    sums[1] += tokens
    sums[2] += lines


def _number_partition(connection: sqlite3.Connection, name: Partition) -> int:
    row = connection.execute("SELECT number FROM partitions WHERE name = ?", (name,)).fetchone()
    if row is None:
        row = connection.execute("INSERT INTO partitions (name) VALUES (?) RETURNING number", (name,)).fetchone()
    return int(row[0])
