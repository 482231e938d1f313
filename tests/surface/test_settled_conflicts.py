"""What is told of a conflict once it is settled: nothing is asked for that nobody needs to do."""

from __future__ import annotations

from pathlib import Path

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.settle import settle
from onrecord.app.verify import verify
from tests.surface.test_conflicts import Case
from tests.surface.test_copies import SYNCTHING, Home


def test_a_settled_conflicts_file_that_a_hand_wrote_in_is_a_note_and_no_difference(tmp_path: Path) -> None:
    case = Case(tmp_path)
    shown = case.vault / "conflicts" / "Conflict in Plan.md"
    shown.write_text(f"{shown.read_text()}a note of mine\n")
    case.settle("A")
    assert "a note of mine" in shown.read_text()
    data = verify(case.session, {}, Ed25519Verifier()).data
    assert data["differences"] == []
    notes = data["notes"]
    assert isinstance(notes, list)
    assert ("file_behind", "conflicts/Conflict in Plan.md") in {(item["code"], item["path"]) for item in notes}


def test_a_copy_edited_before_its_conflict_was_settled_is_not_said_to_be_gone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy(SYNCTHING, "line 8 of", "line 8 elsewhere of")
    home.take_in()
    copy = home.place(SYNCTHING)
    copy.write_text(f"{copy.read_text()}a later line\n")
    settle(home.session, {"id": home.list_open()[0], "keep": "A", "remove_copies": True})
    assert "a later line" in copy.read_text()
    home.take_in()
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    told = [item for item in findings if item["code"] == "conflict_copy"]
    assert [Path(item["path"]).name for item in told] == [copy.name]
    assert "is gone" not in str(findings)
