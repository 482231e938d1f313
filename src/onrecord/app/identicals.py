"""Records that say exactly the same: which of them have lost their file, so that a file may be theirs.

Many plain notes may be alike. Each record is looked at once in a pass, not once for each file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from heapq import heappop, heappush

from onrecord.domain.heads import order_of
from onrecord.domain.ids import RecordId
from onrecord.ports.index import FileStamp, IndexReader

Inode = tuple[int, int]
_Place = tuple[tuple[object, ...], RecordId]


class Standing(Enum):
    """Whether a file holds a record: none does, one does that is no file of the pass, or one does that may change."""

    LOST = auto()
    KEPT = auto()
    OPEN = auto()


@dataclass(slots=True)
class Identicals:
    """The records of one pass whose current version has the same bytes.

    Attributes:
        records: All of them, when they were first asked for, by id.
    """

    records: Sequence[RecordId]
    _open: list[RecordId] = field(init=False)
    _lost: list[_Place] = field(default_factory=list)
    _by_inode: dict[Inode, list[_Place]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self._open = list(self.records)

    def find_lost(
        self,
        reader: IndexReader,
        inode: Inode,
        own: RecordId | None,
        is_free: Callable[[RecordId], bool],
        look: Callable[[RecordId], tuple[Standing, Sequence[FileStamp]]],
    ) -> RecordId | None:
        """Return the record that has lost its file: of several one that had the inode, then the first in order.

        Args:
            reader: Reads the index.
            inode: That of the file which may be the record's.
            own: A record that is not meant.
            is_free: Whether a record has not been given away; one that has never comes back.
            look: Tells how a record stands, with its stamps; one that is lost stays so.
        """
        left: list[RecordId] = []
        for record in self._open:
            if not is_free(record):
                continue
            if record == own:
                left.append(record)
                continue
            standing, stamps = look(record)
            if standing is Standing.OPEN:
                left.append(record)
            elif standing is Standing.LOST:
                place = (order_of(reader.list_versions(record)[0]), record)
                heappush(self._lost, place)
                for stamp in stamps:
                    self._by_inode[stamp.device, stamp.inode].append(place)
        self._open = left
        here = [place for place in self._by_inode.get(inode, ()) if place[1] != own and is_free(place[1])]
        return min(here)[1] if here else self._find_first(own, is_free)

    def _find_first(self, own: RecordId | None, is_free: Callable[[RecordId], bool]) -> RecordId | None:
        passed: list[_Place] = []
        while self._lost and (self._lost[0][1] == own or not is_free(self._lost[0][1])):
            place = heappop(self._lost)
            if place[1] == own:
                passed.append(place)
        first = self._lost[0][1] if self._lost else None
        for place in passed:
            heappush(self._lost, place)
        return first
