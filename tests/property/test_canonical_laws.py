"""Laws of canonical JSON, and equality with another implementation of RFC 8785."""

from __future__ import annotations

import json
from typing import Any, cast

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.canonical import check_depth, decode_strict, encode_canonical
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.limits import INTEGER_MAX, JSON_MAX_DEPTH

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
KEYS = st.text(st.characters(max_codepoint=127), max_size=10)
LEAVES = st.booleans() | st.integers(-INTEGER_MAX, INTEGER_MAX) | TEXT
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)


@given(OBJECTS)
def test_the_encoding_equals_that_of_the_rfc8785_package(value: dict[str, object]) -> None:
    assert encode_canonical(value) == rfc8785.dumps(cast(Any, value))


@given(OBJECTS)
def test_what_is_encoded_is_read_back_as_it_was(value: dict[str, object]) -> None:
    assert decode_strict(encode_canonical(value), max_bytes=1_000_000, allow_nul=True) == value


@given(OBJECTS, st.booleans())
def test_every_spelling_of_a_value_has_one_encoding(value: dict[str, object], is_ascii: bool) -> None:
    spelled = json.dumps(dict(reversed(value.items())), indent=2, ensure_ascii=is_ascii)
    read = decode_strict(spelled, max_bytes=1_000_000, allow_nul=True)
    assert encode_canonical(read) == encode_canonical(value)


@given(st.text(st.sampled_from('[]{}"\\,:a1 '), max_size=200))
def test_strict_reading_takes_nothing_that_the_standard_parser_refuses(text: str) -> None:
    try:
        value = decode_strict(text, max_bytes=1_000_000)
    except InvalidInputError:
        return
    assert json.loads(text) == value


@given(VALUES)
def test_the_scanner_counts_depth_as_the_value_has_it(value: object) -> None:
    def measure(item: object) -> int:
        if isinstance(item, dict):
            return 1 + max(map(measure, item.values()), default=0)
        return 1 + max(map(measure, item), default=0) if isinstance(item, list) else 0

    spare = JSON_MAX_DEPTH - measure(value)
    text = encode_canonical(value).decode()
    check_depth("[" * spare + text + "]" * spare)
    deeper = "[" * (spare + 1) + text + "]" * (spare + 1)
    try:
        check_depth(deeper)
    except LimitExceededError:
        return
    raise AssertionError("one level too many was not seen")


@given(st.binary(max_size=100))
def test_no_bytes_raise_anything_but_a_refusal(data: bytes) -> None:
    try:
        decode_strict(data, max_bytes=100)
    except InvalidInputError:
        pass
