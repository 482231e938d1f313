"""The Merkle tree of RFC 6962, section 2.1, with SHA-256: roots, the append-only frontier, proofs and their checks.

Everything works on leaf hashes; what a leaf says is not known here. Proofs are built from the list of all leaf hashes
and verified with RFC 9162, sections 2.1.3.2 and 2.1.4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = sha256(b"").digest()


def hash_leaf(data: bytes) -> bytes:
    """Return the hash of a leaf's bytes."""
    return sha256(b"\x00" + data).digest()


def hash_node(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node above two hashes."""
    return sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """A tree that can only grow: the roots of its complete subtrees.

    Attributes:
        size: Number of leaves.
        nodes: Roots of the complete subtrees, largest first; as many as `size` has binary ones.

    Raises:
        ValueError: `size` and `nodes` do not fit.
    """

    size: int = 0
    nodes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0 or len(self.nodes) != self.size.bit_count():
            raise ValueError("a frontier has one node for each binary one of its size")
        if any(len(node) != HASH_BYTES for node in self.nodes):
            raise ValueError("a node is 32 bytes")

    def append(self, leaf: bytes) -> Frontier:
        """Return the frontier with one more leaf hash."""
        return self.extend((leaf,))

    def extend(self, leaves: Iterable[bytes]) -> Frontier:
        """Return the frontier with more leaf hashes, in order; amortised one node hash a leaf."""
        builder = FrontierBuilder(self)
        for leaf in leaves:
            builder.append(leaf)
        return builder.freeze()

    def root(self) -> bytes:
        """Return the root of the tree."""
        return _fold(self.nodes)


class FrontierBuilder:
    """A frontier in the making, for long runs of leaves; `freeze` gives the value."""

    def __init__(self, start: Frontier | None = None) -> None:
        self.size = start.size if start is not None else 0
        self._nodes = list(start.nodes) if start is not None else []

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        nodes, size = self._nodes, self.size
        while size & 1:
            leaf = sha256(b"\x01" + nodes.pop() + leaf).digest()
            size >>= 1
        nodes.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """Return the root of the leaves so far."""
        return _fold(self._nodes)

    def freeze(self) -> Frontier:
        """Return the frontier of the leaves so far."""
        return Frontier(self.size, tuple(self._nodes))


def _fold(nodes: Sequence[bytes]) -> bytes:
    """Hash the roots of complete subtrees, largest first, into the root above them."""
    if not nodes:
        return EMPTY_ROOT
    root = nodes[-1]
    for node in reversed(nodes[:-1]):
        root = hash_node(node, root)
    return root


def compute_root(leaves: Iterable[bytes]) -> bytes:
    """Return the root of leaf hashes; of none, the hash of nothing."""
    return Frontier().extend(leaves).root()


def prove_inclusion(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the audit path of a leaf, from the leaf's sibling up (RFC 6962, section 2.1.1).

    Args:
        leaves: All leaf hashes of the tree.
        index: Which leaf, from 0.

    Raises:
        IndexError: no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise IndexError(f"leaf {index} of {len(leaves)}")
    path: list[bytes] = []
    low, high = 0, len(leaves)
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(compute_root(leaves[middle:high]))
            high = middle
        else:
            path.append(compute_root(leaves[low:middle]))
            low = middle
    return tuple(reversed(path))


def prove_consistency(leaves: Sequence[bytes], old_size: int) -> tuple[bytes, ...]:
    """Return the proof that the first `old_size` leaves are a prefix of the tree (RFC 6962, section 2.1.2).

    Args:
        leaves: All leaf hashes of the newer tree.
        old_size: Size of the older one, 0 to `len(leaves)`; the proof is empty at both ends.

    Raises:
        IndexError: `old_size` is outside.
    """
    if not 0 <= old_size <= len(leaves):
        raise IndexError(f"size {old_size} of {len(leaves)}")
    if old_size in (0, len(leaves)):
        return ()
    path: list[bytes] = []
    low, high = 0, len(leaves)
    while high != old_size:
        middle = low + _split(high - low)
        if old_size <= middle:
            path.append(compute_root(leaves[middle:high]))
            high = middle
        else:
            path.append(compute_root(leaves[low:middle]))
            low = middle
    if low:
        path.append(compute_root(leaves[low:high]))
    return tuple(reversed(path))


def _split(count: int) -> int:
    """Return the largest power of two below `count`, which is 2 or more."""
    return 1 << ((count - 1).bit_length() - 1)


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Tell whether a proof shows that `leaf` is leaf `index` of the tree of `size` (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    node, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0 or len(sibling) != HASH_BYTES:
            return False
        if node & 1 or node == last:
            found = hash_node(sibling, found)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            found = hash_node(found, sibling)
        node >>= 1
        last >>= 1
    return last == 0 and found == root


def is_consistent(old_size: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Tell whether a proof shows that the tree of `size` extends the one of `old_size` (RFC 9162, section 2.1.4.2).

    The empty tree is a prefix of every tree; the same size asks for the same root. Both go without proof.
    """
    if not 0 <= old_size <= size or any(len(node) != HASH_BYTES for node in proof):
        return False
    if old_size == size:
        return not proof and old_root == root
    if old_size == 0:
        return not proof and old_root == EMPTY_ROOT
    path = list(proof) if old_size & (old_size - 1) else [old_root, *proof]
    if not path:
        return False
    node, last = old_size - 1, size - 1
    while node & 1:
        node >>= 1
        last >>= 1
    old_found = found = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            old_found = hash_node(sibling, old_found)
            found = hash_node(sibling, found)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            found = hash_node(found, sibling)
        node >>= 1
        last >>= 1
    return last == 0 and old_found == old_root and found == root
