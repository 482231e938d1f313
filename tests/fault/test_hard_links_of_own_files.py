"""Hard links in the place of files that OnRecord writes itself: the other name keeps its bytes, and no write is lost.

Such a name is a file outside that somebody planted, or a backup made of links (`cp -al`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.fault.hostile import get_log
from tests.surface.cli import CommandLine

pytestmark = pytest.mark.usefixtures("guarded")

PRECIOUS = b"precious words\n"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file outside the vault."""
    path = tmp_path / "precious.txt"
    path.write_bytes(PRECIOUS)
    return path


def find_state() -> Path:
    (index,) = Path(os.environ["ONRECORD_STATE"]).rglob("index.sqlite3")
    return index.parent


def test_a_file_planted_as_the_next_segment_is_not_written_into(onrecord: CommandLine, precious: Path) -> None:
    planted = Path(onrecord.vault, ".onrecord", get_log(onrecord)) / "versions" / "00000001.jsonl"
    os.link(precious, planted)
    words = "word " * 380_000
    for number in range(3):
        assert onrecord("remember", f"big {number} {words}", "--title", f"big {number}").status == 0
    assert precious.read_bytes() == PRECIOUS
    assert planted.stat().st_size > len(words)
    assert onrecord("verify").data["verdict"] == "L2"
    assert onrecord("doctor").status == 0


@pytest.mark.parametrize("store", ["ledger", "versions"])
def test_a_second_name_of_a_segment_keeps_what_it_had(onrecord: CommandLine, tmp_path: Path, store: str) -> None:
    segment = Path(onrecord.vault, ".onrecord", get_log(onrecord)) / store / "00000000.jsonl"
    other = tmp_path / "backup.jsonl"
    os.link(segment, other)
    before = other.read_bytes()
    assert onrecord("remember", "later words").status == 0
    assert other.read_bytes() == before
    assert segment.read_bytes().startswith(before)
    assert segment.stat().st_size > len(before)
    assert onrecord("verify").data["verdict"] == "L2"
    assert onrecord("find", "later words").data["status"] == "found"


@pytest.mark.parametrize("name", ["applied", "lock", "backup.done", "index.sqlite3", "index.sqlite3-wal"])
def test_a_file_planted_in_the_state_folder_is_not_written_into(
    onrecord: CommandLine, precious: Path, name: str
) -> None:
    planted = find_state() / name
    planted.unlink(missing_ok=True)
    os.link(precious, planted)
    assert onrecord("remember", "later words").status == 0
    assert onrecord("reindex").status == 0
    assert precious.read_bytes() == PRECIOUS
    assert onrecord("find", "later words").data["status"] == "found"


@pytest.mark.parametrize("kind", ["journal.*", "index.sqlite3"])
def test_a_second_name_of_a_file_of_the_state_folder_keeps_what_it_had(
    onrecord: CommandLine, tmp_path: Path, kind: str
) -> None:
    (own,) = find_state().glob(kind)
    other = tmp_path / "backup"
    os.link(own, other)
    before = other.read_bytes()
    assert onrecord("remember", "later words").status == 0
    assert onrecord("find", "later words").data["status"] == "found"
    assert other.read_bytes() == before


def list_parted(onrecord: CommandLine) -> list[dict[str, str]]:
    done = onrecord("doctor")
    assert done.status == 0, done.out
    return [item for item in done.data["findings"] if item["code"] == "hard_link_parted"]


def test_doctor_says_once_which_files_had_other_names_and_what_was_done(onrecord: CommandLine, tmp_path: Path) -> None:
    assert list_parted(onrecord) == []
    log = Path(onrecord.vault, ".onrecord", get_log(onrecord))
    os.link(log / "ledger" / "00000000.jsonl", tmp_path / "ledger")
    os.link(log / "versions" / "00000000.jsonl", tmp_path / "versions")
    (journal,) = find_state().glob("journal.*")
    os.link(journal, tmp_path / "journal")
    for number in range(3):
        assert onrecord("remember", f"later words {number}").status == 0
    (found,) = list_parted(onrecord)
    assert (found["check"], found["severity"]) == ("state.installation", "info")
    for name in ("ledger/00000000.jsonl", "versions/00000000.jsonl", "state/journal."):
        assert name in found["message"]
    assert "copied before it was written" in found["message"]
    assert "Nothing needs to be done" in found["mend"]
    assert "stray_file" not in {item["code"] for item in onrecord("doctor").data["findings"]}


def test_files_that_were_parted_long_ago_are_told_no_more_and_a_spoiled_note_stops_nothing(
    onrecord: CommandLine, tmp_path: Path
) -> None:
    log = Path(onrecord.vault, ".onrecord", get_log(onrecord))
    os.link(log / "ledger" / "00000000.jsonl", tmp_path / "ledger")
    assert onrecord("remember", "later words").status == 0
    assert len(list_parted(onrecord)) == 1
    note = find_state() / "parted.json"
    note.write_text(re.sub(r'"20\d\d-', '"2020-', note.read_text()))
    assert list_parted(onrecord) == []
    for spoiled in ("[", "[]", '{"files":7}', '{"files":{"a":7}}', '{"files":{"a":"x"}}'):
        note.write_text(spoiled)
        assert list_parted(onrecord) == []
        os.link(log / "ledger" / "00000000.jsonl", tmp_path / f"again {len(spoiled)}")
        assert onrecord("remember", f"more words {spoiled}").status == 0
        assert len(list_parted(onrecord)) == 1
