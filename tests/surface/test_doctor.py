"""What doctor, verify and the other replies say of the state of a vault: all of it, bounded, and nothing misleading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import onrecord as package
from onrecord.storage.files.claims import find_store
from tests.states import find_state, list_messages, list_reasons
from tests.surface.cli import CommandLine


@pytest.fixture
def onrecord(bare: CommandLine) -> CommandLine:
    """The command line on a vault with one memory."""
    assert bare("init").status == 0
    assert bare("remember", "first words").status == 0
    return bare


def test_what_was_degraded_at_opening_is_said_by_every_command_and_by_the_library(
    onrecord: CommandLine, tmp_path: Path
) -> None:
    for path in find_state().glob("index.sqlite3*"):
        path.unlink()
    (find_state() / "index.sqlite3").mkdir()
    (tmp_path / "note.md").write_text("imported words\n")
    record = onrecord("find", "words").data["results"][0]["id"]
    for words in (
        ("find", "words"), ("read", record), ("history", record), ("status",), ("verify",), ("doctor",),
        ("import", str(tmp_path / "note.md")), ("remember", "more words"), ("repair", "replay"),
        ("update", record, "--text", "x", "--expect", "1"),
    ):  # fmt: skip
        assert "index_in_memory" in list_reasons(onrecord(*words)), words
    with package.open(onrecord.vault) as vault:
        for reply in (vault.find("words"), vault.read(record), vault.status(), vault.verify(), vault.doctor()):
            assert "index_in_memory" in reply.degraded


def test_doctor_names_what_no_store_claims_and_unknown_keys(onrecord: CommandLine) -> None:
    path = Path(onrecord.vault) / "onrecord.toml"
    path.write_text('colour = "red"\n' + path.read_text() + 'tempo = "fast"\n')
    (log,) = (item for item in (Path(onrecord.vault) / ".onrecord").iterdir() if item.is_dir())
    strays = [log.parent / "notes.txt", log / "ledger" / "00000000 (conflict).jsonl", log / "deep" / "x"]
    for stray in [*strays, find_state() / "odd"]:
        stray.parent.mkdir(exist_ok=True)
        stray.write_text("x")
    done = onrecord("doctor")
    assert done.status == 1
    found = {(item["code"], item["path"]) for item in done.data["findings"]}
    assert {("stray_file", str(stray.relative_to(onrecord.vault))) for stray in strays} <= found
    assert "odd" in list_messages(done, "stray_file")
    unknown = [item["message"] for item in done.data["findings"] if item["code"] == "unknown_setting"]
    assert len(unknown) == 2
    assert "colour" in "".join(unknown)
    assert "tempo" in "".join(unknown)
    assert onrecord("remember", "goes on").status == 0
    assert 'colour = "red"' in path.read_text()


def test_every_file_of_vault_and_state_is_claimed_by_a_store_after_every_command(
    onrecord: CommandLine, tmp_path: Path
) -> None:
    record = onrecord("find", "words").data["results"][0]["id"]
    turns = tmp_path / "turns.jsonl"
    turns.write_text(json.dumps({"session": "a", "turn": "1", "text": "said"}) + "\n")
    for words in (
        ("update", record, "--text", "changed", "--expect", "1"), ("import", str(turns)), ("reindex",), ("verify",),
        ("capture", "--source", "s", "--session", "x", "--turn", "1", "--role", "user", "spoken"), ("doctor",),
        ("history", record), ("read", record), ("status",), ("config",), ("repair", "replay"),
    ):  # fmt: skip
        assert onrecord(*words).status == 0, words
    ledger = next(Path(onrecord.vault).glob(".onrecord/*/ledger"))
    ledger.rename(ledger.parent / "aside")
    ledger.write_text("in the way")
    kept = onrecord("remember", "while it cannot be written")
    ledger.unlink()
    (ledger.parent / "aside").rename(ledger)
    assert onrecord("repair", "replay").status == 0, kept.out
    machine = Path(onrecord.vault) / ".onrecord"
    for path in machine.rglob("*"):
        assert path.is_dir() or find_store(path.relative_to(machine).as_posix(), is_state=False), path
    for path in find_state().rglob("*"):
        assert path.is_dir() or find_store(path.relative_to(find_state()).as_posix(), is_state=True), path
    top = {path.name for path in Path(onrecord.vault).iterdir()}
    assert top <= {"onrecord.toml", "README.md", ".onrecord", "memories", "events"}
    beside = {path.name for path in find_state().parent.iterdir()}
    assert beside == {find_state().name, f"{find_state().name}.lock"}


def test_a_damaged_line_of_a_store_is_named_and_hides_nothing_else(onrecord: CommandLine) -> None:
    onrecord("remember", "second words")
    onrecord("remember", "third words")
    assert onrecord("doctor").status == 0
    for store, code in (("versions", "version_unreadable"), ("ledger", "entry_unreadable")):
        path = next(Path(onrecord.vault).glob(f".onrecord/*/{store}/00000000.jsonl"))
        before = path.read_bytes()
        path.write_bytes(before.replace(b'"origin":"agent"', b'"origin":false  ', 1))
        done = onrecord("doctor")
        assert (done.status, code in [item["code"] for item in done.data["findings"]]) == (2, True), done.out
        assert len(onrecord("find", "words").data["results"]) == 3
        path.write_bytes(before)
    assert onrecord("doctor").status == 0


def test_a_stale_copy_of_status_misleads_nobody(onrecord: CommandLine) -> None:
    record = onrecord("find", "words").data["results"][0]["id"]
    path = Path(onrecord.vault) / onrecord("read", record).data["path"]
    path.write_text(path.read_text().replace("\nversion: 1", "\nstatus: retired\nversion: 1"))
    done = onrecord("read", record)
    assert done.data["status"] == "current"
    assert any("status retired" in warning for warning in done.envelope["warnings"])
    assert onrecord("find", "words").data["results"][0]["status"] == "current"
    assert onrecord("update", record, "--old", "first", "--new", "other", "--expect", "2").status == 0
    assert "status:" not in path.read_text()
    assert not [warning for warning in onrecord("read", record).envelope["warnings"] if "status" in warning]


def test_what_doctor_and_verify_say_is_bounded_and_counted(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONRECORD_PAGE_BYTES", "4096")
    monkeypatch.setenv("ONRECORD_RECONCILE", "false")
    for number in range(200):
        (Path(onrecord.vault) / "memories" / f"note {number:03d}.md").write_text("---\nbroken: [\n---\ntext\n")
    for words, name, total in ((("doctor",), "findings", "total"), (("verify",), "differences", "differences_total")):
        done = onrecord(*words)
        assert len(done.out.encode()) < 8_192
        assert done.data["truncated"] is True
        assert 0 < len(done.data[name]) < done.data[total]
        assert done.data[total] >= 200
        assert f"of {done.data[total]} {name}" in onrecord(*words, as_json=False).out
