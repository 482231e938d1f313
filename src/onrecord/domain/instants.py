"""Instants, half-open intervals and the periods of a fact (docs/format/time.md). There is no clock here.

An instant is its canonical text, `YYYY-MM-DDTHH:MM:SS.ffffffZ`, so that sorting as text is sorting in time.
`parse_instant` takes the input forms of the format (RFC 3339 and shorter ones) and nothing else; the looser
forms of imported files are read by `onrecord.domain.told_time`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Final, NewType

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.limits import PERIODS_MAX_COUNT

Instant = NewType("Instant", str)

OPEN_END: Final = Instant("9999-12-31T23:59:59.999999Z")
OPEN_MARK: Final = ".."

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_US = timedelta(microseconds=1)
_CANONICAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?"
    r"([Zz]|([+-])([0-9]{2}):([0-9]{2}))?"
)
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_HINT = "Write it as 2026-11-30T07:00:00Z, 2026-11-30, 2026-11 or 2026."


class Precision(StrEnum):
    """How much of an instant was given."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    INSTANT = "instant"


def _refuse(field: str, reason: str = "not an instant") -> InvalidInputError:
    return InvalidInputError(reason, field=field, hint=_HINT)


def format_datetime(moment: datetime) -> Instant:
    """Return a date and time with an offset as an instant.

    Raises:
        OverflowError: in UTC it is outside the years 0001 to 9999.
    """
    moment = moment.astimezone(UTC)
    return Instant(
        f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}T"
        f"{moment.hour:02d}:{moment.minute:02d}:{moment.second:02d}.{moment.microsecond:06d}Z"
    )


def is_instant(text: str) -> bool:
    """Tell whether `text` is an instant in canonical form (a date that exists, no leap second)."""
    if _CANONICAL.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text[:-1])
    except ValueError:
        return False
    return True


def parse_instant(text: object, field: str = "time") -> tuple[Instant, Precision]:
    """Read an instant in any input form of docs/format/time.md.

    A time without an offset is read as UTC, seconds may be left out, digits of a second beyond the sixth are dropped,
    and second 60 is read as 59.999999.

    Args:
        text: The text; nothing is trimmed.
        field: Name for the error.

    Raises:
        InvalidInputError: not a string, another form, a date that does not exist, or outside the years 0001 to 9999 in
            UTC.
    """
    if not isinstance(text, str):
        raise _refuse(field, "an instant is a string")
    if is_instant(text):
        return Instant(text), Precision.INSTANT
    try:
        found = _DATE.fullmatch(text)
        if found is not None:
            return _read_date(found)
        found = _DATE_TIME.fullmatch(text)
        if found is not None:
            return _read_date_time(found), Precision.INSTANT
    except (ValueError, OverflowError):
        raise _refuse(field, "no such date or time") from None
    raise _refuse(field)


def _read_date(found: re.Match[str]) -> tuple[Instant, Precision]:
    year, month, day = found.groups()
    precision = Precision.DAY if day else Precision.MONTH if month else Precision.YEAR
    return format_datetime(datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)), precision


def _read_date_time(found: re.Match[str]) -> Instant:
    year, month, day, hour, minute, second, fraction, _, sign, off_hours, off_minutes = found.groups()
    is_leap = second == "60"
    micro = 999_999 if is_leap else int((fraction or "")[:6].ljust(6, "0"))
    zone: timezone = UTC
    if sign:
        if int(off_hours) > 23 or int(off_minutes) > 59:
            raise ValueError("offset")
        ahead = timedelta(hours=int(off_hours), minutes=int(off_minutes))
        zone = timezone(-ahead if sign == "-" else ahead)
    whole = 59 if is_leap else int(second or 0)
    return format_datetime(datetime(int(year), int(month), int(day), int(hour), int(minute), whole, micro, zone))


def to_unix_us(instant: Instant) -> int:
    """Return microseconds since 1970-01-01T00:00:00Z, negative before."""
    return (datetime.fromisoformat(instant) - _EPOCH) // _ONE_US


def from_unix_us(us: int) -> Instant:
    """Return the instant at `us` microseconds since 1970-01-01T00:00:00Z.

    Raises:
        InvalidInputError: outside the years 0001 to 9999.
    """
    try:
        return format_datetime(_EPOCH + timedelta(microseconds=us))
    except OverflowError:
        raise _refuse("time", "outside the years 0001 to 9999") from None


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open stretch of time, `start <= t < end`; None is an open end.

    Raises:
        InvalidInputError: `end` is not after `start`.
    """

    start: Instant | None = None
    end: Instant | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise InvalidInputError("an interval ends after it starts", field="periods")


def parse_period(text: object) -> Interval:
    """Read `FROM/TO` as a caller gives it: each end an instant in any input form, or `..` for open.

    Raises:
        InvalidInputError: another form, or it does not end after it starts.
    """
    if not isinstance(text, str) or text.count("/") != 1:
        raise InvalidInputError("a period is FROM/TO", field="periods", hint="Write it as 2024-01-01/.. for example.")
    start, end = (None if part == OPEN_MARK else parse_instant(part, "periods")[0] for part in text.split("/"))
    return Interval(start, end)


def format_period(interval: Interval) -> str:
    """Return an interval as `FROM/TO` with canonical instants, `..` for an open end."""
    return f"{interval.start or OPEN_MARK}/{interval.end or OPEN_MARK}"


def merge_periods(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the same moments as the fewest intervals, in ascending order: overlapping and touching ones become one."""
    merged: list[Interval] = []
    for interval in sorted(intervals, key=lambda item: item.start or ""):
        last = merged[-1] if merged else None
        if last is None or (last.end is not None and (interval.start or "") > last.end):
            merged.append(interval)
        elif last.end is not None and (interval.end is None or interval.end > last.end):
            merged[-1] = Interval(last.start, interval.end)
    return tuple(merged)


def parse_periods(texts: Sequence[object]) -> tuple[Interval, ...]:
    """Read the `periods` of a fact as a file holds them: canonical instants, ascending, not overlapping, not touching.

    Raises:
        LimitExceededError: more than 1,000 intervals.
        InvalidInputError: an item of another form, or out of order.
    """
    if len(texts) > PERIODS_MAX_COUNT:
        raise LimitExceededError(f"at most {PERIODS_MAX_COUNT} periods", field="periods")
    intervals = tuple(parse_period(text) for text in texts)
    if format_periods(intervals) != list(texts):
        raise InvalidInputError("the ends of periods are instants in full, or ..", field="periods")
    if merge_periods(intervals) != intervals:
        reason = "periods ascend and neither overlap nor touch"
        raise InvalidInputError(reason, field="periods", hint="Write touching periods as one.")
    return intervals


def format_periods(intervals: Sequence[Interval]) -> list[str]:
    """Return the strings of `periods`, in the order given."""
    return [format_period(interval) for interval in intervals]
