"""Files that tell sync programs what to leave alone: made once, never the user's own changed, and missed by doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.cli import CommandLine

NAMES = (".stignore", ".gitignore", ".gitattributes")


def list_unguarded(onrecord: CommandLine) -> list[tuple[str, str]]:
    findings = onrecord("doctor").data["findings"]
    return [(item["path"], item["message"]) for item in findings if item["code"] == "sync_patterns_missing"]


def test_init_makes_the_files_and_has_nothing_to_warn_of(bare: CommandLine) -> None:
    done = bare("init")
    assert done.envelope["warnings"] == []
    for name in NAMES:
        assert (Path(bare.vault) / name).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_the_users_stays_as_it_is_and_the_lines_to_add_are_named(bare: CommandLine, name: str) -> None:
    path = Path(bare.vault) / name
    path.parent.mkdir()
    path.write_bytes(b"# mine\r\n*.bak\r\n")
    (warning,) = bare("init").envelope["warnings"]
    assert path.read_bytes() == b"# mine\r\n*.bak\r\n"
    assert warning.startswith(f"{name} ")
    lines = warning.partition("add to it: ")[2].split(", ")
    path.write_text("\n".join(["# mine", *lines]))
    (Path(bare.vault) / ".stfolder").mkdir()
    (Path(bare.vault) / ".git").mkdir()
    assert list_unguarded(bare) == []


@pytest.mark.parametrize(("mark", "names"), [(".stfolder", [".stignore"]), (".git", [".gitignore", ".gitattributes"])])
def test_doctor_names_a_vault_in_the_hands_of_a_program_that_was_not_told(
    onrecord: CommandLine, mark: str, names: list[str]
) -> None:
    assert list_unguarded(onrecord) == []
    for name in NAMES:
        (Path(onrecord.vault) / name).unlink()
    assert list_unguarded(onrecord) == []
    (Path(onrecord.vault) / mark).mkdir()
    assert {path for path, _ in list_unguarded(onrecord)} == set(names)


def test_syncthing_reads_the_patterns_in_the_root_of_what_it_shares(onrecord: CommandLine) -> None:
    vault = Path(onrecord.vault)
    (vault.parent / ".stfolder").mkdir()
    ((path, message),) = list_unguarded(onrecord)
    assert path == ".stignore"
    (vault.parent / ".stignore").write_text("\n".join(message.partition("lacks: ")[2].split(", ")))
    assert list_unguarded(onrecord) == []
