"""`init` over a folder that has notes: they are counted, and taken in after a person could leave some out."""

from __future__ import annotations

from pathlib import Path

import pytest

import onrecord as package
from tests.surface.cli import CommandLine


def plant(bare: CommandLine, *names: str) -> None:
    for name in names:
        path = Path(bare.vault, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"the words of {path.stem}\n")


def test_notes_are_counted_and_taken_in_by_the_next_command_without_those_that_were_moved_out(
    bare: CommandLine, tmp_path: Path
) -> None:
    plant(bare, "memories/one.md", "memories/deep/two.md", "facts/three.md", "memories/.draft/four.md")
    plant(bare, "Projects/five.md", "six.md", "README.md", ".hidden/seven.md")
    data = bare("init").data
    assert (data["notes"], data["notes_elsewhere"]) == (3, 2)
    Path(bare.vault, "memories/one.md").rename(tmp_path / "one.md")
    assert bare("status").data["counts"]["records"] == 2
    assert bare("find", "one").data["status"] == "no_match"
    assert bare("find", "two").data["status"] == "found"
    assert bare("doctor").status == 0


def test_a_person_reads_how_many_notes_there_are_and_how_to_leave_some_out(bare: CommandLine) -> None:
    plant(bare, "memories/one.md", "memories/two.md", "six.md")
    made, found, leaving, elsewhere, link = bare("init", as_json=False).out.splitlines()
    assert bare.vault in made
    assert found.startswith("2 notes found: the next command takes them in")
    assert "no byte" in found
    assert "move them out" in leaving
    assert "dot" in leaving
    assert elsewhere.startswith("1 Markdown file elsewhere in the folder")
    assert "onrecord link memories" in link


def test_where_nothing_lies_init_says_one_line(bare: CommandLine) -> None:
    assert len(bare("init", as_json=False).out.splitlines()) == 1


def test_a_vault_that_a_program_makes_and_goes_on_with_has_its_notes_at_once(bare: CommandLine) -> None:
    plant(bare, "memories/one.md")
    with package.open(bare.vault, create=True) as vault:
        assert len(vault.find("words")) == 1


def test_init_of_a_vault_without_its_configuration_points_to_what_mends_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    onrecord = CommandLine(monkeypatch, str(vault))
    assert onrecord("init").status == 0
    assert onrecord("remember", "words").status == 0
    (vault / "onrecord.toml").unlink()
    error = onrecord("init", str(vault)).error
    assert "onrecord.toml is absent" in error["reason"]
    assert f"onrecord doctor --vault {vault}" in error["hint"]
    mends = [item.get("mend", "") for item in onrecord("doctor", "--vault", str(vault)).data["findings"]]
    assert any('write it anew: format = 1, vault = "' in mend for mend in mends)
