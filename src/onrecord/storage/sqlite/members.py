"""Which merged documents are in some workspaces, as flags by document number.

They hold as long as nothing is merged, so that a question about a workspace reads its list once and not each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from threading import Lock
from typing import Final

from onrecord.storage.sqlite.blocks import LIVE, read_documents
from onrecord.storage.sqlite.schema import Seen, build_damage

_KEPT_MAX_COUNT: Final = 16


class MemberMemory:
    """Keeps the flags of the questions last asked for the reads of one driver, whatever thread they are in."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._state = ("", 0)
        self._flags: dict[tuple[tuple[int, ...], tuple[str, ...]], bytes] = {}

    def get(self, connection: sqlite3.Connection, seen: Seen, partitions: Sequence[int], names: Sequence[str]) -> bytes:
        """Return a byte for each document number up to the last merged: 1 where it is in one of the lists `names`.

        Raises:
            DamagedError: a list holds what cannot be in it.
        """
        state, key = (seen.build, seen.merges), (tuple(partitions), tuple(names))
        with self._lock:
            if state != self._state or len(self._flags) >= _KEPT_MAX_COUNT:
                self._state, self._flags = state, {}
            found = self._flags.get(key)
            if found is None:
                found = self._flags[key] = _read_flags(connection, seen, partitions, names)
            return found


def _read_flags(connection: sqlite3.Connection, seen: Seen, partitions: Sequence[int], names: Sequence[str]) -> bytes:
    if not 0 <= seen.merged <= seen.last < 1 << 32:
        raise build_damage("its counts do not fit")
    flags = bytearray(seen.merged + 1)
    for partition in partitions:
        for documents in read_documents(connection, LIVE, partition, names):
            if documents and max(documents) > seen.merged:
                raise build_damage("a block cannot be read")
            for document in documents:
                flags[document] = 1
    return bytes(flags)
