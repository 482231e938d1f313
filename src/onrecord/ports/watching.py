"""Hints of a system that files have changed; a hint may be late, doubled, lost or about nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Hints:
    """What one wait brought.

    Attributes:
        paths: Absolute paths of what may have changed, folders included; empty when the time ran out.
        is_lossy: Whether more may have changed than is named.
        is_ended: Whether the waiting is over for good.
    """

    paths: frozenset[str] = frozenset()
    is_lossy: bool = False
    is_ended: bool = False


class Watcher(Protocol):
    """Waits for changes below some folders."""

    def watch(self, folders: Sequence[str]) -> None:
        """Watch these absolute folders and all below from now on, and no others; one that is not there is left out."""

    def wait(self, timeout_s: float) -> Hints:
        """Return what has changed since the last wait, as soon as something has or the time is over."""

    def end(self) -> None:
        """End the present wait and all later ones; may be called from a signal handler."""
