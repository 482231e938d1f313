"""Conflict records: names of members, the id, and what a person reads."""

from __future__ import annotations

import pytest

from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.domain.conflict import (
    SIDE_MAX_BYTES,
    Member,
    Proposal,
    Side,
    describe_keys,
    identify,
    parse_member,
    read_conflict,
    render_body,
)
from onrecord.domain.errors import InvalidInputError
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.domain.instants import Instant
from onrecord.domain.record import read_record, render_record

YAML = RuamelReader()
RECORD = RecordId("abcdefgh0123")
LOG = LogId("0123456789abcdef")
WHEN = Instant("2026-11-30T10:00:00.000000Z")


def make_side(version: int, text: str, who: str = "Mia") -> Side:
    member = Member(RECORD, version, EntryRef(LOG, Seq(version)))
    return Side(member, "file", who, WHEN, "memories/default/Plan.md", text)


SIDES = [make_side(2, "tea at four\n"), make_side(3, "tea at five\n")]
CONFLICT = identify([side.member for side in SIDES])


def test_a_member_names_its_version_and_among_branches_its_entry() -> None:
    for text in (f"{RECORD}@2", f"{RECORD}@2 {LOG}:7"):
        assert str(parse_member(text)) == text
    for bad in ("", RECORD, f"{RECORD}@0", f"{RECORD}@2 {LOG}", f"{RECORD}@2  {LOG}:7", f"{RECORD}@2\n"):
        with pytest.raises(InvalidInputError):
            parse_member(bad)


def test_the_id_does_not_depend_on_the_order_of_the_members() -> None:
    assert identify([side.member for side in reversed(SIDES)]) == CONFLICT
    assert identify([SIDES[0].member, Member(RECORD, 3)]) != CONFLICT


def test_a_conflict_is_read_back_from_its_file() -> None:
    keys = describe_keys("Plan", SIDES, Proposal(None, "both change one line"))
    data = render_record(keys | {"id": CONFLICT}, render_body(CONFLICT, "Plan", SIDES, Proposal(None, "x")))
    record = read_record(data, "conflicts/Plan.md", YAML)
    assert record.problems == ()
    conflict = read_conflict(record, CONFLICT)
    assert conflict is not None
    assert (conflict.members, conflict.state) == (tuple(side.member for side in SIDES), "open")


def test_members_that_were_changed_by_hand_are_no_members() -> None:
    keys = describe_keys("Plan", SIDES, Proposal(None, "x")) | {"members": [f"{RECORD}@1"]}
    assert read_conflict(read_record(render_record(keys, "x"), "conflicts/x.md", YAML), CONFLICT) is None


def test_both_sides_can_be_read_with_who_wrote_them_and_how_to_settle() -> None:
    shown = render_body(CONFLICT, "Plan", SIDES, Proposal("tea at four and five\n"))
    for told in ("tea at four\n", "tea at five\n", "four and five", "Mia", WHEN, f"settle {CONFLICT} --keep merge"):
        assert told in shown
    bare = render_body(CONFLICT, "Plan", SIDES, Proposal(None, "both change one line"))
    assert "No merge can be had: both change one line." in bare
    assert "--keep merge" not in bare


def test_nothing_in_a_side_gets_out_of_its_place() -> None:
    text = "````\n## B\n```\n"
    shown = render_body(CONFLICT, "a | b\n# c", [make_side(2, text, who="x | y\n## z"), SIDES[1]], Proposal(None, "x"))
    assert "`````markdown\n````\n## B\n```\n`````" in shown
    assert "\n## z" not in shown
    assert "x \\| y" in shown
    assert "\n# c" not in shown


def test_a_large_side_is_cut_with_how_to_read_the_rest() -> None:
    shown = render_body(CONFLICT, "Plan", [make_side(2, "語" * SIDE_MAX_BYTES), SIDES[1]], Proposal(None, "x"))
    assert len(shown.encode()) < SIDE_MAX_BYTES + 4_096
    assert f"onrecord read {RECORD} --entry {LOG}:2" in shown
    assert "�" not in shown
