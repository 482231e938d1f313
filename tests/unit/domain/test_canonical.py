"""Canonical JSON and the strict reading of untrusted JSON."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, StrEnum

import pytest

from onrecord.domain.canonical import decode_strict, encode_canonical
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.limits import INTEGER_MAX, JSON_MAX_DEPTH


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


def nest(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def decode(data: bytes | str) -> dict[str, object]:
    return decode_strict(data, max_bytes=1_000_000)


def test_members_are_sorted_and_no_blank_is_written() -> None:
    assert encode_canonical({"b": [1, True], "a": {"d": "x", "c": -1}}) == b'{"a":{"c":-1,"d":"x"},"b":[1,true]}'


def test_tuples_and_enumerations_are_written_as_what_they_are_made_of() -> None:
    assert encode_canonical({"t": (1, "x"), "c": Colour.RED, "l": Level.HIGH}) == b'{"c":"red","l":3,"t":[1,"x"]}'


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1.0},
        {"a": float("nan")},
        {"a": None},
        {"é": 1},
        {1: "a"},
        {None: "a"},
        {"a": INTEGER_MAX + 1},
        {"a": -INTEGER_MAX - 1},
        {"a": "\ud800"},
        {"a": ["x", "\udfff"]},
        {"a": b"bytes"},
        {"a": {1}},
        [None],
        None,
        0.5,
    ],
    ids=repr,
)
def test_a_value_outside_the_format_has_no_canonical_form(value: object) -> None:
    with pytest.raises(InvalidInputError):
        encode_canonical(value)


def test_the_largest_integers_are_written() -> None:
    assert encode_canonical([INTEGER_MAX, -INTEGER_MAX]) == b"[9007199254740991,-9007199254740991]"


def test_depth_32_is_written_and_33_refused() -> None:
    assert encode_canonical(nest(JSON_MAX_DEPTH)) == b"[" * 32 + b"1" + b"]" * 32
    with pytest.raises(LimitExceededError):
        encode_canonical(nest(JSON_MAX_DEPTH + 1))
    with pytest.raises(LimitExceededError):
        encode_canonical({"a": nest(JSON_MAX_DEPTH)})


def test_a_value_that_holds_itself_is_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(LimitExceededError):
        encode_canonical(circle)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"a":' + "[" * 50_000 + "{" * 50_000])
def test_very_deep_json_is_refused_without_exhausting_the_stack(text: str) -> None:
    with pytest.raises(LimitExceededError):
        decode(text)


def test_brackets_inside_strings_are_not_depth() -> None:
    text = '{"a":"' + "[" * 100 + '\\"' + "{" * 100 + '","b":[1]}'
    assert decode(text) == {"a": "[" * 100 + '"' + "{" * 100, "b": [1]}


def test_brackets_after_an_escaped_quote_count() -> None:
    with pytest.raises(LimitExceededError):
        decode('{"a":"\\\\",' + '"b":' + "[" * 32 + "]" * 32 + "}")


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert decode('{"a":[' + ",".join(["[]"] * 100) + "]}") == {"a": [[]] * 100}


def test_a_string_that_never_ends_is_no_json() -> None:
    with pytest.raises(InvalidInputError):
        decode('{"a":"' + '\\"[' * 20_000)


def test_json_at_the_limit_is_read_and_above_refused() -> None:
    text = '{"a":"é"}'
    size = len(text.encode())
    assert decode_strict(text, max_bytes=size) == {"a": "é"}
    assert decode_strict(text.encode(), max_bytes=size) == {"a": "é"}
    for data in (text, text.encode()):
        with pytest.raises(LimitExceededError):
            decode_strict(data, max_bytes=size - 1)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":2}',
        b'{"a":{"b":1,"b":1}}',
        b'{"\\u0061":1,"a":2}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":1e400}',
        b'{"a":-1e400}',
        b'{"a":0.5}',
        b'{"a":9007199254740992}',
        b'{"a":' + b"9" * 5_000 + b"}",
        b'{"a":"\\ud83d"}',
        b'{"a":"\\ude00\\ud83d"}',
        b'{"\\ud83d":1}',
        b'{"a":["\\ud83d"]}',
        b'{"a":"\xff"}',
        b"[1]",
        b"1",
        b"null",
        b"",
        b"{",
        b'{"a":1}x',
        b'\xef\xbb\xbf{"a":1}',
    ],
)
def test_untrusted_json_outside_the_format_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError):
        decode(data)


def test_a_lone_surrogate_in_text_input_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        decode('{"a":"\ud800"}')


def test_a_pair_of_escaped_surrogates_is_one_character() -> None:
    assert decode(b'{"a":"\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize("text", ['{"a":"x\\u0000"}', '{"x\\u0000":1}', '{"a":[{"b":"\\u0000"}]}'])
def test_nul_is_refused_unless_allowed(text: str) -> None:
    with pytest.raises(InvalidInputError):
        decode(text)
    assert decode_strict(text, max_bytes=100, allow_nul=True)


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    assert decode('{"a":"\\\\u0000"}') == {"a": "\\u0000"}


def test_floats_are_read_where_allowed_and_stay_finite() -> None:
    assert decode_strict('{"a":0.85,"b":1e2}', max_bytes=100, allow_floats=True) == {"a": 0.85, "b": 100.0}
    for text in ('{"a":1e400}', '{"a":NaN}', '{"a":Infinity}'):
        with pytest.raises(InvalidInputError):
            decode_strict(text, max_bytes=100, allow_floats=True)


@pytest.mark.parametrize("read", [decode, lambda text: decode(text.encode())])
def test_errors_do_not_repeat_the_input(read: Callable[[str], object]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read('{"secret-key":1,"secret-key":2}')
    assert "secret" not in str(caught.value)
