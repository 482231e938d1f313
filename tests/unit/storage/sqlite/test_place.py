"""The file of the index: it is no larger than what is in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite.index import SqliteIndex
from tests.indexes import list_found, make_version


def test_what_many_batches_leave_free_is_given_back(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite3")
    index = SqliteIndex.create(path)
    words = [f"word{number}" for number in range(900)]
    for batch in range(12):
        seqs = range(batch * 40, batch * 40 + 40)
        documents = [make_version(f"r{seq}", " ".join(words[seq % 9 :]), seq=seq) for seq in seqs]
        index.apply(IndexBatch(documents, is_followed=batch < 11))
    index.apply(IndexBatch([make_version("last", "the last", seq=999)]))
    index.close()
    with closing(sqlite3.connect(path)) as connection:
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    assert free * 4 < pages, (free, pages)
    with closing(SqliteIndex(path)) as again:
        assert list_found(again, "the last word") != []


def test_an_index_that_is_not_there_is_not_told_to_be_damaged(tmp_path: Path) -> None:
    with pytest.raises(DamagedError) as told:
        SqliteIndex(str(tmp_path / "index.sqlite3"))
    assert told.value.reason == "the index is not there"


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_folder_in_the_place_of_the_file_is_the_cause_that_is_told(tmp_path: Path, suffix: str) -> None:
    path = str(tmp_path / "index.sqlite3")
    SqliteIndex.create(path).close()
    (tmp_path / f"index.sqlite3{suffix}").unlink(missing_ok=True)
    (tmp_path / f"index.sqlite3{suffix}").mkdir()
    for act in (SqliteIndex, SqliteIndex.create):
        with pytest.raises(StorageFailedError, match=f"a folder stands in the place of index.sqlite3{suffix} ") as told:
            act(path)
        assert told.value.hint == f"Move the folder {path}{suffix} away."
