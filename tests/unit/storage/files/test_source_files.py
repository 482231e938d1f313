"""A file of a source that becomes something else between the look at it and the reading is named, never waited for."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord.domain.limits import SOURCE_FILE_MAX_BYTES
from onrecord.ports.native import LeftOut, NativeFile, NativeSource
from onrecord.storage.files import source_files
from onrecord.storage.files.source_files import SourceFiles


@pytest.fixture
def source(tmp_path: Path) -> NativeSource:
    folder = Path(os.path.realpath(tmp_path)) / "program"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.md").write_text("words\n")
    return NativeSource("program", str(folder), is_folder=True)


def swap_after_look(monkeypatch: pytest.MonkeyPatch, swap: Callable[[], None]) -> None:
    """Let something else take the place of a file after each look at it, before it is opened."""
    look = SourceFiles.stat_file

    def look_then_swap(self: SourceFiles, source: NativeSource, path: str) -> NativeFile | LeftOut:
        found = look(self, source, path)
        if isinstance(found, NativeFile):
            swap()
        return found

    monkeypatch.setattr(SourceFiles, "stat_file", look_then_swap)


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "link", "endless", "gone", "linked folder"])
def test_what_takes_the_place_of_a_file_is_left_out_with_a_reason(
    source: NativeSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = Path(source.path) / "sub" / "a.md"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("words from outside\n")

    def swap() -> None:
        if kind == "linked folder":
            path.parent.rename(tmp_path / "aside")
            path.parent.symlink_to(outside)
            return
        path.unlink()
        match kind:
            case "fifo":
                os.mkfifo(path)
            case "folder":
                path.mkdir()
            case "socket":
                monkeypatch.chdir(path.parent)
                with socket.socket(socket.AF_UNIX) as listening:
                    listening.bind(path.name)
            case "link":
                path.symlink_to(outside / "a.md")
            case "endless":
                path.symlink_to("/dev/zero")

    swap_after_look(monkeypatch, swap)
    read = SourceFiles(()).read_file(source, "sub/a.md")
    assert isinstance(read, LeftOut)
    assert read.reason


def test_a_file_that_grows_while_it_is_read_is_left_out_as_being_written(
    source: NativeSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = Path(source.path) / "sub" / "a.md", os.fdopen

    class Growing(io.BufferedReader):
        def read(self, size: int | None = -1) -> bytes:
            with path.open("a") as file:
                file.write("more\n")
            return super().read(size)

    def open_growing(fd: int, mode: str) -> Any:
        return Growing(opened(fd, mode, buffering=0))

    monkeypatch.setattr(source_files.os, "fdopen", open_growing)
    read = SourceFiles(()).read_file(source, "sub/a.md")
    assert isinstance(read, LeftOut)
    assert read.reason == "the file is being written"
    assert path.read_text().count("more") < 10, "it is tried some times, not for ever"


def test_a_file_that_grew_beyond_the_limit_since_the_look_is_read_no_further(
    source: NativeSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(source.path) / "sub" / "a.md"
    swap_after_look(monkeypatch, lambda: os.truncate(path, 50 * SOURCE_FILE_MAX_BYTES))
    read = SourceFiles(()).read_file(source, "sub/a.md")
    assert isinstance(read, LeftOut)
    assert "above" in read.reason
