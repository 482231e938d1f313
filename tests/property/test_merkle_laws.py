"""Laws of the tree, and equality with another implementation."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onrecord.domain.merkle import (
    Frontier,
    compute_root,
    hash_leaf,
    hash_node,
    is_consistent,
    is_included,
    prove_consistency,
    prove_inclusion,
)

DATA = st.lists(st.binary(max_size=8), min_size=1, max_size=200)


def recurse_root(leaves: list[bytes]) -> bytes:
    """Compute MTH as RFC 6962, section 2.1 states it."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hash_node(recurse_root(leaves[:split]), recurse_root(leaves[split:]))


@given(DATA)
def test_the_root_is_that_of_the_recursive_definition(data: list[bytes]) -> None:
    leaves = [hash_leaf(item) for item in data]
    assert compute_root(leaves) == recurse_root(leaves)


@given(DATA, st.data())
def test_a_frontier_may_be_extended_in_any_cuts(data: list[bytes], draw: st.DataObject) -> None:
    leaves = [hash_leaf(item) for item in data]
    cut = draw.draw(st.integers(0, len(leaves)))
    frontier = Frontier().extend(leaves[:cut])
    for leaf in leaves[cut:]:
        frontier = frontier.append(leaf)
    assert frontier == Frontier().extend(leaves)
    assert frontier.root() == compute_root(leaves)


@given(DATA, st.data())
def test_a_leaf_is_proved_and_a_flipped_bit_anywhere_is_not(data: list[bytes], draw: st.DataObject) -> None:
    leaves = [hash_leaf(item) for item in data]
    index = draw.draw(st.integers(0, len(leaves) - 1))
    proof, root = prove_inclusion(leaves, index), compute_root(leaves)
    assert is_included(leaves[index], index, len(leaves), proof, root)
    parts = [leaves[index], root, *proof]
    place = draw.draw(st.integers(0, len(parts) - 1))
    bit = draw.draw(st.integers(0, 255))
    flipped = (int.from_bytes(parts[place], "big") ^ (1 << bit)).to_bytes(32, "big")
    parts[place] = flipped
    assert not is_included(parts[0], index, len(leaves), parts[2:], parts[1])


@given(DATA, st.data())
def test_a_proof_holds_for_no_other_place(data: list[bytes], draw: st.DataObject) -> None:
    leaves = [hash_leaf(bytes([place % 256, place // 256]) + item) for place, item in enumerate(data)]
    assume(len(leaves) > 1)
    index = draw.draw(st.integers(0, len(leaves) - 1))
    other = draw.draw(st.integers(0, len(leaves) - 1).filter(lambda place: place != index))
    proof, root = prove_inclusion(leaves, index), compute_root(leaves)
    assert not is_included(leaves[other], index, len(leaves), proof, root)
    assert not is_included(leaves[index], other, len(leaves), proof, root)


@given(DATA, st.data())
def test_each_size_is_consistent_and_a_flipped_bit_anywhere_is_not(data: list[bytes], draw: st.DataObject) -> None:
    leaves = [hash_leaf(item) for item in data]
    old = draw.draw(st.integers(1, len(leaves)))
    roots = [compute_root(leaves[:old]), compute_root(leaves)]
    proof = prove_consistency(leaves, old)
    assert is_consistent(old, roots[0], len(leaves), roots[1], proof)
    parts = [*roots, *proof]
    place = draw.draw(st.integers(0, len(parts) - 1))
    bit = draw.draw(st.integers(0, 255))
    parts[place] = (int.from_bytes(parts[place], "big") ^ (1 << bit)).to_bytes(32, "big")
    assert not is_consistent(old, parts[0], len(leaves), parts[1], parts[2:])


@given(DATA, st.data())
def test_a_changed_old_leaf_is_never_consistent(data: list[bytes], draw: st.DataObject) -> None:
    leaves = [hash_leaf(item) for item in data]
    old = draw.draw(st.integers(1, len(leaves)))
    place = draw.draw(st.integers(0, old - 1))
    changed = [*leaves[:place], hash_leaf(b"changed, longer than any"), *leaves[place + 1 :]]
    proof = prove_consistency(changed, old)
    assert not is_consistent(old, compute_root(leaves[:old]), len(leaves), compute_root(changed), proof)


@given(DATA)
def test_roots_equal_those_of_pymerkle(data: list[bytes]) -> None:
    pymerkle = pytest.importorskip("pymerkle")
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for item in data:
        tree.append_entry(item)
    assert compute_root([hash_leaf(item) for item in data]) == tree.get_root()
