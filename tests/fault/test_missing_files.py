"""Files that go away: a memory is missing for a day of opened time, and no mishap retires many (ADR 17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.domain.entry import Entry, read_entry
from tests.vaults import FixedClock, check_verifies, make_vault, open_session

HOUR_S = 3_600
MINUTE_S = 60


class Home:
    """A vault with memories about numbered things, its files, and a clock that the test turns."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.vault = base / "vault"
        make_vault(self.vault)
        self.clock = FixedClock()
        self.session: Session = self.open()
        self.ids: list[str] = []

    def open(self) -> Session:
        return open_session(self.vault, self.base / "state", clock=self.clock)

    def open_again(self) -> None:
        self.session.close()
        self.session = self.open()

    def keep(self, count: int) -> list[Path]:
        """Remember so many things; return their files."""
        for number in range(len(self.ids), len(self.ids) + count):
            text = f"thing number{number} stands here"
            self.ids.append(str(remember(self.session, {"text": text, "title": f"thing {number}"}).data["id"]))
        self.clock.pass_s(MINUTE_S)
        self.look()
        return [self.path(number) for number in range(len(self.ids) - count, len(self.ids))]

    def path(self, number: int) -> Path:
        return self.vault / str(read(self.session, {"id": self.ids[number]}).data["path"])

    def look(self) -> Reply:
        reply = Reply()
        reconcile(self.session, reply, wait_s=None)
        return reply

    def pass_opened(self, hours: float, each_hour: Callable[[int], None] = lambda _: None) -> Reply:
        """Let hours pass with a look at the end of each."""
        reply = self.look()
        for hour in range(int(hours)):
            each_hour(hour)
            self.clock.pass_s(HOUR_S)
            reply = self.look()
        return reply

    def status(self, number: int) -> str:
        return str(read(self.session, {"id": self.ids[number]}).data["status"])

    def count_retired(self) -> int:
        return sum(self.status(number) == "retired" for number in range(len(self.ids)))

    def is_found(self, number: int) -> bool:
        results = find(self.session, {"query": f"number{number}"}).data["results"]
        assert isinstance(results, list)
        return any(hit["id"] == self.ids[number] for hit in results)

    def list_entries(self) -> list[Entry]:
        store = self.session.store
        entries = [read_entry(line) for _, line in store.read_entries(store.log)]
        return [entry for entry in entries if isinstance(entry, Entry)]

    def list_types(self) -> list[str]:
        return [entry.type for entry in self.list_entries()]

    def count_versions(self, number: int) -> int:
        versions = list_history(self.session, {"id": self.ids[number]}).data["versions"]
        assert isinstance(versions, list)
        return len(versions)


def is_suspended(reply: Reply) -> bool:
    return any(item.reason == "retirement_suspended" for item in reply.degraded)


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


def test_a_renamed_file_is_one_move_once(home: Home) -> None:
    (path, *_) = home.keep(3)
    path.rename(path.parent / "renamed.md")
    home.look()
    home.look()
    home.open_again()
    rebuild(home.session, lambda _: None)
    home.look()
    assert home.list_types().count("record.move") == 1
    assert home.count_versions(0) == 1
    check_verifies(home.session)


def test_a_file_that_is_renamed_and_edited_is_a_move_and_a_version(home: Home) -> None:
    (path, *_) = home.keep(3)
    renamed = path.rename(path.parent / "renamed.md")
    renamed.write_bytes(renamed.read_bytes().replace(b"stands", b"lies"))
    home.look()
    assert home.list_types()[-2:] == ["record.observe", "record.move"]
    entry = home.list_entries()[-1]
    assert (entry.members["rec"], entry.members["ver"]) == (home.ids[0], 2)


def test_a_renamed_folder_is_moves_in_commits_of_a_thousand(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onrecord.app.moves.BATCH_MAX_COUNT", 4)
    home.keep(10)
    (home.vault / "memories" / "default").rename(home.vault / "memories" / "renamed")
    home.look()
    moves = [entry for entry in home.list_entries() if entry.type == "record.move"]
    assert sorted(str(entry.members["rec"]) for entry in moves) == sorted(home.ids)
    assert all(home.is_found(number) for number in range(10))
    assert home.session.store.absences.read().missing == {}
    with home.session.index.read() as reader:
        assert reader.get_watermarks()[home.session.store.log] == home.session.store.entries
    check_verifies(home.session)
