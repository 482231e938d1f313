"""Of many records that say the same each is looked at once, and the right one comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

from onrecord.app.identicals import Identicals, Standing
from onrecord.domain.ids import RecordId
from onrecord.ports.index import FileStamp, IndexReader


class _Reader:
    def list_versions(self, record: RecordId) -> list[SimpleNamespace]:
        return [SimpleNamespace(version=1, recorded_at=record[::-1], ref=SimpleNamespace(log="log", seq=0))]


class _Pass:
    def __init__(self, standings: dict[str, Standing]) -> None:
        self.standings = standings
        self.given: set[RecordId] = set()
        self.looks: Counter[str] = Counter()
        self.same = Identicals([RecordId(name) for name in standings])

    def look(self, record: RecordId) -> tuple[Standing, Sequence[FileStamp]]:
        self.looks[record] += 1
        stamp = SimpleNamespace(device=1, inode=ord(record[0]))
        return self.standings[record], [cast(FileStamp, stamp)]

    def find(self, inode: int, own: str | None = None) -> str | None:
        reader = cast(IndexReader, _Reader())
        is_own = RecordId(own) if own is not None else None
        found = self.same.find_lost(reader, (1, inode), is_own, lambda record: record not in self.given, self.look)
        if found is not None:
            self.given.add(found)
        return found


def test_each_record_is_looked_at_once_however_many_files_ask() -> None:
    made = _Pass({f"{number:03}": Standing.KEPT if number % 2 else Standing.LOST for number in range(100)})
    assert sum(made.find(0) is not None for _ in range(60)) == 50
    assert set(made.looks.values()) == {1}


def test_the_one_that_had_the_inode_comes_before_the_first_in_order() -> None:
    made = _Pass({"az": Standing.LOST, "bb": Standing.LOST, "ca": Standing.LOST})
    assert [made.find(ord("a")), made.find(0), made.find(0), made.find(0)] == ["az", "ca", "bb", None]


def test_the_files_own_record_is_passed_over_and_stays_for_others() -> None:
    made = _Pass({"aa": Standing.LOST, "bb": Standing.LOST})
    assert made.find(0, own="bb") == "aa"
    assert made.find(0, own="bb") is None
    assert made.find(ord("b"), own="aa") == "bb"


def test_a_record_that_may_still_lose_its_file_is_asked_for_again() -> None:
    made = _Pass({"aa": Standing.OPEN})
    assert made.find(0) is None
    made.standings["aa"] = Standing.LOST
    assert made.find(0) == "aa"
