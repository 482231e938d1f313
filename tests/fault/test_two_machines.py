"""Two machines share a vault through a sync program: files and logs come in any order or never; nothing is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.adapters.system import SystemIds
from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.session import Session
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.domain.errors import LedgerRolledBackError, OnRecordError
from onrecord.domain.record import read_record
from onrecord.ports.store import Actor, VersionRow
from onrecord.storage.files import installation
from tests.machines import Machine, bring, bring_file, bring_log, make_two
from tests.vaults import KEYS, check_verifies

YEAR_US = 365 * 24 * 3_600_000_000


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def list_rows(machine: Machine) -> list[VersionRow]:
    """Return the rows of all logs that have arrived."""

    def read_all(session: Session) -> list[VersionRow]:
        rows = [row for head in session.store.list_logs() for row in session.store.read_rows(head.log)]
        return [row for row in rows if isinstance(row, VersionRow)]

    return machine.call(read_all)


def list_texts(machine: Machine, record: str) -> list[tuple[str, str]]:
    """Return origin and text of each version of a record that has arrived."""
    drafts = [row.draft for row in list_rows(machine) if row.draft.id == record]
    return [(draft.origin, read_record(draft.data, draft.path, RuamelReader()).text) for draft in drafts]


def read_text(machine: Machine, record: str) -> str:
    return str(machine.call(lambda session: read(session, {"id": record}).data["text"]))


def get_path(machine: Machine, record: str) -> str:
    return str(machine.call(lambda session: read(session, {"id": record}).data["path"]))


def change(machine: Machine, record: str, text: str) -> int:
    def write(session: Session) -> int:
        version = read(session, {"id": record}).data["version"]
        return int(str(update(session, {"id": record, "text": text, "expect": version}).data["version"]))

    return machine.call(write)


def exchange(first: Machine, second: Machine) -> None:
    bring_log(first, second)
    bring_log(second, first)


def check(*machines: Machine) -> None:
    """Fail unless every log verifies and no machine has called the other's words an outside edit."""
    for machine in machines:
        rows = list_rows(machine)
        written = {(row.draft.id, row.draft.data): row.ref.log for row in rows if row.draft.mode == "placed"}
        for row in rows:
            writer = written.get((row.draft.id, row.draft.data), row.ref.log)
            assert row.draft.origin != "file" or writer == row.ref.log
        machine.call(lambda session: check_verifies(session, may_differ=True))


def test_a_file_that_comes_before_its_log_is_found_and_never_versioned(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = first.remember("written on the first machine")["id"]
    bring_file(first, second, get_path(first, record))
    assert second.find("written first machine")[0][0] == record
    assert list_texts(second, record) == []
    bring_log(first, second)
    assert second.find("written first machine")[0] == (record, 1)
    assert list_texts(second, record) == [("agent", "written on the first machine")]
    check(first, second)


def test_a_log_that_comes_before_its_files_is_served_from_and_the_file_makes_no_version(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = first.remember("written on the first machine")["id"]
    bring_log(first, second)
    assert read_text(second, record) == "written on the first machine"
    bring_file(first, second, get_path(first, record))
    assert second.find("written first machine")[0] == (record, 1)
    assert list_texts(second, record) == [("agent", "written on the first machine")]
    check(first, second)


def test_a_file_whose_log_never_comes_stays_found_and_unversioned_while_others_are_written(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = first.remember("written on the first machine")["id"]
    bring_file(first, second, get_path(first, record))
    for number in range(3):
        second.remember(f"own words {number}")
        second.clock.pass_s(86_400)
        assert second.find("written first machine")[0][0] == record
    assert list_texts(second, record) == []
    check(second)


def test_a_file_that_never_comes_is_read_from_the_versions_store(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = first.remember("written on the first machine")["id"]
    bring_log(first, second)
    for number in range(3):
        second.remember(f"own words {number}")
        second.clock.pass_s(3_600)
    assert read_text(second, record) == "written on the first machine"
    assert list_texts(second, record) == [("agent", "written on the first machine")]
    check(second)


def test_a_file_that_comes_twice_or_late_is_no_edit_and_the_newest_is_served(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = first.remember("the first words")["id"]
    path = get_path(first, record)
    shutil.copy(first.vault / path, first.vault.parent / "old.md")
    bring(first, second)
    change(first, record, "the second words")
    bring(first, second)
    assert read_text(second, record) == "the second words"
    for _ in range(2):
        shutil.copy(first.vault.parent / "old.md", second.vault / path)
        assert read_text(second, record) == "the second words"
        assert second.find("second words")[0] == (record, 2)
    second.remember("goes on")
    assert [text for _, text in list_texts(second, record)] == ["the first words", "the second words"]
    check(first, second)


def test_a_late_file_of_an_older_version_before_the_newer_ones_log_is_no_edit(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = first.remember("the first words")["id"]
    path = get_path(first, record)
    bring(first, second)
    change(first, record, "the second words")
    bring_file(first, second, path)
    second.find("second words")
    change(first, record, "the third words")
    bring_file(first, second, path)
    second.find("third words")
    bring_log(first, second)
    assert read_text(second, record) == "the third words"
    assert [origin for origin, _ in list_texts(second, record)] == ["agent"] * 3
    check(first, second)


def test_both_change_one_memory_offline_and_neither_text_is_lost(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = first.remember("the first words")["id"]
    bring(first, second)
    change(first, record, "words of the first machine")
    change(second, record, "words of the second machine")
    exchange(first, second)
    for machine in (first, second):
        texts = {text for _, text in list_texts(machine, record)}
        assert {"words of the first machine", "words of the second machine"} <= texts
    assert read_text(first, record) == read_text(second, record)
    check(first, second)


def test_one_file_wins_where_both_changed_a_memory_and_the_other_text_is_kept(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = first.remember("the first words")["id"]
    path = get_path(first, record)
    bring(first, second)
    change(first, record, "words of the first machine")
    change(second, record, "words of the second machine")
    bring_file(second, first, path)
    for machine in (first, second, first):
        machine.find("words")
    exchange(first, second)
    for machine in (first, second):
        assert {text for _, text in list_texts(machine, record)} == {
            "the first words", "words of the first machine", "words of the second machine",
        }  # fmt: skip
    assert read_text(first, record) == read_text(second, record)
    check(first, second)


def test_the_same_plain_notes_taken_in_by_both_are_one_memory_each(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    for machine in machines:
        for name in ("tea", "coffee"):
            (machine.vault / "memories" / "default" / f"{name}.md").write_text(f"a plain note about {name}\n")
        machine.clock.pass_s(1)
        machine.find("plain")
    exchange(first, second)
    for _ in range(2):
        answers = [machine.find("plain note") for machine in machines]
        exchange(first, second)
    assert answers[0] == answers[1]
    assert len(answers[0]) == 2
    check(first, second)


def test_a_copied_vault_of_which_both_copies_are_used_comes_together_again(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    copy = Machine(tmp_path, "copy")
    copy.state = first.state
    shutil.copytree(first.vault, copy.vault)
    copy.clock.wall_us = first.clock.wall_us + 120_000_000
    ids = [first.remember("used in the original")["id"], copy.remember("used in the copy")["id"]]
    assert len({first.log, copy.log}) == 2
    bring(copy, first)
    bring(first, copy)
    for machine in (first, copy):
        assert [read_text(machine, record) for record in ids] == ["used in the original", "used in the copy"]
        machine.remember("goes on")
    check(first, copy)
    bring(first, second)
    assert read_text(second, ids[1]) == "used in the copy"
    check(second)


def test_a_change_made_when_file_and_log_have_only_just_come_goes_into_that_file(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = first.remember("the first words")["id"]
    path = get_path(first, record)
    session = second.open()
    bring_log(first, second)
    bring_file(first, second, path)
    assert update(session, {"id": record, "text": "the second words", "expect": 1}).data["version"] == 2
    session.close()
    assert get_path(second, record) == path
    assert [row.draft.origin for row in list_rows(second) if row.draft.path == path] == ["agent", "agent"]
    check(first, second)


def put_back(backup: Path, target: Path) -> None:
    """Replace the files of a folder, but not the folder itself."""
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_file():
            path.unlink()
    shutil.copytree(backup, target, dirs_exist_ok=True)


def accept(machine: Machine) -> None:
    """Accept an older vault, as the user does at a terminal."""
    installation.adopt_vault(str(machine.vault), str(machine.state), KEYS, SystemIds(), Actor())


def test_an_old_backup_put_back_on_one_machine_stops_there_and_the_other_brings_all_of_it_back(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    first, second = machines
    shutil.copytree(first.vault, tmp_path / "backup")
    record = first.remember("written after the backup")["id"]
    bring(first, second)
    put_back(tmp_path / "backup", first.vault)
    with pytest.raises(LedgerRolledBackError):
        first.remember("on top of the past")
    folder = f".onrecord/{first.log}"
    shutil.copytree(second.vault / folder, first.vault / folder, dirs_exist_ok=True)
    bring(second, first)
    assert read_text(first, record) == "written after the backup"
    assert first.remember("goes on in the old log")["id"]
    check(first, second)


def test_an_old_backup_accepted_on_one_machine_gets_back_what_the_other_still_has(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    first, second = machines
    shutil.copytree(first.vault, tmp_path / "backup")
    record = first.remember("written after the backup")["id"]
    bring(first, second)
    put_back(tmp_path / "backup", first.vault)
    accept(first)
    first.remember("goes on in a new log")
    bring(second, first)
    bring(first, second)
    for machine in machines:
        assert read_text(machine, record) == "written after the backup"
        machine.remember("and on")
    assert len({head.log for head in first.call(lambda session: session.store.list_logs())}) == 3
    check(first, second)


def test_an_old_folder_of_one_log_put_back_stops_its_machine_and_loses_no_other_log(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    first, second = machines
    folder = f".onrecord/{first.log}"
    shutil.copytree(first.vault / folder, tmp_path / "backup")
    record = first.remember("written after the backup")["id"]
    other = second.remember("on the second machine")["id"]
    bring(second, first)
    put_back(tmp_path / "backup", first.vault / folder)
    with pytest.raises(LedgerRolledBackError):
        first.remember("on top of the past")
    assert read_text(first, other) == "on the second machine"
    accept(first)
    assert first.remember("goes on in a new log")["id"]
    assert read_text(first, other) == "on the second machine"
    path = first.vault / get_path_of_file(first, record)
    assert first.find("written after the backup")[0][0] == record
    assert list_texts(first, record) == [], "what was given up may still come from the other machine"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("by: ")))
    first.clock.pass_s(60)
    assert first.find("written after the backup")[0] == (record, 1)
    assert list_texts(first, record) == [("file", "written after the backup")]
    check(first)


def get_path_of_file(machine: Machine, record: str) -> str:
    """Return the file that names a record."""
    for path in sorted(machine.vault.rglob("memories/**/*.md")):
        if record in path.read_text():
            return str(path.relative_to(machine.vault))
    raise AssertionError("no file names the record")


def test_an_old_folder_of_another_machines_log_put_back_is_cut_back_and_no_fork(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    first, second = machines
    folder = f".onrecord/{first.log}"
    shutil.copytree(first.vault / folder, tmp_path / "backup")
    record = first.remember("written after the backup")["id"]
    bring(first, second)
    second.remember("has seen it")
    put_back(tmp_path / "backup", second.vault / folder)
    second.remember("goes on")
    data = second.call(lambda session: verify(session, {}, Ed25519Verifier()).data)
    own = next(item for item in data["logs"] if item["log"] == second.log)  # type: ignore[attr-defined]
    assert own["fault"]["code"] == "cut_back"
    bring(first, second)
    assert read_text(second, record) == "written after the backup"
    check(first, second)


@pytest.mark.parametrize("years", [1, -1])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_clock_a_year_off_on_either_machine_loses_and_reorders_nothing(
    machines: tuple[Machine, Machine], years: int, is_first: bool
) -> None:
    off, right = machines if is_first else reversed(machines)
    off.clock.wall_us += years * YEAR_US
    off.clock.boot = "boot-2"
    record = off.remember("written with the clock off")["id"]
    bring(off, right)
    assert read_text(right, record) == "written with the clock off"
    before = right.list_entries()[-1]["ts"]
    assert change(right, record, "changed with the clock right") == 2
    assert right.list_entries()[-1]["ts"][:4] == before[:4], "the right clock is not led astray"
    bring(right, off)
    assert read_text(off, record) == "changed with the clock right"
    assert change(off, record, "changed with the clock off") == 3
    bring(off, right)
    for machine in machines:
        assert read_text(machine, record) == "changed with the clock off"
        versions = machine.call(lambda session: list_history(session, {"id": record}).data["versions"])
        assert [item["version"] for item in versions] == [1, 2, 3]
    check(*machines)


def test_a_head_that_was_seen_is_named_once_by_each_and_waits_until_it_comes(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    for number in range(3):
        first.remember(f"of the first machine {number}")
        second.remember(f"of the second machine {number}")
        exchange(first, second)
    sizes = [head["size"] for entry in second.list_entries() for head in entry.get("seen", ())]
    assert sizes == sorted(set(sizes))
    third = Machine(first.vault.parents[1], "third")
    shutil.copytree(second.vault, third.vault, ignore=shutil.ignore_patterns(first.log, "lock"))
    third.remember("has never met the first machine")
    data = third.call(lambda session: verify(session, {}, Ed25519Verifier()).data)
    assert data["verdict"] in ("L1", "L2")
    assert sum(item["waiting"] for item in data["logs"]) == len(sizes)  # type: ignore[attr-defined]
    check(first, second)
    with pytest.raises(OnRecordError):
        read_text(third, "zzzz")
