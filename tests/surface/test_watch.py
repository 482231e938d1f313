"""The loop that takes in outside edits: against a watcher of the test's own, and once with the real one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Channel, Reply, Session
from onrecord.app.watch import Watch
from onrecord.app.watch_events import Event
from onrecord.ports.watching import Hints
from onrecord.storage.files.disk import Disk
from tests.vaults import FixedClock, check_verifies, make_vault, open_session

Step = Callable[[], Hints | None]


class Script:
    """A watcher that gives the hints of a script, one step a wait, and then ends."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)
        self.folders: list[list[str]] = []
        self.waits: list[float] = []

    def watch(self, folders: Sequence[str]) -> None:
        self.folders.append(list(folders))

    def wait(self, timeout_s: float) -> Hints:
        self.waits.append(timeout_s)
        return (self.steps.pop(0)() or Hints()) if self.steps else Hints(is_ended=True)

    def end(self) -> None:
        self.steps.clear()


class Room:
    """A vault that is watched."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.vault = base / "vault"
        make_vault(self.vault)
        self.notes = self.vault / "memories" / "default"
        self.notes.mkdir(parents=True)
        self.clock = FixedClock()
        self.make_disk: type[Disk] = Disk
        self.events: list[Event] = []

    def start(self) -> Session:
        state = self.base / "state"
        return open_session(self.vault, state, clock=self.clock, channel=Channel.TERMINAL, make_disk=self.make_disk)

    def save(self, name: str, text: str) -> Hints:
        (self.notes / name).write_text(text)
        return self.hint(name)

    def hint(self, name: str) -> Hints:
        return Hints(frozenset({os.path.realpath(self.notes / name)}))

    def run(self, *steps: Step, rescan_s: float = 600, may_differ: bool = False) -> Script:
        script = Script(steps)
        loop = Watch(self.start, script, self.events.append, rescan_s)
        loop.run()
        self.tally = loop.tally
        session = self.start()
        check_verifies(session, may_differ=may_differ)
        session.close()
        return script

    def list_told(self) -> list[tuple[str, str, int]]:
        return [(event.kind, event.path.rpartition("/")[2], event.version) for event in self.events]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_an_edit_is_told_as_it_is_taken_in_and_the_watch_begins_with_a_comparison(room: Room) -> None:
    script = room.run(
        lambda: room.save("a.md", "one\n"),
        lambda: room.save("a.md", "two\n"),
        lambda: room.save("b.md", "three\n"),
    )
    assert room.list_told() == [
        ("watching", "", 0),
        ("version", "a.md", 1),
        ("version", "a.md", 2),
        ("version", "b.md", 1),
    ]
    assert script.folders[0] == [os.path.realpath(room.vault)]
    assert (room.tally.versions, room.tally.comparisons) == (3, 1)


def test_what_no_hint_told_of_is_found_by_the_next_comparison(room: Room) -> None:
    def save_unseen() -> None:
        room.save("a.md", "one\n")
        room.clock.pass_s(601)

    room.run(save_unseen, lambda: None)
    assert room.list_told() == [("watching", "", 0), ("version", "a.md", 1)]
    assert room.tally.comparisons == 2


def test_hints_that_were_lost_ask_for_a_comparison(room: Room) -> None:
    def burst() -> Hints:
        for number in range(1_200):
            room.save(f"{number}.md", f"note {number}\n")
        return Hints(is_lossy=True)

    room.run(burst)
    assert room.tally.versions == 1_200
    assert room.tally.comparisons == 2


def test_a_folder_that_was_moved_in_asks_for_a_comparison_and_other_files_ask_for_nothing(room: Room) -> None:
    outside = room.base / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("one\n")

    def move_in() -> Hints:
        outside.rename(room.notes / "sub")
        return room.hint("sub")

    room.run(lambda: room.hint("picture.png"), lambda: room.hint(".obsidian/x.md"), move_in)
    assert room.list_told() == [("watching", "", 0), ("version", "a.md", 1)]
    assert room.tally.comparisons == 2


def test_a_file_that_is_being_saved_is_looked_at_again_soon(room: Room) -> None:
    def go_on() -> Hints:
        pause = FixedClock.pause

        def append(seconds: float) -> None:
            pause(room.clock, seconds)
            with (room.notes / "a.md").open("a") as file:
                file.write("more\n")

        room.clock.pause = append  # type: ignore[method-assign]
        return room.save("a.md", "half\n")

    def end() -> None:
        del room.clock.pause  # type: ignore[attr-defined]

    script = room.run(go_on, end)
    assert room.list_told() == [("watching", "", 0), ("version", "a.md", 1)]
    assert script.waits[1] < 1


def test_rows_of_other_logs_are_told_as_they_arrive(room: Room) -> None:
    def write_elsewhere() -> None:
        other = open_session(room.vault, room.base / "other", clock=room.clock)
        (room.notes / "a.md").write_text("one\n")
        reconcile(other, Reply())
        other.close()

    room.run(write_elsewhere, lambda: None)
    assert room.list_told()[:2] == [("watching", "", 0), ("version", "a.md", 1)]
    assert len({event.log for event in room.events if event.log}) >= 1


def test_a_vault_that_goes_offline_is_told_once_and_watched_again_when_it_is_back(room: Room) -> None:
    config = room.vault / "onrecord.toml"
    kept = config.read_bytes()

    def go_away() -> Hints:
        config.unlink()
        return room.save("a.md", "one\n")

    def come_back() -> None:
        config.write_bytes(kept)

    script = room.run(go_away, lambda: None, come_back, lambda: room.save("b.md", "two\n"))
    assert [kind for kind, _, _ in room.list_told()] == ["watching", "offline", "version", "watching", "version"]
    assert {path for _, path, _ in room.list_told()} == {"", "a.md", "b.md"}
    assert max(script.waits) <= 5


def test_a_folder_that_is_removed_and_put_back_is_watched_again(room: Room) -> None:
    aside = room.base / "aside"

    def remove() -> None:
        shutil.copytree(room.vault, aside)
        shutil.rmtree(room.vault)

    def put_back() -> None:
        aside.rename(room.vault)

    room.run(lambda: room.save("a.md", "one\n"), remove, lambda: None, put_back, lambda: room.save("b.md", "two\n"))
    kinds = [kind for kind, _, _ in room.list_told()]
    assert kinds.count("offline") == 1
    assert kinds[-1] == "version"


def test_a_file_that_cannot_be_read_stops_nothing(room: Room) -> None:
    def spoil() -> Hints:
        (room.notes / "bad.md").mkdir()
        (room.notes / "link.md").symlink_to("/etc/hostname")
        return Hints(frozenset({*room.hint("bad.md").paths, *room.hint("link.md").paths}))

    room.run(spoil, lambda: room.save("a.md", "one\n"))
    assert room.list_told() == [("watching", "", 0), ("version", "a.md", 1)]


def test_allowed_link_targets_are_watched_under_their_path_in_the_vault(room: Room) -> None:
    target = room.base / "notes"
    target.mkdir()
    session = room.start()
    session.store.links.allow("memories/work", str(target))
    session.close()

    def save() -> Hints:
        (target / "a.md").write_text("one\n")
        return Hints(frozenset({str(target / "a.md")}))

    script = room.run(save)
    assert script.folders == [[str(target), os.path.realpath(room.vault)]]
    assert [event.path for event in room.events if event.path] == ["memories/work/a.md"]


def test_the_lock_is_free_while_the_loop_waits(room: Room) -> None:
    held: list[str] = []

    def write_beside() -> None:
        other = open_session(room.vault, room.base / "state", clock=room.clock, lock_wait_s=0)
        with other.write(0):
            held.append(other.store.log)
        other.close()

    room.run(write_beside)
    assert len(held) == 1


def list_events(room: Room) -> list[tuple[str, str, str]]:
    return [(event.kind, event.was.rpartition("/")[2], event.path.rpartition("/")[2]) for event in room.events]


def test_a_renamed_file_is_told_with_both_its_places_each_time(room: Room) -> None:
    def move(old: str, new: str) -> Hints:
        (room.notes / old).rename(room.notes / new)
        return Hints(frozenset({*room.hint(old).paths, *room.hint(new).paths}))

    room.run(
        lambda: room.save("a.md", "one\n"),
        lambda: move("a.md", "b.md"),
        lambda: move("b.md", "c.md"),
    )
    moved = [("moved", "a.md", "b.md"), ("moved", "b.md", "c.md")]
    assert list_events(room) == [("watching", "", ""), ("version", "", "a.md"), *moved]
    assert {event.id for event in room.events[1:]} == {room.events[1].id}


def test_a_deleted_file_is_told_once_and_again_when_it_is_back(room: Room) -> None:
    def delete() -> Hints:
        (room.notes / "a.md").unlink()
        return room.hint("a.md")

    room.run(
        lambda: room.save("a.md", "one\n"),
        lambda: room.save("b.md", "other\n"),
        delete,
        lambda: None,
        lambda: Hints(is_lossy=True),
        lambda: room.save("a.md", "one\n"),
        delete,
        lambda: None,
        may_differ=True,
    )
    assert [event for event in list_events(room) if event[2] == "a.md"] == [
        ("version", "", "a.md"),
        ("missing", "", "a.md"),
        ("back", "", "a.md"),
        ("missing", "", "a.md"),
    ]


def test_a_file_that_was_away_for_a_moment_only_is_not_told_of(room: Room) -> None:
    def delete() -> Hints:
        (room.notes / "a.md").unlink()
        return room.hint("a.md")

    script = room.run(lambda: room.save("a.md", "one\n"), delete, lambda: room.save("a.md", "one\n"), lambda: None)
    assert list_events(room) == [("watching", "", ""), ("version", "", "a.md")]
    assert script.waits[2] < 1


def test_what_was_deleted_while_nobody_watched_is_told_after_the_first_comparison(room: Room) -> None:
    for name in ("a.md", "b.md"):
        (room.notes / name).write_text(name)

    def open_and_delete() -> Session:
        session = room.start()
        (room.notes / "a.md").unlink()
        return session

    script = Script([lambda: None, lambda: None])
    Watch(open_and_delete, script, room.events.append).run()
    assert list_events(room) == [("watching", "", ""), ("missing", "", "a.md")]


def test_front_matter_that_cannot_be_read_is_told_with_its_code(room: Room) -> None:
    room.run(lambda: room.save("a.md", "---\ntags: [x\n---\nwords\n"))
    assert list_events(room) == [("watching", "", ""), ("version", "", "a.md"), ("problem", "", "a.md")]
    problem = room.events[-1]
    assert (problem.code, problem.id) == ("front_matter_broken", room.events[1].id)
    assert problem.message


def test_a_copy_of_a_sync_program_and_the_conflict_that_it_opens_are_told(room: Room) -> None:
    session = room.start()
    record = remember(session, {"text": "one two three", "title": "Plan"}).data["id"]
    session.close()
    own = (room.notes / "Plan.md").read_text()
    copy = "Plan (conflicted copy 2026-11-30).md"

    def change() -> Hints:
        return room.save("Plan.md", own.replace("one two three", "four"))

    room.run(change, lambda: room.save(copy, own.replace("one two three", "five")), lambda: None)
    told = [(event.kind, event.id == record, event.message) for event in room.events]
    assert told[:3] == [("watching", False, ""), ("version", True, ""), ("copy", True, "")]
    assert told[3:] == [("conflict", False, "open")]


def test_a_copy_of_the_very_bytes_is_told_once(room: Room) -> None:
    session = room.start()
    remember(session, {"text": "one two three", "title": "Plan"})
    session.close()
    copy = "Plan (conflicted copy 2026-11-30).md"
    own = (room.notes / "Plan.md").read_text()
    room.run(lambda: room.save(copy, own), lambda: room.save(copy, own))
    assert list_events(room) == [("watching", "", ""), ("copy", "", copy)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_tells_edits_as_json_lines_and_ends_with_0_on_a_signal(tmp_path: Path, number: int) -> None:
    vault = str(tmp_path / "vault")
    command = [sys.executable, "-m", "onrecord", "--vault", vault]
    subprocess.run([*command, "init"], check=True, capture_output=True)
    process = subprocess.Popen([*command, "watch", "--json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline()) == {"kind": "watching"}
    (tmp_path / "vault" / "memories" / "a.md").write_text("one\n")
    told = json.loads(process.stdout.readline())
    assert (told["kind"], told["path"], told["version"], told["origin"]) == ("version", "memories/a.md", 1, "file")
    process.send_signal(number)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(rest.splitlines()[-1])["data"] == {"versions": 1, "comparisons": 1}
