"""Branches: which versions of a record no other version has taken in (docs/format/time.md, Several logs)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from onrecord.domain.ids import EntryRef
from onrecord.domain.instants import Instant
from onrecord.domain.record import replace_keys
from onrecord.domain.record_fields import SERVER_KEYS

if TYPE_CHECKING:
    from onrecord.ports.yaml_reader import YamlReader


class Node(NamedTuple):
    """One version as far as branches go: `order` is its place among the versions of its record."""

    ref: EntryRef
    order: tuple[int, Instant, str, int]
    parents: tuple[EntryRef, ...]


def find_tips(versions: Sequence[Node], find: Callable[[EntryRef], Node | None]) -> list[EntryRef]:
    """Return the versions that are no ancestor of another one, the last in order first.

    A parent that does not stand before its child in the order counts for nothing, so that rows which contradict each
    other make no circle, and the greatest version is a tip always.

    Args:
        versions: Those that may be tips: of one record, in any order; displaced ones and turns left out.
        find: Gives a version that a parent names and that is not among them: displaced, or erased; None for none.
    """
    known = {node.ref: node for node in versions}
    ancestors: set[EntryRef] = set()
    waiting = list(versions)
    while waiting:
        child = waiting.pop()
        for ref in child.parents:
            parent = known.get(ref) or (find(ref) if ref not in ancestors else None)
            if parent is None or parent.order >= child.order:
                continue
            ancestors.add(ref)
            if ref not in known:
                waiting.append(parent)
    tips = [node for node in versions if node.ref not in ancestors]
    return [node.ref for node in sorted(tips, key=lambda node: node.order, reverse=True)]


def says_the_same(one: bytes, other: bytes, yaml: YamlReader) -> bool:
    """Tell whether two files differ in nothing but keys that OnRecord owns."""
    if one == other:
        return True
    return drop_copies(one, yaml) == drop_copies(other, yaml)


def drop_copies(data: bytes, yaml: YamlReader) -> bytes:
    """Return a file without the keys that OnRecord owns."""
    return replace_keys(data, dict.fromkeys(SERVER_KEYS), yaml)
