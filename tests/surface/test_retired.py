"""A retired memory is told as such wherever it is shown, and no write makes words that nobody finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.cli import CommandLine
from tests.surface.test_missing import paths, retire

__all__ = ["paths"]


@pytest.fixture
def retired(onrecord: CommandLine, paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    record, path = next(iter(paths.items()))
    path.unlink()
    assert retire(onrecord, monkeypatch).data["retired"] == 1
    return record, path


@pytest.mark.parametrize("change", [("--text", "bananas grow"), ("--old", "apples", "--new", "pears"), ("--tag", "x")])
def test_a_retired_memory_is_not_updated(
    onrecord: CommandLine, retired: tuple[str, Path], change: tuple[str, ...]
) -> None:
    record, path = retired
    before = onrecord("history", record).data["versions"]
    for expect in ("1", "2"):
        refused = onrecord("update", record, *change, "--expect", expect)
        assert (refused.status, refused.error["code"], refused.error["field"]) == (1, "conflict", "id")
        assert "retired" in refused.error["reason"]
        assert "Remember what still holds" in refused.error["hint"]
    assert onrecord("history", record).data["versions"] == before
    assert not path.exists()


def test_a_memory_that_came_back_with_its_file_is_updated_again(
    onrecord: CommandLine, retired: tuple[str, Path]
) -> None:
    record, path = retired
    path.write_text(f"---\nid: {record}\n---\napples grow\n")
    version = onrecord("read", record).data["version"]
    assert onrecord("update", record, "--text", "pears grow", "--expect", str(version)).status == 0


def test_what_a_person_sees_of_a_retired_memory_says_so(onrecord: CommandLine, retired: tuple[str, Path]) -> None:
    record, _ = retired
    assert "retired" in onrecord("history", record, as_json=False).out.splitlines()[-1]
    assert "retired" in onrecord("read", record, as_json=False).err
    assert "retired" not in onrecord("read", record, "--version", "1", as_json=False).err


def test_a_file_that_is_gone_is_told_with_what_a_deliberate_delete_needs(
    onrecord: CommandLine, paths: dict[str, Path]
) -> None:
    record, path = next(iter(paths.items()))
    path.unlink()
    (found,) = (item for item in onrecord("doctor").data["findings"] if item["code"] == "missing_file")
    (differs,) = onrecord("verify").data["differences"]
    assert record in found["mend"]
    for item in (found, differs):
        assert "onrecord repair missing --retire" in item["mend"]
