"""What a conflict's file tells a person to do is done as told, also where the memory or its file has changed since."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.settle import list_conflicts, settle
from onrecord.app.update import update
from onrecord.domain.errors import StaleVersionError
from tests.machines import LINES, Machine, bring, bring_log
from tests.surface.test_conflicts import GIT, Case
from tests.vaults import check_verifies, make_vault

COPY = "memories/default/Plan.sync-conflict-20261130-081500-ABCDEFG.md"
MEMORY = "memories/default/Plan.md"


def list_told(vault: Path) -> list[tuple[str, str]]:
    """Return id and side of each command that the one conflict file of a vault gives."""
    (shown,) = (vault / "conflicts").glob("*.md")
    return re.findall(r"onrecord settle (\w+) --keep (\w+)`", shown.read_text())


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_memory_that_was_edited_until_it_is_right_is_kept_as_the_conflict_file_tells(
    tmp_path: Path, by_hand: bool
) -> None:
    case = Case(tmp_path)
    if by_hand:
        case.path.write_text(case.path.read_text().replace("line 4", "line 4 right"))
    else:
        update(case.session, {"id": case.record, "old": "line 4", "new": "line 4 right", "expect": 2})
    assert (case.conflict, "current") in list_told(case.vault)
    assert case.settle("current")["kept"] == "current"
    assert "line 4 right" in case.read()
    assert "line 4 right" in case.path.read_text()
    assert list_conflicts(case.session, {}).data["conflicts"] == []
    check_verifies(case.session)


def test_a_version_that_is_named_has_to_be_the_current_one_whatever_is_kept(tmp_path: Path) -> None:
    case = Case(tmp_path)
    for keep in ("A", "B", "merge", "current"):
        with pytest.raises(StaleVersionError):
            case.settle(keep, expect=1)


def test_the_conflict_file_tells_what_a_side_over_later_words_needs(tmp_path: Path) -> None:
    case = Case(tmp_path)
    update(case.session, {"id": case.record, "old": "line 4", "new": "line 4 later", "expect": 2})
    with pytest.raises(StaleVersionError) as caught:
        case.settle("A")
    (shown,) = (case.vault / "conflicts").glob("*.md")
    assert "--expect" in shown.read_text()
    assert "`current`" in caught.value.hint


def make_copied(root: Path) -> tuple[Machine, str]:
    """Return a machine beside whose file a sync program left the text of another machine, both logs being here.

    Both edited one memory, and the text of this one came to the other as a version of its own.
    """
    first, second = Machine(root, "first"), Machine(root, "second")
    make_vault(first.vault)
    record = str(first.call(lambda session: remember(session, {"text": LINES, "title": "Plan"}).data["id"]))
    bring(first, second)
    second.clock.wall_us += 120_000_000
    second.remember("begun on a copy")
    for machine, line in ((first, 0), (second, 8)):
        machine.clock.pass_s(60)
        path = machine.vault / MEMORY
        path.write_text(path.read_text().replace(f"line {line}", f"line {line} by hand"))
        machine.call(show)
    theirs = (second.vault / MEMORY).read_bytes()
    for machine in (first, second):
        machine.clock.pass_s(60)
        (machine.vault / COPY).write_bytes(theirs)
    (second.vault / MEMORY).write_bytes((first.vault / MEMORY).read_bytes())
    for machine in (first, second):
        machine.call(show)
    bring_log(first, second)
    bring_log(second, first)
    for machine in (first, second):
        machine.call(show)
    return first, record


def settle_with_git(session: Session, given: dict[str, object]) -> Reply:
    session.merger = GIT
    return settle(session, given)


def show(session: Session) -> Reply:
    session.compare_files(Reply(), pieces=None, intake_pieces=None)
    return list_conflicts(session, {})


@pytest.mark.parametrize("keep", ["A", "B", "merge", "current"])
def test_a_version_of_another_machine_that_says_what_a_side_says_hinders_no_settlement(
    tmp_path: Path, keep: str
) -> None:
    first, record = make_copied(tmp_path)
    numbers = first.call(lambda session: list_history(session, {"id": record}).data["versions"])
    assert [item["version"] for item in numbers] == [1, 2, 2, 3, 3]  # type: ignore[attr-defined]
    (conflict,) = {conflict for conflict, _ in list_told(first.vault)}
    first.call(lambda session: settle_with_git(session, {"id": conflict, "keep": keep}))
    text = str(first.call(lambda session: read(session, {"id": record}).data["text"]))
    is_a, is_b = keep in ("A", "merge", "current"), keep in ("B", "merge")
    assert ("line 0 by hand" in text, "line 8 by hand" in text) == (is_a, is_b)
