"""Doctor on many findings: pages that go on where they ended, and notes that say the same told as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.cli import CommandLine


def write_notes(vault: str, text: str, count: int) -> None:
    folder = Path(vault, "memories", "default")
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"note {number:03}.md").write_text(text.replace("NUMBER", str(number)))


def test_plain_notes_that_are_taken_in_are_one_note_with_count_and_examples(onrecord: CommandLine) -> None:
    write_notes(onrecord.vault, "a plain note of number NUMBER\n", 12)
    data = onrecord("doctor").data
    (finding,) = data["findings"]
    assert (finding["code"], finding["path"], data["total"]) == ("front_matter_missing", "", 1)
    assert "12 files, such as memories/default/note 000.md, " in finding["message"]


def test_pages_of_findings_go_on_where_they_ended_and_miss_none(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONRECORD_PAGE_BYTES", "4096")
    write_notes(onrecord.vault, "---\nvalid_from: never\n---\na plain note of number NUMBER\n", 40)
    paths: list[str] = []
    data = onrecord("doctor").data
    assert data["truncated"]
    while True:
        paths += [item["path"] for item in data["findings"]]
        if "next_offset" not in data:
            break
        assert data["next_offset"] == len(paths)
        data = onrecord("doctor", "--offset", str(data["next_offset"])).data
    assert len(paths) == data["total"] == 40
    assert len(set(paths)) == 40
