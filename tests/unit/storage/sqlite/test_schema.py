"""The index file: what is no index is refused as damaged, what the disk refuses is told as that."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite import schema
from onrecord.storage.sqlite.index import SqliteIndex
from tests.indexes import list_found, make_version


def spoil_nothing_there(path: Path) -> None:
    path.unlink()


def spoil_with_junk(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def spoil_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def spoil_by_cutting(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3_000])


def spoil_with_another_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")


def spoil_with_an_older_format(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE state SET format = '0/1/1/little'")


SPOILERS = (
    spoil_nothing_there,
    spoil_with_junk,
    spoil_to_nothing,
    spoil_by_cutting,
    spoil_with_another_database,
    spoil_with_an_older_format,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the path of an index with one document, closed."""
    made = tmp_path / "index.sqlite3"
    with closing(SqliteIndex.create(str(made))) as index:
        index.apply(IndexBatch([make_version("a", "apple", seq=0)]))
    return made


@pytest.mark.parametrize("spoil", SPOILERS)
def test_what_is_no_index_of_this_program_is_damaged(path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(path)
    with pytest.raises(DamagedError) as caught:
        SqliteIndex(str(path))
    assert "reindex" in caught.value.hint


@pytest.mark.parametrize("spoil", SPOILERS)
def test_a_damaged_index_can_be_made_anew(path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(path)
    with closing(SqliteIndex.create(str(path))) as index:
        assert list_found(index, "apple") == []
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_an_index_of_another_analyzer_is_damaged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "FORMAT", "1/2/1/little")
    with pytest.raises(DamagedError):
        SqliteIndex(str(path))


def test_an_index_of_another_owner_is_damaged_and_made_anew(path: Path) -> None:
    with pytest.raises(DamagedError, match="another vault"):
        SqliteIndex(str(path), "other")
    with closing(SqliteIndex.create(str(path), "other")) as index:
        assert list_found(index, "apple") == []
    with pytest.raises(DamagedError):
        SqliteIndex(str(path))


def test_a_rebuilt_index_belongs_to_who_rebuilt_it(path: Path) -> None:
    with closing(SqliteIndex.create(str(path), "other")) as index:
        index.rebuild([IndexBatch([make_version("b", "apple", seq=0)])])
    with closing(SqliteIndex(str(path), "other")) as index:
        assert list_found(index, "apple") == [("b", 1)]


def test_creating_leaves_a_usable_index_as_it_is(path: Path) -> None:
    with closing(SqliteIndex.create(str(path))) as index:
        assert list_found(index, "apple") == [("a", 1)]


def test_a_folder_that_is_not_there_is_a_storage_failure(tmp_path: Path) -> None:
    with pytest.raises(StorageFailedError):
        SqliteIndex.create(str(tmp_path / "absent" / "index.sqlite3"))


def test_a_full_disk_is_a_storage_failure(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x")) as connection:
        connection.execute("PRAGMA max_page_count = 2")
        connection.execute("CREATE TABLE x (y)")
        with pytest.raises(StorageFailedError), schema.translated():
            connection.execute("INSERT INTO x VALUES (randomblob(100000))")


def test_a_busy_database_is_a_storage_failure(tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(tmp_path / "x", isolation_level=None)) as holder,
        closing(sqlite3.connect(tmp_path / "x", isolation_level=None, timeout=0)) as other,
    ):
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFailedError), schema.translated():
            other.execute("BEGIN IMMEDIATE")


def test_a_missing_table_is_damage(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x")) as connection, pytest.raises(DamagedError), schema.translated():
        connection.execute("SELECT * FROM absent")


def test_the_file_can_be_read_by_its_owner_only(path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
