"""A process that writes to an index: run as `python -m tests.fault.index_writing PATH COUNT KILL_AT`.

Each batch adds a document, supersedes another and raises the watermark; some batches merge. The process kills itself
before its KILL_AT-th statement of SQL (0: never).
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys

from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite.index import SqliteIndex
from onrecord.storage.sqlite.merging import MergeLimits
from tests.indexes import OWN, make_version


def kill_at(number: int) -> None:
    """Let every connection count its statements, and kill the process before the n-th of all of them together."""
    plain, done = sqlite3.connect, 0

    def count(_: str) -> None:
        nonlocal done
        done += 1
        if done == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def connect(*args: object, **kwargs: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = plain(*args, **kwargs)  # type: ignore[call-overload]
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = connect  # type: ignore[assignment]


def make_batch(number: int) -> IndexBatch:
    """Return the batch after `number` batches: a new record, and the next version of one that all batches change."""
    return IndexBatch(
        [
            make_version(f"r{number:03}", f"common word{number}", seq=2 * number),
            make_version("hot", f"common changing word{number}", seq=2 * number + 1, version=number + 1),
        ],
        watermarks={OWN: 2 * number + 2},
    )


def main(path: str, count: str, number: str) -> None:
    """Go on from the watermark that is there."""
    kill_at(int(number))
    index = SqliteIndex.create(path, limits=MergeLimits(8))
    with index.read() as reader:
        first = reader.get_watermarks().get(OWN, 0) // 2
    for place in range(first, int(count)):
        index.apply(make_batch(place))
    index.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
