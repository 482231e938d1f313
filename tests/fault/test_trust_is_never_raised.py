"""Words that were said before are trusted no more for being written again, whoever writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.session import Channel, Session
from onrecord.app.update import update
from onrecord.domain.ids import EntryRef, RecordId
from tests.fault.test_known_bytes import list_findings
from tests.machines import Machine, bring, make_two
from tests.vaults import open_session


def call_as(machine: Machine, channel: Channel, given: dict[str, object]) -> None:
    machine.clock.pass_s(60)
    session = open_session(machine.vault, machine.state, clock=machine.clock, channel=channel)
    update(session, given)
    session.close()


def show(machine: Machine, record: str) -> dict[str, Any]:
    return dict(machine.call(lambda session: read(session, {"id": record}).data))


def find_first(session: Session, record: str) -> EntryRef:
    with session.index.read() as reader:
        return reader.list_versions(RecordId(record))[0].ref


def list_origins(machine: Machine, record: str) -> list[str]:
    """Return the origin of each version, in order."""
    data = machine.call(lambda session: list_history(session, {"id": record}).data)
    return [item["origin"] for item in sorted(data["versions"], key=lambda item: item["version"])]


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


@pytest.fixture
def record(machines: tuple[Machine, Machine]) -> str:
    """A memory whose text a hand wrote into its file on the first machine, and that both have."""
    first, second = machines
    made = str(first.remember("the capital is Bonn")["id"])
    first.clock.pass_s(60)
    path = first.vault / show(first, made)["path"]
    path.write_text(path.read_text().replace("Bonn", "Berlin"))
    assert list_origins(first, made) == ["agent", "file"]
    bring(first, second)
    second.find("capital")
    return made


@pytest.mark.parametrize("channel", [Channel.LIBRARY, Channel.TERMINAL])
def test_a_change_of_tags_keeps_the_origin_of_the_text(
    machines: tuple[Machine, Machine], record: str, channel: Channel
) -> None:
    second = machines[1]
    call_as(second, channel, {"id": record, "tags": ["city"], "expect": 2})
    assert list_origins(second, record) == ["agent", "file", "file"]
    shown = show(second, record)
    assert "origin: file\n" in (second.vault / shown["path"]).read_text()
    assert list_findings(second, "server_key_changed") == []


@pytest.mark.parametrize("channel", [Channel.LIBRARY, Channel.TERMINAL])
def test_the_same_words_over_a_file_that_is_behind_keep_their_origin(
    machines: tuple[Machine, Machine], record: str, channel: Channel
) -> None:
    first, second = machines
    path = second.vault / show(second, record)["path"]
    made = first.call(lambda session: session.store.read_row(find_first(session, record)))
    assert made is not None
    path.write_bytes(made.draft.data)
    assert [item["path"] for item in list_findings(second, "file_behind")] == [show(second, record)["path"]]
    call_as(second, channel, {"id": record, "text": "the capital is Berlin", "expect": 2})
    assert b"Berlin" in path.read_bytes()
    assert list_origins(second, record) == ["agent", "file", "file"]
    assert list_findings(second, "file_behind") == []


def test_words_taken_back_are_trusted_as_they_were(machines: tuple[Machine, Machine], record: str) -> None:
    second = machines[1]
    call_as(second, Channel.TERMINAL, {"id": record, "old": "Berlin", "new": "Potsdam", "expect": 2})
    call_as(second, Channel.TERMINAL, {"id": record, "old": "Potsdam", "new": "Berlin", "expect": 3})
    assert list_origins(second, record) == ["agent", "file", "user", "file"]


def test_new_words_are_trusted_as_their_writer_is(machines: tuple[Machine, Machine], record: str) -> None:
    second = machines[1]
    call_as(second, Channel.TERMINAL, {"id": record, "old": "Berlin", "new": "Potsdam", "expect": 2})
    call_as(second, Channel.TERMINAL, {"id": record, "tags": ["city"], "expect": 3})
    assert list_origins(second, record) == ["agent", "file", "user", "user"]
