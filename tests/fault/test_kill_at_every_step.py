"""kill -9 before every primitive of the write path, and at random instants: no acknowledged write is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import warnings
from pathlib import Path

import pytest

from tests.fault.killing import main as write
from tests.fault.survival import check_whole
from tests.vaults import make_vault, open_session

pytestmark = pytest.mark.usefixtures("no_syncs")

COUNT = 4
KILLS_A_VAULT = 10
RANDOM_KILLS = 25
SOAK_KILLS = 200


def run_killed(vault: Path, state: Path, kill_at: int, count: int, after_s: float | None = None) -> list[dict]:
    """Run the writer in a process of its own; return the lines it printed before it died.

    Args:
        vault: The vault.
        state: Where its state lies.
        kill_at: Primitive before which it kills itself, 0 for never.
        count: Memories to write.
        after_s: Kill it so many seconds after its first acknowledged write.
    """
    out, into = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a thread of pytest-xdist waits for words of its parent
        pid = os.fork()
    if pid == 0:
        try:
            os.dup2(into, 1)
            write(str(vault), str(state), str(kill_at), str(count))
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as told:
        first = told.readline() if after_s is not None else b""
        if after_s is not None:
            time.sleep(after_s)
            os.kill(pid, signal.SIGKILL)
        text = first + told.read()
    os.waitpid(pid, 0)
    return [json.loads(line) for line in text.splitlines() if line.endswith(b"}")]


def list_writes(lines: list[dict]) -> list[dict]:
    return [line for line in lines if line.get("op") in ("remember", "update", "capture")]


def test_a_kill_before_any_primitive_loses_nothing_acknowledged(tmp_path: Path) -> None:
    make_vault(tmp_path / "whole")
    steps = run_killed(tmp_path / "whole", tmp_path / "state", 0, COUNT)[-1]["steps"]
    killed: list[str] = []
    for first in range(1, steps + 1, KILLS_A_VAULT):
        vault, state = tmp_path / str(first), tmp_path / f"state-{first}"
        make_vault(vault)
        writes = list_writes(run_killed(vault, state, 0, 1))
        for step in range(first, min(first + KILLS_A_VAULT, steps + 1)):
            lines = run_killed(vault, state, step, COUNT)
            killed += [line["step"].split()[0] for line in lines if "step" in line]
            writes += list_writes(lines)
        session = open_session(vault, state)
        check_whole(session, writes)
        session.close()
    assert len(killed) > steps // 2
    assert {"write_new", "write_at", "sync", "rename", "rename_noreplace", "exchange", "unlink"} <= set(killed)


def kill_at_random(tmp_path: Path, kills: int) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    source = random.Random(kills)
    writes: list[dict] = []
    for number in range(kills):
        writes += list_writes(run_killed(vault, state, 0, 10_000, after_s=source.random() * 0.3))
        if number % 10 == 9 or number == kills - 1:
            session = open_session(vault, state)
            check_whole(session, writes)
            session.close()
    assert len(writes) > kills


def test_random_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    kill_at_random(tmp_path, RANDOM_KILLS)


@pytest.mark.soak
def test_two_hundred_random_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    kill_at_random(tmp_path, SOAK_KILLS)
