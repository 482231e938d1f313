"""Rows, entries and whole logs that an attacker made: no version without its entry, no path out, nothing stopped.

What cannot be told apart from a machine of the user's (docs/THREATS.md) is named.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fault.forging import AHEAD, ForgedLog, forge_row
from tests.fault.hostile import get_log, get_record, list_findings, run_all
from tests.surface.cli import CommandLine

pytestmark = pytest.mark.usefixtures("guarded")


def find_store(onrecord: CommandLine, store: str) -> Path:
    return Path(onrecord.vault) / ".onrecord" / get_log(onrecord) / store / "00000000.jsonl"


@pytest.mark.parametrize("seq", [3, 4, 900, 2**53 - 1])
@pytest.mark.parametrize("has_index", [True, False])
def test_a_row_behind_the_end_of_the_ledger_is_no_version(onrecord: CommandLine, seq: int, has_index: bool) -> None:
    record = get_record(onrecord)
    path = find_store(onrecord, "versions")
    with path.open("ab") as file:
        file.write(forge_row(seq, record, 5, "the forged words", "confirmed", AHEAD, path="memories/default/True.md"))
    if not has_index:
        onrecord("reindex")
    shown = onrecord("read", record).data
    assert (shown["text"], shown["version"], shown["origin"]) == ("the true words", 1, "agent")
    assert [item["version"] for item in onrecord("history", record).data["versions"]] == [1]
    assert onrecord("find", "forged").data["status"] == "no_match"
    assert onrecord("remember", "later words").status == 0
    assert onrecord("verify").data["verdict"] == "L2"


def test_a_row_that_no_entry_of_another_log_speaks_of_is_no_version(onrecord: CommandLine) -> None:
    record = get_record(onrecord)
    forged = ForgedLog()
    forged.rows.append(forge_row(1, record, 5, "the forged words", "confirmed", AHEAD))
    forged.plant(Path(onrecord.vault))
    onrecord("reindex")
    shown = onrecord("read", record).data
    assert (shown["text"], shown["version"], shown["origin"]) == ("the true words", 1, "agent")
    assert onrecord("find", "forged").data["status"] == "no_match"


def test_a_row_changed_in_place_is_named_and_the_ledger_does_not_verify(onrecord: CommandLine) -> None:
    path = find_store(onrecord, "versions")
    forged = path.read_bytes().replace(b"the true words", b"the fake words").replace(b'"agent"', b'"user" ')
    assert len(forged) == path.stat().st_size
    path.write_bytes(forged)
    assert list_findings(onrecord, "version_altered")
    assert onrecord("verify").data["verdict"] == "BROKEN"


def test_an_entry_changed_in_place_with_its_row_does_not_verify(onrecord: CommandLine) -> None:
    for store in ("versions", "ledger"):
        path = find_store(onrecord, store)
        data = path.read_bytes()
        path.write_bytes(data.replace(b'"origin":"agent"', b'"origin":"tool!"'.replace(b"tool!", b'user"')[:-1] + b" "))
    assert onrecord("verify").data["verdict"] == "BROKEN"


@pytest.mark.parametrize("origin", ["confirmed", "user"])
def test_a_log_that_was_never_seen_before_is_named_and_its_versions_name_it(onrecord: CommandLine, origin: str) -> None:
    record = get_record(onrecord)
    forged = ForgedLog()
    forged.add("0000000000zz", 1, "a forged memory", origin)
    forged.plant(Path(onrecord.vault))
    (finding,) = list_findings(onrecord, "log_new")
    assert finding["severity"] == "warning"
    assert finding["path"] == f".onrecord/{forged.log}"
    assert finding["mend"]
    listed = {log["log"]: log["own"] for log in onrecord("status").data["logs"]}
    assert listed[forged.log] is False
    assert onrecord("read", "0000000000zz").data["by"].startswith(f"{forged.log}:")
    kept = onrecord("read", record).data
    assert (kept["text"], kept["version"], kept["origin"]) == ("the true words", 1, "agent")


def test_a_log_stays_named_after_it_was_seen(onrecord: CommandLine) -> None:
    forged = ForgedLog()
    forged.add("0000000000zz", 1, "a forged memory", "confirmed")
    forged.plant(Path(onrecord.vault))
    onrecord("remember", "this write names it in the own log")
    assert not list_findings(onrecord, "log_new")
    (finding,) = list_findings(onrecord, "log_other")
    assert (finding["severity"], finding["path"]) == ("info", f".onrecord/{forged.log}")


def test_what_a_forged_log_says_of_a_memory_leaves_the_earlier_version_to_be_read(onrecord: CommandLine) -> None:
    record = get_record(onrecord)
    forged = ForgedLog()
    forged.add(record, 2, "the forged words", "confirmed")
    forged.plant(Path(onrecord.vault))
    assert onrecord("read", record, "--version", "1").data["text"] == "the true words"
    path = Path(onrecord.vault) / "memories" / "default" / "True.md"
    assert path.read_text().endswith("the true words\n")
    onrecord("reindex")
    assert onrecord("read", record, "--version", "1").data["text"] == "the true words"


ROW_PATHS = (
    "../outside.md", "../../etc/passwd", "/etc/passwd", "memories/../../outside.md", "memories/./x.md",
    "memories//x.md",
    ".onrecord/lock", ".onrecord/x.md", "..", ".", "memories/\0.md", "memories/" + "n" * 300 + ".md",
    "memories/\ud800.md",
    "memories/" + "d/" * 3_000 + "x.md",
)  # fmt: skip


@pytest.mark.parametrize("path", ROW_PATHS, ids=[ascii(path)[:30] for path in ROW_PATHS])
def test_no_path_of_a_row_leads_out_of_the_vault(onrecord: CommandLine, tmp_path: Path, path: str) -> None:
    record = get_record(onrecord)
    outside = tmp_path / "outside.md"
    forged = ForgedLog()
    forged.add("0000000000zz", 1, "a forged memory", "agent", path=path)
    forged.plant(Path(onrecord.vault))
    run_all(onrecord, record)
    onrecord("update", "0000000000zz", "--text", "planted", "--expect", "1")
    assert not outside.exists()
    outside.write_text("kept outside")
    run_all(onrecord, record)
    onrecord("update", "0000000000zz", "--text", "planted", "--expect", "1")
    onrecord("read", "0000000000zz")
    assert outside.read_text() == "kept outside"
    assert onrecord("find", "outside").data["status"] == "no_match"
    assert sorted(child.name for child in tmp_path.iterdir()) == ["outside.md", "vault"]
    assert get_record(onrecord) == record


@pytest.mark.parametrize(
    "members",
    [
        {"workspace": "\ud800"}, {"client": "\udfff"}, {"agent": "\0"}, {"workspace": "x" * 100_000},
        {"kind": "event"}, {"kind": "conflict"}, {"status": "retired"}, {"protection": "locked"}, {"ts": AHEAD},
        {"redacted": ["\ud800"]}, {"mode": "observed"}, {"workspace": "../.."}, {"type": "\ud800"},
    ],
    ids=ascii,
)  # fmt: skip
def test_no_member_of_a_forged_row_hides_the_rest(onrecord: CommandLine, members: dict[str, object]) -> None:
    record = get_record(onrecord)
    forged = ForgedLog()
    forged.add("0000000000zz", 1, "a forged memory", "agent", **members)
    forged.plant(Path(onrecord.vault))
    done = run_all(onrecord, record)
    assert done["read"].data["text"] == "the true words"
    assert record in [hit["id"] for hit in done["again"].data["results"]]
    assert done["remember"].data["id"]


def test_the_highest_number_that_a_forged_version_can_have_stops_no_other_memory(onrecord: CommandLine) -> None:
    record = get_record(onrecord)
    forged = ForgedLog()
    forged.add(record, 2**53 - 1, "the forged words", "agent")
    forged.plant(Path(onrecord.vault))
    other = onrecord("remember", "another memory").data["id"]
    path = Path(onrecord.vault) / "memories" / "default" / "True.md"
    path.write_text(path.read_text() + "edited by hand\n")
    note = Path(onrecord.vault) / "memories" / "note.md"
    note.write_text("a plain note")
    run_all(onrecord, record)
    assert onrecord("read", other).data["text"] == "another memory"
    assert onrecord("find", "plain note").data["status"] == "found"
    assert path.read_text().endswith("edited by hand\n")
