"""Merges by git: bytes are kept, settings of the user are not read, nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from onrecord.adapters.git_merge import GitMerger, find_git
from onrecord.ports.merger import MergeObstacle

MERGER = GitMerger(find_git())


def test_edits_of_different_places_are_joined() -> None:
    assert MERGER.merge(b"a\nb\nc\nd\n", b"A\nb\nc\nd\n", b"a\nb\nc\nD\n") == b"A\nb\nc\nD\n"


def test_a_fault_of_git_is_told_from_edits_that_meet(tmp_path: Path) -> None:
    faulty = tmp_path / "git"
    faulty.write_text("#!/bin/sh\nexit 255\n")
    faulty.chmod(0o700)
    assert GitMerger(str(faulty)).merge(b"a\n", b"a\n", b"b\n") is MergeObstacle.NO_PROGRAM


def test_edits_of_one_place_are_not_joined() -> None:
    assert MERGER.merge(b"a\n", b"b\n", b"c\n") is MergeObstacle.SAME_PLACE


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"a\r\nb\r\nc\r\nd\r\n", b"A\r\nb\r\nc\r\nd\r\n", b"a\r\nb\r\nc\r\nD\r\n", b"A\r\nb\r\nc\r\nD\r\n"),
        (b"a\nb\nc\nd", b"A\nb\nc\nd", b"a\nb\nc\nd\ne", b"A\nb\nc\nd\ne"),
        (b"\xef\xbb\xbfa\nb\nc\n", b"\xef\xbb\xbfa\nb\nC\n", b"\xef\xbb\xbfA\nb\nc\n", b"\xef\xbb\xbfA\nb\nC\n"),
        ("記\n憶\n力\n".encode(), "記!\n憶\n力\n".encode(), "記\n憶\n力?\n".encode(), "記!\n憶\n力?\n".encode()),
        (b"caf\xe9\nb\nc\n", b"caf\xe9\nb\nC\n", b"CAF\xe9\nb\nc\n", b"CAF\xe9\nb\nC\n"),
    ],
    ids=["carriage returns", "no last line end", "byte order mark", "kanji", "not UTF-8"],
)
def test_every_byte_that_nobody_changed_stays(base: bytes, ours: bytes, theirs: bytes, merged: bytes) -> None:
    assert MERGER.merge(base, ours, theirs) == merged


def test_utf_16_is_not_merged_by_its_bytes() -> None:
    base, ours, theirs = (text.encode("utf-16") for text in ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"))
    assert MERGER.merge(base, ours, theirs) is MergeObstacle.NO_TEXT


def test_without_git_no_merge_can_be_had() -> None:
    assert GitMerger(None).merge(b"a\n", b"a\n", b"b\n") is MergeObstacle.NO_PROGRAM
    assert GitMerger("/nowhere/git").merge(b"a\n", b"a\n", b"b\n") is MergeObstacle.NO_PROGRAM


def test_a_merge_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o700)
    assert GitMerger(str(slow), time_limit_s=0.2).merge(b"a\n", b"a\n", b"b\n") is MergeObstacle.NO_PROGRAM


def test_settings_of_the_user_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "settings"
    settings.write_text("[broken")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(settings))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert MERGER.merge(b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n") == b"A\nb\nC\n"


def test_what_is_written_on_the_way_is_private_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes: list[int] = []
    run = subprocess.run

    def look(command: list[str], *, cwd: str, **more: object) -> object:
        modes.extend(os.stat(path).st_mode & 0o777 for path in (cwd, *(f"{cwd}/{name}" for name in os.listdir(cwd))))
        return run(command, cwd=cwd, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", look)
    assert MERGER.merge(b"a\n", b"a\n", b"b\n") == b"b\n"
    assert sorted(modes) == [0o600, 0o600, 0o600, 0o700]
    assert list(tmp_path.iterdir()) == []
