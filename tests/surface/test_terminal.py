"""What is stored is shown on a terminal and does nothing there; JSON and a file get it exactly."""

from __future__ import annotations

import io
import sys
import unicodedata
from pathlib import Path

import pytest

from onrecord.surfaces.cli.entry import run
from onrecord.surfaces.cli.terminal import show_line, show_text
from onrecord.wiring import SERVICES
from tests.surface.cli import CommandLine

HOSTILE = "kumquat \x1b[2J\x1b]0;owned\x07 \x9b31m \x08\x7f \u202egnp.exe \u2066x\u2069 \u200f a\rb"


def is_active(character: str) -> bool:
    """Tell whether a terminal may act on a character."""
    return unicodedata.category(character) == "Cc" or unicodedata.bidirectional(character) in (
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
    )  # fmt: skip


def test_every_control_and_override_is_shown_as_an_escape() -> None:
    everything = "".join(map(chr, range(0x3000)))
    assert [found for found in show_line(everything) if is_active(found)] == []
    assert {found for found in show_text(everything) if is_active(found)} == {"\t", "\n"}
    assert show_line("記憶 é — ok") == "記憶 é — ok"
    assert show_text("a\r\nb\tc\n") == "a\r\nb\tc\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def hostile(onrecord: CommandLine) -> CommandLine:
    """A vault whose text, title, tags, turns and file names hold what a terminal would act on."""
    folder = Path(onrecord.vault, "memories/default")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kumquat\x1b[31m\nfake line.md").write_text(
        f'---\ntags: ["\\u001b[1mtag"]\nconfidence: \x1b[5m\n---\n{HOSTILE}\n'
    )
    onrecord("capture", HOSTILE, "--source", "s", "--session", "\u202ex", "--turn", "\x9b1", "--role", "user")
    onrecord("remember", HOSTILE, "--title", "\x9b\u202etitle")
    return onrecord


@pytest.mark.parametrize(
    "words",
    [
        ("find", "kumquat"),
        ("find", "kumquat", "--mode", "hits"),
        ("find", "kumquat", "--mode", "full"),
        ("history", "{id}"),
        ("doctor",),
        ("verify",),
        ("status",),
        ("config",),
        ("read", "\x9b\u202eno id"),
        ("\x1b[31mfind",),
    ],
)
def test_no_command_prints_what_a_terminal_acts_on(hostile: CommandLine, words: tuple[str, ...]) -> None:
    found = hostile("find", "kumquat").data["results"]
    assert len(found) == 3
    for hit in found if "{id}" in words else found[:1]:
        done = hostile(*(word.replace("{id}", hit["id"]) for word in words), as_json=False)
        assert [one for one in done.out + done.err if is_active(one) and one not in "\n\t"] == []


def test_read_is_exact_in_a_pipe_and_harmless_on_a_terminal(
    hostile: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = next(hit for hit in hostile("find", "kumquat").data["results"] if hit["title"] == "\x9b\u202etitle")
    assert hostile("read", kept["id"], as_json=False).out == HOSTILE
    shown = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", shown)
        run(["read", kept["id"]], SERVICES, {"ONRECORD_VAULT": hostile.vault})
    assert "kumquat" in shown.getvalue()
    assert [one for one in shown.getvalue() if is_active(one) and one != "\n"] == []
    assert hostile("read", kept["id"]).data["text"] == HOSTILE
