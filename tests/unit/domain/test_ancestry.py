"""How versions descend from each other."""

from __future__ import annotations

from collections.abc import Sequence

from onrecord.domain.ancestry import find_nearest_common, is_ancestor
from onrecord.domain.ids import EntryRef, LogId, Seq

LOG = LogId("0123456789abcdef")
#   1 ── 2 ── 3 ── 5 (merge of 3 and 4)
#        └─── 4 ───┘      6 stands alone
PARENTS = {1: (), 2: (1,), 3: (2,), 4: (2,), 5: (3, 4), 6: ()}


def name(number: int) -> EntryRef:
    return EntryRef(LOG, Seq(number))


def list_parents(ref: EntryRef) -> Sequence[EntryRef]:
    return [name(number) for number in PARENTS[ref.seq]]


def find(one: int, other: int) -> int | None:
    found = find_nearest_common(name(one), name(other), list_parents)
    return found.seq if found is not None else None


def test_the_nearest_version_that_both_descend_from_is_found() -> None:
    assert (find(3, 4), find(4, 3), find(5, 4), find(3, 5), find(1, 4), find(6, 4)) == (2, 2, 4, 3, 1, None)


def test_a_version_is_its_own_ancestor_and_of_all_that_follow() -> None:
    assert is_ancestor(name(2), name(5), list_parents)
    assert is_ancestor(name(2), name(2), list_parents)
    assert not is_ancestor(name(5), name(2), list_parents)
