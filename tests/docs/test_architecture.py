"""The page for newcomers names each module in its own room, so that nobody has to guess where a thing is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "domain", "ports", "app", "app/doctor", "storage/files", "storage/sqlite", "adapters", "surfaces", "surfaces/cli",
)  # fmt: skip


def read_rows(room: str) -> str:
    """Return the rows of a room: its own, and those below it that begin with a dot."""
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    found = re.search(rf"^\| `{room}/` \|.*\n((?:\| · .*\n)*)", page, flags=re.MULTILINE)
    assert found is not None, room
    return found[0]


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_names_each_module_in_its_room_once(room: str) -> None:
    rows = read_rows(room)
    listed = re.findall(r"^\| · ([^|]+) \|", rows, flags=re.MULTILINE)
    words = ", ".join(listed).split(", ") if listed else re.findall(r"\w+", rows)
    names = [path.stem for path in (ROOT / "src/onrecord" / room).glob("*.py") if not path.stem.startswith("__")]
    assert names
    missing = [name for name in names if name not in words and not name.startswith("redaction_")]
    assert missing == []
    if listed:
        assert sorted(set(words) - set(names)) in ([], ["redaction_…"])
        assert len(words) == len(set(words))
