"""docs/SYNC.md names every pattern that has to be added by hand, and has a part for each program."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.catalog import OPERATIONS
from onrecord.domain.errors import LedgerRolledBackError
from onrecord.storage.files.ignore_files import IGNORE_FILES, IgnoreFile

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "SYNC.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("item", IGNORE_FILES, ids=lambda item: item.name)
def test_every_pattern_and_file_is_named(item: IgnoreFile) -> None:
    assert f"`{item.name}`" in PAGE
    for line in item.lines:
        assert line in PAGE


def test_what_stops_writes_and_what_goes_on_is_named() -> None:
    assert LedgerRolledBackError.code in PAGE
    assert f"`onrecord {OPERATIONS['adopt'].command}`" in PAGE


@pytest.mark.parametrize(
    "tool", ["Syncthing", "git", "Dropbox", "iCloud Drive", "OneDrive", "Nextcloud", "Obsidian Sync"]
)
def test_each_program_has_its_part(tool: str) -> None:
    assert f"\n## {tool}\n" in PAGE
