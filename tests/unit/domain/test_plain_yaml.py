"""Front matter as people write it, read line by line."""

from __future__ import annotations

import pytest

from onrecord.domain.front_matter import Span, Value
from onrecord.domain.plain_yaml import read_plain, resolve_plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("true", True),
        ("TRUE", True),
        ("False", False),
        ("tRUE", "tRUE"),
        ("yes", "yes"),
        ("on", "on"),
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("007", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("0O17", "0O17"),
        ("-0x1", "-0x1"),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1E-2", 0.01),
        (".", "."),
        ("-", "-"),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("2024-05-01", "2024-05-01"),
        ("12:30", "12:30"),
        ("9" * 1001, "9" * 1001),
    ],
)
def test_a_scalar_means_what_the_core_schema_says(text: str, value: object) -> None:
    found = resolve_plain(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("block", "values"),
    [
        ("a: it's # remark\n", {"a": "it's"}),
        ("# remark\n\n  # more\na:   x  \n", {"a": "x"}),
        ("a:\n  - b\n  - 'c''d'\n", {"a": ["b", "c'd"]}),
        ("a:\n- b\n# inner\n\n-\nc: 1", {"a": ["b", None], "c": 1}),
        ("a: [b,  \"c, d\" , 'e']\n", {"a": ["b", "c, d", "e"]}),
        ("My Key: http://x/y#z\n", {"My Key": "http://x/y#z"}),
        ("标签: 茶, 咖啡\n", {"标签": "茶, 咖啡"}),
        ('a: "x: y"  # z\n', {"a": "x: y"}),
        ("a: [ ]\nb: 2024-05-01\n", {"a": [], "b": "2024-05-01"}),
        ("a: #x\nb:\n", {"a": None, "b": None}),
        ("a: -1.50\n", {"a": -1.5}),
    ],
)
def test_usual_forms_are_read(block: str, values: dict[str, Value]) -> None:
    reading = read_plain(block)
    assert reading is not None
    assert reading.values == values


@pytest.mark.parametrize(
    "block",
    [
        "a: b: c\n",
        "a: b:\n",
        "a: x\n  y\n",
        "a: 'x\n",
        "a: 'x' y\n",
        'a: "x\n',
        'a: "\\x41"\n',
        "a: |\n  x\n",
        "a: &x y\n",
        "a: *x\n",
        "a: !t x\n",
        "a: {b: 1}\n",
        "a: [b, [c]]\n",
        "a: [b,]\n",
        "a: [b\n",
        "a: [b: c]\n",
        "a: - b\n",
        "a:\n  - b: c\n",
        "a:\n  - b\n   - c\n",
        "a:\n  b: c\n",
        "a: 1\na: 2\n",
        "- a\n",
        "? a\n",
        "a:\tb\n",
        "a: b\r\n",
        "a: \u2028\n",
        "a: \x07\n",
        "---\n",
        "%TAG\n",
        " a: b\n",
        "a: `b\n",
        "a: @b\n",
        "<<: a\n",
        "a : b\n",
        '"a": b\n',
        "a:\n  - [b]\n",
        "a: x\n# c\n  y\n",
        'a: "#" # "\n',
    ],
)
def test_what_is_not_certain_is_left_to_the_yaml_reader(block: str) -> None:
    assert read_plain(block) is None


def test_keys_keep_their_lines_without_what_follows_them() -> None:
    reading = read_plain("# first\na: 1\nb:\n  - x\n  # inner\n  - 007\n\n# after\nc:\n")
    assert reading is not None
    assert [reading.locate(key) for key in "abc"] == [(Span(2, 2),), (Span(3, 6),), (Span(9, 9),)]
    assert reading.spell("b", 1) == "007"
