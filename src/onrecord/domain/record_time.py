"""Record time: monotone per log, and not led astray by a clock that jumps (docs/format/time.md)."""

from __future__ import annotations

from dataclasses import dataclass

JUMP_US = 5 * 60 * 1_000_000
SEEN_AHEAD_MAX_US = 24 * 3_600 * 1_000_000


@dataclass(frozen=True, slots=True)
class RecordTime:
    """Next record time, and by how many seconds the clock is off it (0: within 5 minutes)."""

    us: int
    jump_s: int


def choose_record_time(wall_us: int, last_us: int, elapsed_us: int | None) -> RecordTime:
    """Choose the record time of the next entry.

    Args:
        wall_us: The clock, microseconds since 1970.
        last_us: Record time of the last entry or seen head; 0 for none.
        elapsed_us: Time since the last commit by a clock that cannot be set; None in another boot, or for none.

    Returns:
        max(clock, last + 1 µs), unless the clock is more than 5 minutes ahead of last + the time that passed in this
        boot: then that, however long the clock stays ahead. A clock behind the last entry by more than 5 minutes is
        a jump too.
    """
    floor_us = last_us + 1 if last_us else 0
    if wall_us < floor_us - JUMP_US:
        return RecordTime(floor_us, (wall_us - last_us) // 1_000_000)
    if last_us and elapsed_us is not None and elapsed_us >= 0:
        expected_us = last_us + elapsed_us
        if wall_us > expected_us + JUMP_US:
            return RecordTime(max(expected_us, floor_us), (wall_us - expected_us) // 1_000_000)
    return RecordTime(max(wall_us, floor_us), 0)
