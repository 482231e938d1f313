"""The lines `by` and `id` changed by hand: a memory stays the one that it is, and is shown once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.rebuild import rebuild
from onrecord.app.session import Session
from tests.surface.test_copies import Home

BY = "by: 0123456789abcdef:77"


def change(home: Home, key: str, line: str) -> None:
    path = home.place("Plan")
    inode = path.stat().st_ino
    path.write_text(re.sub(rf"(?m)^{key}: .*\n", line, path.read_text(), count=1))
    assert path.stat().st_ino == inode


def list_hits(session: Session) -> list[str]:
    hits = find(session, {"query": "line plan"}).data["results"]
    assert isinstance(hits, list)
    return [hit["id"] for hit in hits]


def check_is_itself(home: Home) -> None:
    """Check that the memory is found once, nothing is missing, and an index made anew says the same."""
    for _ in range(2):
        assert list_hits(home.session) == [home.record]
        codes = [item["code"] for item in diagnose(home.session, {}).data["findings"]]
        assert "missing_file" not in codes
        rebuild(home.session)
    home.open_anew()
    assert list_hits(home.session) == [home.record]


def test_a_memory_whose_by_names_an_unknown_log_is_one_hit(tmp_path: Path) -> None:
    home = Home(tmp_path)
    change(home, "by", f"{BY}\n")
    home.take_in()
    assert list_hits(home.session) == [home.record]


@pytest.mark.parametrize("is_rewritten", [False, True])
def test_a_file_that_was_ahead_of_its_row_stays_its_memory_whatever_id_it_names(
    tmp_path: Path, is_rewritten: bool
) -> None:
    home = Home(tmp_path)
    change(home, "by", f"{BY}\n")
    home.take_in()
    change(home, "id", "id: 0123456789ab\n")
    change(home, "by", "")
    if is_rewritten:  # as an editor does that saves under another name first
        path, new = home.place("Plan"), home.place("Plan").with_name(".tmp")
        new.write_bytes(path.read_bytes())
        new.replace(path)
    home.take_in()
    check_is_itself(home)


@pytest.mark.parametrize("is_pending_before", [False, True])
def test_a_file_whose_id_and_by_are_both_unknown_is_the_memory_that_it_was(
    tmp_path: Path, is_pending_before: bool
) -> None:
    home = Home(tmp_path)
    change(home, "by", f"{BY}\n")
    if is_pending_before:
        home.take_in()
    change(home, "id", "id: 0123456789ab\n")
    home.take_in()
    check_is_itself(home)
