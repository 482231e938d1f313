"""Plain notes that two installations took in on their own: one record stays for the one file, and no text is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.session import Session
from onrecord.app.update import update
from onrecord.domain.limits import TWINS_ALIKE_MAX_COUNT
from onrecord.ports.store import VersionRow
from tests.fault.test_known_bytes import list_modes, reindex, show
from tests.machines import Machine, bring_file, bring_log, make_two
from tests.vaults import check_verifies

NOTE = "memories/default/tea.md"


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def write(machine: Machine, text: str) -> str:
    """Write the plain note and have it taken in; return its record there."""
    machine.clock.pass_s(1)
    (machine.vault / NOTE).write_text(text)
    return machine.find("tea")[0][0]


def meet(*machines: Machine) -> None:
    """Bring the logs to each other until all have acted on what the others say."""
    for _ in range(2):
        for source in machines:
            for target in machines:
                if source is not target:
                    bring_log(source, target)
        for machine in machines:
            machine.find("tea")


def list_rows(machine: Machine, record: str) -> list[VersionRow]:
    def ask(session: Session) -> list[VersionRow]:
        rows = [row for head in session.store.list_logs() for row in session.store.read_rows(head.log)]
        return [row for row in rows if isinstance(row, VersionRow) and row.draft.id == record]

    return machine.call(ask)


def get_status(machine: Machine, record: str) -> str:
    return str(show(machine, record).data["status"])


def test_of_two_records_of_one_note_the_first_stays_and_the_other_is_retired_as_its_duplicate(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    kept, gone = write(first, "green tea at four\n"), write(second, "green tea at four\n")
    before = first.list_entries()
    meet(first, second)
    for machine in machines:
        assert machine.find("green tea") == [(kept, 1)]
        assert (get_status(machine, kept), get_status(machine, gone)) == ("current", "retired")
        reindex(machine)
        assert machine.find("green tea") == [(kept, 1)]
    retired = second.list_entries()[-1]
    assert (retired["type"], retired["cause"]) == ("record.retire", "duplicate")
    assert retired["refs"] == [{"rel": "merged", "rec": kept, "ver": 1}]
    assert first.list_entries() == before, "the log of the first has nothing to say"
    for machine in machines:
        machine.call(lambda session: check_verifies(session, may_differ=True))


@pytest.mark.parametrize("has_begun_alike", [False, True])
def test_what_the_retired_record_said_is_a_branch_of_the_one_that_stays(
    machines: tuple[Machine, Machine], has_begun_alike: bool
) -> None:
    first, second = machines
    kept = write(first, "green tea at four o'clock in the garden\n")
    begun = f"green tea at {'four' if has_begun_alike else 'five'} o'clock in the garden\n"
    gone = write(second, begun)
    if has_begun_alike:
        given = {"id": gone, "old": "green", "new": "black", "expect": 1}
        second.call(lambda session: update(session, given))
    said = (second.vault / NOTE).read_bytes()
    meet(first, second)
    rows = list_rows(second, kept)
    assert [row.draft.data for row in rows if row.ref.log == second.log] == [said]
    (branch,) = [row for row in rows if row.ref.log == second.log]
    both_had = tuple(row.ref for row in rows if row.ref.log == first.log)
    assert branch.draft.parents == (both_had if has_begun_alike else ())
    assert (second.vault / NOTE).read_bytes() == said, "the file is not touched"
    texts = {machine: show(machine, kept).data["text"] for machine in machines}
    assert texts[first] == texts[second] == said.decode().removesuffix("\n")
    for machine in machines:
        assert get_status(machine, gone) == "retired"
        reindex(machine)
        assert show(machine, kept).data["text"] == texts[first]


def test_an_edit_of_the_file_goes_on_with_the_record_that_stays(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    kept, gone = write(first, "green tea at four\n"), write(second, "green tea at four\n")
    meet(first, second)
    write(second, "green tea at six\n")
    assert list_modes(second, kept)[-1] == (2, "own", "file")
    assert len(list_rows(second, gone)) == 2
    bring_file(second, first, NOTE)
    meet(first, second)
    assert [show(machine, kept).data["text"] for machine in machines] == ["green tea at six"] * 2


def test_notes_of_unlike_texts_at_one_path_are_two_memories(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    one, other = write(first, "green tea at four\n"), write(second, "buy tea pots, kettles, sugar and lemons\n")
    meet(first, second)
    for machine in machines:
        assert (get_status(machine, one), get_status(machine, other)) == ("current", "current")


def test_a_note_that_lies_elsewhere_by_now_is_no_duplicate(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    one = write(first, "green tea at four\n")
    bring_log(first, second)
    (second.vault / "memories" / "default" / "moved.md").write_text("green tea at four\n")
    assert second.find("green tea") == [(one, 1)]
    other = write(second, "green tea at four, again\n")
    meet(first, second)
    assert (get_status(second, one), get_status(second, other)) == ("current", "current")


@pytest.mark.parametrize("place", ["memories/default/moved.md", "memories/ops/tea.md"])
def test_two_records_of_a_note_that_was_moved_to_one_place_are_one(
    machines: tuple[Machine, Machine], place: str
) -> None:
    first, second = machines
    kept, gone = write(first, "green tea at four\n"), write(second, "green tea at four\n")
    for machine in machines:
        (machine.vault / place).parent.mkdir(parents=True, exist_ok=True)
        (machine.vault / NOTE).rename(machine.vault / place)
        machine.clock.pass_s(1)
        machine.find("tea")
    meet(first, second)
    for machine in machines:
        for _ in range(2):
            assert [record for record, _ in machine.find("green tea")] == [kept]
            assert (get_status(machine, kept), get_status(machine, gone)) == ("current", "retired")
            reindex(machine)


def test_two_records_of_which_each_has_a_file_of_its_own_are_two(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    both = {write(first, "green tea at four\n"), write(second, "green tea at four\n")}
    for machine, place in ((first, "memories/default/one.md"), (second, "memories/default/two.md")):
        (machine.vault / NOTE).rename(machine.vault / place)
        machine.clock.pass_s(1)
        machine.find("tea")
    bring_log(first, second)
    bring_log(second, first)
    bring_file(first, second, "memories/default/one.md")
    bring_file(second, first, "memories/default/two.md")
    meet(first, second)
    for machine in machines:
        assert {record for record, _ in machine.find("green tea")} >= both


def test_a_file_that_is_a_retired_memorys_is_so_under_a_fresh_index(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    kept, gone = write(first, "green tea at four\n"), write(second, "green tea at four\n")
    meet(first, second)
    moved = second.vault / "memories/default/moved.md"
    (second.vault / NOTE).rename(moved)
    second.clock.pass_s(1)
    assert second.find("green tea") == [(kept, 1)]
    (second.vault / NOTE).write_text("green tea at four\n")
    second.clock.pass_s(1)
    for _ in range(2):
        assert second.find("green tea") == [(kept, 1)]
        reindex(second)
    assert get_status(second, gone) == "retired"


def test_the_record_that_stays_has_the_file_on_both_machines_though_it_was_found_at_another_place(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    kept = write(first, "green tea at four\n")
    (first.vault / NOTE).rename(first.vault / "memories/default/moved.md")
    first.find("tea")
    gone = write(second, "buy tea pots, kettles, sugar and lemons\n")
    meet(first, second)
    bring_file(second, first, NOTE)
    first.find("tea")
    (second.vault / NOTE).unlink()
    given = {"id": kept, "old": "green", "new": "black", "expect": 1}
    second.clock.pass_s(1)
    second.call(lambda session: update(session, given))
    bring_file(second, first, NOTE)
    first.clock.pass_s(1)
    first.find("tea")
    meet(first, second)
    for machine in machines:
        assert get_status(machine, gone) == "retired"
        assert (shown := show(machine, kept).data)["path"] == NOTE
        assert shown["text"] == "black tea at four"
        answer = machine.find("tea")
        reindex(machine)
        assert machine.find("tea") == answer


def test_a_file_that_comes_behind_its_log_joins_the_records_that_say_the_same_by_it(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    kept, gone = write(first, "green tea at four\n"), write(second, "buy tea pots, kettles, sugar and lemons\n")
    bring_log(first, second)
    given = {"id": kept, "old": "green", "new": "black", "expect": 1}
    second.call(lambda session: update(session, given))
    first.clock.pass_s(60)
    write(first, "green tea at four and at six\n")
    bring_log(first, second)
    assert show(second, kept).data["path"] != show(second, gone).data["path"]
    second.clock.pass_s(60)
    bring_file(first, second, NOTE)
    second.find("tea")
    assert get_status(second, gone) == "retired"
    meet(first, second)
    for machine in machines:
        shown = show(machine, kept).data
        assert (shown["path"], shown["text"]) == (NOTE, "green tea at four and at six")
        answer = machine.find("tea")
        reindex(machine)
        assert machine.find("tea") == answer


@pytest.mark.parametrize("is_told_at_once", [True, False])
def test_a_renamed_note_whose_file_comes_before_its_log_is_one_record_once_the_log_is_there(
    machines: tuple[Machine, Machine], is_told_at_once: bool
) -> None:
    first, second = machines
    kept = write(first, "green tea at four\n")
    moved = "memories/default/moved.md"
    (first.vault / NOTE).rename(first.vault / moved)
    if is_told_at_once:
        first.find("tea")
    second.clock.pass_s(60)
    bring_file(first, second, moved)
    gone = second.find("tea")[0][0]
    bring_log(first, second)
    second.find("tea")
    first.find("tea")
    meet(first, second)
    for machine in machines:
        assert machine.find("tea") == [(kept, 1)]
        assert get_status(machine, gone) == "retired"
        reindex(machine)
        assert machine.find("tea") == [(kept, 1)]


@pytest.mark.parametrize("is_too_many", [False, True])
def test_a_renamed_note_is_joined_while_no_more_records_say_the_same_than_the_limit(
    machines: tuple[Machine, Machine], *, is_too_many: bool
) -> None:
    first, second = machines
    for number in range(TWINS_ALIKE_MAX_COUNT - 2 + is_too_many):  # and the two that may be one
        (first.vault / f"memories/default/other {number}.md").write_text("green tea at four\n")
    first.find("tea")
    others = {row.draft.id for row in first.call(list_own_rows)}
    write(first, "green tea at four\n")
    (kept,) = {row.draft.id for row in first.call(list_own_rows)} - others
    (first.vault / NOTE).rename(first.vault / "memories/default/moved.md")
    first.clock.pass_s(1)
    first.find("tea")
    second.clock.pass_s(60)
    bring_file(first, second, "memories/default/moved.md")
    gone = second.find("tea")[0][0]
    meet(first, second)
    assert get_status(second, gone) == ("current" if is_too_many else "retired")
    assert get_status(second, kept) == "current"


def list_own_rows(session: Session) -> list[VersionRow]:
    rows = session.store.read_rows(session.store.log)
    return [row for row in rows if isinstance(row, VersionRow)]
