"""Which versions of a record are tips, and which say the same."""

from __future__ import annotations

import pytest

from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.domain.branches import Node, find_tips, says_the_same
from onrecord.domain.ids import EntryRef, LogId, Seq
from onrecord.domain.instants import Instant

A, B = LogId("0123456789abcdef"), LogId("fedcba9876543210")


def ref(log: LogId, seq: int) -> EntryRef:
    return EntryRef(log, Seq(seq))


def make(version: int, at: EntryRef, *parents: EntryRef) -> Node:
    return Node(at, (version, Instant(f"2026-01-01T00:00:{at.seq:02}.000000Z"), at.log, at.seq), parents)


def list_tips(*versions: Node, others: tuple[Node, ...] = ()) -> list[EntryRef]:
    return find_tips(versions, {node.ref: node for node in others}.get)


def test_a_line_of_versions_has_one_tip() -> None:
    line = [make(1, ref(A, 1)), make(2, ref(A, 2), ref(A, 1)), make(3, ref(B, 1), ref(A, 2))]
    assert list_tips(*line) == list_tips(*reversed(line)) == [ref(B, 1)]
    assert list_tips() == []


def test_two_versions_of_one_parent_are_two_tips_the_last_in_order_first() -> None:
    found = list_tips(make(2, ref(B, 3), ref(A, 1)), make(1, ref(A, 1)), make(2, ref(A, 5), ref(A, 1)))
    assert found == [ref(A, 5), ref(B, 3)]


def test_a_version_with_several_parents_joins_their_branches() -> None:
    two = [make(1, ref(A, 1)), make(2, ref(A, 5), ref(A, 1)), make(2, ref(B, 3), ref(A, 1))]
    assert list_tips(*two, make(3, ref(A, 6), ref(A, 5), ref(B, 3))) == [ref(A, 6)]
    assert list_tips(*two, make(3, ref(A, 6), ref(A, 5))) == [ref(A, 6), ref(B, 3)]


def test_what_a_version_that_is_no_tip_itself_has_taken_in_is_taken_in() -> None:
    first, displaced = make(1, ref(A, 1)), make(2, ref(A, 2), ref(A, 1))
    assert list_tips(first, make(3, ref(A, 3), ref(A, 2)), others=(displaced,)) == [ref(A, 3)]
    assert list_tips(first, make(3, ref(A, 3), ref(A, 2))) == [ref(A, 3), ref(A, 1)]


def test_rows_that_contradict_each_other_leave_the_greatest_version_a_tip() -> None:
    assert list_tips(make(1, ref(A, 1), ref(B, 1)), make(2, ref(B, 1), ref(A, 1))) == [ref(B, 1)]
    assert list_tips(make(1, ref(A, 1), ref(A, 1))) == [ref(A, 1)]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("---\ntitle: t\nversion: 1\nid: 0123456789ab\n---\na\n", "---\ntitle: t\nversion: 2\n---\na\n", True),
        ("---\ntitle: t\nversion: 1\n---\na\n", "---\ntitle: u\nversion: 1\n---\na\n", False),
        ("---\nversion: 1\n---\na\n", "---\nversion: 1\n---\na", False),
        ("---\nversion: 1\n", "---\nversion: 2\n", False),
    ],
)
def test_files_say_the_same_if_nothing_but_keys_of_onrecord_differs(one: str, other: str, is_same: bool) -> None:
    assert says_the_same(one.encode(), other.encode(), RuamelReader()) is is_same
