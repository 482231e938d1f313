"""The index among processes: readers see whole batches only, a killed writer leaves the last whole one."""

from __future__ import annotations

import multiprocessing
import multiprocessing.synchronize
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from onrecord.ports.index import Filter, IndexBatch
from onrecord.storage.sqlite.index import SqliteIndex
from onrecord.storage.sqlite.merging import MergeLimits
from tests.fault.index_writing import make_batch
from tests.indexes import OWN, answer, list_found, make_version

ROOT = Path(__file__).resolve().parents[2]
BATCHES = 40


def start_writer(path: str, kill_at: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.fault.index_writing", path, str(BATCHES), str(kill_at)]
    return subprocess.Popen(command, cwd=ROOT)


def check_whole(index: SqliteIndex) -> int:
    """Check that a read sees the documents of its watermark, all and none else; return how many batches that is."""
    with index.read() as reader:
        batches, rest = divmod(reader.get_watermarks().get(OWN, 0), 2)
        candidates = reader.match(("common", "word"), Filter())
        count = reader.count()
    assert rest == 0
    documents = batches + 1 if batches else 0
    assert [len(match.documents) for match in candidates.matches] == [documents] * 2
    assert candidates.statistics.documents == documents
    assert candidates.statistics.document_frequency == {"common": documents, "word": documents}
    assert (count["versions"], count["records"]) == (2 * batches, documents)
    return batches


def test_readers_in_other_processes_see_whole_batches_while_one_writes(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite3")
    with closing(SqliteIndex.create(path)) as index, closing(SqliteIndex(path)) as other:
        writer = start_writer(path)
        seen = [0]
        while writer.poll() is None or seen[-1] < BATCHES:
            seen.append(check_whole(index))
            check_whole(other)
        assert writer.returncode == 0
        assert seen == sorted(seen)
        assert seen[-1] == BATCHES


def test_a_rebuild_by_another_process_is_seen_as_one_step(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite3")
    with closing(SqliteIndex.create(path)) as index:
        assert start_writer(path).wait() == 0
        assert check_whole(index) == BATCHES
        with closing(SqliteIndex(path)) as other:
            other.rebuild(make_batch(number) for number in range(BATCHES + 5))
        with index.read() as reader:
            assert dict(reader.get_watermarks()) == {OWN: 2 * (BATCHES + 5)}
        assert check_whole(index) == BATCHES + 5


@pytest.mark.parametrize("kill_at", [3, 24, 130, 300, 600, 800, 1_000])
def test_after_a_kill_the_last_whole_batch_stands_and_writing_goes_on(tmp_path: Path, kill_at: int) -> None:
    path = str(tmp_path / "index.sqlite3")
    assert start_writer(path, kill_at).wait() == -9
    with closing(SqliteIndex.create(path)) as index:
        assert check_whole(index) <= BATCHES
    assert start_writer(path).wait() == 0
    with closing(SqliteIndex(path)) as index:
        assert check_whole(index) == BATCHES
        assert list_found(index, "39") == [("h0t", BATCHES), ("r039", 1)]
        every = answer(index, "common", limit=99)
        index.rebuild(make_batch(number) for number in range(BATCHES))
        assert answer(index, "common", limit=99) == every


def test_threads_of_one_opening_see_whole_batches_while_one_writes(tmp_path: Path) -> None:
    with closing(SqliteIndex.create(str(tmp_path / "index.sqlite3"), limits=MergeLimits(8))) as index:
        is_done = threading.Event()

        def watch() -> list[int]:
            seen = [0]
            while not is_done.is_set():
                seen.append(check_whole(index))
            return seen

        with ThreadPoolExecutor(3) as threads:
            watching = [threads.submit(watch) for _ in range(3)]
            try:
                for number in range(BATCHES):
                    index.apply(make_batch(number))
            finally:
                is_done.set()
            for watched in watching:
                assert watched.result() == sorted(watched.result())
        assert check_whole(index) == BATCHES


def add_one(path: str, number: int, gate: multiprocessing.synchronize.Event) -> None:
    gate.wait()
    with closing(SqliteIndex.create(path)) as index:
        index.apply(IndexBatch([make_version(f"r{number}", "common text", seq=number)]))


@pytest.mark.parametrize("before", [None, b"", b"no database" * 999])
def test_processes_that_make_an_index_at_once_lose_nothing_of_each_other(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "index.sqlite3"
    if before is not None:
        path.write_bytes(before)
    gate = multiprocessing.Event()
    workers = [multiprocessing.Process(target=add_one, args=(str(path), number, gate)) for number in range(6)]
    for worker in workers:
        worker.start()
    gate.set()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 6
    with closing(SqliteIndex(str(path))) as index:
        found = list_found(index, "common")
    # Who removes a damaged file may take a neighbour's new one with it; its watermark goes too, so nothing is missed.
    assert len(found) == 6 if before is None or not before else found
