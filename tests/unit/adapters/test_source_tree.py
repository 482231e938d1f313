"""A tree is listed in order and once; lines are cut at the limit of an import."""

from __future__ import annotations

import io
import os
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


def test_a_file_that_turns_into_a_fifo_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "note.md"
    path.write_text("x")
    regular = path.lstat()
    path.unlink()
    os.mkfifo(path)
    look = os.lstat
    monkeypatch.setattr(os, "lstat", lambda name: regular if str(name) == str(path) else look(name))
    (file,) = read_tree(str(tmp_path))
    assert "not a regular file" in file.problem


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
