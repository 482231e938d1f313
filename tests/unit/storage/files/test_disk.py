"""Files below one root folder: reading many in turn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from onrecord.storage.files.disk import Disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Give a folder with two files, a link to one, a pipe, and a link to a folder."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one").write_bytes(b"1")
    (tmp_path / "top").write_bytes(b"")
    (tmp_path / "in" / "link").symlink_to("one")
    (tmp_path / "linked").symlink_to("in")
    os.mkfifo(tmp_path / "in" / "pipe")
    with closing(Disk(str(tmp_path))) as made:
        yield made


def test_many_files_are_read_in_the_order_asked_and_what_is_no_file_is_none(disk: Disk) -> None:
    paths = ["top", "in/one", "in/absent", "in/link", "in/pipe", "in", "linked/one", "absent/one", "top", "in/one"]
    assert list(disk.read_each(paths, 9)) == [b"", b"1", None, None, None, None, None, None, b"", b"1"]


def test_files_of_one_folder_are_read_through_one_opening_of_it(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    plain = os.open

    def count(path: str, *args: int, **kwargs: int) -> int:
        opened.append(path)
        return plain(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", count)
    assert list(disk.read_each(["in/one"] * 3, 9)) == [b"1"] * 3
    assert opened == ["in", "one", "one", "one"]


def test_of_a_file_that_has_grown_no_more_is_read_than_was_asked_for(disk: Disk, tmp_path: Path) -> None:
    os.truncate(tmp_path / "in" / "one", 1 << 30)
    assert list(disk.read_each(["in/one", "top"], 5)) == [b"1\0\0\0\0", b""]
