"""A tree is listed in order and once; lines are cut at the limit of an import."""

from __future__ import annotations

import io
import os
import socket
import stat
from pathlib import Path

import pytest

from onrecord.adapters.source_tree import read_lines, read_tree
from onrecord.domain.errors import NotFoundError
from onrecord.domain.limits import IMPORT_LINE_MAX_BYTES, RECORD_FILE_MAX_BYTES


def test_a_tree_is_read_by_folder_and_name_with_what_is_not_read(tmp_path: Path) -> None:
    for name in ("b.md", "a.MD", "sub/c.md", ".hidden.md", ".folder/d.md", "picture.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "linked").symlink_to(tmp_path / "sub")
    found = {file.path: file.problem for file in read_tree(str(tmp_path))}
    assert [path for path, problem in found.items() if not problem] == ["a.MD", "b.md", "sub/c.md"]
    assert set(found) - {"a.MD", "b.md", "sub/c.md"} == {
        *("picture.png", "empty.md", "linked", ".hidden.md", ".folder"),
    }


def test_files_that_come_while_a_tree_is_read_are_not_read(tmp_path: Path) -> None:
    for name in ("a.md", "z/b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    seen = []
    for file in read_tree(str(tmp_path)):
        seen.append(file.path)
        (tmp_path / "z" / f"new{len(seen)}.md").write_text("new")
        assert len(seen) < 10
    assert seen == ["a.md", "z/b.md"]


def test_a_file_above_the_limit_of_a_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "large.md").write_bytes(b"x" * (RECORD_FILE_MAX_BYTES + 1))
    (file,) = read_tree(str(tmp_path))
    assert file.data == b""
    assert "above" in file.problem


def put(path: Path, kind: str, outside: Path) -> None:
    """Put something else in the place of a file or folder."""
    path.rename(path.with_name(f".was {path.name}"))
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "socket":
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(os.path.relpath(path))
        case _:
            path.symlink_to(outside)


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "link"])
def test_what_takes_the_place_of_a_file_after_the_listing_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("words from outside")
    tree = tmp_path / "tree"
    tree.mkdir()
    monkeypatch.chdir(tree)
    (tree / "a.md").write_text("a")
    (tree / "b.md").write_text("b")
    files = read_tree(str(tree))
    assert next(files).data == b"a"
    put(tree / "b.md", kind, outside)
    (file,) = files
    assert (file.path, file.data) == ("b.md", b"")
    assert file.problem == "a link or special file is not followed"


def test_a_link_that_takes_the_place_of_a_folder_after_the_listing_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.md").write_text("words from outside")
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "a.md").write_text("a")
    (tree / "sub" / "b.md").write_text("b")
    files = read_tree(str(tree))
    assert next(files).data == b"a"
    put(tree / "sub", "link", outside)
    (file,) = files
    assert (file.data, file.problem) == (b"", "a link or special file is not followed")


@pytest.mark.parametrize("is_lines", [False, True])
def test_a_file_that_turns_into_a_fifo_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_lines: bool
) -> None:
    path = tmp_path / "note.md"
    path.write_text("x")
    regular = path.stat()
    path.unlink()
    os.mkfifo(path)
    look = os.stat
    monkeypatch.setattr(
        os, "stat", lambda name, **more: regular if str(name) in (str(path), path.name) else look(name, **more)
    )
    if is_lines:
        with pytest.raises(NotFoundError, match="not a regular file"):
            list(read_lines(str(path)))
        return
    (file,) = read_tree(str(path))
    assert file.problem == "a link or special file is not followed"


def test_a_file_that_grows_without_end_is_read_no_further_than_it_may_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grows.md"
    path.write_text("x")
    regular, look = path.lstat(), os.fstat
    path.unlink()
    os.symlink("/dev/zero", path)
    monkeypatch.setattr(os, "stat", lambda *_, **__: regular)
    monkeypatch.setattr(os, "fstat", lambda fd: regular if stat.S_ISCHR(look(fd).st_mode) else look(fd))
    monkeypatch.setattr("onrecord.adapters.source_tree._NO_LINK", 0)
    (file,) = read_tree(str(path.parent / "grows.md"))
    assert (file.data, "above" in file.problem) == (b"", True)


def test_a_line_above_the_limit_is_cut_and_the_next_one_is_whole() -> None:
    long = b"x" * (3 * IMPORT_LINE_MAX_BYTES)
    lines = list(read_lines(io.BytesIO(b"first\n" + long + b"\nlast")))
    assert lines[0] == b"first\n"
    assert IMPORT_LINE_MAX_BYTES < len(lines[1]) < IMPORT_LINE_MAX_BYTES + 10
    assert lines[2:] == [b"last"]


def test_a_file_that_cannot_be_read_has_a_hint_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        list(read_lines(str(tmp_path / "absent")))
    assert "standard input" in caught.value.hint
