"""The page for newcomers names each module, so that nobody has to guess which room a thing is in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("domain", "ports", "app", "storage/files", "storage/sqlite", "adapters", "surfaces")


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_names_each_module_of_a_room(room: str) -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    names = [path.stem for path in (ROOT / "src/onrecord" / room).glob("*.py") if not path.stem.startswith("__")]
    assert names
    told = [name for name in names if name.startswith("redaction_") or re.search(rf"\b{name}\b", page)]
    assert sorted(told) == sorted(names)
