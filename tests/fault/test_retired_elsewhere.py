"""A memory that another machine retired, its file gone there: what lies here is no wish to have it back (ADR 17)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.missing import repair_missing
from onrecord.app.session import Channel
from onrecord.app.settle import list_conflicts
from onrecord.app.verify import verify
from tests.fault.test_known_bytes import change, get_path, list_findings, reindex, show
from tests.machines import LINES, Machine, bring, bring_log, make_two
from tests.vaults import check_verifies, open_session

PLAIN = "memories/plain.md"


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def lose_index(machine: Machine) -> None:
    for path in machine.state.rglob("index.sqlite3*"):
        path.unlink()


def keep(machine: Machine) -> None:
    """Leave the index as it is."""


def retire_all(machine: Machine) -> dict[str, Any]:
    """Retire what is missing as the user at a terminal does."""
    machine.clock.pass_s(5)
    session = open_session(machine.vault, machine.state, clock=machine.clock, channel=Channel.TERMINAL)
    try:
        return repair_missing(session, {"retire": True}).data
    finally:
        session.close()


def begin(first: Machine, second: Machine, *, is_plain: bool = False) -> str:
    """Return a memory of the first machine whose file both have."""
    if is_plain:
        (first.vault / PLAIN).write_text(LINES)
        record = first.find("line 4")[0][0]
    else:
        record = str(first.remember(LINES)["id"])
    bring(first, second)
    bring_log(second, first)
    second.clock.wall_us = first.clock.wall_us + 60_000_000
    assert [hit[0] for hit in second.find("line 4")] == [record]
    return record


def retire(first: Machine, second: Machine, record: str) -> tuple[Path, bytes]:
    """Delete and retire a memory at the first machine, bring its log; return the file that the second still has."""
    path = second.vault / get_path(second, record)
    (first.vault / path.relative_to(second.vault)).unlink()
    assert retire_all(first)["retired"] == 1
    second.clock.wall_us = max(second.clock.wall_us, first.clock.wall_us + 60_000_000)
    bring_log(first, second)
    return path, path.read_bytes()


def get_status(machine: Machine, record: str) -> str:
    return str(show(machine, record).data["status"])


def exchange_logs(first: Machine, second: Machine) -> None:
    for _ in range(2):
        bring_log(second, first)
        bring_log(first, second)
        for machine in (first, second):
            machine.find("line 4")


def list_notes(machine: Machine) -> list[str]:
    notes: Any = machine.call(lambda session: verify(session, {}, Ed25519Verifier()).data["notes"])
    return [note["code"] for note in notes]


@pytest.mark.parametrize("renew", [keep, reindex, lose_index])
@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("is_log_first", [True, False])
def test_a_retirement_stands_whether_the_log_or_the_deletion_comes_first(
    machines: tuple[Machine, Machine], is_log_first: bool, is_plain: bool, renew: Callable[[Machine], None]
) -> None:
    first, second = machines
    record = begin(first, second, is_plain=is_plain)
    path = second.vault / get_path(second, record)
    entries = len(second.list_entries())
    if not is_log_first:
        path.unlink()
        second.find("line 4")
    if is_log_first:
        _, data = retire(first, second, record)
        renew(second)
        for _ in range(2):
            assert second.find("line 4") == []
            assert get_status(second, record) == "retired"
        assert path.read_bytes() == data
        (finding,) = list_findings(second, "retired_file")
        assert (finding["severity"], "sync program" in finding["mend"]) == ("info", True)
        assert "retired_file" in list_notes(second)
        path.unlink()
    else:
        (first.vault / path.relative_to(second.vault)).unlink()
        retire_all(first)
        bring_log(first, second)
    renew(second)
    exchange_logs(first, second)
    for machine in machines:
        assert get_status(machine, record) == "retired"
        assert list_findings(machine, "retired_file") == []
        machine.call(lambda session: check_verifies(session, may_differ=True))
    assert len(second.list_entries()) == entries, "nothing was written for it"


@pytest.mark.parametrize("renew", [keep, lose_index])
def test_a_plain_note_that_was_moved_here_stays_the_retired_one(
    machines: tuple[Machine, Machine], renew: Callable[[Machine], None]
) -> None:
    first, second = machines
    record = begin(first, second, is_plain=True)
    (second.vault / PLAIN).rename(second.vault / "memories/moved.md")
    second.find("line 4")
    (first.vault / PLAIN).unlink()
    assert retire_all(first)["retired"] == 1
    bring_log(first, second)
    renew(second)
    assert second.find("line 4") == []
    assert get_status(second, record) == "retired"
    assert [item["path"] for item in list_findings(second, "retired_file")] == ["memories/moved.md"]


@pytest.mark.parametrize("renew", [keep, lose_index])
def test_new_words_in_its_file_bring_it_back_on_both(
    machines: tuple[Machine, Machine], renew: Callable[[Machine], None]
) -> None:
    first, second = machines
    record = begin(first, second)
    path, data = retire(first, second, record)
    assert second.find("line 4") == []
    renew(second)
    path.write_bytes(data + b"zarzuela\n")
    second.clock.pass_s(60)
    assert second.find("zarzuela") == [(record, 4)]
    assert second.call(lambda session: list_conflicts(session, {}).data["conflicts"]) == []
    bring(second, first)
    first.clock.pass_s(120)
    assert first.find("zarzuela") == [(record, 4)]
    assert [get_status(machine, record) for machine in machines] == ["current", "current"]


def test_an_edit_that_the_retirement_did_not_know_brings_it_back(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = begin(first, second)
    path = second.vault / get_path(second, record)
    path.write_bytes(path.read_bytes() + b"zarzuela\n")
    assert second.find("zarzuela") == [(record, 2)]
    first.clock.wall_us = second.clock.wall_us + 60_000_000
    retire(first, second, record)
    second.find("line 4")
    exchange_logs(first, second)
    assert [get_status(machine, record) for machine in machines] == ["current", "current"]


@pytest.mark.parametrize("renew", [keep, reindex, lose_index])
def test_a_file_that_was_gone_here_and_is_put_back_brings_it_back_on_both(
    machines: tuple[Machine, Machine], renew: Callable[[Machine], None]
) -> None:
    first, second = machines
    record = begin(first, second)
    path, data = retire(first, second, record)
    second.find("line 4")
    path.unlink()
    second.find("line 4")
    renew(second)
    second.find("line 4")
    path.write_bytes(data)
    second.clock.pass_s(60)
    assert [hit[0] for hit in second.find("line 4")] == [record]
    assert [entry["type"] for entry in second.list_entries()][-2:] == ["record.found", "record.restore"]
    bring(second, first)
    first.clock.pass_s(120)
    assert [hit[0] for hit in first.find("line 4")] == [record]
    path, _ = retire(first, second, record)
    assert second.find("line 4") == [], "what was seen before it came back says nothing any more"
    assert get_status(second, record) == "retired"


def test_a_file_that_is_put_back_where_it_was_retired_brings_it_back_on_both(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = begin(first, second)
    path, data = retire(first, second, record)
    second.find("line 4")
    (first.vault / path.relative_to(second.vault)).write_bytes(data)
    first.clock.pass_s(60)
    assert [hit[0] for hit in first.find("line 4")] == [record]
    bring_log(first, second)
    assert [hit[0] for hit in second.find("line 4")] == [record]


def test_older_bytes_that_come_late_bring_nothing_back(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = begin(first, second)
    path = second.vault / get_path(second, record)
    older = path.read_bytes()
    change(first, record, "line 4", "line four", 1)
    bring(first, second)
    second.clock.pass_s(60)
    second.find("line 5")
    retire(first, second, record)
    second.find("line 5")
    path.write_bytes(older)
    second.clock.pass_s(60)
    assert second.find("line 5") == []
    assert get_status(second, record) == "retired"
    assert len([item for item in list_findings(second, "retired_file") if item["severity"] == "info"]) == 1


def test_a_new_installation_takes_a_file_that_comes_late_for_no_wish(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    record = begin(first, second)
    path, data = retire(first, second, record)
    third = Machine(tmp_path, "third")
    bring(first, third)
    third.clock.wall_us = second.clock.wall_us + 60_000_000
    assert third.find("line 4") == []
    late = third.vault / path.relative_to(second.vault)
    late.parent.mkdir(parents=True, exist_ok=True)
    late.write_bytes(data)
    third.clock.pass_s(60)
    assert third.find("line 4") == []
    assert get_status(third, record) == "retired"
    assert [item["path"] for item in list_findings(third, "retired_file")] == [str(late.relative_to(third.vault))]


def test_a_look_at_which_all_is_gone_is_no_look_at_a_retired_file(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = begin(first, second)
    retire(first, second, record)
    second.find("line 4")
    folder, away = second.vault / "memories", second.vault.parent / "away"
    folder.rename(away)
    folder.mkdir()
    second.find("line 4")
    folder.rmdir()
    away.rename(folder)
    second.clock.pass_s(60)
    assert second.find("line 4") == []
    assert get_status(second, record) == "retired"
