"""A vault that is closed to this user: each command says so, none says that there is no vault, and none writes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.fault.test_installation_damaged import run_without_override
from tests.surface.cli import CommandLine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="root is bound by permissions on Linux alone")


@pytest.mark.parametrize("mode", [0, 0o600, 0o300])
@pytest.mark.parametrize("part", ["", ".onrecord", ".."])
def test_a_closed_vault_is_called_closed_by_every_command(tmp_path: Path, part: str, mode: int) -> None:
    if part == ".." and mode & 0o100:
        return  # who may pass through a folder need not be able to list it
    vault = tmp_path / "above" / "vault"
    assert run_without_override(str(vault), "init").status == 0
    closed = Path(os.path.normpath(vault / part))
    closed.chmod(mode)
    try:
        for words in (("find", "word"), ("remember", "word")):
            done = run_without_override(str(vault), *words)
            assert (done.status, done.error["code"]) == (2, "vault_closed"), done.out + done.err
            assert str(closed) in done.error["hint"]
        doctor = run_without_override(str(vault), "doctor")
        assert doctor.status == 2
        told = [(item["check"], item["code"]) for item in doctor.data["findings"]]
        assert told == [("vault.folder", "vault_closed")]
        assert str(closed) in doctor.data["findings"][0]["mend"]
        begun = run_without_override(str(vault), "init")
        assert (begun.status, begun.error["code"], begun.error["field"]) == (2, "invalid_input", "dir")
        assert str(closed) in begun.error["hint"]
    finally:
        closed.chmod(0o700)
    assert run_without_override(str(vault), "find", "word").status == 0


def test_doctor_says_of_a_linked_machine_folder_only_that_it_is_a_link(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    assert run_without_override(str(vault), "init").status == 0
    (vault / ".onrecord").rename(tmp_path / "elsewhere")
    (vault / ".onrecord").symlink_to(tmp_path / "elsewhere")
    doctor = run_without_override(str(vault), "doctor")
    assert doctor.status == 2
    assert [(item["check"], item["code"]) for item in doctor.data["findings"]] == [("vault.folder", "vault_unusable")]


@pytest.mark.parametrize("mode", [0, 0o500, 0o300])
@pytest.mark.parametrize("below", ["", "deep/er"])
def test_init_in_a_closed_folder_is_refused_as_input_and_names_it(tmp_path: Path, mode: int, below: str) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(mode)
    try:
        done = run_without_override(str(closed / below), "init")
    finally:
        closed.chmod(0o700)
    if below and mode == 0o300:
        assert done.status == 0  # who may make a folder in it need not be able to list it
        return
    assert (done.status, done.error["code"], done.error["field"]) == (2, "invalid_input", "dir")
    assert str(closed) in done.error["hint"]
    assert not list(closed.iterdir())


@pytest.mark.parametrize("place", ["file", "file/below", "loop", "n" * 300])
def test_init_where_no_folder_can_be_is_refused_as_input(onrecord: CommandLine, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("a file of the user")
    (tmp_path / "loop").symlink_to("loop")
    done = onrecord("init", str(tmp_path / place))
    assert (done.status, done.error["code"], done.error["field"]) == (2, "invalid_input", "dir")
    assert str(tmp_path / place) in done.error["hint"]
    assert (tmp_path / "file").read_text() == "a file of the user"


def test_a_configuration_that_may_not_be_read_is_to_be_opened_and_not_to_be_written_anew(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    assert run_without_override(str(vault), "init").status == 0
    path = vault / "onrecord.toml"
    path.chmod(0)
    try:
        refused = run_without_override(str(vault), "remember", "word").error
        (found,) = (
            item for item in run_without_override(str(vault), "doctor").data["findings"] if item["path"] == path.name
        )
    finally:
        path.chmod(0o600)
    assert (refused["code"], found["code"]) == ("vault_offline", "vault_offline")
    for mend in (refused["hint"], found["mend"]):
        assert "permissions" in mend
        assert not any(word in mend for word in ("copy", "anew", "back"))
    assert run_without_override(str(vault), "doctor").status == 0
