"""Files that hold bytes which are known: of the current version, or of another one that a sync program has brought."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.domain.ids import RecordId
from onrecord.ports.store import VersionRow
from tests.machines import Machine, bring, bring_file, bring_log, make_two
from tests.vaults import check_verifies


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def change(machine: Machine, record: str, old: str, new: str, expect: int) -> Reply:
    return machine.call(lambda session: update(session, {"id": record, "old": old, "new": new, "expect": expect}))


def show(machine: Machine, record: str) -> Reply:
    return machine.call(lambda session: read(session, {"id": record}))


def list_rows(machine: Machine, record: str) -> list[VersionRow]:
    """Return the rows of a record in the order of its versions, by every log that lies there."""

    def ask(session: Session) -> list[VersionRow]:
        with session.index.read() as reader:
            rows = [session.store.read_row(head.ref) for head in reader.list_versions(RecordId(record))]
        return [row for row in rows if row is not None]

    return machine.call(ask)


def list_modes(machine: Machine, record: str) -> list[tuple[int, str, str]]:
    """Return version number, whose log and origin of each version."""
    own = machine.log
    return [
        (row.draft.version, "own" if row.ref.log == own else "other", row.draft.origin)
        for row in list_rows(machine, record)
    ]


def list_differences(machine: Machine) -> list[str]:
    return [
        item["code"]
        for item in machine.call(lambda session: verify(session, {}, Ed25519Verifier()).data)["differences"]
    ]


def list_findings(machine: Machine, code: str) -> list[dict[str, Any]]:
    data = machine.call(lambda session: diagnose(session, {}).data)
    return [item for item in data["findings"] if item["code"] == code]


def list_reasons(reply: Reply) -> list[str]:
    return [item.reason for item in reply.degraded]


def get_path(machine: Machine, record: str) -> str:
    return str(show(machine, record).data["path"])


def reindex(machine: Machine) -> None:
    machine.call(rebuild)


@pytest.fixture
def record(machines: tuple[Machine, Machine]) -> str:
    """A memory that both have, which the first has changed; its log is at the second's, its file is not."""
    first, second = machines
    made = str(first.remember("the capital is Bonn")["id"])
    bring(first, second)
    second.find("capital")
    second.clock.wall_us = first.clock.wall_us + 60_000_000
    change(first, made, "Bonn", "Berlin", 1)
    bring_log(first, second)
    return made


@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_a_version_whose_file_has_not_come_is_shown_from_the_versions_store(
    machines: tuple[Machine, Machine], record: str, is_rebuilt: bool
) -> None:
    second = machines[1]
    before = second.list_entries()
    if is_rebuilt:
        reindex(second)
    shown = show(second, record)
    assert (shown.data["version"], shown.data["text"]) == (2, "the capital is Berlin")
    assert list_reasons(shown) == ["file_behind"]
    assert second.find("Bonn") == []
    found = second.call(lambda session: find(session, {"query": "capital Berlin"}))
    assert found.data["results"][0]["snippet"] == "the capital is Berlin"
    assert list_reasons(found) == ["file_behind"]
    assert list_reasons(second.call(lambda session: list_history(session, {"id": record}))) == ["file_behind"]
    assert list_differences(second) == ["file_behind"]
    (finding,) = list_findings(second, "file_behind")
    assert (finding["path"], finding["severity"]) == (shown.data["path"], "info")
    assert finding["mend"]
    assert list_findings(second, "edited_outside") == []
    assert second.list_entries() == before, "nothing was written"


@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_the_file_that_comes_after_its_row_makes_no_version(
    machines: tuple[Machine, Machine], record: str, is_rebuilt: bool
) -> None:
    first, second = machines
    bring_file(first, second, get_path(first, record))
    if is_rebuilt:
        reindex(second)
    assert list_reasons(show(second, record)) == []
    assert list_modes(second, record) == [(1, "other", "agent"), (2, "other", "agent")]
    second.call(check_verifies)


def test_an_update_of_a_file_that_is_behind_goes_on_from_the_current_version(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    reply = change(second, record, "Berlin", "Berlin again", 2)
    assert reply.warnings == []
    rows = list_rows(second, record)
    assert [row.draft.mode for row in rows] == ["placed", "placed", "placed"]
    assert rows[2].draft.parents == (rows[1].ref,)
    assert "Berlin again" in (second.vault / get_path(second, record)).read_text()
    assert list_reasons(show(second, record)) == []
    second.call(check_verifies)
    bring(second, first)
    assert show(first, record).data["text"] == "the capital is Berlin again"
    assert len(list_rows(first, record)) == 3


def test_an_edit_of_a_file_that_is_behind_comes_from_the_version_that_it_held(
    machines: tuple[Machine, Machine], record: str
) -> None:
    second = machines[1]
    show(second, record)
    path = second.vault / get_path(second, record)
    path.write_text(path.read_text().replace("Bonn", "Bonn am Rhein"))
    shown = show(second, record)
    assert (shown.data["version"], shown.data["text"]) == (3, "the capital is Bonn am Rhein")
    rows = list_rows(second, record)
    assert rows[2].draft.parents == (rows[0].ref,)


def test_the_edit_of_an_older_file_comes_from_the_version_that_its_by_names_where_nothing_else_is_known(
    machines: tuple[Machine, Machine], record: str
) -> None:
    second = machines[1]
    path = second.vault / get_path(second, record)
    path.write_text(path.read_text().replace("Bonn", "Bonn am Rhein"))
    for index in second.state.rglob("index.sqlite3*"):
        index.unlink()
    reindex(second)
    rows = list_rows(second, record)
    assert [row.draft.version for row in rows] == [1, 2, 3]
    assert rows[2].draft.parents == (rows[0].ref,)


@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_an_older_file_of_another_log_over_the_own_makes_no_version(
    machines: tuple[Machine, Machine], record: str, is_rebuilt: bool
) -> None:
    first, second = machines
    path = get_path(first, record)
    late = (first.vault / path).read_bytes()
    bring_file(first, second, path)
    change(second, record, "Berlin", "Potsdam", 2)
    (second.vault / path).write_bytes(late)
    if is_rebuilt:
        reindex(second)
    for _ in range(2):
        shown = show(second, record)
        assert (shown.data["version"], shown.data["text"]) == (3, "the capital is Potsdam")
        assert list_reasons(shown) == ["file_behind"]
    assert list_modes(second, record)[2:] == [(3, "own", "agent")]
    change(second, record, "Potsdam", "Berlin once more", 3)
    assert [row.draft.mode for row in list_rows(second, record)] == ["placed"] * 4
    assert "Berlin once more" in (second.vault / path).read_text()


def make_own(machine: Machine) -> tuple[str, Path, bytes]:
    """Return a memory changed once, its file, and the bytes of its first version."""
    record = str(machine.remember("the colour is red")["id"])
    path = machine.vault / get_path(machine, record)
    before = path.read_bytes()
    change(machine, record, "red", "blue", 1)
    return record, path, before


def test_an_own_older_file_put_back_by_hand_is_an_edit(machines: tuple[Machine, Machine]) -> None:
    first = machines[0]
    record, path, before = make_own(first)
    path.write_bytes(before)
    shown = show(first, record)
    assert (shown.data["version"], shown.data["text"], shown.data["origin"]) == (3, "the colour is red", "file")
    rows = list_rows(first, record)
    assert rows[2].draft.parents == (rows[1].ref,)
    path.write_bytes(before)
    assert len(list_rows(first, record)) == 3
    first.call(check_verifies)


@pytest.mark.parametrize("has_held", [False, True])
def test_an_own_older_file_is_an_edit_before_a_later_version_of_another_log_only_if_the_file_has_held_later_bytes(
    machines: tuple[Machine, Machine], has_held: bool
) -> None:
    first, second = machines
    record, path, before = make_own(first)
    bring(first, second)
    second.clock.wall_us = first.clock.wall_us + 60_000_000
    change(second, record, "blue", "green", 2)
    bring_log(second, first)
    if not has_held:
        for index in first.state.rglob("index.sqlite3*"):
            index.unlink()
    path.write_bytes(before)
    if not has_held:
        reindex(first)
    shown = show(first, record)
    if has_held:
        assert (shown.data["text"], shown.data["origin"]) == ("the colour is red", "file")
    else:
        assert (shown.data["text"], list_reasons(shown)) == ("the colour is green", ["file_behind"])
    assert len(list_rows(first, record)) == (4 if has_held else 3)


def test_a_plain_note_whose_older_bytes_come_late_makes_no_version(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    note = first.vault / "memories" / "plain.md"
    note.write_text("milk and bread\n")
    record = first.find("milk")[0][0]
    bring(first, second)
    assert second.find("milk") == [(record, 1)]
    note.write_text("milk and butter\n")
    assert first.find("butter") == [(record, 2)]
    bring_log(first, second)
    assert second.find("butter") == [(record, 2)]
    assert second.find("bread") == []
    bring(first, second)
    (second.vault / "memories" / "plain.md").write_text("milk and bread\n")
    assert second.find("butter") == [(record, 2)]
    assert len(list_rows(second, record)) == 2
    second.call(lambda session: remember(session, {"text": "goes on"}))


def test_a_copy_of_the_current_bytes_does_not_take_the_place_of_a_renamed_file_that_is_behind(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    note = first.vault / "memories" / "default" / "plain.md"
    note.write_text("milk and bread\n")
    record = first.find("bread")[0][0]
    bring(first, second)
    assert second.find("bread") == [(record, 1)]
    (second.vault / "memories" / "default" / "plain.md").write_text("milk and butter\n")
    assert second.find("butter") == [(record, 2)]
    bring_log(second, first)
    assert first.find("butter") == [(record, 2)]
    note.with_name("plain.sync-conflict-20261130-000001-ABCDEFG.md").write_text("milk and butter\n")
    note.rename(note.with_name("shopping.md"))
    for _ in range(2):
        first.find("milk")  # asks an index made anew, too
        assert get_path(first, record).endswith("/shopping.md")
        assert [row.draft.version for row in list_rows(first, record)] == [1, 2]
        reindex(first)


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_file_that_is_behind_and_is_renamed_by_a_sync_program_stays_the_same_memory(
    machines: tuple[Machine, Machine], is_plain: bool
) -> None:
    first, second = machines
    old = "memories/default/plain.md"
    if is_plain:
        (first.vault / old).write_text("milk and bread\n")
    else:
        old = get_path(first, str(first.remember("milk and bread")["id"]))
    record = first.find("bread")[0][0]
    bring(first, second)
    assert second.find("bread") == [(record, 1)]
    change(first, record, "bread", "butter", 1)
    bring_log(first, second)
    assert second.find("butter") == [(record, 2)]
    renamed = second.vault / "memories" / "default" / "shopping.md"
    renamed.write_bytes((second.vault / old).read_bytes())
    (second.vault / old).unlink()
    assert second.find("milk") == [(record, 2)]
    assert [(row.draft.id, row.draft.version) for row in list_rows(second, record)] == [(record, 1), (record, 2)]
    assert second.find("bread") == [], "no memory is made of the old words"


def test_an_edit_of_a_memory_of_one_log_reads_as_many_rows_whatever_its_history(
    machines: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = machines[0]
    note = first.vault / "memories" / "journal.md"
    counts = []
    for number in range(8):
        note.write_text(f"day {number}\n")
        session = first.open()
        reads: list[object] = []
        plain = session.store.read_row
        monkeypatch.setattr(
            session.store, "read_row", lambda ref, plain=plain, reads=reads: reads.append(ref) or plain(ref)
        )
        note.write_text(f"evening of day {number}\n")
        assert find(session, {"query": "day"}).data["results"]
        counts.append(len(reads))
        session.close()
    assert counts[-1] == counts[1], counts


def test_what_a_sync_program_brought_is_no_changed_key(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = str(first.remember("the colour is red")["id"])
    bring(first, second)
    change(first, record, "red", "green", 1)
    change(second, record, "red", "blue", 1)
    bring(first, second)
    bring(second, first)
    for machine in (first, second, first):
        assert list_findings(machine, "server_key_changed") == []
        bring(*((second, first) if machine is second else (first, second)))


def test_a_key_changed_by_hand_in_what_another_machine_wrote_is_named_alone(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = str(first.remember("the colour is red")["id"])
    bring(first, second)
    change(first, record, "red", "green", 1)
    change(second, record, "red", "blue", 1)
    bring(first, second)
    path = str(show(second, record).data["path"])
    (second.vault / path).write_text((second.vault / path).read_text().replace("origin: agent", "origin: user"))
    messages = [item["message"] for item in list_findings(second, "server_key_changed")]
    assert len(messages) == 1
    assert messages[0].startswith("origin was changed")


def test_the_mend_for_a_file_behind_writes_the_current_version(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = str(first.remember("the colour is red")["id"])
    bring(first, second)
    change(second, record, "red", "green", 1)
    bring_log(second, first)
    (finding,) = list_findings(first, "file_behind")
    held, current = (row.ref for row in list_rows(first, record))
    assert finding["message"] == f"the file holds version 1, {held}; version 2, {current}, is current and is shown"
    assert f"`onrecord read {record} | onrecord update {record} --expect 2 --text -`" in finding["mend"]
    text = show(first, record).data["text"]
    first.call(lambda session: update(session, {"id": record, "text": text, "expect": 2}))
    assert "the colour is green" in (first.vault / finding["path"]).read_text()
    assert list_findings(first, "file_behind") == []
