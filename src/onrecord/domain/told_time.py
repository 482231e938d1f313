"""Times as other systems and people write them, for imports; what is not understood stays a text.

No form is taken whose order of day and month is open (05/08/2023).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from onrecord.domain.errors import InvalidInputError
from onrecord.domain.instants import Instant, format_datetime, from_unix_us, parse_instant

_MAX_CHARS = 100
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(_MONTHS)
_DATE_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?<![\w])(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?[ -]+(?:of +)?(?P<month>{_MONTH})\.?,?[ -]+"
        r"(?P<year>[0-9]{4})(?![\w])",
        rf"(?<![\w])(?P<month>{_MONTH})\.? +(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? +(?P<year>[0-9]{{4}})(?![\w])",
        r"(?<![\w])(?P<year>[0-9]{4})(?P<sep>[-/.])(?P<month>[0-9]{1,2})(?P=sep)(?P<day>[0-9]{1,2})(?![\w])",
        r"(?P<year>[0-9]{4}) ?年 ?(?P<month>[0-9]{1,2}) ?月 ?(?P<day>[0-9]{1,2}) ?[日号號]",
    )
)
_TIME_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?<![\w:.])(?P<half>上午|下午|晚上|午前|午後)? *(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
        r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?)? *(?P<noon>[ap]\.?m\.?(?!\w))?",
        r"(?P<half>上午|下午|晚上|午前|午後)? *(?P<hour>[0-9]{1,2}) ?[时時点點] ?(?:(?P<minute>[0-9]{1,2}) ?分)?",
        r"(?<![\w:.])(?P<hour>[0-9]{1,2}) *(?P<noon>[ap]\.?m\.?(?!\w))",
    )
)
_ZONE = re.compile(r"(?:z\b|(?:utc|gmt|ut)\b)?(?:(?P<sign>[+-])(?P<hours>[0-9]{2}):?(?P<minutes>[0-9]{2})(?![\w:]))?")
_US_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_FILLER = re.compile(
    r"\b(?:on|at|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|(?:星期|周|週)[一二三四五六日天]|[月火水木金土日]曜日?|[(（][月火水木金土日][)）]|[(),（），]"
)
_SINCE_1970 = re.compile(r"[0-9]{9,17}|[0-9]{9,11}\.[0-9]{1,9}")
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_AFTERNOON = frozenset(("下午", "晚上", "午後"))


def parse_told_time(text: str) -> Instant | None:
    """Read a time as it was told; None when it has no known form or does not exist.

    Forms: all of `parse_instant`; digits since 1970 in seconds (9 to 11, also with a fraction), milliseconds (12 to 14)
    or microseconds (15 to 17); `20230508`; RFC 2822 dates; `1:56 pm on 8 May, 2023`, `8 May 2023`,
    `May 8, 2023 13:56`, `2023/05/08 13:56`, `2023年5月8日 13时56分`, each with or without a time, a weekday and an
    offset. Without an offset the time is UTC; without a time it is the day's first instant. Blanks around are dropped.
    At most 100 code points.
    """
    told = text.strip()
    if not told or len(told) > _MAX_CHARS:
        return None
    try:
        return parse_instant(told)[0]
    except InvalidInputError:
        pass
    try:
        if _SINCE_1970.fullmatch(told) is not None:
            return _read_since_1970(told)
        compact = _COMPACT.fullmatch(told)
        if compact is not None:
            return parse_instant("-".join(compact.groups()))[0]
        return _read_words(told.lower())
    except (InvalidInputError, ValueError, OverflowError):
        return None


def is_told_instant(text: str) -> bool:
    """Tell whether a text is a time in a form of docs/format/time.md, so that it can be kept as it is written."""
    try:
        parse_instant(text)
    except InvalidInputError:
        return False
    return True


def _read_since_1970(digits: str) -> Instant:
    whole, _, fraction = digits.partition(".")
    scale = 1_000_000 if len(whole) <= 11 else 1_000 if len(whole) <= 14 else 1
    return from_unix_us(int(whole) * scale + int(fraction[:6].ljust(6, "0")))


def _read_words(told: str) -> Instant | None:
    date, told = _take_first(_DATE_FORMS, told)
    if date is None:
        return None
    time, told = _take_first(_TIME_FORMS, told)
    zone, told = _take_zone(told) if time is not None else (UTC, told)
    if _FILLER.sub(" ", told).strip(" \0.·@-"):
        return None
    month = date["month"]
    hour, minute, second, micro = _read_time(time) if time is not None else (0, 0, 0, 0)
    number = _MONTHS[month] if month in _MONTHS else int(month)
    year, day = int(date["year"]), int(date["day"])
    return format_datetime(datetime(year, number, day, hour, minute, second, micro, zone))


def _take_first(forms: tuple[re.Pattern[str], ...], told: str) -> tuple[dict[str, str] | None, str]:
    """Return the named parts of the first form that occurs, and the rest with U+0000 in its place."""
    for form in forms:
        found = form.search(told)
        if found is not None:
            parts = {name: part for name, part in found.groupdict().items() if part is not None}
            return parts, f"{told[: found.start()]} \0{told[found.end() :]}"
    return None, told


def _take_zone(told: str) -> tuple[timezone, str]:
    """Read the zone that stands behind the time, which the last U+0000 marks."""
    before, _, after = told.rpartition("\0")
    after = after.lstrip()
    for name, hours in _US_ZONES.items():
        if re.match(rf"{name}\b", after):
            return timezone(timedelta(hours=hours)), f"{before} {after[len(name) :]}"
    found = _ZONE.match(after)
    zone: timezone = UTC
    if found is not None:
        if found["sign"]:
            ahead = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
            zone = timezone(-ahead if found["sign"] == "-" else ahead)
        after = after[found.end() :]
    return zone, f"{before} {after}"


def _read_time(parts: dict[str, str]) -> tuple[int, int, int, int]:
    hour = int(parts["hour"])
    half = parts.get("noon", "")[:1]
    if half:
        if not 1 <= hour <= 12:
            raise ValueError("hour")
        hour = hour % 12 + (12 if half == "p" else 0)
    elif parts.get("half") in _AFTERNOON and hour < 12:
        hour += 12
    micro = int(parts.get("fraction", "")[:6].ljust(6, "0"))
    return hour, int(parts.get("minute", 0)), int(parts.get("second", 0)), micro
