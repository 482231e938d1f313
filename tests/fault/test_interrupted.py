"""What a user asks for at a terminal is cut off, or the disk fills up, at a step: it is done whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.interrupting import SCENES, Scene
from tests.fault.steps import fill_disk, run_killed

pytestmark = pytest.mark.usefixtures("no_syncs")

SAMPLE = 5


def go_through(root: Path, name: str, sample: int | None) -> Iterator[tuple[Scene, int]]:
    """Yield a fresh scene for each step of its command, or for a sample spread over them, with the step."""
    scene = SCENES[name](root / "whole")
    steps = run_killed(scene.act, 0)
    assert steps is not None
    assert scene.has_done()
    scene.check()
    count = sample or steps
    for at in sorted({1 + number * (steps - 1) // (count - 1) for number in range(count)}):
        yield SCENES[name](root / str(at)), at
        shutil.rmtree(root / str(at))


def kill_at_steps(root: Path, name: str, sample: int | None) -> None:
    for scene, at in go_through(root, name, sample):
        assert run_killed(scene.act, at) is None
        scene.check()
        done = scene.act()
        assert done.status == 0 or scene.has_done(), (at, done.out)
        scene.check()


def fill_at_steps(root: Path, name: str, sample: int | None) -> None:
    for scene, at in go_through(root, name, sample):
        with fill_disk(at):
            done = scene.act()
        assert "defect" not in done.out, (at, done.out)
        is_said = done.status == 0 or "is adopted, but" in done.out
        assert is_said == scene.has_done(), (at, done.out)
        scene.check()
        done = scene.act()
        assert done.status == 0 or scene.has_done(), (at, done.out)
        scene.check()


@pytest.mark.parametrize("name", SCENES)
def test_what_is_killed_at_a_step_is_done_or_not_done_and_can_be_repeated(tmp_path: Path, name: str) -> None:
    kill_at_steps(tmp_path, name, SAMPLE)


@pytest.mark.parametrize("name", SCENES)
def test_what_is_said_to_be_done_while_the_disk_fills_up_is_done(tmp_path: Path, name: str) -> None:
    fill_at_steps(tmp_path, name, SAMPLE)


@pytest.mark.soak
@pytest.mark.parametrize("name", SCENES)
def test_what_is_killed_at_any_step_is_done_or_not_done_and_can_be_repeated(tmp_path: Path, name: str) -> None:
    kill_at_steps(tmp_path, name, None)


@pytest.mark.soak
@pytest.mark.parametrize("name", SCENES)
def test_what_is_said_to_be_done_while_the_disk_fills_up_at_any_step_is_done(tmp_path: Path, name: str) -> None:
    fill_at_steps(tmp_path, name, None)
