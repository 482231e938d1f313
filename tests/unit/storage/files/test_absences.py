"""The note of absences: what is written is read back, and what is damaged counts as lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord.domain.absences import Absence, Absences, Moment, Suspension
from onrecord.domain.errors import StorageFailedError
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.domain.instants import Instant
from onrecord.storage.files.absences import AbsenceFile
from onrecord.storage.files.claims import find_store
from onrecord.storage.files.disk import Disk

SINCE = Instant("2026-01-01T00:00:00.000000Z")
KNOWN = Absences(
    7_000,
    Moment("boot", 5, 6),
    {RecordId("0" * 12): Absence(1, SINCE), RecordId("1" * 12): Absence(7_000, SINCE)},
    20,
    Suspension.MANY,
    {RecordId("2" * 12): EntryRef(LogId("3" * 16), Seq(8))},
)


def test_absences_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    note = AbsenceFile(Disk(str(tmp_path)))
    assert note.read() == Absences()
    for absences in (KNOWN, Absences(), KNOWN):
        note.write(absences)
        assert note.read() == absences
    assert {find_store(path.name, is_state=True) for path in tmp_path.iterdir()} == {"absences"}


@pytest.mark.parametrize(
    "damage",
    [
        {"v": 2},
        {"opened": -1},
        {"opened": 6_999},
        {"opened": True},
        {"clock": ["boot", 5]},
        {"missing": [[1, "yesterday", []]]},
        {"missing": 5},
        {"suspended": "perhaps"},
        {"withdrawn": [["2" * 12, "8"]]},
        {"withdrawn": [["2" * 12]]},
    ],
)
def test_a_damaged_note_counts_as_lost(tmp_path: Path, damage: dict[str, object]) -> None:
    note = AbsenceFile(Disk(str(tmp_path)))
    note.write(KNOWN)
    path = tmp_path / "absences.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    assert note.read() == Absences()


def test_without_a_state_folder_nothing_is_kept() -> None:
    assert AbsenceFile(None).read() == Absences()
    with pytest.raises(StorageFailedError):
        AbsenceFile(None).write(KNOWN)
