"""How the versions of one record descend from each other (`from` of docs/format/versions.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from onrecord.domain.ids import EntryRef

# So many versions are asked for their parents; beyond that two versions count as strangers.
_ASKED_MAX_COUNT: Final = 2_000

Parents = Callable[[EntryRef], Sequence[EntryRef]]


def find_nearest_common(one: EntryRef, other: EntryRef, parents: Parents) -> EntryRef | None:
    """Return the version nearest to `other` from which both descend, itself included; None where there is none."""
    known = set(_walk(one, parents))
    return next((ref for ref in _walk(other, parents) if ref in known), None)


def is_ancestor(older: EntryRef, newer: EntryRef, parents: Parents) -> bool:
    """Tell whether a version is another one or one of those that it descends from."""
    return any(ref == older for ref in _walk(newer, parents))


def find_taken_in(tops: Sequence[EntryRef], wanted: Collection[EntryRef], parents: Parents) -> set[EntryRef]:
    """Return those of some versions that one of `tops` is or descends from."""
    return {ref for top in tops for ref in _walk(top, parents)} & set(wanted)


def _walk(start: EntryRef, parents: Parents) -> list[EntryRef]:
    """Return a version and all it descends from, nearest first; of those alike, the greatest entry first."""
    seen = {start: None}
    level: Sequence[EntryRef] = [start]
    while level and len(seen) < _ASKED_MAX_COUNT:
        found = sorted({parent for ref in level for parent in parents(ref)} - seen.keys(), reverse=True)
        seen |= dict.fromkeys(found)
        level = found
    return list(seen)
