"""What may be kept of a conflict is named as it is: each way that is told settles it, and no other one is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.adapters.git_merge import GitMerger, find_git
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.settle import list_conflicts, settle
from onrecord.domain.errors import ConflictError, OnRecordError
from onrecord.surfaces.cli.output import print_reply
from tests.surface.test_copies import Home
from tests.surface.test_merge_marks import mark


def list_choices(mend: str) -> list[str]:
    """Return what may be kept, by the words of a finding."""
    return re.findall(r"`(?:onrecord settle \w+ --keep )?(\w+)`", mend)


def list_findings(home: Home, code: str) -> list[dict[str, str]]:
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    return [item for item in findings if item["code"] == code]


@pytest.mark.parametrize("code", ["merge_marks", "conflict_open"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_each_way_that_doctor_names_settles_the_marks(tmp_path: Path, code: str, place: int) -> None:
    home = Home(tmp_path)
    mark(home)
    home.take_in()
    (named,) = list_findings(home, code)
    choices = list_choices(named["mend"])
    assert choices == ["A", "B", "current"]
    assert settle(home.session, {"id": home.list_open()[0], "keep": choices[place]}).data["kept"] == choices[place]
    assert home.list_open() == []
    assert list_findings(home, code) == []


def test_a_merge_is_named_where_one_can_be_had(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.copy("Plan.sync-conflict-20261130-173636-D4LGQYW")
    home.place("Plan").write_text(home.place("Plan").read_text().replace("line 0", "line 0 here"))
    home.take_in()
    (named,) = list_findings(home, "conflict_open")
    assert "merge" in list_choices(named["mend"])


@pytest.mark.parametrize(("has_git", "reason"), [(True, "both change the same place"), (False, "git")])
def test_why_no_merge_can_be_had_is_the_reason_at_hand(tmp_path: Path, has_git: bool, reason: str) -> None:
    home = Home(tmp_path)
    home.session.merger = GitMerger(find_git() if has_git else None)
    mark(home)
    home.take_in()
    (shown,) = (tmp_path / "vault" / "conflicts").glob("*.md")
    (told,) = re.findall(r"No merge can be had: (.*)\.\n", shown.read_text())
    assert ("both change" in told, "git" in told) == (has_git, not has_git)
    with pytest.raises(ConflictError, match=reason) as caught:
        settle(home.session, {"id": home.list_open()[0], "keep": "merge"})
    assert "A, B, current" in caught.value.hint


@pytest.mark.parametrize("keep", ["Z", "C", "a", ""])
def test_what_is_no_side_of_the_conflict_is_answered_with_the_sides_that_are(tmp_path: Path, keep: str) -> None:
    home = Home(tmp_path)
    mark(home)
    home.take_in()
    with pytest.raises(OnRecordError) as caught:
        settle(home.session, {"id": home.list_open()[0], "keep": keep})
    assert caught.value.field == "keep"
    assert caught.value.hint == "One of: A, B, current."
    assert len(home.list_open()) == 1


def test_a_side_that_lacks_the_line_says_so_in_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path)
    home.copy("Plan.sync-conflict-20261130-173636-D4LGQYW", "line 8 of the plan\n", "")
    home.take_in()
    print_reply("conflicts", list_conflicts(home.session, {}), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith("(no words here)") for line in lines[1:3]] == [False, True]
