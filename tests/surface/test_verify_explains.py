"""What verify says of a difference: which memory and version, what was expected and found, and what mends it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import onrecord as library
from tests.fault.forging import AHEAD, forge_row
from tests.surface.cli import CommandLine

TURN = ("--source", "s", "--session", "x", "--role", "user")


def test_a_transcript_that_another_log_went_on_with_is_as_it_was_captured(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    states = [str(tmp_path / name) for name in ("one", "other")]
    for number in range(6):
        monkeypatch.setenv("ONRECORD_STATE", states[number % 2])
        assert onrecord("capture", f"said {number}", *TURN, "--turn", str(number)).status == 0
    for state in states:
        monkeypatch.setenv("ONRECORD_STATE", state)
        done = onrecord("verify")
        assert (done.status, done.data["differences"]) == (0, []), done.out
    (path,) = Path(onrecord.vault, "events/s").iterdir()
    path.write_text(path.read_text().replace("said 3", "sad 33"))
    for state in states:
        monkeypatch.setenv("ONRECORD_STATE", state)
        (found,) = onrecord("verify").data["differences"]
        assert (found["code"], found["found"]) == ("transcript_edited", "1 of them differ")
        assert "sad" not in str(found)


def test_each_difference_of_a_file_is_explained(onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [onrecord("remember", f"words number {number}").data["id"] for number in range(2)]
    paths = [Path(onrecord.vault, onrecord("read", record).data["path"]) for record in kept]
    monkeypatch.setenv("ONRECORD_RECONCILE", "false")
    paths[0].write_text(paths[0].read_text() + "secret words by hand")
    paths[1].unlink()
    (paths[0].parent / "new.md").write_text("more words")
    done = onrecord("verify")
    found = {item["code"]: item for item in done.data["differences"]}
    assert set(found) == {"edited_outside", "missing_file", "unknown_file"}
    assert (found["edited_outside"]["record"], found["edited_outside"]["version"]) == (kept[0], 1)
    assert found["edited_outside"]["expected"] != found["edited_outside"]["found"]
    assert found["missing_file"]["record"] == kept[1]
    assert found["missing_file"]["found"] == "no file"
    assert all(item["mend"] and item["message"] for item in found.values())
    assert all(len(item.get("expected", "")) < 40 for item in found.values())
    assert "by hand" not in done.out


@pytest.mark.parametrize(
    ("spoil", "code", "word"),
    [
        ("cut", "rolled_back", "newest"), ("row", "commitment_mismatch", "versions"),
        ("head", "checkpoint_malformed", "checkpoint"),
        ("absent", "unexplained_absence", "versions"), ("key", "key_mismatch", "key.pub"),
        ("line", "entry_not_canonical", "ledger"),
    ],
)  # fmt: skip
def test_the_fault_of_a_log_has_its_mend(onrecord: CommandLine, spoil: str, code: str, word: str) -> None:
    for number in range(3):
        assert onrecord("remember", f"words number {number}").status == 0
    (log,) = (path for path in Path(onrecord.vault, ".onrecord").iterdir() if path.is_dir())
    ledger, versions = log / "ledger/00000000.jsonl", log / "versions/00000000.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    match spoil:
        case "cut":
            ledger.write_bytes(b"".join(lines[:-1]))
        case "line":
            ledger.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'":', b'" :', 1)]))
        case "row":
            versions.write_bytes(versions.read_bytes().replace(b"number 1", b"number 9"))
        case "absent":
            versions.write_bytes(b"".join(versions.read_bytes().splitlines(keepends=True)[:-1]))
        case "head":
            (log / "checkpoint").write_bytes(b"no head")
        case _:
            (log / "key.pub").write_bytes(b"another key\n")
    done = onrecord("verify")
    assert done.status == 2, done.out
    (report,) = done.data["logs"]
    assert report["fault"]["code"] == code
    assert word in report["fault"]["mend"]


def find_log(onrecord: CommandLine) -> Path:
    (log,) = (path for path in Path(onrecord.vault, ".onrecord").iterdir() if path.is_dir())
    return log


def explain(onrecord: CommandLine, code: str) -> list[dict[str, Any]]:
    """Return the differences and notes of one code; each says what a person needs, and is one line for them."""
    done = onrecord("verify")
    lines = onrecord("verify", as_json=False).out.splitlines()
    found = [item for item in (*done.data["differences"], *done.data["notes"]) if item["code"] == code]
    for item in found:
        assert item["message"]
        assert item["mend"]
        assert item["path"]
        (shown,) = (line for line in lines if code in line and item["path"] in line and item["message"] in line)
        assert shown
    return found


def test_each_row_at_fault_is_a_difference_of_its_own(onrecord: CommandLine) -> None:
    kept = [onrecord("remember", f"words number {number}").data["id"] for number in range(4)]
    versions = find_log(onrecord) / "versions/00000000.jsonl"
    rows = versions.read_bytes().splitlines(keepends=True)
    rows[0] = rows[0].replace(b"number 0", b"number 9")
    rows[1] = rows[1].replace(b'"version":1', b'"version":2')
    versions.write_bytes(b"".join([*rows[:2], rows[3]]))
    done = onrecord("verify")
    assert done.status == 2
    for code, record in (("commitment_mismatch", kept[0]), ("row_mismatch", kept[1]), ("unexplained_absence", kept[2])):
        (found,) = explain(onrecord, code)
        assert (found["record"], found["version"]) == (record, 1)
        assert found["expected"] != found["found"]
        assert found["path"].endswith("/versions")
    assert "number" not in str(done.data["differences"])
    assert len(done.data["differences"]) == 3, "the first fault of the log is one of them and is not told twice"


def test_a_row_that_no_entry_speaks_of_is_a_difference_and_accuses_no_file(onrecord: CommandLine) -> None:
    record = onrecord("remember", "the true words").data["id"]
    log = find_log(onrecord)
    versions = log / "versions/00000000.jsonl"
    versions.write_bytes(forge_row(0, record, 5, "forged words", "user", AHEAD) + versions.read_bytes())
    (found,) = explain(onrecord, "row_without_entry")
    assert (found["record"], found["version"], found["expected"]) == (record, 5, "no row")
    done = onrecord("verify")
    assert (done.status, len(done.data["differences"])) == (1, 1)
    assert "forged" not in done.out


@pytest.mark.parametrize(
    ("spoil", "code"), [("cut", "rolled_back"), ("head", "checkpoint_malformed"), ("line", "entry_not_canonical")]
)
def test_the_fault_of_a_log_is_a_line_of_the_list(onrecord: CommandLine, spoil: str, code: str) -> None:
    for number in range(3):
        onrecord("remember", f"words number {number}")
    log = find_log(onrecord)
    ledger = log / "ledger/00000000.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    match spoil:
        case "cut":
            ledger.write_bytes(b"".join(lines[:-1]))
        case "line":
            ledger.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'":', b'" :', 1)]))
        case _:
            (log / "checkpoint").write_bytes(b"no head")
    (found,) = explain(onrecord, code)
    assert found["found"]
    if spoil == "cut":
        assert (found["expected"], found["found"]) == (f"{len(lines)} entries", f"{len(lines) - 1} entries")


def test_a_checkpoint_behind_the_ledger_is_a_note_and_one_ahead_of_it_a_cut(onrecord: CommandLine) -> None:
    onrecord("remember", "first words")
    (note,) = explain(onrecord, "checkpoint_behind")
    assert (note["expected"], note["found"]) == ("2 entries", "1 entries signed")
    assert onrecord("verify").status == 0
    with library.open(onrecord.vault) as vault:
        vault._session.store.checkpoint()
    assert explain(onrecord, "checkpoint_behind") == []
    ledger = find_log(onrecord) / "ledger/00000000.jsonl"
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])
    (cut,) = explain(onrecord, "truncated")
    assert (cut["expected"], cut["found"]) == ("2 entries", "1 entries")
    assert onrecord("verify").status == 2


def test_a_copy_that_a_sync_program_left_is_a_note(onrecord: CommandLine) -> None:
    record = onrecord("remember", "first words", "--title", "Plan").data["id"]
    path = Path(onrecord.vault, onrecord("read", record).data["path"])
    copy = path.with_name(f"{path.stem}.sync-conflict-20261130-173636-D4LGQYW.md")
    copy.write_text(path.read_text().replace("first", "other"))
    onrecord("reindex")
    (note,) = explain(onrecord, "conflict_copy")
    assert (note["record"], note["path"]) == (record, str(copy.relative_to(onrecord.vault)))
    assert note["version"] == 2
    assert onrecord("verify").status == 0


def test_a_file_before_its_version_is_told_with_memory_and_entry(onrecord: CommandLine) -> None:
    record = onrecord("remember", "first words").data["id"]
    path = Path(onrecord.vault, onrecord("read", record).data["path"])
    text = re.sub(r"by: \S+", f"by: {'0' * 16}:7", path.read_text())
    assert text != path.read_text()
    other = path.with_name("other.md")
    other.write_text(text.replace(record, "0000000000zz"))
    onrecord("reindex")
    (found,) = explain(onrecord, "pending_sync")
    assert (found["record"], found["expected"]) == ("0000000000zz", f"version {'0' * 16}:7")
