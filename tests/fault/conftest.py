"""Fixtures of the tests that attack a vault."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surface.cli import CommandLine

GUARD_S = 120
MEMORY_MORE_BYTES = 2 << 30


@pytest.fixture
def no_syncs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the disk: what a killed process wrote outlives it without a sync, and a simulated cut needs none."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def guarded() -> Iterator[None]:
    """Turn a process that hangs or takes all memory into a test that fails."""

    def stop(*_: object) -> None:
        raise TimeoutError("the process hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(GUARD_S)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if os.path.exists("/proc/self/statm") else 0
    if pages:
        limit = pages * resource.getpagesize() + MEMORY_MORE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def onrecord(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    """The command line on a vault with one memory and one turn."""
    made = CommandLine(monkeypatch, str(tmp_path / "vault"))
    assert made("init").status == 0
    assert made("remember", "the true words", "--title", "True").status == 0
    turn = ("--source", "s", "--session", "x", "--turn", "t1", "--role", "user")
    assert made("capture", "the spoken words", *turn).status == 0
    return made
