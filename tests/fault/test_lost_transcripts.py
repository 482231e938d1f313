"""Transcripts whose file was deleted or has not come: what was captured is shown from the versions store, and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.capture import capture
from onrecord.app.find import find
from onrecord.app.session import Session
from tests.fault.test_known_bytes import list_reasons, reindex, show
from tests.machines import Machine, bring, bring_log, make_two


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def take(machine: Machine, turn: str) -> str:
    given = {"source": "chat", "session": "monday", "turn": turn, "role": "user", "text": f"green tea {turn}"}
    return str(machine.call(lambda session: capture(session, given).data)["id"])


def list_found(machine: Machine) -> tuple[list[str], list[str]]:
    """Return the turns found, sorted, and why the answer is less than it could be."""

    def ask(session: Session) -> tuple[list[str], list[str]]:
        reply = find(session, {"query": "green tea"})
        results = reply.data["results"]
        assert isinstance(results, list)
        return sorted(hit["turn"] for hit in results), list_reasons(reply)

    machine.find("green tea")
    return machine.call(ask)


def check_shown(machine: Machine, record: str, text: str) -> None:
    for _ in range(2):
        assert list_found(machine) == (["one", "three", "two"], ["transcript_missing"])
        shown = show(machine, record)
        assert (shown.data["text"], shown.warnings) == (text, [])
        assert list_reasons(shown) == ["transcript_missing"]
        reindex(machine)


def test_the_turns_of_a_deleted_transcript_are_found_and_read(machines: tuple[Machine, Machine]) -> None:
    first = machines[0]
    record, *_ = [take(first, turn) for turn in ("one", "two", "three")]
    shown = show(first, record).data
    (first.vault / str(shown["path"])).unlink()
    check_shown(first, record, str(shown["text"]))


def test_the_turns_of_a_transcript_whose_log_came_first_are_found_and_read(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record, *_ = [take(first, turn) for turn in ("one", "two", "three")]
    text = str(show(first, record).data["text"])
    second.clock.wall_us = first.clock.wall_us + 60_000_000
    bring_log(first, second)
    check_shown(second, record, text)
    bring(first, second)
    assert list_found(second) == (["one", "three", "two"], [])
    assert show(second, record).data["text"] == text


def test_a_session_goes_on_in_a_further_part_when_its_file_is_gone(machines: tuple[Machine, Machine]) -> None:
    first = machines[0]
    record = take(first, "one")
    (first.vault / str(show(first, record).data["path"])).unlink()
    further = take(first, "two")
    assert further != record
    assert list_found(first) == (["one", "two"], ["transcript_missing"])
    assert take(first, "one") == record, "it is known, not captured twice"
    assert "green tea two" in str(show(first, further).data["text"])
    assert list_reasons(show(first, further)) == []
