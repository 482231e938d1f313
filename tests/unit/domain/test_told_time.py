"""Times as other systems and people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.instants import is_instant
from onrecord.domain.told_time import parse_told_time

AFTERNOON = "2023-05-08T13:56:00.000000Z"
DAY = "2023-05-08T00:00:00.000000Z"


@pytest.mark.parametrize(
    "text",
    [
        "1:56 pm on 8 May, 2023",
        "8 May 2023 13:56",
        "May 8, 2023 13:56",
        "May 8th, 2023 at 1:56 p.m.",
        "2023/05/08 13:56",
        "2023/05/08 (Mon) 13:56",
        "2023年5月8日 13:56",
        "2023年05月08日13时56分",
        "2023年5月8日(月) 午後1:56",
        "2023-05-08 13:56",
        "2023-05-08T15:56:00+02:00",
        "Mon, 08 May 2023 15:56:00 +0200",
        "8 May 2023 13:56 GMT",
        "8 May 2023 08:56 EST",
        "1683554160",
        "1683554160.0",
        "1683554160000",
        "1683554160000000",
        "  8 May 2023 13:56  ",
    ],
)
def test_a_told_date_with_a_time_is_understood(text: str) -> None:
    assert parse_told_time(text) == AFTERNOON


@pytest.mark.parametrize(
    "text",
    [
        "8 May 2023",
        "8 May, 2023",
        "Monday, 8 May 2023",
        "May 8, 2023",
        "2023/5/8",
        "2023.05.08",
        "2023年5月8日",
        "20230508",
        "12 am on 8 May 2023",
    ],
)
def test_a_told_date_without_a_time_is_its_first_instant(text: str) -> None:
    assert parse_told_time(text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "tomorrow",
        "13:56",
        "05/08/2023",
        "8.5.2023",
        "31 June 2023",
        "8 May 2023 25:00",
        "13 pm on 8 May 2023",
        "0 pm on 8 May 2023",
        "8 May 2023 13:56 +99:00",
        "20231301",
        "８ May 2023",
        "8 May 2023 or so",
        "1" * 18,
        "9" * 101,
        "-1683554160",
        "0000",
    ],
)
def test_what_is_open_or_does_not_exist_stays_a_text(text: str) -> None:
    assert parse_told_time(text) is None


@given(st.one_of(st.text(max_size=120), st.text("0123456789:-/ apmTZ+年月日May", max_size=40)))
def test_any_text_gives_an_instant_or_nothing(text: str) -> None:
    found = parse_told_time(text)
    assert found is None or is_instant(found)
