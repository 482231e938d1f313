"""A conflict of which a side was given up with its log is settled by what is left."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from onrecord.adapters.system import SystemIds
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.settle import list_conflicts, settle
from onrecord.domain.errors import ConflictError, NotFoundError, OnRecordError
from onrecord.ports.store import Actor
from onrecord.storage.files import installation
from tests.machines import Machine, bring, bring_log, make_branches
from tests.vaults import KEYS


def open_conflicts(machine: Machine) -> list[dict[str, Any]]:
    return machine.call(lambda session: list_conflicts(session, {}).data["conflicts"])  # type: ignore[return-value]


def keep(machine: Machine, conflict: str, choice: str) -> dict[str, Any]:
    return machine.call(lambda session: settle(session, {"id": conflict, "keep": choice}).data)


@pytest.fixture
def place(tmp_path: Path) -> tuple[Machine, Machine, str]:
    """Give a machine that lost its own log, and with it a side of an open conflict, and accepted that."""
    first, second, _ = make_branches(tmp_path)
    bring_log(second, first)
    (one,) = open_conflicts(first)
    bring(first, second)
    assert [item["id"] for item in open_conflicts(second)] == [one["id"]]
    lost = second.log
    shutil.rmtree(second.vault / ".onrecord" / lost)
    installation.adopt_vault(str(second.vault), str(second.state), KEYS, SystemIds(), Actor("cli"))
    return second, first, str(one["id"])


def split_sides(machine: Machine) -> tuple[str, str]:
    (one,) = open_conflicts(machine)
    sides = {side["origin"] == "unknown": side["side"] for side in one["sides"]}
    return sides[False], sides[True]


def test_the_side_that_is_left_can_be_kept(place: tuple[Machine, Machine, str]) -> None:
    machine, _, conflict = place
    here, gone = split_sides(machine)
    with pytest.raises(NotFoundError) as refused:
        keep(machine, conflict, gone)
    assert "given up" in refused.value.reason
    assert refused.value.hint == f"One of: {here}, current."
    with pytest.raises(ConflictError) as refused_merge:
        keep(machine, conflict, "merge")
    assert "given up" in refused_merge.value.reason
    assert keep(machine, conflict, here)["kept"] == here
    assert open_conflicts(machine) == []


def test_what_the_memory_says_now_can_be_kept(place: tuple[Machine, Machine, str]) -> None:
    machine, _, conflict = place
    assert keep(machine, conflict, "current")["kept"] == "current"
    assert open_conflicts(machine) == []


def test_a_side_that_may_still_come_is_waited_for(tmp_path: Path) -> None:
    first, second, _ = make_branches(tmp_path)
    bring_log(second, first)
    (one,) = open_conflicts(first)
    shutil.rmtree(first.vault / ".onrecord" / second.log)
    with pytest.raises(OnRecordError) as refused:
        keep(first, str(one["id"]), "A")
    assert "Sync the other machine" in refused.value.hint


def test_the_file_of_a_conflict_that_was_given_up_is_to_be_removed_and_never_taken_in(tmp_path: Path) -> None:
    first, second, _ = make_branches(tmp_path)
    bring_log(second, first)
    open_conflicts(first)
    shutil.rmtree(first.vault / ".onrecord" / first.log)
    installation.adopt_vault(str(first.vault), str(first.state), KEYS, SystemIds(), Actor("cli"))
    found = first.call(lambda session: diagnose(session, {}).data["findings"])
    (item,) = [one for one in found if one["path"].startswith("conflicts/")]  # type: ignore[attr-defined]
    assert item["code"] == "pending_sync"
    assert "Remove this file" in item["mend"]
    assert "`by`" not in item["mend"]
