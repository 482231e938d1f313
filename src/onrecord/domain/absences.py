"""Memories whose file is gone: how long they have been so in opened time, and when none of them may be retired.

A vault is mostly opened for moments, so time is counted from look to look, a look being a complete comparison of the
files with what is known. A look vouches for the time since the last one, at most for an hour of it, and only if nothing
suspends retirement (docs/format/vault.md, absences.json).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.instants import Instant

HOUR_US: Final = 3_600_000_000
WAIT_US: Final = 24 * HOUR_US
LOOK_MAX_US: Final = HOUR_US
FEW_COUNT: Final = 3
MANY_PERCENT: Final = 10


class Suspension(StrEnum):
    """Why no memory is retired, however long its file has been gone."""

    NONE = ""
    ALL = "all"  # every memory has lost its file
    MANY = "many"  # more of them than anybody deletes by hand
    UNREAD = "unread"  # a folder could not be read


@dataclass(frozen=True, slots=True)
class Moment:
    """A reading of the clocks: the boot's name, time since boot and wall clock in microseconds."""

    boot: str = ""
    boottime_us: int = 0
    wall_us: int = 0


@dataclass(frozen=True, slots=True)
class Absence:
    """Since when a memory has no file: by the count of opened time, and by the wall clock for a person."""

    opened_us: int
    since: Instant


@dataclass(frozen=True, slots=True)
class Absences:
    """What one installation knows of the memories whose file is gone.

    Attributes:
        opened_us: Opened time counted so far, in microseconds; it means nothing but by its differences.
        last: When the last look was.
        missing: By record.
        records: How many memories should have a file, at the last look.
        suspension: What the last look found against retiring any.
        withdrawn: Memories that another installation retired as missing and whose file was here and went, too: by
            record, each with the version that retired it.
    """

    opened_us: int = 0
    last: Moment = Moment()
    missing: Mapping[RecordId, Absence] = field(default_factory=lambda: MappingProxyType({}))
    records: int = 0
    suspension: Suspension = Suspension.NONE
    withdrawn: Mapping[RecordId, EntryRef] = field(default_factory=lambda: MappingProxyType({}))

    def look(
        self, now: Moment, since: Instant, gone: Collection[RecordId], records: int, *, has_unread: bool
    ) -> Absences:
        """Return what is known after a look.

        Args:
            now: The clocks at the look.
            since: The wall clock as an instant, kept of those that are newly gone.
            gone: Every record whose file was not there.
            records: How many should have one, these included.
            has_unread: Whether a folder could not be read.
        """
        suspension = judge_suspension(len(gone), records, has_unread=has_unread)
        is_counted = suspension is Suspension.NONE and bool(self.missing)
        opened_us = self.opened_us + (measure_opened(self.last, now) if is_counted else 0)
        new = Absence(opened_us, since)
        missing = {record: self.missing.get(record, new) for record in gone}
        return Absences(opened_us, now, MappingProxyType(missing), records, suspension, self.withdrawn)

    def withdraw(self, retired: Mapping[RecordId, EntryRef]) -> Absences:
        """Return the same after a look that found the files of these retired records, and of no others, gone.

        Nothing is learned where retirement is suspended: so many files are gone that it says nothing of one of them.
        """
        if self.suspension is not Suspension.NONE:
            return self
        return replace(self, withdrawn=MappingProxyType(dict(retired)))

    def list_due(self) -> list[RecordId]:
        """Return the records that have waited long enough, ascending; none while retirement is suspended."""
        if self.suspension is not Suspension.NONE:
            return []
        return sorted(record for record in self.missing if not self.measure_left(record))

    def measure_left(self, record: RecordId) -> int:
        """Return how much of the wait a missing record has left, in microseconds of opened time."""
        return max(0, WAIT_US - (self.opened_us - self.missing[record].opened_us))

    def drop(self, records: Collection[RecordId]) -> Absences:
        """Return the same without some records."""
        left = {record: absence for record, absence in self.missing.items() if record not in records}
        return replace(self, missing=MappingProxyType(left))


def judge_suspension(missing: int, records: int, *, has_unread: bool) -> Suspension:
    """Return what stands against retiring any of `missing` records out of `records` that should have a file."""
    if has_unread:
        return Suspension.UNREAD
    if missing and missing >= records:
        return Suspension.ALL
    is_many = missing > FEW_COUNT and missing * 100 > records * MANY_PERCENT
    return Suspension.MANY if is_many else Suspension.NONE


def measure_opened(last: Moment, now: Moment) -> int:
    """Return for how much of the time since the last look a look vouches, in microseconds.

    Within one boot the clock counts that nobody can set, across boots the wall clock, never below zero; both up to
    `LOOK_MAX_US`.
    """
    is_same_boot = last.boot == now.boot
    passed = now.boottime_us - last.boottime_us if is_same_boot else now.wall_us - last.wall_us
    return min(max(0, passed), LOOK_MAX_US)
