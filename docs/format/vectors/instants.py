"""Instants and periods of docs/format/time.md."""

import re
from datetime import UTC, datetime, timedelta

from encoding import RefusedError, refusal

CANONICAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_INPUT = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[Tt ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?)?)?)?"
)


def format_instant(moment):
    """Write a UTC datetime as an instant."""
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond:06d}Z"


def is_instant(text):
    """Tell whether a text is an instant in the format's form."""
    if not CANONICAL.fullmatch(text):
        return False
    try:
        return parse_instant(text)[0] == text
    except RefusedError:
        return False


def parse_instant(text):
    """Return (instant, precision) of an input."""
    found = _INPUT.fullmatch(text)
    if not found:
        raise RefusedError("not_an_instant")
    part = found.groupdict()
    seconds = int(part["second"] or 0)
    fraction = (part["fraction"] or "")[:6].ljust(6, "0")
    if seconds == 60:
        seconds, fraction = 59, "999999"
    try:
        moment = datetime(
            int(part["year"]),
            int(part["month"] or 1),
            int(part["day"] or 1),
            int(part["hour"] or 0),
            int(part["minute"] or 0),
            seconds,
            int(fraction),
            UTC,
        )
        moment -= _read_offset(part["offset"])
    except (ValueError, OverflowError):
        raise RefusedError("out_of_range") from None
    precision = "instant" if part["hour"] else "day" if part["day"] else "month" if part["month"] else "year"
    return format_instant(moment), precision


def _read_offset(text):
    if text is None or text in "Zz":
        return timedelta()
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return offset if text[0] == "+" else -offset


def check_periods(periods):
    """Check a list of `FROM/TO` as a fact carries it."""
    last_end = ""
    for number, period in enumerate(periods):
        start, sep, end = period.partition("/")
        if not sep or not all(part == ".." or is_instant(part) for part in (start, end)):
            raise RefusedError("period_form")
        low = "" if start == ".." else start
        high = "~" if end == ".." else end
        if low >= high:
            raise RefusedError("period_empty")
        if number and low < last_end:
            raise RefusedError("period_order")
        if number and low == last_end:
            raise RefusedError("period_touches")
        last_end = high


def make_vectors():
    """Return inputs, instants and precision; periods, good and refused."""
    inputs = [
        "2026",
        "0001",
        "2026-11",
        "2026-11-30",
        "2024-02-29",
        "2026-11-30T07:00:00Z",
        "2026-11-30t07:00:00z",
        "2026-11-30 07:00:00",
        "2026-11-30T07:00",
        "2026-11-30T07:00+01:00",
        "2026-11-30T07:00:00+05:30",
        "2026-11-30T00:30:00+01:00",
        "2026-12-31T23:30:00-01:00",
        "2026-11-30T07:00:00-00:00",
        "2026-11-30T07:00:00.5",
        "2026-11-30T07:00:00.123456Z",
        "2026-11-30T07:00:00.1234569Z",
        "2016-12-31T23:59:60Z",
        "2016-12-31T18:59:60.25-05:00",
        "9999-12-31T23:59:59.999999Z",
        "0001-01-01T01:00:00+01:00",
    ]
    refused = [
        "",
        "now",
        "26",
        "20261",
        "2026-1",
        "2026-13",
        "2026-00",
        "2025-02-29",
        "2026-11-31",
        "0000",
        "10000-01-01",
        "-2026",
        " 2026",
        "2026-11-30 ",
        "2026-11-30\n",
        "2026-11-30T24:00:00Z",
        "2026-11-30T07:60:00Z",
        "2026-11-30T07:00:61Z",
        "2026-11-30T07",
        "2026-11-30T07:00:00.",
        "2026-11-30T07:00:00+0100",
        "2026-11-30T07:00:00+24:00",
        "2026-11-30T07:00:00+01:60",
        "2026-11-30T07:00:00 Z",
        "2026-11-30Z",
        "20261130",
        "2026-W49",
        "2026/11/30",
        "2026-11-30T07:00:00,5Z",
        "\u0662\u0660\u0662\u0666",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ]
    first, second = "2024-01-01T00:00:00.000000Z", "2025-01-01T00:00:00.000000Z"
    third, fourth = "2025-06-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z"
    good_periods = [
        [],
        ["../.."],
        [f"{first}/.."],
        [f"../{first}"],
        [f"{first}/{second}"],
        [f"{first}/{second}", f"{third}/{fourth}"],
        [f"../{first}", f"{second}/{third}", f"{fourth}/.."],
    ]
    bad_periods = [
        [f"{first}"],
        [f"{first}/"],
        [f"/{first}"],
        [f"{first}/{second}/{third}"],
        ["2024/2025"],
        [f"{first} / {second}"],
        [f"{second}/{first}"],
        [f"{first}/{first}"],
        [f"{first}/{second}", f"{second}/{third}"],
        [f"{third}/{fourth}", f"{first}/{second}"],
        [f"{first}/{third}", f"{second}/{fourth}"],
        ["../..", f"{first}/.."],
        [f"{first}/..", "../.."],
        [f"{first}/..", f"{second}/{third}"],
    ]
    for periods in good_periods:
        check_periods(periods)
    return {
        "instants": [
            {"input": text, "instant": parse_instant(text)[0], "precision": parse_instant(text)[1]} for text in inputs
        ],
        "refused": [{"input": text, "why": refusal(parse_instant, text)} for text in refused],
        "periods": good_periods,
        "refused_periods": [{"periods": periods, "why": refusal(check_periods, periods)} for periods in bad_periods],
    }
