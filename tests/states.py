"""State folders of tests that use the command line, and what the replies say of them."""

from __future__ import annotations

import os
from pathlib import Path

from tests.surface.cli import Done


def find_state() -> Path:
    (found,) = Path(os.environ["ONRECORD_STATE"], "vaults").glob("*-*-*[0-9a-f]")
    return found


def find_state_file(name: str) -> Path:
    (found,) = find_state().glob(f"{name}.*" if name == "journal" else name)
    return found


def list_reasons(done: Done) -> list[str]:
    return [item["reason"] for item in done.envelope["degraded"]]


def list_messages(done: Done, *codes: str) -> str:
    return "\n".join(item["message"] for item in done.data["findings"] if item["code"] in codes)
