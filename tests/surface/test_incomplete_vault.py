"""A vault whose `.onrecord` has not come: what to do is said, doctor looks at the files, and nothing is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.surface.cli import CommandLine


@pytest.fixture
def waiting(onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    """Notes and `onrecord.toml` of another machine, without `.onrecord`."""
    assert onrecord("remember", "first words").status == 0
    (Path(onrecord.vault) / "memories" / "bad.md").write_bytes(b"\xff\xfe no text")
    copy = tmp_path / "copy"
    shutil.copytree(onrecord.vault, copy, ignore=shutil.ignore_patterns(".onrecord"))
    return CommandLine(monkeypatch, str(copy))


@pytest.mark.parametrize("words", [("find", "words"), ("status",), ("remember", "more"), ("verify",)])
def test_each_command_says_to_wait_and_writes_nothing(waiting: CommandLine, words: tuple[str, ...]) -> None:
    before = sorted(Path(waiting.vault).rglob("*"))
    done = waiting(*words)
    assert (done.status, done.error["code"]) == (2, "vault_incomplete")
    assert "wait" in done.error["hint"]
    assert "onrecord init" in done.error["hint"]
    assert sorted(Path(waiting.vault).rglob("*")) == before


def test_doctor_says_it_once_and_looks_at_the_files(waiting: CommandLine) -> None:
    before = sorted(Path(waiting.vault).rglob("*"))
    done = waiting("doctor")
    assert done.status == 2
    found = {(item["code"], item["severity"]) for item in done.data["findings"]}
    assert ("vault_incomplete", "critical") in found
    assert ("not_utf8", "warning") in found
    assert {code for code, _ in found} <= {"vault_incomplete", "not_utf8", "front_matter_missing"}, found
    status = {check["id"]: check["status"] for check in done.data["checks"]}
    assert (status["vault.folder"], status["files.readable"], status["settings.known"]) == ("critical", "warning", "ok")
    assert (status["ledger.lines"], status["files.taken"]) == ("skipped", "skipped")
    assert sorted(Path(waiting.vault).rglob("*")) == before
    shown = waiting("doctor", as_json=False).out
    assert len([line for line in shown.splitlines() if line.startswith("not run")]) <= 2


def test_when_the_rest_has_come_it_is_used(waiting: CommandLine, onrecord: CommandLine) -> None:
    assert waiting("status").status == 2
    shutil.copytree(Path(onrecord.vault) / ".onrecord", Path(waiting.vault) / ".onrecord")
    assert waiting("find", "first words").data["results"]


def test_init_on_purpose_begins_anew_with_the_same_vault(waiting: CommandLine, onrecord: CommandLine) -> None:
    assert waiting("init").data["vault"] == onrecord("status").data["vault"]
    assert waiting("find", "first words").data["results"]
