"""Copies of files that come before their rows: they stand aside once the row is here, whoever looked in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply
from onrecord.app.settle import list_conflicts
from tests.fault.test_known_bytes import get_path, reindex
from tests.machines import Machine, bring_file, bring_log, make_two
from tests.vaults import check_verifies

NAMES = [".sync-conflict-20261130-081500-ABCDEFG.md", " (copy).md", "aaa.md"]


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


@pytest.fixture
def record(machines: tuple[Machine, Machine]) -> str:
    """A memory of the first, whose file alone is at the second's."""
    first, second = machines
    made = str(first.remember("the tower is 335 m high")["id"])
    bring_file(first, second, get_path(first, made))
    return made


def name_beside(path: Path, name: str) -> Path:
    return path.with_name(name if name == "aaa.md" else path.stem + name)


def look(machine: Machine, times: int) -> None:
    for _ in range(times):
        machine.call(lambda session: reconcile(session, Reply()))
        machine.find("tower")


def show(machine: Machine, record: str) -> tuple[str, str]:
    shown = machine.call(lambda session: read(session, {"id": record}).data)
    return shown["text"], shown["path"]


@pytest.mark.parametrize("is_rebuilt", [False, True])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_an_edited_copy_of_a_file_that_waited_stands_against_the_memory_and_never_for_it(
    machines: tuple[Machine, Machine], record: str, name: str, times: int, is_rebuilt: bool
) -> None:
    first, second = machines
    path = second.vault / get_path(first, record)
    name_beside(path, name).write_bytes(path.read_bytes().replace(b"335", b"999"))
    look(second, times)
    bring_log(first, second)
    if is_rebuilt:
        reindex(second)
    look(second, 1)
    assert show(second, record) == ("the tower is 335 m high", get_path(first, record))
    opened = second.call(lambda session: list_conflicts(session, {}).data["conflicts"])
    assert len(opened) == 1
    second.call(check_verifies)


def test_an_identical_copy_of_a_file_that_waited_does_not_take_the_memorys_place(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    path = second.vault / get_path(first, record)
    copy = name_beside(path, " (copy).md")
    copy.write_bytes(path.read_bytes())
    look(second, 2)
    bring_log(first, second)
    look(second, 1)
    assert show(second, record) == ("the tower is 335 m high", get_path(first, record))
    copy.write_bytes(copy.read_bytes().replace(b"335", b"999"))
    look(second, 1)
    assert show(second, record) == ("the tower is 335 m high", get_path(first, record))


def test_of_an_edited_file_that_waited_and_its_copy_the_one_in_its_place_is_the_memory(
    machines: tuple[Machine, Machine], record: str
) -> None:
    first, second = machines
    path = second.vault / get_path(first, record)
    name_beside(path, " (copy).md").write_bytes(path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b"335", b"336"))
    look(second, 2)
    bring_log(first, second)
    look(second, 1)
    assert show(second, record) == ("the tower is 336 m high", get_path(first, record))
    hits = second.call(lambda session: find(session, {"query": "tower"}).data["results"])
    assert record in {hit["id"] for hit in hits}
