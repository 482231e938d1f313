"""`problems` of `status` and the findings of `doctor`: one number where status answers all that is wrong, or more."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.known_problems import ANSWERED
from tests.fault.test_installation_damaged import run_without_override
from tests.surface.cli import Done
from tests.surface.homes import Home
from tests.surface.test_doctor_breakage import CASES, lock

Run = Callable[..., Done]


def check_agreement(run: Run) -> int:
    """Run both; return how many findings above a note of the checks that status answers there are."""
    doctor, status = run("doctor"), run("status")
    grave = [item for item in doctor.data["findings"] if item["severity"] != "info"]
    answered = [item for item in grave if item["check"] in ANSWERED]
    count = status.data["problems"]
    assert count >= len(answered), doctor.out + status.out
    if answered == grave:
        assert count == len(answered), doctor.out + status.out
    return len(answered)


# Each part is broken in one way: the number is the same in all.
BROKEN = {
    case[0]: case[1] for case in CASES if case[3] in ANSWERED and case[0] not in ("state/head.json", "state", "vault")
}


@pytest.mark.parametrize("name", BROKEN)
def test_status_counts_what_doctor_finds_of_a_broken_part(home: Home, name: str) -> None:
    BROKEN[name](home.find(name))
    found = check_agreement(home.run)
    assert found == (0 if name.endswith("index.sqlite3") and home.find(name).is_file() else 1)


def test_a_state_folder_that_was_set_aside_is_counted_until_it_is_moved_away(home: Home) -> None:
    (home.state / "head.json").unlink()
    assert home.run("find", "words").status == 0
    assert check_agreement(home.run) == 1
    (aside,) = home.state.parent.glob("*.headless-*")
    aside.rename(home.copies / "aside")
    assert check_agreement(home.run) == 0


def test_a_note_of_doctor_is_no_problem_of_status(home: Home) -> None:
    copy = home.copies / "second"
    shutil.copytree(home.vault, copy)

    def run(*words: str) -> Done:
        return home.run(*words, "--vault", os.fspath(copy))

    done = run("status")  # begins an installation of its own
    assert done.data["problems"] == 0, done.out
    check_agreement(run)


def test_what_waits_for_a_person_is_counted_once_each(home: Home) -> None:
    paths = sorted((home.vault / "memories").rglob("*.md"))
    text = paths[0].read_text()
    kept = paths[1].read_bytes()
    paths[1].unlink()
    assert check_agreement(home.run) == 1
    paths[1].write_bytes(kept)
    paths[0].write_text(text.replace("status: current", "status: retired"))
    check_agreement(home.run)
    paths[0].with_name(f"{paths[0].stem}.sync-conflict-20261130-120000-ABCDEFG.md").write_text(f"{text}\nother words\n")
    check_agreement(home.run)
    (home.vault / "memories" / "link.md").symlink_to("/dev/null")
    (home.vault / ".onrecord" / "stray").write_text("of nobody")
    assert check_agreement(home.run) >= 2


def test_settings_without_effect_are_counted(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home.copies / "config.toml"
    path.write_text("colour = 1")
    monkeypatch.setenv("ONRECORD_CONFIG", str(path))
    monkeypatch.setenv("ONRECORD_PAGEBYTES", "5")
    assert check_agreement(home.run) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="root is bound by permissions on Linux alone")
@pytest.mark.parametrize("name", ["vault", "vault/memories", "vault/.onrecord"])
def test_what_cannot_be_written_is_counted(home: Home, name: str) -> None:
    path: Path = home.find(name)
    give_back = lock(path, 0o500)
    try:
        assert check_agreement(lambda *words: run_without_override(os.fspath(home.vault), *words)) >= 1
    finally:
        give_back()
