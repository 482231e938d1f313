"""`read` into a file or a pipe gives the whole text, byte for byte; a page is for programs, spans and people."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord.surfaces.cli.entry import run
from onrecord.wiring import SERVICES
from tests.surface.cli import CommandLine

LONG = "記憶 kumquat\n" * 20_000


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("text", ["x", "x\n", "x\n\n", " x \r\ny\rz", "\ufeffx \u2028 \x1b[1m", LONG])
def test_a_pipe_gets_the_whole_text_and_nothing_else(onrecord: CommandLine, text: str) -> None:
    kept = onrecord("remember", "-", stdin=text.encode()).data["id"]
    done = onrecord("read", kept, as_json=False)
    assert (done.status, done.out, done.err) == (0, text, "")


def test_a_file_gets_the_bytes_of_the_text(onrecord: CommandLine, tmp_path: Path) -> None:
    kept = onrecord("remember", "-", stdin=LONG.encode()).data["id"]
    words = [sys.executable, "-m", "onrecord", "--vault", onrecord.vault, "read", kept]
    with (tmp_path / "out").open("wb") as out:
        assert subprocess.run(words, stdout=out, env=dict(os.environ), check=False).returncode == 0
    assert (tmp_path / "out").read_bytes() == LONG.encode()


def test_an_old_version_is_whole_in_a_pipe_too(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "-", stdin=LONG.encode()).data["id"]
    onrecord("update", kept, "--text", "new", "--expect", "1")
    assert onrecord("read", kept, "--version", "1", as_json=False).out == LONG


def test_json_a_span_and_a_terminal_get_a_page_that_names_the_rest(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = onrecord("remember", "-", stdin=LONG.encode()).data["id"]
    page = onrecord("read", kept).data
    assert page["truncated"]
    done = onrecord("read", kept, "--span", f"0:{len(LONG)}", as_json=False)
    assert (done.out, page["next_span"] in done.err) == (page["text"], True)
    assert onrecord("read", kept, "--span", "0:2", as_json=False).out == "記憶"
    shown = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", shown)
        run(["read", kept], SERVICES, {"ONRECORD_VAULT": onrecord.vault})
    assert shown.getvalue().rstrip("\n") == page["text"].rstrip("\n")
