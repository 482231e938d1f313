"""The moment of a save by renaming, in which a memory's file is not there: it is shown all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.read import read
from tests.fault.test_saves import FIRST, SECOND, Desk, list_reasons


@pytest.mark.parametrize("is_same_text", [False, True])
def test_a_memory_is_found_at_the_moment_at_which_its_file_is_another_name(tmp_path: Path, is_same_text: bool) -> None:
    desk = Desk(tmp_path)
    backup = desk.path.with_name("Kettle.md~")
    for _ in range(3):
        desk.path.rename(backup)
        desk.clock.happens = lambda: desk.path.write_text(f"{FIRST if is_same_text else SECOND}\n")
        assert desk.find("kettle") == [desk.id]
        assert len(desk.clock.pauses) >= 1
        desk.clock.happens = lambda: None
        assert desk.find("kettle") == [desk.id]
    assert desk.list_texts() == ([FIRST] if is_same_text else [FIRST, SECOND])
    assert desk.count_records() == 1


def test_a_memory_whose_file_is_renamed_again_and_again_is_shown_as_it_was_and_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    backup = desk.path.with_name("Kettle.md~")
    desk.path.rename(backup)
    desk.clock.happens = lambda: desk.path.with_name(f"{len(desk.clock.pauses)}.swp").touch()
    reply = find(desk.session, {"query": "kettle", "mode": "full"})
    assert [(hit["id"], hit["text"]) for hit in reply.data["results"]] == [(desk.id, FIRST)]  # type: ignore[attr-defined]
    assert list_reasons(reply) == ["reconciling"]
    assert list_reasons(read(desk.session, {"id": desk.id})) == ["reconciling"]
    desk.clock.happens = lambda: None
    assert desk.find("kettle") == []
    desk.clock.pauses.clear()
    assert desk.find("kettle") == []
    assert desk.clock.pauses == []
    backup.rename(desk.path)
    assert desk.find("kettle") == [desk.id]
