"""Fixtures of the surface tests."""

import shutil
from pathlib import Path

import pytest

from tests.states import find_state
from tests.surface.cli import CommandLine
from tests.surface.homes import Home


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    """The command line where no vault has been made yet."""
    return CommandLine(monkeypatch, str(tmp_path / "vault"))


@pytest.fixture
def onrecord(bare: CommandLine) -> CommandLine:
    """The command line on a fresh vault."""
    assert bare("init").status == 0
    return bare


@pytest.fixture
def home(bare: CommandLine, tmp_path: Path) -> Home:
    """A vault with two memories and a transcript, and copies from before any breakage."""
    assert bare("init").status == 0
    assert bare("remember", "first words").status == 0
    assert bare("remember", "second words").status == 0
    turn = ("--source", "s", "--session", "x", "--turn", "1", "--role", "user")
    assert bare("capture", "spoken words", *turn).status == 0
    made = Home(bare, Path(bare.vault), find_state(), tmp_path / "copies")
    assert bare("doctor", "--deep").status == 0
    shutil.copytree(made.vault, made.copies / "vault")
    shutil.copytree(made.state, made.copies / "state")
    return made
