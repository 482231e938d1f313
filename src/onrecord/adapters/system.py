"""The machine's clock and randomness."""

from __future__ import annotations

import os
import sys
import time
from functools import lru_cache

from onrecord.ports.system import WALL_MAX_US, ClockReading

_BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"


@lru_cache(maxsize=1)
def _read_boot() -> str:
    """Return a name of the present boot: the kernel's id, else the boot's second as the clocks tell it."""
    try:
        with open(_BOOT_ID_PATH, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return f"{sys.platform}-{round((time.time() - time.monotonic()) / 60)}"


def _read_boottime_us() -> int:
    # Both go on while the machine sleeps; on macOS `time.monotonic` does not.
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    if clock is None and sys.platform == "darwin":
        clock = time.CLOCK_MONOTONIC
    return (time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)) // 1_000


class SystemClock:
    """The clock of this machine."""

    def read(self) -> ClockReading:
        """Return wall clock, time since boot and the boot's name."""
        wall_us = min(max(time.time_ns() // 1_000, 0), WALL_MAX_US)
        return ClockReading(wall_us, _read_boottime_us(), _read_boot())

    def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


class SystemIds:
    """The operating system's randomness."""

    def draw(self, size_bytes: int) -> bytes:
        """Return strong random bytes."""
        return os.urandom(size_bytes)
