"""Fixtures of the surface tests."""

from pathlib import Path

import pytest

from tests.surface.cli import CommandLine


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    """The command line where no vault has been made yet."""
    return CommandLine(monkeypatch, str(tmp_path / "vault"))


@pytest.fixture
def onrecord(bare: CommandLine) -> CommandLine:
    """The command line on a fresh vault."""
    assert bare("init").status == 0
    return bare
