"""What doctor, verify and the other replies say of the state of a vault: all of it, bounded, and nothing misleading."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
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
        ("import", str(tmp_path / "note.md")), ("remember", "more words"), ("repair", "replay"), ("reindex",),
        ("update", record, "--text", "x", "--expect", "1"),
    ):  # fmt: skip
        assert "index_in_memory" in list_reasons(onrecord(*words)), words
    told = [item["mend"] for item in onrecord("find", "words").envelope["degraded"]]
    assert any(f"Move the folder {find_state() / 'index.sqlite3'} away" in mend for mend in told), told
    for command in ("find", "reindex"):
        words = ("words",) if command == "find" else ()
        (mend,) = (item["mend"] for item in onrecord(command, *words).envelope["degraded"])
        assert mend.startswith("a folder stands in the place of index.sqlite3"), mend
        assert "a folder stands in the place" in onrecord(command, *words, as_json=False).err
    with package.open(onrecord.vault) as vault:
        for reply in (
            vault.find("words"), vault.read(record), vault.status(), vault.verify(), vault.doctor(), vault.reindex(),
        ):  # fmt: skip
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
    ignoring = {".gitattributes", ".gitignore", ".stignore"}
    assert top <= {"onrecord.toml", "README.md", ".onrecord", "memories", "events", *ignoring}
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


def test_checks_have_ids_and_a_status_and_every_finding_stands_under_one(onrecord: CommandLine) -> None:
    (Path(onrecord.vault) / "memories" / "note.md").write_text("---\nbroken: [\n---\ntext\n")
    done = onrecord("doctor")
    checks = {check["id"]: check for check in done.data["checks"]}
    assert checks["files.front_matter"]["status"] == "warning"
    assert checks["files.front_matter"]["findings"] == 1
    assert checks["ledger.lines"]["status"] == "ok"
    assert checks["ledger.proof"]["status"] == "skipped"
    assert "--deep" in checks["ledger.proof"]["reason"]
    counted = dict.fromkeys(checks, 0)
    for finding in done.data["findings"]:
        counted[finding["check"]] += 1
    assert counted == {name: check["findings"] for name, check in checks.items()}
    assert {check["status"] for check in onrecord("doctor", "--deep").data["checks"]} <= {"ok", "info", "warning"}


def test_check_runs_what_is_named_and_its_findings_alone(onrecord: CommandLine) -> None:
    (Path(onrecord.vault) / "memories" / "note.md").write_text("---\nbroken: [\n---\ntext\n")
    done = onrecord("doctor", "--check", "files.missing", "--check", "ledger.proof")
    assert [check["id"] for check in done.data["checks"]] == ["ledger.proof", "files.missing"]
    assert (done.status, done.data["total"]) == (0, 0)
    refused = onrecord("doctor", "--check", "files.mising")
    assert (refused.status, refused.error["did_you_mean"]) == (2, "files.missing")


def test_deep_doctor_finds_an_index_that_differs_and_a_ledger_that_does_not_verify(onrecord: CommandLine) -> None:
    assert onrecord("doctor", "--deep").status == 0
    with closing(sqlite3.connect(find_state() / "index.sqlite3")) as index:
        index.execute("UPDATE heads SET title = 'another'")
        index.commit()
    assert onrecord("doctor").status == 0
    done = onrecord("doctor", "--deep")
    assert (done.status, [item["check"] for item in done.data["findings"]]) == (2, ["index.equal"])
    assert "another" not in done.out
    assert onrecord("reindex").status == 0
    assert onrecord("doctor", "--deep").status == 0
    checkpoint = next(Path(onrecord.vault).glob(".onrecord/*/checkpoint"))
    checkpoint.write_bytes(checkpoint.read_bytes().replace(b"\n\xe2\x80\x94", b"x\n\xe2\x80\x94", 1))
    done = onrecord("doctor", "--check", "ledger.proof")
    assert (done.status, done.data["findings"][0]["code"]) == (2, "ledger_broken")
    assert done.data["findings"][0]["evidence"]


def edit(onrecord: CommandLine) -> tuple[str, Path]:
    """Edit the memory's file outside; return its id and the file."""
    record = onrecord("find", "words").data["results"][0]["id"]
    path = Path(onrecord.vault, onrecord("read", record).data["path"])
    path.write_text(path.read_text() + "by hand\n")
    return record, path


def count_entries(onrecord: CommandLine) -> int:
    """Return the lines of all ledgers and journals as they lie on disk."""
    paths = [*Path(onrecord.vault, ".onrecord").rglob("ledger/*.jsonl"), *find_state().glob("journal.*")]
    return sum(path.read_bytes().count(b"\n") for path in paths)


@pytest.mark.parametrize(
    "check",
    [
        "settings.known", "ledger.lines", "versions.commitments", "vault.writable", "index.usable", "index.level",
        "index.equal", "ledger.heads", "ledger.proof", "backup.waiting", "clock", "sources.readable", "files.placed",
    ],
)  # fmt: skip
def test_a_check_that_judges_no_file_takes_in_no_outside_edit(onrecord: CommandLine, check: str) -> None:
    edit(onrecord)
    before = count_entries(onrecord)
    done = onrecord("doctor", "--check", check)
    assert [item["id"] for item in done.data["checks"]] == [check]
    assert done.data["checks"][0]["status"] in ("ok", "info"), done.out
    assert count_entries(onrecord) == before


@pytest.mark.parametrize("check", ["files.taken", "files.readable", "files.missing", "files.displaced"])
def test_a_check_that_judges_files_takes_in_outside_edits_before(onrecord: CommandLine, check: str) -> None:
    edit(onrecord)
    before = count_entries(onrecord)
    assert onrecord("doctor", "--check", check).status == 0
    assert count_entries(onrecord) > before


def test_checks_that_looking_answers_write_nothing_at_all(onrecord: CommandLine) -> None:
    edit(onrecord)
    roots = (Path(onrecord.vault), find_state())

    def list_stamps() -> dict[Path, int]:
        return {
            path: path.stat().st_mtime_ns for root in roots for path in root.rglob("*") if "sqlite3" not in path.name
        }

    before = list_stamps()
    assert onrecord("doctor", "--check", "ledger.lines", "--check", "vault.config").status == 0
    assert list_stamps() == before
