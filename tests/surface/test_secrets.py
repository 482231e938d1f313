"""What comes in by a setting, by the name of a member, or by its place in a text is scrubbed like any other text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import onrecord as package
from onrecord.domain.errors import LimitExceededError
from onrecord.domain.limits import NAME_MAX_CHARS
from tests.surface.cli import CommandLine

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def list_hits(vault: str, secret: str) -> list[str]:
    """Return every file of a vault and of the state folder that holds the secret."""
    roots = [Path(vault), Path(os.environ["ONRECORD_STATE"])]
    files = {path for root in roots for path in root.rglob("*") if path.is_file()}
    return [str(path) for path in files if secret.encode() in path.read_bytes()]


@pytest.mark.parametrize("name", ["client", "agent", "workspace"])
@pytest.mark.parametrize("source", ["environment", "user"])
def test_a_secret_in_a_setting_reaches_no_file(
    bare: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, source: str
) -> None:
    if source == "environment":
        monkeypatch.setenv(f"ONRECORD_{name.upper()}", SECRET)
    else:
        settings = tmp_path / "settings.toml"
        settings.write_text(f'{name} = "{SECRET}"\n')
        monkeypatch.setenv("ONRECORD_CONFIG", str(settings))
    assert bare("init").status == 0
    bare("remember", "something")
    bare("capture", "said", "--source", "s", "--session", "x", "--turn", "1", "--role", "user")
    assert list_hits(bare.vault, SECRET) == []


def test_a_secret_in_the_vaults_own_settings_is_not_copied_from_there(onrecord: CommandLine) -> None:
    own = Path(onrecord.vault) / "onrecord.toml"
    own.write_text(own.read_text().replace('workspace = "default"', f'workspace = "{SECRET}"'))
    onrecord("remember", "something")
    assert list_hits(onrecord.vault, SECRET) == [str(own)]


def test_a_flag_with_a_secret_is_scrubbed_in_the_library_too(onrecord: CommandLine) -> None:
    with package.open(onrecord.vault, client=SECRET, agent=SECRET) as vault:
        kept = vault.remember("something")
        shown = Path(onrecord.vault, vault.read(kept.id).path).read_text()
    assert "client: " in shown
    assert "agent: " in shown
    assert list_hits(onrecord.vault, SECRET) == []


@pytest.mark.parametrize("name", ["client", "agent"])
def test_client_and_agent_hold_at_their_limit_and_are_refused_one_above(onrecord: CommandLine, name: str) -> None:
    with package.open(onrecord.vault, **{name: "x" * NAME_MAX_CHARS}) as vault:  # type: ignore[arg-type]
        vault.remember("kept")
    with pytest.raises(LimitExceededError) as caught:
        package.open(onrecord.vault, **{name: "x" * (NAME_MAX_CHARS + 1)})  # type: ignore[arg-type]
    assert caught.value.field == name
    done = onrecord("status", f"--{name}", "two\nlines")
    assert (done.status, done.error["field"]) == (2, name)


def test_a_value_is_redacted_by_the_name_of_its_member(onrecord: CommandLine) -> None:
    done = onrecord("remember", "x", "--meta", '{"password": "hunter2geheim", "deep": {"password": "correct9horse"}}')
    assert "password" in done.envelope["warnings"][0]
    assert list_hits(onrecord.vault, "hunter2geheim") == []
    assert list_hits(onrecord.vault, "correct9horse") == []


def test_a_change_whose_place_makes_it_a_secret_is_redacted_and_what_was_there_stays(onrecord: CommandLine) -> None:
    note = Path(onrecord.vault, "memories/default/mine.md")
    note.parent.mkdir(exist_ok=True)
    note.write_text("password: oldgeheim7\n\n\n\n\nkumquat\nthe other password: xxx\n")
    record = onrecord("find", "kumquat").data["results"][0]["id"]
    done = onrecord("update", record, "--old", "xxx", "--new", "hunter2geheim", "--expect", "1")
    assert "password" in done.envelope["warnings"][0]
    assert list_hits(onrecord.vault, "hunter2geheim") == []
    done = onrecord("update", record, "--old", "oldgeheim7\n", "--new", "oldgeheim7\nmore\n", "--expect", "2")
    assert done.envelope["warnings"] == []
    assert note.read_text().startswith("password: oldgeheim7\nmore\n")
