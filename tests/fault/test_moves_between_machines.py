"""Files moved on one machine whose new path comes to the other before the old one goes: one memory all the while."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.missing import repair_missing
from onrecord.app.remember import remember
from tests.fault.test_known_bytes import reindex, show
from tests.machines import Machine, bring, bring_file, bring_log, make_two
from tests.vaults import check_verifies

OLD = "memories/default/tea.md"
NEW = "memories/ops/tea.md"
TEXT = "green tea at four\nin the garden\nwith lemon\nand sugar\n"


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def begin(first: Machine, second: Machine, *, is_plain: bool) -> str:
    """Return a memory that both have at its old place."""
    if is_plain:
        (first.vault / OLD).write_text(TEXT)
        record = first.find("green tea")[0][0]
    else:
        record = str(first.call(lambda session: remember(session, {"text": TEXT, "title": "tea"}).data)["id"])
    bring(first, second)
    bring_log(second, first)
    second.clock.wall_us = first.clock.wall_us + 60_000_000
    assert [hit[0] for hit in second.find("green tea")] == [record]
    return record


def move(machine: Machine, added: str = "") -> None:
    (machine.vault / NEW).parent.mkdir()
    (machine.vault / OLD).rename(machine.vault / NEW)
    if added:
        with (machine.vault / NEW).open("a") as file:
            file.write(added)
    machine.clock.pass_s(5)
    machine.find("green tea")


def meet(first: Machine, second: Machine) -> None:
    for _ in range(2):
        bring_log(first, second)
        bring_log(second, first)
        for machine in (first, second):
            machine.find("green tea")


@pytest.mark.parametrize("added", ["", "stirred\n"])
@pytest.mark.parametrize("is_plain", [False, True])
def test_a_file_that_comes_at_its_new_place_before_it_leaves_the_old_one_is_the_same_memory(
    machines: tuple[Machine, Machine], is_plain: bool, added: str
) -> None:
    first, second = machines
    record = begin(first, second, is_plain=is_plain)
    move(second, added)
    bring_file(second, first, NEW)
    first.clock.pass_s(10)
    first.find("green tea")
    (first.vault / OLD).unlink()
    first.find("green tea")
    meet(first, second)
    for machine in machines:
        shown = [hit[0] for hit in machine.find("green tea")]
        assert shown == [record]
        read = show(machine, record).data
        assert (read["path"], read["status"]) == (NEW, "current")
        assert ("stirred" in str(read["text"])) == bool(added)
        assert record not in {item["id"] for item in _list_missing(machine)}
        reindex(machine)
        assert [hit[0] for hit in machine.find("green tea")] == shown
        assert record not in {item["id"] for item in _list_missing(machine)}
        machine.call(lambda session: check_verifies(session, may_differ=True))


def _list_missing(machine: Machine) -> list[dict[str, str]]:
    missing = machine.call(lambda session: repair_missing(session, {}).data)["missing"]
    assert isinstance(missing, list)
    return missing


@pytest.mark.parametrize("is_plain", [False, True])
def test_what_the_copy_said_since_is_a_version_of_the_memory_that_takes_its_file_back(
    machines: tuple[Machine, Machine], is_plain: bool
) -> None:
    first, second = machines
    record = begin(first, second, is_plain=is_plain)
    old = first.vault / show(first, record).data["path"]
    new = first.vault / "memories" / "ops" / old.name
    new.parent.mkdir()
    new.write_bytes(old.read_bytes())
    (copy,) = {hit[0] for hit in first.find("green tea")} - {record}
    with new.open("a") as file:
        file.write("stirred\n")
    assert [hit[0] for hit in first.find("stirred")] == [copy]
    old.unlink()
    assert first.find("stirred") == [(record, 2)]
    assert show(first, copy).data["status"] == "retired"
    retired = next(entry for entry in reversed(first.list_entries()) if entry["type"] == "record.retire")
    assert (retired["cause"], retired["refs"]) == ("duplicate", [{"rel": "merged", "rec": record, "ver": 1}])
    reindex(first)
    assert first.find("stirred") == [(record, 2)]
    first.call(lambda session: check_verifies(session, may_differ=True))
