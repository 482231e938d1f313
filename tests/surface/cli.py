"""Runs the command line in this process, as tests see it: words in, envelope and exit status out."""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from onrecord.surfaces.cli.entry import run
from onrecord.wiring import SERVICES


@dataclass(frozen=True)
class Done:
    """One finished command."""

    status: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def data(self) -> dict[str, Any]:
        assert self.envelope["ok"], self.out
        return self.envelope["data"]

    @property
    def error(self) -> dict[str, Any]:
        assert not self.envelope["ok"], self.out
        return self.envelope["error"]


class CommandLine:
    """The command line on one vault."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, vault: str) -> None:
        self._monkeypatch = monkeypatch
        self.vault = vault

    def __call__(self, *words: str, stdin: bytes = b"", as_json: bool = True, at_terminal: bool = False) -> Done:
        class Stream(io.StringIO):
            def isatty(self) -> bool:
                return at_terminal

        class Stdin(Stream):
            buffer = io.BytesIO(stdin)

        out, err = Stream(), Stream()
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", Stdin())
            environment = dict(os.environ) | {"ONRECORD_VAULT": self.vault}
            status = run([*words, *(["--json"] if as_json else [])], SERVICES, environment)
        return Done(status, out.getvalue(), err.getvalue())
