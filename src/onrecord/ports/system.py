"""The outside world of a machine: clock and randomness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

# The last microsecond that a canonical integer can tell, in the year 2255.
WALL_MAX_US: Final = 2**53 - 1


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One reading: wall clock (0 to `WALL_MAX_US`) and time since boot in microseconds, and which boot it was."""

    wall_us: int
    boottime_us: int
    boot: str


class Clock(Protocol):
    """Where instants come from."""

    def read(self) -> ClockReading:
        """Return the present reading; the wall clock may lie; the boot time only grows within one boot."""

    def pause(self, seconds: float) -> None:
        """Let so much time pass."""


class IdSource(Protocol):
    """Where randomness comes from."""

    def draw(self, size_bytes: int) -> bytes:
        """Return cryptographically strong random bytes."""
