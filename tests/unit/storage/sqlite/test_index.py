"""The SQLite driver: other openings, damage, erasure, and work that does not grow with what is there."""

from __future__ import annotations

import gc
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from onrecord.domain.errors import DamagedError, OnRecordError, StorageFailedError
from onrecord.ports.index import Document, Filter, IndexBatch
from onrecord.storage.reference import ReferenceIndex
from onrecord.storage.sqlite import delta, loading
from onrecord.storage.sqlite.forward import ForwardRow
from onrecord.storage.sqlite.index import SqliteIndex
from onrecord.storage.sqlite.merging import EVERYTHING, MergeLimits
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


@pytest.mark.parametrize("held", [1, 40, 4_000_000])
def test_a_rebuild_in_parts_gives_what_the_batches_give(path: str, monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    monkeypatch.setattr(loading, "_HELD_MAX_POSTINGS", held)
    documents = [
        make_version(f"r{n % 40:03}", f"apple {n}. Pear. Pear {n % 7}.", seq=n, version=n // 40 + 1, also_in=("den",))
        for n in range(100)
    ]
    batches = [IndexBatch(documents[first : first + 9]) for first in range(0, 100, 9)]
    reference = ReferenceIndex()
    with closing(SqliteIndex.create(path)) as index:
        for made in (index, reference):
            made.rebuild([*batches, batches[3]])
            made.apply(IndexBatch([make_version("r003", "apple now", seq=200, version=9)]))
        for allowed in (Filter(), Filter(as_of=at(50)), Filter(workspaces=("den",)), Filter(statuses=())):
            assert answer(index, "apple pear 3", allowed, 99) == answer(reference, "apple pear 3", allowed, 99)
        with index.read() as reader, reference.read() as other:
            assert reader.match(("appl",), Filter()).statistics == other.match(("appl",), Filter()).statistics


def test_a_rebuild_leaves_the_garbage_collector_as_it_was(index: SqliteIndex) -> None:
    during = []

    def look() -> Iterator[IndexBatch]:
        during.append(gc.isenabled())
        yield IndexBatch()
        raise StorageFailedError("the versions store cannot be read")

    with pytest.raises(StorageFailedError):
        index.rebuild(look())
    assert (during, gc.isenabled()) == ([False], True)


def test_half_a_surrogate_pair_in_a_head_is_replaced_however_it_comes_in(index: SqliteIndex) -> None:
    made = [make_version(f"r{n}", "apple", seq=n, title=title) for n, title in enumerate(("a", "b\ud800", "c"))]
    index.apply(IndexBatch(made))
    index.rebuild([IndexBatch(made)])
    with index.read() as reader:
        assert [reader.list_versions(make_id(f"r{n}"))[0].title for n in range(3)] == ["a", "b?", "c"]


def test_a_batch_that_fails_is_not_in_at_all(index: SqliteIndex) -> None:
    broken = IndexBatch([make_version("a", "apple", seq=0)], watermarks={OWN: None})  # type: ignore[dict-item]
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
    with closing(SqliteIndex(path, limits=EVERYTHING)) as early:
        early.apply(IndexBatch([make_version("a", "apple", seq=0)]))
        early.apply(IndexBatch([make_version("b", "apple", seq=1)]))
        assert list_found(early, "apple") == [("a", 1), ("b", 1)]


def test_a_reader_does_not_wait_for_a_writer(index: SqliteIndex, path: str) -> None:
    index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM heads")
        assert list_found(index, "apple") == [("a", 1)]


@pytest.mark.parametrize("waiting", [0, 2])
def test_a_long_read_keeps_its_state_through_merges(index: SqliteIndex, path: str, waiting: int) -> None:
    with closing(SqliteIndex(path, limits=MergeLimits(waiting))) as index, ExitStack() as stack:
        index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
        reader = stack.enter_context(index.read())
        for seq in range(1, 9):
            index.apply(IndexBatch([make_version("a", f"apple {seq}", seq=seq, version=seq + 1)]))
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
    with closing(SqliteIndex(path, limits=EVERYTHING)) as early:
        early.apply(IndexBatch([*kept, make_version("x", "xylophonequartet", seq=99, title="Zugzwangtitle")]))
        assert list_found(early, "xylophonequartet") == [("x", 1)]
    index.rebuild([IndexBatch(kept)])
    folder = Path(path).parent
    assert sum(b"xylophonequ" in found.read_bytes() for found in folder.iterdir()) == 0
    assert sum(b"Zugzwang" in found.read_bytes() for found in folder.iterdir()) == 0


def test_a_superseded_text_leaves_the_live_blocks_when_merged(path: str) -> None:
    with closing(SqliteIndex.create(path, limits=EVERYTHING)) as index:
        index.apply(IndexBatch([make_version("a", "xylophone", seq=0)]))
        index.apply(IndexBatch([make_version("a", "drum", seq=1, version=2)]))
        assert list_found(index, "xylophone", Filter(as_of=at(0))) == [("a", 1)]
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT era FROM postings JOIN terms ON number = postings.term WHERE terms.term = 'xylophon'"
        eras = [era for (era,) in connection.execute(sql)]
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
        lambda: answer(index, "fig cherry", Filter(workspaces=("work", "default"))),
        lambda: index.apply(IndexBatch([make_version("r0003", "apple", seq=900, version=2)])),
    )
    for step in steps:
        try:
            step()
        except OnRecordError:
            continue


def test_a_damaged_file_lets_out_no_error_but_ours(path: str) -> None:
    with closing(SqliteIndex.create(path, limits=MergeLimits(40))) as index:
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
            with closing(SqliteIndex(path, limits=EVERYTHING)) as index:
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
        fresh = [make_version(f"n{n}", f"apple fresh{n}", seq=5_000 + n) for n in range(300)]
        costs.append(count_steps(index, lambda fresh=fresh: index.apply(IndexBatch(fresh)), monkeypatch))
    assert costs[0] > 50
    assert costs[1] <= 1.2 * costs[0]


def list_merges(path: str) -> tuple[int, int]:
    """Return the last document that is merged, and how many dead ones of those are not buried yet."""
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT merged, (SELECT count(*) FROM dead WHERE document <= merged) FROM state"
        merged, dead = connection.execute(sql).fetchone()
    return merged, dead


def test_no_write_merges_more_than_a_step_beyond_what_it_brings(path: str) -> None:
    merged, steps = [0], set()
    with closing(SqliteIndex.create(path, limits=MergeLimits(64))) as index:
        for n in range(160):
            text = f"apple {n}" if n % 3 else f"pear number{n}"
            index.apply(IndexBatch([make_version(f"r{n % 100:03}", text, seq=n, version=n // 100 + 1)]))
            last, dead = list_merges(path)
            merged.append(last)
            steps.add(last - merged[-2])
            assert 64 <= n + 1 - last < 64 + 4 or last == 0
            assert dead < 4
            if n % 20 == 0:
                assert len(list_found(index, "apple pear")) == min(n + 1, 100)
    assert max(steps) == 4
    assert merged[-1] == 96


def test_a_long_text_does_not_wait_behind_what_may_wait(path: str) -> None:
    with closing(SqliteIndex.create(path, limits=MergeLimits(100, 50))) as index:
        index.apply(IndexBatch([make_version("a", "few words", seq=0)]))
        assert list_merges(path) == (0, 0)
        index.apply(IndexBatch([make_version("b", " ".join(f"word{n}" for n in range(60)), seq=1)]))
        assert list_merges(path) == (2, 0)
        index.apply(IndexBatch([make_version("c", "few words", seq=2)]))
        assert list_merges(path) == (2, 0)
        assert list_found(index, "few word7") == [("a", 1), ("b", 1), ("c", 1)]


def test_a_delta_serves_reads_until_much_of_it_is_merged(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    plain = delta.read_forward

    def count(*args: object) -> Iterator[ForwardRow]:
        for row in plain(*args):  # type: ignore[arg-type]
            read.append(row.document)
            yield row

    monkeypatch.setattr(delta, "read_forward", count)
    with closing(SqliteIndex.create(path, limits=MergeLimits(32))) as index:
        for n in range(200):
            index.apply(IndexBatch([make_version(f"r{n:03}", "apple", seq=n)]))
            assert len(list_found(index, "apple")) == n + 1
    assert read == list(range(1, 201))


@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_what_is_kept_of_merged_texts_is_smaller_than_they_are(path: str, is_rebuilt: bool) -> None:
    chance = random.Random(5)
    words = [first + second for first in ("harb", "lant", "quin", "mort") for second in map("{}or".format, "abcdefgh")]
    texts = [". ".join(" ".join(chance.choices(words, k=9)) for _ in range(12)) for _ in range(300)]
    batch = IndexBatch([make_version(f"r{n:03}", text, seq=n) for n, text in enumerate(texts)])
    with closing(SqliteIndex.create(path, limits=EVERYTHING)) as index:
        (index.rebuild([batch]) if is_rebuilt else index.apply(batch))
        assert len(list_found(index, "harbaor")) > 1
    with closing(sqlite3.connect(path)) as connection:
        sizes = [
            connection.execute(f"SELECT sum(length({column})) FROM {table}").fetchone()[0]
            for table, column in (("postings", "block"), ("merged", "terms"))
        ]
        assert connection.execute("SELECT count(*) FROM forward").fetchone() == (0,)
    assert sum(sizes) < 0.6 * sum(map(len, texts))
