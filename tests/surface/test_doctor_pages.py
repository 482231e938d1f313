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


def lose_versions(onrecord: CommandLine, count: int) -> None:
    for number in range(count):
        onrecord("remember", f"words of number {number}")
    for path in Path(onrecord.vault).glob(".onrecord/*/versions/*"):
        path.unlink()


def test_the_cause_comes_first_and_what_follows_from_it_is_one_finding(onrecord: CommandLine) -> None:
    lose_versions(onrecord, 12)
    data = onrecord("doctor").data
    critical = [item for item in data["findings"] if item["severity"] == "critical"]
    assert [item["code"] for item in critical] == ["ledger_rolled_back", "version_altered"]
    assert "adopt" in critical[0]["mend"]
    assert critical[1]["message"].startswith("12 entries, 1 to 12: the version that the entry commits to is gone")
    assert data["counts"]["critical"] == 2


def test_verify_tells_many_rows_with_one_fault_as_one_difference(onrecord: CommandLine) -> None:
    lose_versions(onrecord, 12)
    lost = [item for item in onrecord("verify").data["differences"] if item["code"] == "unexplained_absence"]
    assert [item["message"].partition(": ")[0] for item in lost] == ["12 entries, 1 to 12"]


def test_few_rows_with_one_fault_are_told_each_by_their_numbers(onrecord: CommandLine) -> None:
    for number in range(11):
        onrecord("remember", f"words of number {number}")
    (path,) = Path(onrecord.vault).glob(".onrecord/*/versions/*")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    wanted = [f"entry {number}" for number in range(2, 12)]
    for call, member in (("doctor", "findings"), ("verify", "differences")):
        told = [item["message"].partition(":")[0] for item in onrecord(call).data[member]]
        assert [item for item in told if item.startswith("entry ")] == wanted
