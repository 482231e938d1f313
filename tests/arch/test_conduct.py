"""What code may not do: swallow every error, read a clock it should be given, leave work undone or untold."""

import subprocess
import sys

from tests.arch.house import (
    ROOT,
    SOURCE,
    find_broad_handlers,
    find_clock_and_chance,
    find_in,
    find_unfinished_marks,
    list_code_files,
    list_source_files,
    name_of,
)

# Here a process or a caller would otherwise see a traceback: the edges where every error becomes a reply.
BROAD_EXCEPT_EDGES = {"src/onrecord/surfaces/cli/entry.py"}


def test_every_error_is_caught_by_name_except_at_the_named_edges() -> None:
    paths = [path for path in list_source_files() if name_of(path) not in BROAD_EXCEPT_EDGES]
    assert find_in(paths, find_broad_handlers) == []


def test_domain_and_app_are_given_time_and_randomness() -> None:
    assert find_in(list_source_files("domain", "app"), find_clock_and_chance) == []


def test_no_mark_of_unfinished_work_is_left() -> None:
    assert find_in(list_code_files(), find_unfinished_marks) == []


def test_public_things_are_documented() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "interrogate", "--config", str(ROOT / "pyproject.toml"), "-v", str(SOURCE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
