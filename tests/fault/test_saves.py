"""Saves of editors and tools as they happen: half a save is no version, and no save is overlooked."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from onrecord.adapters.system import SystemClock
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.settling import SETTLE_US, count_rest_us
from onrecord.app.update import update
from onrecord.domain.errors import FileBusyError, StaleVersionError
from onrecord.ports.index import IndexBatch
from onrecord.ports.store import FileState
from onrecord.ports.system import ClockReading
from onrecord.storage.files.disk import Disk
from tests.vaults import check_verifies, make_vault, open_session

FIRST, SECOND = "the kettle is green", "the kettle is white"
NOTE = "memories/default/Kettle.md"


@dataclass
class EventfulClock:
    """The machine's clock; in a pause happens what the test says, and no time passes but by its word."""

    system: SystemClock = field(default_factory=SystemClock)
    passed_us: int = 0
    pauses: list[float] = field(default_factory=list)
    happens: Callable[[], object] = lambda: None

    def read(self) -> ClockReading:
        now = self.system.read()
        return ClockReading(now.wall_us, now.boottime_us + self.passed_us, now.boot)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.passed_us += int(seconds * 1_000_000)
        self.happens()


class Desk:
    """A vault with one plain note, an editor at work on it, and a clock that tells of each pause."""

    def __init__(self, base: Path) -> None:
        self.base = base
        make_vault(base / "vault")
        self.path = base / "vault" / NOTE
        self.path.parent.mkdir(parents=True)
        self.path.write_text(f"{FIRST}\n")
        self.clock = EventfulClock()
        self.session = self.start()
        self.id = self.find("kettle")[0]
        self.clock.pauses.clear()

    def start(self) -> Session:
        return open_session(self.base / "vault", self.base / "state", clock=self.clock)

    def open_anew(self) -> Reply:
        """Compare all files, as another opening of the vault does."""
        reply = Reply()
        reconcile(self.session, reply)
        return reply

    def find(self, query: str) -> list[str]:
        results = find(self.session, {"query": query}).data.get("results", [])
        assert isinstance(results, list)
        return [str(hit["id"]) for hit in results]

    def list_texts(self) -> list[str]:
        versions = list_history(self.session, {"id": self.id}).data["versions"]
        assert isinstance(versions, list)
        numbers = [item["version"] for item in versions]
        return [str(read(self.session, {"id": self.id, "version": number}).data["text"]) for number in numbers]

    def count_records(self) -> int:
        with self.session.index.read() as reader:
            return dict(reader.count())["records"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    check_verifies(made.session, may_differ=True)
    made.session.close()


def list_reasons(reply: Reply) -> list[str]:
    return [item.reason for item in reply.degraded]


def test_a_read_without_fresh_edits_pauses_not_at_all(desk: Desk) -> None:
    desk.find("kettle")
    desk.open_anew()
    remember(desk.session, {"text": "a fresh memory"})
    desk.open_anew()
    assert desk.clock.pauses == []


def test_one_pause_for_all_files_of_a_pass_and_of_the_rest_of_the_time_only(desk: Desk) -> None:
    for number in range(30):
        (desk.path.parent / f"{number}.md").write_text(f"note {number}\n")
    assert list_reasons(desk.open_anew()) == []
    assert len(desk.clock.pauses) == 1
    assert 0 < desk.clock.pauses[0] <= SETTLE_US / 1_000_000
    assert desk.count_records() == 31


def test_an_emptied_moment_of_a_save_is_no_version(desk: Desk) -> None:
    desk.path.write_text("")
    desk.clock.happens = lambda: desk.path.write_text(f"{SECOND}\n")
    assert list_reasons(desk.open_anew()) == ["reconciling"]
    assert desk.list_texts()[:1] == [FIRST]
    desk.clock.happens = lambda: None
    assert list_reasons(desk.open_anew()) == []
    assert desk.list_texts() == [FIRST, SECOND]


def test_half_a_save_is_put_off_the_old_version_served_and_the_next_call_looks_again(desk: Desk) -> None:
    desk.path.write_text("the kett")
    desk.clock.happens = lambda: desk.path.write_text("the kettle is w")
    reply = find(desk.session, {"query": "kettle"})
    assert "reconciling" in list_reasons(reply)
    assert desk.find("green") == [desk.id]
    assert desk.list_texts() == [FIRST]
    desk.clock.happens = lambda: None
    desk.path.write_text(f"{SECOND}\n")
    assert desk.find("white") == [desk.id]
    assert desk.list_texts() == [FIRST, SECOND]


def test_a_writer_that_never_stops_blocks_no_call_and_makes_no_version(desk: Desk) -> None:
    def go_on() -> None:
        with desk.path.open("a") as file:
            file.write("log line\n")

    go_on()
    desk.clock.happens = go_on
    for _ in range(3):
        desk.clock.pauses.clear()
        assert list_reasons(desk.open_anew()) == ["reconciling"]
        assert len(desk.clock.pauses) == 1
        assert desk.find("kettle") == [desk.id]
    assert desk.list_texts() == [FIRST]
    assert max(desk.clock.pauses) <= SETTLE_US / 1_000_000


def test_a_file_put_off_needs_no_pause_once_it_has_stayed_as_it_is(desk: Desk) -> None:
    desk.path.write_text("half")
    desk.clock.happens = lambda: desk.path.write_text(f"{SECOND}\n")
    assert list_reasons(desk.open_anew()) == ["reconciling"]
    desk.clock.pauses.clear()
    desk.clock.passed_us += SETTLE_US
    assert list_reasons(desk.open_anew()) == []
    assert desk.clock.pauses == []
    assert desk.list_texts() == [FIRST, SECOND]


def test_an_update_waits_for_a_save_and_is_told_that_its_version_is_stale(desk: Desk) -> None:
    desk.path.write_text(f"{SECOND}\n")
    with pytest.raises(StaleVersionError):
        update(desk.session, {"id": desk.id, "text": "third", "expect": 1})
    assert len(desk.clock.pauses) == 1
    assert desk.list_texts() == [FIRST, SECOND]


def test_an_update_of_a_file_that_is_still_being_saved_is_refused_and_changes_nothing(desk: Desk) -> None:
    def go_on() -> None:
        with desk.path.open("a") as file:
            file.write("log line\n")

    go_on()
    desk.clock.happens = go_on
    with pytest.raises(FileBusyError) as refused:
        update(desk.session, {"id": desk.id, "text": "third", "expect": 1})
    assert refused.value.hint
    assert desk.list_texts() == [FIRST]
    assert desk.path.read_text().startswith(f"{FIRST}\nlog line\n")


def test_an_update_of_a_file_that_was_just_renamed_and_is_being_saved_makes_no_second_file(desk: Desk) -> None:
    renamed = desk.path.with_name("Pot.md")
    desk.path.rename(renamed)

    def go_on() -> None:
        with renamed.open("a") as file:
            file.write("log line\n")

    go_on()
    desk.clock.happens = go_on
    with pytest.raises(FileBusyError):
        update(desk.session, {"id": desk.id, "text": "third", "expect": 1})
    assert [path.name for path in desk.path.parent.iterdir()] == ["Pot.md"]


def test_a_file_that_changes_while_it_is_read_is_put_off(tmp_path: Path) -> None:
    desk = Desk(tmp_path)

    class Torn(Disk):
        is_armed = False

        def read(self, path: str, offset: int = 0, size_bytes: int = -1) -> bytes:
            data = super().read(path, offset, size_bytes)
            if path == NOTE and Torn.is_armed:
                Torn.is_armed = False
                desk.path.write_text(f"{SECOND}\n")
            return data

    session = open_session(tmp_path / "vault", tmp_path / "state", clock=desk.clock, make_disk=Torn)
    desk.path.write_text("half")
    Torn.is_armed = True
    reply = Reply()
    reconcile(session, reply)
    assert list_reasons(reply) == ["reconciling"]
    reconcile(session, Reply())
    desk.session.take_in_rows()
    assert desk.list_texts() == [FIRST, SECOND]


def save_by_rename(path: Path) -> None:
    temporary = path.with_name(f".{path.name}.swp")
    temporary.write_text(f"{SECOND}\n")
    temporary.rename(path)


def save_by_backup_and_rename(path: Path) -> None:
    backup = path.with_name(f"{path.name}~")
    path.rename(backup)
    path.write_text(f"{SECOND}\n")
    backup.unlink()


def save_by_markdown_backup(path: Path) -> None:
    backup = path.with_name(f"Backup of {path.name}")
    shutil.copy2(path, backup)
    path.write_text(f"{SECOND}\n")
    backup.unlink()


def save_in_place(path: Path) -> None:
    path.write_text(f"{SECOND}\n")


def copy_with_old_time(path: Path) -> None:
    """As `cp -p` and `rsync --inplace -t` do: same size, the time of an older file."""
    source = path.with_name("source.txt")
    source.write_text(f"{SECOND}\n")
    os.utime(source, ns=(0, path.stat().st_mtime_ns))
    shutil.copyfile(source, path)
    shutil.copystat(source, path)


def sync_with_old_time(path: Path) -> None:
    """As `rsync -t` does: a temporary file gets the time, then the name."""
    before = path.stat()
    temporary = path.with_name(f".{path.name}.Xa81bc")
    temporary.write_text(f"{SECOND}\n")
    os.utime(temporary, ns=(before.st_atime_ns, before.st_mtime_ns))
    temporary.rename(path)


def save_and_set_time_back(path: Path) -> None:
    before = path.stat()
    path.write_text(f"{SECOND}\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def save_and_set_time_forth(path: Path) -> None:
    path.write_text(f"{SECOND}\n")
    os.utime(path, ns=(0, 4_000_000_000 * 10**9))


SAVES = [
    save_by_rename, save_by_backup_and_rename, save_by_markdown_backup, save_in_place, copy_with_old_time,
    sync_with_old_time, save_and_set_time_back, save_and_set_time_forth,
]  # fmt: skip


@pytest.mark.parametrize("save", SAVES)
def test_each_way_to_save_makes_one_version_of_the_same_memory(desk: Desk, save: Callable[[Path], None]) -> None:
    save(desk.path)
    assert list_reasons(desk.open_anew()) == []
    assert desk.list_texts() == [FIRST, SECOND]
    assert desk.count_records() == 1
    desk.clock.pauses.clear()
    desk.open_anew()
    assert desk.clock.pauses == []


@pytest.mark.parametrize("is_old", [False, True])
def test_a_save_of_the_same_size_in_the_tick_of_the_last_look_is_seen(desk: Desk, is_old: bool) -> None:
    """The tick is made by hand: the stamp gets the times that the file has after the save."""
    if is_old:
        os.utime(desk.path, ns=(0, 10**18))
        desk.open_anew()
    before = desk.path.stat()
    desk.path.write_text(f"{SECOND}\n")
    os.utime(desk.path, ns=(0, before.st_mtime_ns))
    with desk.session.index.read() as reader:
        stamp = reader.get_file(NOTE)
    assert stamp is not None
    after = desk.path.stat()
    stamped = stamp._replace(ctime_ns=after.st_ctime_ns, mtime_ns=after.st_mtime_ns)
    desk.session.index.apply(IndexBatch(files=[stamped]))
    assert list_reasons(desk.open_anew()) == ["reconciling"]
    desk.clock.passed_us += SETTLE_US
    assert list_reasons(desk.open_anew()) == []
    assert desk.list_texts() == [FIRST, SECOND]


def test_a_checkout_of_many_files_is_taken_in_as_one_edit_each_and_its_way_back_too(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    make_vault(vault)
    folder = vault / "memories" / "work"
    folder.mkdir(parents=True)

    def run_git(*words: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false")
        subprocess.run(["git", *names, *words], cwd=vault, check=True, capture_output=True)

    run_git("init", "-q", "-b", "first")
    for state in ("green", "white"):
        for number in range(40):
            (folder / f"{number}.md").write_text(f"pot {number} is {state}\n")
        run_git("add", "memories")
        run_git("commit", "-q", "-m", state)
        run_git("branch", state)
    clock = EventfulClock()
    session = open_session(vault, tmp_path / "state", clock=clock)
    for branch in ("green", "white", "green"):
        run_git("checkout", "-q", branch)
        clock.pauses.clear()
        reply = Reply()
        assert reconcile(session, reply) == 40
        assert list_reasons(reply) == []
        assert len(clock.pauses) == 1
        results = find(session, {"query": f"pot 17 {branch}", "limit": 1}).data["results"]
        assert isinstance(results, list)
        assert results[0]["title"] == "17"
    with session.index.read() as reader:
        assert dict(reader.count())["records"] == 40
    check_verifies(session)
    session.close()


NOW_US = 1_790_000_000_000_000


@pytest.mark.parametrize(
    ("mtime_us", "ctime_us", "lag_us", "rest_us"),
    [
        (NOW_US - 50_001, NOW_US - 50_001, 0, 149_999),
        (NOW_US - 300_001, NOW_US - 300_001, 0, 0),
        (5, NOW_US - 50_001, 0, 149_999),  # mtime set back
        (NOW_US + 9_000_001, NOW_US - 50_001, 0, SETTLE_US),  # mtime set forth: two looks tell
        (NOW_US + 70_001, NOW_US + 70_001, 0, SETTLE_US),  # the file system's clock is ahead
        (NOW_US - 900_001, NOW_US - 900_001, 800_000, 99_999),  # ... is behind
        (NOW_US - 300_001, NOW_US - 300_001, -800_000, 0),
        (NOW_US - 1_000_000, NOW_US - 1_000_000, 0, SETTLE_US),  # whole seconds: FAT's last digit is a second
        (NOW_US - 3_000_000, NOW_US - 3_000_000, 0, 0),
    ],
)
def test_how_long_a_file_must_stay_as_it_is_follows_from_its_later_time(
    mtime_us: int, ctime_us: int, lag_us: int, rest_us: int
) -> None:
    state = FileState("memories/a.md", 1, mtime_us * 1_000, ctime_us * 1_000, 1, 1)
    assert count_rest_us(state, NOW_US, lag_us) == rest_us
