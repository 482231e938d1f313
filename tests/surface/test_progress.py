"""Long work shows how far it is where a person can see it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.cli import CommandLine

_MANY, _FEW = 300, 20


@pytest.fixture
def notes(onrecord: CommandLine) -> Path:
    assert onrecord("status").status == 0
    folder = Path(onrecord.vault) / "memories/default"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"note {number}.md").write_text(f"Kettle {number} boils.\n")


def test_taking_in_many_files_is_shown_to_a_person(onrecord: CommandLine, notes: Path) -> None:
    _write(notes, _MANY)
    done = onrecord("find", "kettle", as_json=False, at_terminal=True)
    assert "taking in files" in done.err
    assert "of" in done.err
    assert "taking in files" not in done.out


@pytest.mark.parametrize(
    ("count", "as_json", "at_terminal"), [(_FEW, False, True), (_MANY, True, True), (_MANY, False, False)]
)
def test_a_few_files_or_a_program_that_reads_see_no_progress(
    onrecord: CommandLine, notes: Path, count: int, as_json: bool, at_terminal: bool
) -> None:
    _write(notes, count)
    done = onrecord("find", "kettle", as_json=as_json, at_terminal=at_terminal)
    assert "taking in files" not in done.err


def test_reindex_says_how_many_versions_there_are(onrecord: CommandLine, notes: Path) -> None:
    _write(notes, _FEW)
    assert onrecord("find", "kettle").status == 0
    done = onrecord("reindex", as_json=False, at_terminal=True)
    assert "indexing 0 of 2" in done.err, done.err
