"""Tree, frontier and proofs against the reference values of RFC 6962 implementations."""

from __future__ import annotations

import pytest

from onrecord.domain.merkle import (
    EMPTY_ROOT,
    Frontier,
    FrontierBuilder,
    compute_root,
    hash_leaf,
    hash_node,
    is_consistent,
    is_included,
    prove_consistency,
    prove_inclusion,
)

# Leaf inputs and roots of the Certificate Transparency test suite.
INPUTS = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
LEAVES = [hash_leaf(bytes.fromhex(text)) for text in INPUTS]


def make_leaves(count: int) -> list[bytes]:
    return [hash_leaf(number.to_bytes(4, "big")) for number in range(count)]


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_are_those_of_the_reference_tree(size: int) -> None:
    assert compute_root(LEAVES[:size]).hex() == ROOTS[size - 1]


def test_the_root_of_nothing_is_the_hash_of_nothing() -> None:
    assert compute_root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert Frontier().root() == EMPTY_ROOT


def test_leaf_and_node_hashes_cannot_be_taken_for_each_other() -> None:
    left, right = LEAVES[:2]
    assert hash_leaf(left + right) != hash_node(left, right)


def test_a_frontier_is_a_value_that_append_leaves_alone() -> None:
    first = Frontier().append(LEAVES[0])
    second = first.append(LEAVES[1])
    assert (first.size, first.root()) == (1, LEAVES[0])
    assert (second.size, second.root()) == (2, hash_node(LEAVES[0], LEAVES[1]))


def test_a_frontier_holds_the_complete_subtrees_largest_first() -> None:
    leaves = make_leaves(7)
    nodes = (compute_root(leaves[:4]), compute_root(leaves[4:6]), leaves[6])
    assert Frontier().extend(leaves) == Frontier(7, nodes)


def test_a_frontier_goes_on_from_its_stored_form() -> None:
    leaves = make_leaves(21)
    for cut in range(22):
        half = Frontier().extend(leaves[:cut])
        assert Frontier(half.size, half.nodes).extend(leaves[cut:]).root() == compute_root(leaves)


@pytest.mark.parametrize(
    ("size", "nodes"),
    [(-1, ()), (1, ()), (2, (bytes(32), bytes(32))), (3, (bytes(32),)), (1, (bytes(31),)), (0, (bytes(32),))],
)
def test_a_frontier_whose_nodes_do_not_fit_its_size_is_refused(size: int, nodes: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match="node"):
        Frontier(size, nodes)


def test_a_builder_gives_the_root_at_every_size() -> None:
    builder = FrontierBuilder()
    for size, leaf in enumerate(LEAVES, 1):
        builder.append(leaf)
        assert builder.root().hex() == ROOTS[size - 1]
    assert builder.freeze() == Frontier().extend(LEAVES)


def test_every_leaf_of_every_size_to_40_is_proved_and_no_other() -> None:
    leaves = make_leaves(40)
    for size in range(1, 41):
        root = compute_root(leaves[:size])
        for index in range(size):
            proof = prove_inclusion(leaves[:size], index)
            assert is_included(leaves[index], index, size, proof, root)
            assert not is_included(hash_leaf(b"other"), index, size, proof, root)
            assert not is_included(leaves[index], index + 1, size, proof, root)
            assert not is_included(leaves[index], index, size, (*proof, bytes(32)), root)
            assert not is_included(leaves[index], index, size, proof, bytes(32))
            if proof:
                assert not is_included(leaves[index], index, size, proof[:-1], root)


def test_every_pair_of_sizes_to_40_is_consistent_and_no_other_root_is() -> None:
    leaves = make_leaves(40)
    roots = [compute_root(leaves[:size]) for size in range(41)]
    for size in range(41):
        for old in range(size + 1):
            proof = prove_consistency(leaves[:size], old)
            assert is_consistent(old, roots[old], size, roots[size], proof)
            assert not is_consistent(old, bytes(32), size, roots[size], proof)
            assert not is_consistent(old, roots[old], size, roots[size], (*proof, bytes(32)))
            if old:
                assert not is_consistent(old, roots[old], size, bytes(32), proof)
            if 0 < old < size:
                assert not is_consistent(old, roots[old], size, roots[size], proof[:-1])


def test_a_newer_tree_is_never_a_prefix_of_an_older_one() -> None:
    leaves = make_leaves(8)
    proof = prove_consistency(leaves, 5)
    assert not is_consistent(8, compute_root(leaves), 5, compute_root(leaves[:5]), proof)


def test_a_node_of_another_length_proves_nothing() -> None:
    leaves = make_leaves(2)
    root = compute_root(leaves)
    assert is_included(leaves[0], 0, 2, (leaves[1],), root)
    assert not is_included(leaves[0], 0, 2, (leaves[1] + b"\0",), root)
    assert not is_consistent(1, leaves[0], 2, root, (leaves[1][:-1],))


@pytest.mark.parametrize("index", [-1, 3])
def test_a_leaf_that_is_not_there_has_no_proof(index: int) -> None:
    with pytest.raises(IndexError):
        prove_inclusion(make_leaves(3), index)


@pytest.mark.parametrize("size", [-1, 4])
def test_a_size_that_was_never_reached_has_no_proof(size: int) -> None:
    with pytest.raises(IndexError):
        prove_consistency(make_leaves(3), size)
