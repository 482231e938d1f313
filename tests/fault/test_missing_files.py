"""Files that go away: a memory is missing for a day of opened time, and no mishap retires many (ADR 17)."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply
from onrecord.domain.ids import RecordId
from onrecord.storage.files.disk import Disk
from tests.absent_files import HOUR_S, Home, is_suspended
from tests.vaults import check_verifies, open_session


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.session.close()


def test_a_deleted_memory_is_not_shown_and_retired_after_a_day_of_opened_time(home: Home) -> None:
    home.keep(10)[0].unlink()
    home.pass_opened(23)
    assert not home.is_found(0)
    assert home.status(0) == "current"
    home.pass_opened(1)
    assert home.status(0) == "retired"
    assert home.list_types().count("record.missing") == home.list_types().count("record.retire") == 1
    versions = list_history(home.session, {"id": home.ids[0]}).data["versions"]
    assert isinstance(versions, list)
    assert (versions[-1]["mode"], versions[-1]["origin"], versions[-1]["version"]) == ("observed", "file", 2)
    assert home.count_retired() == 1
    check_verifies(home.session)


def test_the_retired_text_and_its_history_stay_readable(home: Home) -> None:
    home.keep(10)[0].unlink()
    home.pass_opened(24)
    assert read(home.session, {"id": home.ids[0]}).data["text"] == "thing number0 stands here"
    assert home.count_versions(0) == 2


def test_time_in_which_nobody_looked_counts_for_an_hour(home: Home) -> None:
    home.keep(10)[0].unlink()
    home.look()
    for _ in range(23):
        home.clock.pass_s(30 * 24 * HOUR_S)
        home.look()
    assert home.status(0) == "current"
    home.clock.pass_s(30 * 24 * HOUR_S)
    home.look()
    assert home.status(0) == "retired"


def test_many_looks_in_a_moment_count_for_that_moment(home: Home) -> None:
    home.keep(10)[0].unlink()
    for _ in range(60):
        home.clock.pass_s(1)
        home.look()
    assert home.status(0) == "current"


@pytest.mark.parametrize("jump_s", [-365 * 24 * HOUR_S, 365 * 24 * HOUR_S])
@pytest.mark.parametrize("is_new_boot", [False, True])
def test_a_clock_that_is_set_shortens_no_wait(home: Home, jump_s: int, is_new_boot: bool) -> None:
    home.keep(10)[0].unlink()
    home.pass_opened(20)
    home.clock.wall_us += jump_s * 1_000_000
    if is_new_boot:
        home.clock.boot, home.clock.boottime_us = "boot-2", 5_000_000
    home.look()
    home.pass_opened(2)
    assert home.status(0) == "current"
    home.pass_opened(2)
    assert home.status(0) == "retired"


def test_a_lost_note_of_absences_begins_the_wait_anew(home: Home) -> None:
    home.keep(10)[0].unlink()
    home.pass_opened(23)
    (note,) = (home.base / "state").rglob("absences.json")
    note.write_bytes(b"{")
    home.pass_opened(23)
    assert home.status(0) == "current"
    home.pass_opened(1)
    assert home.status(0) == "retired"


def test_a_memory_whose_file_comes_back_in_time_was_never_away(home: Home) -> None:
    (path, *_) = home.keep(10)
    data = path.read_bytes()
    path.unlink()
    home.pass_opened(23)
    path.write_bytes(data)
    home.look()
    assert home.is_found(0)
    path.unlink()
    home.pass_opened(23)
    assert home.status(0) == "current"
    assert not {"record.missing", "record.found"} & set(home.list_types())
    home.pass_opened(1)
    assert home.status(0) == "retired"


def test_a_file_that_comes_back_at_another_place_ends_the_absence(home: Home) -> None:
    (path, *_) = home.keep(10)
    data = path.read_bytes()
    path.unlink()
    home.pass_opened(23)
    (path.parent / "renamed.md").write_bytes(data)
    home.pass_opened(24)
    assert home.is_found(0)
    assert home.count_retired() == 0


@pytest.mark.parametrize(("records", "lost"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4), (40, 5)])
def test_when_all_or_many_are_missing_none_is_retired(home: Home, records: int, lost: int) -> None:
    for path in home.keep(records)[:lost]:
        path.unlink()
    reply = home.pass_opened(48)
    assert is_suspended(reply)
    assert f"{lost} of {records} memories" in reply.degraded[0].mend
    assert home.count_retired() == 0
    assert home.list_types().count("record.retire") == 0


@pytest.mark.parametrize(("records", "lost"), [(2, 1), (3, 2), (4, 3), (40, 4)])
def test_a_few_of_several_are_retired(home: Home, records: int, lost: int) -> None:
    for path in home.keep(records)[:lost]:
        path.unlink()
    assert not is_suspended(home.pass_opened(24))
    assert home.count_retired() == lost


def test_slow_deletion_is_a_mass_deletion(home: Home) -> None:
    paths = home.keep(30)
    home.pass_opened(30, lambda hour: paths[hour].unlink())
    assert home.count_retired() == 0
    assert is_suspended(home.look())


def test_a_suspension_stops_the_wait(home: Home) -> None:
    paths = home.keep(20)
    kept = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    home.pass_opened(48)
    for path, data in list(zip(paths, kept, strict=True))[1:]:
        path.write_bytes(data)
    home.pass_opened(23)
    assert home.status(0) == "current"
    home.pass_opened(1)
    assert home.count_retired() == 1


def remove_vault(home: Home) -> None:
    home.vault.rename(home.base / "elsewhere")


def remove_config(home: Home) -> None:
    (home.vault / "onrecord.toml").unlink()
    shutil.rmtree(home.vault / "memories")


def remove_memories(home: Home) -> None:
    shutil.rmtree(home.vault / "memories")


def empty_memories(home: Home) -> None:
    remove_memories(home)
    (home.vault / "memories").mkdir()


def link_memories(home: Home) -> None:
    (home.vault / "memories").rename(home.base / "away")
    (home.vault / "memories").symlink_to(home.base / "absent")


def link_workspace(home: Home) -> None:
    (home.vault / "memories" / "default").rename(home.base / "away")
    (home.vault / "memories" / "default").symlink_to(home.base / "absent")


def delete_workspace(home: Home) -> None:
    shutil.rmtree(home.vault / "memories" / "default")


UNPLUGGED = (
    remove_vault, remove_config, remove_memories, empty_memories, link_memories, link_workspace, delete_workspace,
)  # fmt: skip


@pytest.mark.parametrize("unplug", UNPLUGGED)
@pytest.mark.parametrize("records", [1, 4, 12])
def test_an_unplugged_or_empty_tree_retires_nothing(home: Home, unplug: Callable[[Home], None], records: int) -> None:
    home.keep(records)
    before = home.list_types()
    unplug(home)
    home.pass_opened(48)
    store = home.session.store
    assert store.absences.read().list_due() == []
    if home.vault.exists():
        assert home.list_types() == before
    with home.session.index.read() as reader:
        heads = [reader.get_current(RecordId(record)) for record in home.ids]
    assert {head.status for head in heads if head is not None} == {"current"}


@pytest.mark.parametrize("name", ["link", "unreadable"])
def test_nothing_below_a_closed_folder_is_judged_and_all_retirement_waits(home: Home, name: str, monkeypatch) -> None:
    paths = home.keep(40)
    closed = home.vault / "memories" / "closed"
    closed.mkdir()
    for number in (0, 1):
        paths[number].rename(closed / f"{number}.md")
    home.look()
    paths[2].unlink()
    if name == "link":
        closed.rename(home.base / "away")
        closed.symlink_to(home.base / "absent")
    else:
        close_folder(monkeypatch, "memories/closed")
    reply = home.pass_opened(48)
    assert is_suspended(reply)
    assert home.count_retired() == 0
    assert list(home.session.store.absences.read().missing) == [home.ids[2]]
    monkeypatch.undo()
    if name == "link":
        closed.unlink()
        (home.base / "away").rename(closed)
    home.pass_opened(24)
    assert [home.status(number) for number in range(3)] == ["current", "current", "retired"]


def close_folder(monkeypatch: pytest.MonkeyPatch, closed: str) -> None:
    """Let a folder be one that cannot be read."""
    open_folder = Disk.folder

    def refuse(disk: Disk, path: str):
        if path == closed or path.startswith(f"{closed}/"):
            raise PermissionError(errno.EACCES, "refused")
        return open_folder(disk, path)

    monkeypatch.setattr(Disk, "folder", refuse)


def test_a_renamed_folder_is_no_deletion(home: Home) -> None:
    home.keep(12)
    (home.vault / "memories" / "default").rename(home.vault / "memories" / "renamed")
    home.pass_opened(48)
    assert home.count_retired() == 0
    assert all(home.is_found(number) for number in range(12))
    assert home.count_versions(0) == 1


def test_the_index_deleted_in_the_middle_shortens_no_wait(home: Home) -> None:
    home.keep(10)[0].unlink()
    home.pass_opened(12)
    home.lose_index()
    home.pass_opened(11)
    assert home.status(0) == "current"
    assert not home.is_found(0)
    home.pass_opened(1)
    assert home.status(0) == "retired"


def test_a_file_that_went_while_there_was_no_index_is_missing_from_then_on(home: Home) -> None:
    (path, *_) = home.keep(10)
    home.session.close()
    for index in (home.base / "state").rglob("index.sqlite3*"):
        index.unlink()
    path.unlink()
    home.session = home.open()
    rebuild(home.session)
    home.pass_opened(23)
    assert home.status(0) == "current"
    home.pass_opened(1)
    assert home.status(0) == "retired"


def test_a_deletion_while_another_process_writes_is_judged_when_it_is_done(home: Home) -> None:
    home.keep(10)[0].unlink()
    other = home.open()
    try:
        home.pass_opened(12)
        with other.write():
            home.clock.pass_s(HOUR_S)
            reply = Reply()
            reconcile(home.session, reply)
        for _ in range(11):
            remember(other, {"text": f"another word at {home.clock.wall_us}"})
            home.clock.pass_s(HOUR_S)
            reconcile(other, Reply(), wait_s=None)
        assert home.status(0) == "current"
        home.clock.pass_s(HOUR_S)
        reconcile(other, Reply(), wait_s=None)
        assert home.status(0) == "retired"
        assert home.list_types().count("record.retire") == 1
        check_verifies(other)
    finally:
        other.close()


def test_a_record_whose_file_never_arrived_here_is_not_missing(home: Home, tmp_path: Path) -> None:
    home.keep(4)
    there = tmp_path / "there"
    shutil.copytree(home.vault, there)
    shutil.rmtree(there / "memories")
    other = open_session(there, tmp_path / "other", clock=home.clock)
    try:
        rebuild(other)
        for _ in range(30):
            home.clock.pass_s(HOUR_S)
            reconcile(other, Reply(), wait_s=None)
        assert other.store.absences.read().missing == {}
        with other.index.read() as reader:
            heads = [reader.get_current(RecordId(record)) for record in home.ids]
        assert {head.status for head in heads if head is not None} == {"current"}
    finally:
        other.close()
