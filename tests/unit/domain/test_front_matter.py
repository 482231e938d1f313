"""The flat subset: what is plain, what is read, what is written (docs/format/record.md, The flat subset)."""

from __future__ import annotations

import sys
import unicodedata
from decimal import Decimal

import pytest

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.front_matter import (
    Span,
    Value,
    YamlReading,
    is_plain,
    read_flat,
    spell_scalar,
    write_line,
    write_value,
)

NESTED: Value = {"a": 1}
for _ in range(31):
    NESTED = {"a": NESTED}


@pytest.mark.parametrize("word", ["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
def test_words_of_yaml_are_quoted_in_any_case_and_are_no_keys(word: str) -> None:
    for spelled in (word, word.upper(), word.title()):
        assert not is_plain(spelled)
        assert write_value(spelled) == f'"{spelled}"'
        with pytest.raises(InvalidInputError):
            write_line(spelled, 1)
        assert read_flat(f"{spelled}: 1\n") is None


def test_a_letter_of_any_script_may_begin_a_plain_string_and_a_mark_or_foreign_digit_may_not() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        category = unicodedata.category(char)
        if category[0] == "L":
            assert is_plain(f"{char}-word"), hex(code)
        elif category[0] in "MN" and not char.isascii():
            assert not is_plain(f"{char}-word"), hex(code)
            assert is_plain(f"word-{char}"), hex(code)
        elif category[0] != "C" and not char.isascii():
            assert not is_plain(f"word-{char}"), hex(code)


@pytest.mark.parametrize(
    "line",
    [
        "title:x",
        "title:  x",
        "title: x ",
        "title: ",
        " title: x",
        "title : x",
        "title",
        "- x",
        "# x",
        "",
        "1: x",
        "ti tle: x",
        "title: 'x'",
        'title: "x',
        'title: "x"y',
        'title: "\t"',
        'title: "\u2028"',
        'title: "\\ud800"',
        'title: "\\ud83d\\ude00"',
        "title: a: b",
        "title: a #b",
        "title: a  b",
        "title: Null",
        "title: YES",
        "title: 0x1f",
        "title: 1e3",
        "title: 007",
        "title: +1",
        "title: .5",
        "title: 1.2345",
        "title: 1234567890123456789",
        "title: ~",
        "title: -",
        "title: 2024-02-30T00:00:00.000000Z",
        "tags: [a,b]",
        "tags: [ a]",
        "tags: [a ]",
        "tags: [a, ]",
        "tags: [, a]",
        "tags: [a",
        "tags: [a]b",
        "tags: [[a]]",
        "tags: [a, [b]]",
        "tags: [null]",
        'tags: ["a" , b]',
        'tags: ["a"b]',
        "meta: {}x",
        'meta: {"a": 1}',
        'meta: {"b":1,"a":2}',
        'meta: {"a":1,"a":1}',
        'meta: {"a":1.5}',
        'meta: {"a":null}',
        'meta: {"é":1}',
        'meta: {"a":9007199254740992}',
        "meta: {a: 1}",
        'meta: {"a":"\u2028"}',
        'meta: {"a":NaN}',
        "title: x\r",
        f"{'k' * 1001}: x",
        f'meta: {{"{"k" * 999}":1}}',
        "meta: " + '{"a":' * 40 + "1" + "}" * 40,
        "meta: {" + '"a":[' * 5000,
    ],
)
def test_a_line_outside_the_grammar_sends_the_block_to_another_reader(line: str) -> None:
    assert read_flat(f"{line}\n") is None
    assert read_flat(f"x: 1\n{line}\nz: 1\n") is None


def test_a_key_that_occurs_twice_is_outside_the_grammar() -> None:
    assert read_flat("a: 1\nb: 2\na: 3\n") is None


def test_a_block_whose_last_line_has_no_end_is_outside_the_grammar() -> None:
    assert read_flat("a: 1") is None
    assert read_flat("") == YamlReading({})


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("x", "x"),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("-12", -12),
        ("999999999999999999", 999999999999999999),
        ("0.5", 0.5),
        ("-0.050", -0.05),
        ('""', ""),
        ('"\\u0041\\/\\t"', "A/\t"),
        ('"a, b]"', "a, b]"),
        ("[]", []),
        ("[a]", ["a"]),
        ('[a b, 1, 0.5, true, "x, y"]', ["a b", 1, 0.5, True, "x, y"]),
        ('["]", "[", "\\""]', ["]", "[", '"']),
        ("{}", {}),
        ('{"a":[{"b":"\\u2028"}]}', {"a": [{"b": "\u2028"}]}),
        ("12 Uhr", "12 Uhr"),
        ("naïve (café) 50%", "naïve (café) 50%"),
        ("e\u0301", "e\u0301"),
        ("2026-11-30T07:00:00.000000Z", "2026-11-30T07:00:00.000000Z"),
    ],
)
def test_a_value_of_the_grammar_is_read(written: str, value: Value) -> None:
    reading = read_flat(f"key: {written}\n")
    assert reading is not None
    assert reading.values == {"key": value}
    assert type(reading.values["key"]) is type(value)


def test_the_spelling_of_a_number_is_kept_where_it_is_not_ours() -> None:
    reading = read_flat("a: 1.50\nb: [-0, 2, 0.50]\nc: 1.5\n")
    assert reading is not None
    assert [reading.spell("a"), reading.spell("b", 0), reading.spell("b", 1), reading.spell("b", 2)] == [
        "1.50",
        "-0",
        "2",
        "0.50",
    ]
    assert reading.spell("c") == "1.5"


def test_every_key_of_a_flat_block_has_its_line() -> None:
    reading = read_flat("a: 1\nb:\nc: x\n")
    assert reading is not None
    assert [reading.locate(key) for key in "abcd"] == [(Span(1, 1),), (Span(2, 2),), (Span(3, 3),), ()]


def test_an_old_name_of_a_scalar_is_its_text() -> None:
    assert [spell_scalar(value) for value in (None, True, False, 7, 0.5, "x", ["a"], {"b": 1})] == [
        "",
        "true",
        "false",
        "7",
        "0.5",
        "x",
        '["a"]',
        '{"b": 1}',
    ]


@pytest.mark.parametrize(
    "value",
    [
        10**18,
        -(10**18),
        0.1234,
        1e-4,
        1e9,
        float("nan"),
        float("inf"),
        Decimal("0.0001"),
        [None],
        [["a"]],
        [{"a": 1}],
        "\ud800",
        {"a": "\udc00"},
        {"a": float("nan")},
        {"a": 10**18},
        {"a": object()},
        {1: "a", "b": 2},
    ],
)
def test_a_value_without_a_form_in_front_matter_is_refused(value: Value) -> None:
    with pytest.raises(InvalidInputError) as caught:
        write_line("key", value)
    assert caught.value.field == "key"


def test_a_map_is_nested_at_most_32_deep_and_its_keys_are_bounded() -> None:
    assert write_value(NESTED).count("{") == 32
    for value in ({"a": NESTED}, {"k" * 999: 1}):
        with pytest.raises(LimitExceededError):
            write_line("meta", value)


def test_a_free_map_is_one_line_of_json_even_where_it_is_not_flat() -> None:
    line = write_line("meta", {"b": None, "a": [0.25, Decimal("0.5"), (1, 2)], "茶": {"x\u2028": "\x7f"}})
    assert line == 'meta: {"a":[0.25,0.5,[1,2]],"b":null,"茶":{"x\\u2028":"\\u007f"}}'
    assert read_flat(f"{line}\n") is None


@pytest.mark.parametrize("key", ["", "1a", "a b", "a:", "é", "-a", "a.b", "k" * 1001])
def test_a_key_outside_the_grammar_is_not_written(key: str) -> None:
    with pytest.raises(InvalidInputError):
        write_line(key, 1)
