"""Copies while their memory's own file is absent: they stay copies, and nothing becomes a version by them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.app.read import read
from onrecord.app.settle import settle
from onrecord.app.update import update
from tests.surface.test_copies import SYNCTHING, Home, list_findings
from tests.vaults import check_verifies


@pytest.mark.parametrize("is_rebuilt", [False, True])
@pytest.mark.parametrize("name", [SYNCTHING, "another name"])
def test_a_copy_whose_memory_loses_its_file_stays_a_copy(tmp_path: Path, name: str, is_rebuilt: bool) -> None:
    home = Home(tmp_path)
    home.copy(name)
    home.take_in()
    opened, versions = home.list_open(), home.list_modes()
    assert len(opened) == 1
    home.place("Plan").rename(tmp_path / "away.md")
    home.take_in()
    if is_rebuilt:
        home.session.close()
        shutil.rmtree(home.root / "state")
        home.open_anew()
        home.take_in()
    assert "line 8 elsewhere" not in str(read(home.session, {"id": home.record}).data["text"])
    assert [path for _, path in list_findings(home, "missing_file")] == ["memories/default/Plan.md"]
    assert (home.list_open(), home.list_modes()) == (opened, versions)
    (tmp_path / "away.md").rename(home.place("Plan"))
    home.take_in()
    assert (home.list_open(), home.list_modes()) == (opened, versions)
    assert home.list_memories() == {home.record}


@pytest.mark.parametrize("is_rebuilt", [False, True])
@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("name", [SYNCTHING, "ren 94"])
def test_earlier_words_at_another_place_are_no_revert_while_the_file_is_absent(
    tmp_path: Path, name: str, is_plain: bool, is_rebuilt: bool
) -> None:
    home = Home(tmp_path, is_plain=is_plain)
    earlier = home.place("Plan").read_bytes()
    home.place("Plan").write_text(home.place("Plan").read_text().replace("line 8", "line 8 anew"))
    home.take_in()
    versions = home.list_modes()
    home.place(name).write_bytes(earlier)
    home.place("Plan").unlink()
    if is_rebuilt:
        home.session.close()
        shutil.rmtree(home.root / "state")
        home.open_anew()
    home.take_in()
    home.take_in()
    assert home.list_modes() == versions
    assert "line 8 anew" in str(read(home.session, {"id": home.record}).data["text"])
    assert [path for _, path in list_findings(home, "missing_file")] == ["memories/default/Plan.md"]


@pytest.mark.parametrize("is_rebuilt", [False, True])
@pytest.mark.parametrize("is_by_hand", [False, True])
@pytest.mark.parametrize("name", [SYNCTHING, "ren 94"])
def test_new_words_in_a_copy_of_an_earlier_version_stand_against_the_current_one(
    tmp_path: Path, name: str, is_by_hand: bool, is_rebuilt: bool
) -> None:
    home = Home(tmp_path)
    earlier = home.place("Plan").read_bytes()
    if is_by_hand:
        home.place("Plan").write_text(home.place("Plan").read_text().replace("line 8", "line 8 anew"))
    else:
        update(home.session, {"id": home.record, "old": "line 8", "new": "line 8 anew", "expect": 1})
    home.take_in()
    home.place(name).write_bytes(earlier)
    home.take_in()
    home.place("Plan").rename(tmp_path / "away.md")
    home.take_in()
    home.place(name).write_text(home.place(name).read_text().replace("line 8", "line 8 typed"))
    if is_rebuilt:
        home.session.close()
        shutil.rmtree(home.root / "state")
        home.open_anew()
    home.take_in()
    (conflict,) = home.list_open()
    shown = read(home.session, {"id": home.record}).data
    assert (shown["conflict"], "line 8 typed" in str(shown["text"])) == (conflict, True)
    (tmp_path / "away.md").rename(home.place("Plan"))
    home.take_in()
    assert home.list_open() == [conflict]
    assert home.list_memories() == {home.record}
    settle(home.session, {"id": conflict, "keep": "B"})
    assert "line 8 anew" in str(read(home.session, {"id": home.record}).data["text"])
    check_verifies(home.session, may_differ=True)
