"""The SQLite driver: other openings, damage, erasure, and work that does not grow with what is there."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from onrecord.domain.errors import DamagedError, OnRecordError, StorageFailedError
from onrecord.ports.index import Document, Filter, IndexBatch
from onrecord.storage.sqlite import merging
from onrecord.storage.sqlite.index import SqliteIndex
from tests.indexes import OWN, answer, at, list_found, make_id, make_turn, make_version


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Give the path of the index."""
    return str(tmp_path / "index.sqlite3")


@pytest.fixture
def index(path: str) -> Iterator[SqliteIndex]:
    """Give an empty index."""
    with closing(SqliteIndex.create(path)) as made:
        yield made


def test_what_was_applied_is_there_after_reopening(index: SqliteIndex, path: str) -> None:
    index.apply(IndexBatch([make_version("a", "apple", seq=0)], watermarks={OWN: 1}))
    index.close()
    with closing(SqliteIndex(path)) as again, again.read() as reader:
        assert dict(reader.get_watermarks()) == {OWN: 1}
        assert list_found(again, "apple") == [("a", 1)]


def test_another_opening_sees_writes_merges_and_rebuilds(index: SqliteIndex, path: str) -> None:
    first, second = make_version("a", "apple", seq=0), make_version("b", "apple pie", seq=1)
    with closing(SqliteIndex(path)) as other:
        index.apply(IndexBatch([first]))
        assert list_found(other, "apple") == [("a", 1)]
        index.rebuild([IndexBatch([second])])
        assert list_found(other, "apple") == [("b", 1)]
        other.apply(IndexBatch([first]))
        assert list_found(index, "apple") == [("a", 1), ("b", 1)]


def test_a_rebuild_with_as_many_documents_does_not_pass_for_the_old_state(index: SqliteIndex) -> None:
    index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
    index.rebuild([])
    index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
    assert list_found(index, "apple") == [("a", 1)]
    index.rebuild([])
    index.apply(IndexBatch([make_version("b", "pear", seq=0)]))
    assert (list_found(index, "apple"), list_found(index, "pear")) == ([], [("b", 1)])


def test_an_opening_notices_that_a_damaged_file_was_replaced(index: SqliteIndex, path: str) -> None:
    index.apply(IndexBatch([make_version("a", "old apple", seq=0)]))
    Path(path).write_bytes(b"junk" * 4_000)
    with closing(SqliteIndex.create(path)) as other:
        other.apply(IndexBatch([make_version("b", "new apple", seq=1)]))
        assert list_found(index, "apple") == [("b", 1)]
        index.apply(IndexBatch([make_version("c", "apple", seq=2)]))
        assert list_found(other, "apple") == [("b", 1), ("c", 1)]


def test_a_file_that_vanished_is_damage_until_it_is_rebuilt(index: SqliteIndex, path: str) -> None:
    for found in Path(path).parent.iterdir():
        found.unlink()
    with pytest.raises(DamagedError), index.read():
        pass
    with pytest.raises(DamagedError):
        index.apply(IndexBatch())
    index.rebuild([IndexBatch([make_version("a", "apple", seq=0)])])
    assert list_found(index, "apple") == [("a", 1)]


def test_a_rebuild_that_fails_leaves_the_index_as_it_was(index: SqliteIndex, path: str) -> None:
    index.apply(IndexBatch([make_version("a", "apple", seq=0)]))

    def stop() -> Iterator[IndexBatch]:
        yield IndexBatch([make_version("b", "apple", seq=1)])
        raise StorageFailedError("the versions store cannot be read")

    with pytest.raises(StorageFailedError):
        index.rebuild(stop())
    assert list_found(index, "apple") == [("a", 1)]
    assert not Path(f"{path}.new").exists()


def test_a_batch_that_fails_is_not_in_at_all(index: SqliteIndex) -> None:
    broken = IndexBatch([make_version("a", "apple", seq=0)], notes={"n": None})  # type: ignore[dict-item]
    with pytest.raises(OnRecordError):
        index.apply(broken)
    assert list_found(index, "apple") == []
    index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
    assert list_found(index, "apple") == [("a", 1)]


def test_a_merge_that_the_disk_refuses_does_not_undo_the_batch(
    index: SqliteIndex, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StorageFailedError("full")

    monkeypatch.setattr("onrecord.storage.sqlite.index.merge", refuse)
    with closing(SqliteIndex(path, merge_documents=1)) as early:
        early.apply(IndexBatch([make_version("a", "apple", seq=0)]))
        early.apply(IndexBatch([make_version("b", "apple", seq=1)]))
        assert list_found(early, "apple") == [("a", 1), ("b", 1)]


def test_a_reader_does_not_wait_for_a_writer(index: SqliteIndex, path: str) -> None:
    index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM heads")
        assert list_found(index, "apple") == [("a", 1)]


def test_a_long_read_keeps_its_state_through_merges(index: SqliteIndex) -> None:
    index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
    with index.read() as reader:
        for seq in range(1, 9):
            index.apply(IndexBatch([make_version("a", f"apple {seq}", seq=seq, version=seq + 1)]))
            index.optimise()
        assert list_found(index, "apple") == [("a", 9)]
        assert list(reader.match(("appl",), Filter()).matches[0].documents) == [1]
        assert reader.match(("appl",), Filter()).statistics.document_frequency == {"appl": 1}


def test_what_a_match_returned_does_not_grow_with_later_writes(index: SqliteIndex) -> None:
    index.apply(IndexBatch([make_version("a", "apple. Apple.", seq=0)]))
    with index.read() as reader:
        found = reader.match(("appl",), Filter()).matches[0]
        index.apply(IndexBatch([make_version("b", "apple. Apple.", seq=1)]))
        assert list_found(index, "apple") == [("a", 1), ("b", 1)]
        assert [len(found.documents), len(found.lines), len(found.packed), len(found.repeats)] == [1, 1, 1, 2]


def test_nothing_of_what_a_rebuild_leaves_out_stays_in_any_file(index: SqliteIndex, path: str) -> None:
    kept = [make_version(f"k{n}", f"kept text {n}", seq=n) for n in range(30)]
    index.apply(IndexBatch([*kept, make_version("x", "xylophonequartet", seq=99, title="Zugzwangtitle")]))
    index.optimise()
    assert list_found(index, "xylophonequartet") == [("x", 1)]
    index.rebuild([IndexBatch(kept)])
    folder = Path(path).parent
    assert sum(b"xylophonequ" in found.read_bytes() for found in folder.iterdir()) == 0
    assert sum(b"Zugzwang" in found.read_bytes() for found in folder.iterdir()) == 0


def test_a_superseded_text_leaves_the_live_blocks_when_merged(path: str) -> None:
    with closing(SqliteIndex.create(path, merge_documents=1)) as index:
        index.apply(IndexBatch([make_version("a", "xylophone", seq=0)]))
        index.apply(IndexBatch([make_version("a", "drum", seq=1, version=2)]))
        assert list_found(index, "xylophone", Filter(as_of=at(0))) == [("a", 1)]
    with closing(sqlite3.connect(path)) as connection:
        eras = [era for (era,) in connection.execute("SELECT era FROM postings WHERE term = 'xylophon'")]
    assert eras == [1]


def make_many(count: int) -> list[Document]:
    words = ("apple", "pear", "plum", "fig", "cherry")
    return [
        make_version(f"r{n:04}", f"{words[n % 5]} and {words[n % 3]} number{n}.\nSecond {words[n % 4]}.", seq=n)
        for n in range(count)
    ]


def ask_everything(index: SqliteIndex) -> None:
    """Use every way to read and write; whatever is wrong must come out as one of our errors."""

    def read_catalogue() -> None:
        with index.read() as reader:
            for record in reader.find_ids("r0", 50):
                reader.list_versions(record)
                reader.find_files_of(record)
            reader.count()
            reader.get_watermarks()
            reader.find_by_key("k")
            reader.list_turns(make_id("s"))

    steps: tuple[Callable[[], object], ...] = (
        read_catalogue,
        lambda: answer(index, "apple pear plum number7 second"),
        lambda: answer(index, "fig cherry", Filter(as_of=at(20), workspaces=("default",))),
        lambda: answer(index, "fig cherry", Filter(kinds=("note",))),
        lambda: index.apply(IndexBatch([make_version("r0003", "apple", seq=900, version=2)])),
        index.optimise,
    )
    for step in steps:
        try:
            step()
        except OnRecordError:
            continue


def test_a_damaged_file_lets_out_no_error_but_ours(path: str) -> None:
    with closing(SqliteIndex.create(path, merge_documents=40)) as index:
        index.apply(IndexBatch(make_many(50)))
        index.apply(IndexBatch([*make_many(60)[50:], make_turn("s", 1, "apple", seq=300)]))
    whole = Path(path).read_bytes()
    for seed in range(60):
        chance = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 20, 400))):
            damaged[chance.randrange(100, len(damaged))] = chance.randrange(256)
        Path(path).write_bytes(damaged)
        try:
            with closing(SqliteIndex(path, merge_documents=1)) as index:
                ask_everything(index)
        except OnRecordError:
            pass
        for suffix in ("-wal", "-shm"):
            Path(path + suffix).unlink(missing_ok=True)


def count_steps(index: SqliteIndex, action: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the steps of SQLite's machine, in tens, that an action takes on a fresh connection."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    plain = sqlite3.connect

    def connect(*args: object, **kwargs: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = plain(*args, **kwargs)  # type: ignore[call-overload]
        connection.set_progress_handler(count, 10)
        return connection

    index.close()
    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", connect)
        action()
    index.close()
    return steps


def test_the_work_of_a_write_does_not_grow_with_the_records(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for size in (200, 2_000):
        index.rebuild([IndexBatch(make_many(size))])
        steps = [
            count_steps(index, lambda document=document: index.apply(IndexBatch([document])), monkeypatch)
            for document in (
                make_version("new", "a fresh apple", seq=5_000),
                make_version("r0100", "apple again", seq=5_001, version=2),
            )
        ]
        costs.append(sum(steps))
    assert costs[0] > 5
    assert costs[1] <= 1.2 * costs[0]


def test_the_work_of_a_merge_does_not_grow_with_the_records(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for size in (500, 3_000):
        index.rebuild([IndexBatch(make_many(size))])
        index.apply(IndexBatch([make_version(f"n{n}", f"apple fresh{n}", seq=5_000 + n) for n in range(70)]))
        costs.append(count_steps(index, index.optimise, monkeypatch))
    assert merging.MERGE_DOCUMENTS // 4 <= 70
    assert costs[0] > 50
    assert costs[1] <= 1.2 * costs[0]
