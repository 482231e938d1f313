"""Three-way merges by `git merge-file`, in a folder of its own outside every vault, with no settings of the user's."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import lru_cache

from onrecord.ports.merger import MergeObstacle

_TIME_LIMIT_S = 10.0
_PLACES_MAX_COUNT = 127
_NAMES = ("ours", "base", "theirs")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@lru_cache(maxsize=1)
def find_git() -> str | None:
    """Return where git is, looked for once a process; None where there is none."""
    return shutil.which("git")


class GitMerger:
    """Merges texts; keeps nothing.

    Args:
        git: The program; None where there is none, so that no merge can be had.
        time_limit_s: How long one merge may take.
    """

    def __init__(self, git: str | None, time_limit_s: float = _TIME_LIMIT_S) -> None:
        self._git = git
        self._time_limit_s = time_limit_s

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | MergeObstacle:
        """Return the merged bytes, or why there are none: the edits meet, or git cannot be had or does not answer.

        Bytes are kept exactly, line ends and a missing last one too. UTF-16 and what holds NUL is not merged: a line
        of bytes is no line of such a text.
        """
        texts = (ours, base, theirs)
        if any(b"\0" in text or text.startswith(_UTF16_MARKS) for text in texts):
            return MergeObstacle.NO_TEXT
        if self._git is None:
            return MergeObstacle.NO_PROGRAM
        try:
            with tempfile.TemporaryDirectory(prefix="onrecord-merge-") as folder:
                for name, text in zip(_NAMES, texts, strict=True):
                    _write_private(os.path.join(folder, name), text)
                return self._run(self._git, folder)
        except (OSError, subprocess.SubprocessError):
            return MergeObstacle.NO_PROGRAM

    def _run(self, git: str, folder: str) -> bytes | MergeObstacle:
        done = subprocess.run(  # the names are ours; no shell is asked
            [git, "merge-file", "-p", "--diff3", *_NAMES],
            cwd=folder,
            env=_make_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=self._time_limit_s,
            check=False,
        )
        if done.returncode == 0:
            return done.stdout
        # As many places as the edits meet at, 127 at most; a fault is told by 255, a signal by less than 0.
        return MergeObstacle.SAME_PLACE if 0 < done.returncode <= _PLACES_MAX_COUNT else MergeObstacle.NO_PROGRAM


def _write_private(path: str, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def _make_environment(folder: str) -> dict[str, str]:
    """Return an environment in which git reads no settings and looks for no repository above the folder."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": folder,
        "XDG_CONFIG_HOME": folder,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(folder),
        "LC_ALL": "C",
    }
