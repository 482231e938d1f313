"""Batches of one pass are merged together, and the one that ends the pass leaves no more waiting than any write."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite.index import SqliteIndex
from onrecord.storage.sqlite.merging import MergeLimits
from tests.indexes import list_found, make_version


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "index.sqlite3")


@pytest.fixture
def index(path: str) -> Iterator[SqliteIndex]:
    with closing(SqliteIndex.create(path, limits=MergeLimits(8))) as opened:
        yield opened


def _count_merged(path: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (merged,) = connection.execute("SELECT merged FROM state").fetchone()
    return int(merged)


def _fill(index: SqliteIndex, start: int, count: int) -> None:
    documents = [make_version(f"r{number:03}", "apple", seq=number) for number in range(start, start + count)]
    index.apply(IndexBatch(documents, is_followed=True))


def test_what_is_followed_waits_and_the_end_of_the_pass_merges_it(index: SqliteIndex, path: str) -> None:
    for start in range(0, 60, 20):
        _fill(index, start, 20)
    assert _count_merged(path) == 0
    assert len(list_found(index, "apple")) == 60
    index.apply(IndexBatch())
    assert _count_merged(path) == 52
    assert len(list_found(index, "apple")) == 60


def test_what_may_wait_within_a_pass_is_bounded(index: SqliteIndex, path: str) -> None:
    for start in range(0, 400, 20):
        _fill(index, start, 20)
        assert start + 20 - _count_merged(path) < 8 * 16 + 20


def test_a_write_after_a_pass_that_broke_off_merges_what_it_left(index: SqliteIndex, path: str) -> None:
    _fill(index, 0, 60)
    index.apply(IndexBatch([make_version("last", "apple", seq=900)]))
    assert _count_merged(path) == 53
