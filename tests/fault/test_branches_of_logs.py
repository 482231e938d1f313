"""Branches that several logs make of one record: its tips, and which records are to be looked at for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.app.branches import find_tips, list_equal_tips, list_touched, mark_judged
from onrecord.app.rebuild import rebuild
from onrecord.app.session import Session
from onrecord.app.update import update
from onrecord.domain.ids import RecordId
from tests.machines import Machine, bring, bring_log, make_two


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def change(machine: Machine, record: str, old: str, new: str, expect: int) -> int:
    given = {"id": record, "old": old, "new": new, "expect": expect}
    return int(machine.call(lambda session: update(session, given).data["version"]))


def list_tips(machine: Machine, record: str) -> list[tuple[str, int]]:
    def ask(session: Session) -> list[tuple[str, int]]:
        with session.index.read() as reader:
            return [(head.ref.log, head.version) for head in find_tips(session, reader, RecordId(record))]

    return machine.call(ask)


def make_branches(first: Machine, second: Machine) -> str:
    """Let both change one memory; return its id. Neither has anything of the other yet."""
    record = str(first.remember("the capital is Bonn")["id"])
    bring(first, second)
    second.find("capital")
    second.clock.wall_us = first.clock.wall_us + 60_000_000
    assert change(first, record, "Bonn", "Berlin", 1) == change(second, record, "Bonn", "Vienna", 1) == 2
    return record


def test_versions_that_two_logs_made_of_one_are_tips_the_current_one_first(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = make_branches(first, second)
    assert list_tips(second, record) == [(second.log, 2)]
    bring_log(first, second)
    bring_log(second, first)
    both = [(second.log, 2), (first.log, 2)]
    assert list_tips(second, record) == list_tips(first, record) == both


def test_a_record_with_rows_of_several_logs_is_listed_until_it_is_judged(
    machines: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onrecord.app.reconcile.attend", lambda *_: [])  # a file that is looked at again would judge it
    first, second = machines
    record = make_branches(first, second)
    assert second.call(list_touched) == []
    bring_log(first, second)
    assert second.call(list_touched) == [record]
    assert second.call(list_touched) == [record], "opening a vault forgets nothing"
    second.call(lambda session: mark_judged(session, [RecordId(record)]))
    assert second.call(list_touched) == []
    second.call(rebuild)
    assert second.call(list_touched) == [record], "a rebuilt index knows nothing of what was judged"


def test_tips_that_say_the_same_are_all_parents_of_the_next_version(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = make_branches(first, second)
    change(first, record, "Berlin", "Vienna", 2)
    bring_log(second, first)

    def ask(session: Session) -> list[str]:
        with session.index.read() as reader:
            tips = find_tips(session, reader, RecordId(record))
            return [ref.log for ref in list_equal_tips(session, reader, tips[0])]

    assert first.call(ask) == [first.log, second.log]


def test_rows_that_arrive_after_their_entries_are_taken_in(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    folder = f".onrecord/{first.log}"
    before = shutil.copytree(first.vault / folder / "versions", first.vault.parent / "before")
    record = str(first.remember("comes in two parts")["id"])
    for versions in (before, first.vault / folder / "versions"):
        shutil.copytree(first.vault / folder / "ledger", second.vault / folder / "ledger", dirs_exist_ok=True)
        shutil.copytree(versions, second.vault / folder / "versions", dirs_exist_ok=True)
        taken = second.call(_list_records)
    assert record in taken


def _list_records(session: Session) -> list[RecordId]:
    with session.index.read() as reader:
        return list(reader.find_ids("", 99))
