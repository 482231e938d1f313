"""Files that come before their rows: found and read, never versioned, and settled when the rows come."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.update import update
from onrecord.domain.errors import AmbiguousIdError, NotFoundError, PendingSyncError
from onrecord.domain.heads import PENDING_LOG
from tests.fault.test_known_bytes import (
    change,
    get_path,
    list_differences,
    list_findings,
    list_modes,
    list_reasons,
    list_rows,
    reindex,
    show,
)
from tests.machines import Machine, bring, bring_file, bring_log, make_two
from tests.vaults import check_verifies


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def ask(machine: Machine, query: str) -> list[dict[str, object]]:
    """Return the hits after checking that the in-memory index and a rebuilt one give the same."""

    def look(session: Session) -> list[dict[str, object]]:
        hits = find(session, {"query": query}).data["results"]
        rebuild(session)
        assert find(session, {"query": query}).data["results"] == hits
        assert isinstance(hits, list)
        return hits

    machine.find(query)
    return machine.call(look)


def count_loose(machine: Machine) -> int:
    def count(session: Session) -> int:
        with session.index.read() as reader:
            return len(reader.list_loose(PENDING_LOG, "note"))

    return machine.call(count)


@pytest.fixture
def record(machines: tuple[Machine, Machine]) -> str:
    """A memory of the first, whose file alone is at the second's."""
    first, second = machines
    made = str(first.remember("the capital is Bonn")["id"])
    bring_file(first, second, get_path(first, made))
    return made


def test_a_file_of_an_unknown_memory_is_found_and_read_and_marked(
    machines: tuple[Machine, Machine], record: str
) -> None:
    second = machines[1]
    before = second.list_entries()
    (hit,) = ask(second, "capital Bonn")
    assert (hit["id"], hit["pending_sync"], hit["origin"]) == (record, True, "unknown")
    assert hit["snippet"] == "the capital is Bonn"
    shown = show(second, record).data
    assert (shown["text"], shown["pending_sync"], shown["origin"]) == ("the capital is Bonn", True, "unknown")
    assert second.call(lambda session: find(session, {"query": "Bonn", "as_of": "2099"}).data["results"]) == []
    assert second.list_entries() == before, "nothing was written"
    assert list_differences(second) == ["pending_sync"]


def test_the_beginning_of_the_id_is_enough_to_read_a_file_ahead_of_its_row(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    for chars in (4, 8):
        assert show(second, record[:chars]).data["id"] == record
    path = second.vault / get_path(first, record)
    other = record[:4] + record[:3:-1]
    text = re.sub(r"(?m)^(by: .*):\d+", r"\1:999", path.read_text().replace(record, other))
    path.with_name("other.md").write_text(text)
    assert show(second, record[:11]).data["id"] == record
    with pytest.raises(AmbiguousIdError):
        show(second, record[:4])
    bring_log(first, second)
    with pytest.raises(AmbiguousIdError):
        show(second, record[:4])
    assert show(second, other[:11]).data["pending_sync"]


def test_an_update_of_a_file_ahead_of_its_row_is_refused(machines: tuple[Machine, Machine], record: str) -> None:
    second = machines[1]
    with pytest.raises(PendingSyncError) as caught:
        change(second, record, "Bonn", "Berlin", 1)
    assert caught.value.code == "pending_sync"
    assert "`by`" in caught.value.hint


def test_doctor_names_path_log_and_mend_of_a_file_ahead_of_its_row(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    (finding,) = list_findings(second, "pending_sync")
    assert finding["path"] == get_path(first, record)
    assert finding["severity"] == "warning"
    assert first.log in finding["message"]
    assert "since" in finding["message"]
    assert ".onrecord" in finding["mend"]


def test_when_the_row_comes_the_file_stands_for_it(machines: tuple[Machine, Machine], record: str) -> None:
    first, second = machines
    assert count_loose(second) == 0 or ask(second, "Bonn")
    bring_log(first, second)
    (hit,) = ask(second, "capital")
    assert (hit["id"], hit["origin"], hit.get("pending_sync")) == (record, "agent", None)
    assert list_modes(second, record) == [(1, "other", "agent")]
    assert count_loose(second) == 0
    second.call(check_verifies)


def test_the_row_may_come_while_the_vault_is_open(machines: tuple[Machine, Machine], record: str) -> None:
    first, second = machines
    session = second.open()
    assert find(session, {"query": "capital"}).data["results"][0]["pending_sync"]
    path = second.vault / get_path(first, record)
    path.write_bytes(path.read_bytes().replace(b"Bonn", b"Bonn am Rhein"))
    assert read(session, {"id": record}).data["pending_sync"]
    bring_log(first, second)
    hits = find(session, {"query": "capital"}).data["results"]
    assert [(hit["version"], hit["origin"], hit.get("pending_sync")) for hit in hits] == [(2, "file", None)]
    session.close()


@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_a_file_that_was_edited_while_it_waited_is_an_edit_of_its_row(
    machines: tuple[Machine, Machine], record: str, is_rebuilt: bool
) -> None:
    first, second = machines
    second.find("Bonn")
    path = second.vault / get_path(first, record)
    path.write_bytes(path.read_bytes().replace(b"Bonn", b"Bonn am Rhein"))
    (hit,) = ask(second, "Rhein")
    assert hit["pending_sync"]
    bring_log(first, second)
    if is_rebuilt:
        reindex(second)
    assert list_modes(second, record) == [(1, "other", "agent"), (2, "own", "file")]
    rows = list_rows(second, record)
    assert rows[1].draft.parents == (rows[0].ref,)
    assert count_loose(second) == 0


def test_of_a_known_memory_the_current_version_is_shown_while_a_newer_one_is_on_its_way(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    bring(first, second)
    assert second.find("capital") == [(record, 1)]
    second.clock.wall_us = first.clock.wall_us
    change(first, record, "Bonn", "Berlin", 1)
    bring_file(first, second, get_path(first, record))
    shown = show(second, record)
    assert (shown.data["text"], shown.data["version"]) == ("the capital is Bonn", 1)
    assert list_reasons(shown) == ["pending_sync"]
    assert [(hit["id"], hit.get("pending_sync")) for hit in ask(second, "Berlin")] == [(record, True)]
    with pytest.raises(PendingSyncError):
        change(second, record, "Bonn", "Vienna", 1)
    assert len(list_rows(second, record)) == 1
    bring_log(first, second)
    assert list_reasons(show(second, record)) == []
    assert len(list_rows(second, record)) == 2


def test_a_file_ahead_of_its_row_that_is_removed_is_forgotten(machines: tuple[Machine, Machine], record: str) -> None:
    first, second = machines
    second.find("Bonn")
    (second.vault / get_path(first, record)).unlink()
    assert ask(second, "Bonn") == []
    assert count_loose(second) == 0
    with pytest.raises(NotFoundError):
        show(second, record)
    assert list_differences(second) == []


def test_a_file_ahead_of_its_row_takes_no_memory_from_its_own_file(machines: tuple[Machine, Machine]) -> None:
    second = machines[1]
    record = str(second.remember("my own words")["id"])
    path = get_path(second, record)
    forged = (second.vault / path).read_text().replace("my own words", "words of nobody")
    forged = forged.replace(second.log, machines[0].log).replace(":1\n", ":999\n").replace(":2\n", ":999\n")
    (second.vault / "memories" / "forged.md").write_text(forged)
    assert [(hit["id"], hit["origin"]) for hit in ask(second, "nobody")] == [(record, "unknown")]
    assert show(second, record).data["text"] == "my own words"
    second.call(lambda session: update(session, {"id": record, "text": "changed", "expect": 1}))
    assert show(second, record).data["text"] == "changed"
    assert "words of nobody" in (second.vault / "memories" / "forged.md").read_text()


@pytest.mark.parametrize("by", ["by: {own}:999", "by: {other}:1", ""])
def test_a_by_that_names_nothing_that_is_awaited_is_an_ordinary_edit(
    machines: tuple[Machine, Machine], by: str
) -> None:
    first, second = machines
    record = str(second.remember("my own words")["id"])
    path = second.vault / get_path(second, record)
    lines = path.read_text().splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith("by: ")]
    lines[place] = by.format(own=second.log, other=first.log)
    path.write_text("\n".join(line for line in lines if line).replace("my own words", "edited words") + "\n")
    shown = show(second, record).data
    assert (shown["text"], shown["version"], shown["origin"]) == ("edited words", 2, "file")


def test_without_its_by_line_a_file_that_waited_is_an_edit(machines: tuple[Machine, Machine], record: str) -> None:
    first, second = machines
    second.find("Bonn")
    path = second.vault / get_path(first, record)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("by: ")))
    (hit,) = ask(second, "Bonn")
    assert (hit["id"], hit["origin"], hit.get("pending_sync")) == (record, "file", None)
    assert count_loose(second) == 0


@pytest.mark.parametrize("is_known", [False, True])
def test_a_file_without_its_by_line_is_accused_of_nothing_before_and_after_its_history_comes(
    machines: tuple[Machine, Machine], record: str, is_known: bool
) -> None:
    first, second = machines
    if is_known:
        bring(first, second)
        second.find("Bonn")
        first.clock.pass_s(60)
        change(first, record, "Bonn", "Berlin", 1)
        bring_file(first, second, get_path(first, record))
    (waiting,) = list_findings(second, "pending_sync")
    assert waiting["mend"].startswith(f"Wait until the sync has brought .onrecord/{first.log}")
    path = second.vault / get_path(first, record)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("by: ")))
    text = "the capital is Berlin" if is_known else "the capital is Bonn"
    for _ in range(2):
        assert (show(second, record).data["text"], list_reasons(show(second, record))) == (text, [])
        for code in ("server_key_changed", "file_behind", "pending_sync", "edited_outside", "conflict_open"):
            assert list_findings(second, code) == []
        assert list_differences(second) == []
        bring_log(first, second)
    path.write_text(path.read_text().replace("origin: agent", "origin: user"))
    (changed,) = list_findings(second, "server_key_changed")
    assert changed["message"].startswith("origin was changed")


def test_each_of_several_files_that_name_one_unknown_memory_is_found(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    path = second.vault / get_path(first, record)
    for name, word in (("A.md", "tiger"), ("Z copy.md", "panther")):
        path.with_name(name).write_bytes(path.read_bytes() + f"{word}\n".encode())
    for query, count in (("capital", 3), ("tiger", 1), ("panther", 1)):
        hits = ask(second, query)
        assert [(hit["id"], hit["pending_sync"]) for hit in hits] == [(record, True)] * count
    assert count_loose(second) == 3
    assert list_reasons(show(second, record)) == []
    assert len(list_findings(second, "pending_sync")) == 3


def test_the_history_of_a_file_ahead_of_its_row_says_that_it_has_still_to_come(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    for wanted in (record, record[:6]):
        told = second.call(lambda session, wanted=wanted: list_history(session, {"id": wanted}))
        path = get_path(first, record)
        assert told.data == {"id": record, "versions": [], "path": path, "pending_sync": True}
        assert [item.reason for item in told.degraded] == ["pending_sync"]
    with pytest.raises(NotFoundError, match="has not come yet") as caught:
        second.call(lambda session: read(session, {"id": record, "version": 1}))
    assert "Wait" in caught.value.hint
    bring_log(first, second)
    told = second.call(lambda session: list_history(session, {"id": record}))
    assert isinstance(versions := told.data["versions"], list)
    assert [item["version"] for item in versions] == [1]
    assert "pending_sync" not in told.data


def test_the_history_of_a_memory_whose_ledger_alone_has_come_says_to_wait(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    made = str(first.remember("the capital is Bonn")["id"])
    bring_log(first, second)
    for path in (second.vault / ".onrecord" / first.log / "versions").iterdir():
        path.unlink()
    second.call(rebuild)
    with pytest.raises(NotFoundError) as caught:
        second.call(lambda session: list_history(session, {"id": made}))
    assert "Wait for the sync program" in caught.value.hint


def test_a_file_that_is_written_in_place_before_its_history_waits_for_it(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    ids = [
        str(machine.call(lambda session, text=text: remember(session, {"text": text, "title": "Staging"}).data["id"]))
        for machine, text in zip(machines, ("apple words\nmore of them", "banana words\nmore of those"), strict=True)
    ]
    path = get_path(first, ids[0])
    assert get_path(second, ids[1]) == path
    (second.vault / path).write_bytes((first.vault / path).read_bytes())
    second.clock.pass_s(60)
    (hit,) = ask(second, "apple")
    assert hit["pending_sync"] is True
    for _ in range(2):
        assert show(second, ids[1]).data["text"] == "banana words\nmore of those"
        assert len(list_modes(second, ids[1])) == 1
        bring_log(first, second)
    (hit,) = ask(second, "apple")
    assert hit["id"] == ids[0]


def test_a_file_whose_id_and_entry_a_hand_made_up_stays_its_memorys(machines: tuple[Machine, Machine]) -> None:
    first, _ = machines
    record = str(first.remember("cherry words\nof the first")["id"])
    path = first.vault / get_path(first, record)
    text = path.read_text().replace(record, "0123456789ab").replace(first.log, "0123456789abcdef")
    path.write_text(text)
    (hit,) = ask(first, "cherry")
    assert hit["id"] == record
