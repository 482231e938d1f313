"""What a peer is to the measurements: a store that can be filled, written to and searched."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.costs import Contender, Cost

_CALLS_MAX = 100


class PeerUnavailableError(Exception):
    """A peer cannot be installed or started here; the message is the reason."""


@dataclass(frozen=True, slots=True)
class PeerPackage:
    """A peer as the package index knows it."""

    name: str
    version: str

    @property
    def label(self) -> str:
        """Name and version, as the tables show them."""
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class PeerHits:
    """Keys of what a peer found, best first, and what it cost."""

    keys: tuple[str, ...]
    cost: Cost


class Peer(ABC):
    """A store of a peer, driven as its users drive it. Each text is given as title (or subject) and as body.

    Every method raises PeerFailedError where the peer's program ends, is silent or answers with an error.
    """

    package: PeerPackage

    @abstractmethod
    def fill(self, records: Sequence[tuple[str, str]]) -> None:
        """Store records of key and text, by the quickest way that the peer has."""

    @abstractmethod
    def remember(self, text: str) -> Cost:
        """Store one text."""

    @abstractmethod
    def find(self, question: str, limit: int = 10) -> PeerHits:
        """Return the best records."""

    @abstractmethod
    def close(self) -> None:
        """End its program."""

    def make_remember_contender(self, budget_s: float) -> Contender:
        """Return who remembers, for so many seconds at most."""
        return Contender(self.package.label, self.remember, _CALLS_MAX, budget_s)

    def make_find_contender(self, budget_s: float) -> Contender:
        """Return who finds, for so many seconds at most."""
        return Contender(self.package.label, lambda question: self.find(question).cost, _CALLS_MAX, budget_s)


def make_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which a program finds nothing of the user: `folder` is its home."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return kept | {"HOME": str(folder)}
