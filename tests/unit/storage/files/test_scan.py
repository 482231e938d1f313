"""The scan finds every record file, names what is none, and passes over what is as known."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.domain.filenames import RECORD_FOLDERS
from onrecord.domain.problem import Problem
from onrecord.ports.index import FileRow
from onrecord.ports.store import FileState
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.scan import SLICE_COUNT, compare_records, scan_records


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    (tmp_path / "memories" / "default").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (tmp_path / "memories" / "default" / f"{name}.md").write_text(name)
    opened = Disk(str(tmp_path))
    yield opened
    opened.close()


def list_known(disk: Disk) -> dict[str, FileRow]:
    states = [item for item in scan_records(disk) if isinstance(item, FileState)]
    return {
        item.path: (
            *(item.path, item.size_bytes, item.mtime_ns, item.ctime_ns, str(item.device), str(item.inode)),
            0,
        )
        for item in states
    }


def list_changed(disk: Disk, known: dict[str, FileRow]) -> list[str]:
    return sorted(item.path for found in compare_records(disk, known) for item in found)


def test_what_is_as_known_is_passed_over(disk: Disk) -> None:
    known = list_known(disk)
    assert sorted(known) == [f"memories/default/{name}.md" for name in ("a", "b", "c")]
    assert list_changed(disk, known) == []


@pytest.mark.parametrize("place", range(1, 6))
def test_each_part_of_a_stat_tells_a_change(disk: Disk, place: int) -> None:
    known = list_known(disk)
    path = "memories/default/b.md"
    row = list(known[path])
    row[place] = f"{row[place]}1" if isinstance(row[place], str) else row[place] + 1
    known[path] = tuple(row)  # type: ignore[assignment]
    assert list_changed(disk, known) == [path]


def test_a_known_place_that_became_a_link_a_folder_or_too_large_is_named(disk: Disk) -> None:
    known = list_known(disk)
    folder = Path(disk.root) / "memories" / "default"
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").unlink()
    (folder / "a.md").symlink_to(folder / "elsewhere")
    (folder / "b.md").mkdir()
    with (folder / "c.md").open("wb") as file:
        file.truncate(9 << 20)
    problems = [item for found in compare_records(disk, known) for item in found]
    assert all(isinstance(item, Problem) for item in problems)
    assert {(item.path[-4:], item.code) for item in problems if isinstance(item, Problem)} == {
        ("a.md", "not_a_regular_file"),
        ("c.md", "file_too_large"),
    }


def test_a_file_that_goes_while_its_folder_is_read_does_not_hide_the_others(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.scandir

    def scan_and_unlink(fd: int) -> object:
        entries = list(plain(fd))
        os.unlink("a.md", dir_fd=fd)
        return Listed(sorted(entries, key=lambda entry: entry.name))

    class Listed(list):  # type: ignore[type-arg]
        def __enter__(self) -> Listed:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    inner = [path for path in list_known(disk) if not path.endswith("a.md")]
    os.rename(Path(disk.root) / "memories" / "default", Path(disk.root) / "facts")
    monkeypatch.setattr(os, "scandir", scan_and_unlink)
    (Path(disk.root) / "memories").rmdir()
    found = sorted(item.path for item in scan_records(disk))
    assert found == sorted(path.replace("memories/default", "facts") for path in inner)


def test_the_work_comes_in_bounded_pieces(disk: Disk) -> None:
    folder = Path(disk.root) / "memories" / "default"
    for number in range(SLICE_COUNT + 10):
        (folder / f"{number}.md").touch()
    pieces = [len(found) for found in compare_records(disk, {})]
    assert pieces == [SLICE_COUNT, 13]


def test_many_small_folders_make_few_pieces(disk: Disk) -> None:
    for number in range(100):
        (Path(disk.root) / "memories" / str(number)).mkdir()
    assert [len(found) for found in compare_records(disk, {})] == [3]


def test_a_disk_that_fails_says_nothing_of_what_it_held(tmp_path: Path) -> None:
    class Failing(Disk):
        def folder(self, path: str):
            raise OSError(errno.EIO, "gone")

    found = list(scan_records(Failing(str(tmp_path))))
    assert {(item.path, item.code) for item in found if isinstance(item, Problem)} == {
        (folder, "folder_unreadable") for folder in RECORD_FOLDERS
    }
