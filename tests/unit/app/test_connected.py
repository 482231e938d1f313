"""Which files and memories have to do with one another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.app import connected
from onrecord.app.connected import find_groups, tell_again
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply, Session
from onrecord.ports.index import FileStamp
from tests.machines import Machine, make_two

FOLDER = "memories/default"
COPY = f"{FOLDER}/tower.sync-conflict-20261130-081500-ABCDEFG.md"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_two(tmp_path)[1]


@pytest.fixture
def session(machine: Machine) -> Iterator[Session]:
    opened = machine.open()
    yield opened
    opened.close()


def write(machine: Machine, session: Session, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (machine.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (machine.vault / path).write_text(text)
    machine.clock.pass_s(1)
    reconcile(session, Reply(), wait_s=None)


def list_group(session: Session, path: str) -> list[str]:
    with session.index.read() as reader:
        return [name for group in find_groups(session, reader, [path], []) for name in sorted(group.paths)]


def list_stamps(session: Session) -> list[FileStamp]:
    with session.index.read() as reader:
        return list(reader.list_files())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(f"{FOLDER}/other.md", "335 m high\n", id="the same text"),
        pytest.param(COPY, "336 m high\n", id="the name of a copy"),
        pytest.param(f"{FOLDER}/tower (2).md", "something else\n", id="a name that may be a copy's"),
        pytest.param(f"{FOLDER}/tower copy.md", "something else\n", id="a name that a person's copy has"),
    ],
)
def test_files_are_connected_by_a_text_and_by_a_name_from_either_side(
    machine: Machine, session: Session, path: str, text: str
) -> None:
    tower = f"{FOLDER}/tower.md"
    write(machine, session, {tower: "335 m high\n"})
    write(machine, session, {path: text})
    assert list_group(session, tower) == list_group(session, path) == sorted((tower, path))


def test_a_text_that_a_memory_had_connects_it(machine: Machine, session: Session) -> None:
    tower, other = f"{FOLDER}/tower.md", f"{FOLDER}/other.md"
    write(machine, session, {tower: "335 m high\n"})
    write(machine, session, {tower: "335 m high, and red\n"})
    write(machine, session, {other: "335 m high\n"})
    assert list_group(session, tower) == [other, tower]


def test_a_longer_name_alone_connects_nothing(machine: Machine, session: Session) -> None:
    first, tenth = f"{FOLDER}/note 1.md", f"{FOLDER}/note 10.md"
    write(machine, session, {first: "one\n", tenth: "ten\n"})
    assert list_group(session, first) == [first]
    assert list_group(session, tenth) == [tenth]


def test_a_group_that_is_too_large_is_left_out(
    machine: Machine, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connected, "_GROUP_MAX_COUNT", 5)
    write(machine, session, {f"{FOLDER}/{number}.md": "todo\n" for number in range(4)})
    assert list_group(session, f"{FOLDER}/0.md") == []


def test_what_is_known_of_files_that_are_not_connected_stays(machine: Machine, session: Session) -> None:
    write(machine, session, {f"{FOLDER}/tower.md": "335 m high\n", f"{FOLDER}/alone.md": "nothing else says so\n"})
    machine.clock.pass_s(9)
    write(machine, session, {COPY: "336 m high\n"})
    before = {stamp.path: stamp.checked_ns for stamp in list_stamps(session)}
    machine.clock.pass_s(9)
    with session.write() as unit:
        assert tell_again(session, unit, [COPY], Reply()).has_told
    told = {stamp.path for stamp in list_stamps(session) if stamp.checked_ns != before[stamp.path]}
    assert told == {f"{FOLDER}/tower.md", COPY}


def test_nothing_is_told_again_where_one_installation_writes(tmp_path: Path) -> None:
    machine, _ = make_two(tmp_path)
    for log in (machine.vault / ".onrecord").iterdir():
        assert log.name in (machine.log, "lock")
    session = machine.open()
    write(machine, session, {f"{FOLDER}/tower.md": "335 m high\n", COPY: "336 m high\n"})
    with session.write() as unit:
        assert not tell_again(session, unit, [COPY], Reply()).has_told
    session.close()
