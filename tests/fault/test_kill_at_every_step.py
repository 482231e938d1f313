"""kill -9 before every primitive of the write path, and at random instants: no acknowledged write is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fault.survival import check_whole
from tests.vaults import make_vault, open_session

ROOT = Path(__file__).resolve().parents[2]
COUNT = 4
RANDOM_KILLS = 25
SOAK_KILLS = 200


def run_killed(vault: Path, state: Path, kill_at: int, count: int, after_s: float | None = None) -> list[dict]:
    """Run the writer; return the lines it printed before it died.

    Args:
        vault: The vault.
        state: Where its state lies.
        kill_at: Primitive before which it kills itself, 0 for never.
        count: Memories to write.
        after_s: Kill it so many seconds after its first acknowledged write.
    """
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(vault.parent / "bytecode")}
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.fault.killing", str(vault), str(state), str(kill_at), str(count)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | bytecode | {"PYTHONPATH": str(ROOT)},
    )
    first = b""
    if after_s is not None and child.stdout is not None:
        first = child.stdout.readline()
        time.sleep(after_s)
        child.kill()
    out, _ = child.communicate(timeout=120)
    return [json.loads(line) for line in (first + out).splitlines() if line.endswith(b"}")]


def list_writes(lines: list[dict]) -> list[dict]:
    return [line for line in lines if line.get("op") in ("remember", "update", "capture")]


def test_a_kill_before_any_primitive_loses_nothing_acknowledged(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    whole = run_killed(vault, state, 0, COUNT)
    steps = next(line["steps"] for line in whole if line.get("op") == "end")
    writes = list_writes(whole)
    killed: list[str] = []
    for step in range(1, steps + 1):
        lines = run_killed(vault, state, step, COUNT)
        killed += [line["step"].split()[0] for line in lines if "step" in line]
        writes += list_writes(lines)
        if step % 10 == 0 or step == steps:
            session = open_session(vault, state)
            check_whole(session, writes)
            session.close()
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
