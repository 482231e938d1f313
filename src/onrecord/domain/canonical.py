"""The one byte encoding of what is hashed, and the strict reading of JSON from outside.

The encoding is RFC 8785 under the rules of docs/format/README.md: integers only, no null, keys in ASCII, depth at most
32. Under these rules it equals a serialiser with sorted keys, no blanks and no needless escapes, so no number
formatting and no UTF-16 key order is needed. Reading never trusts the standard parser alone: it takes duplicate keys,
NaN and 1e400, and runs out of stack on deep nesting.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn, cast

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.limits import INTEGER_MAX, JSON_MAX_DEPTH

# The depth is checked before, so a circular value cannot get here.
_encode = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode

# A string that is never closed matches to the end, so that no quote in it is tried again.
_BRACKET_OR_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{\]}]', re.DOTALL)
_INTEGER_MAX_CHARS = len(str(-INTEGER_MAX))


def encode_canonical(value: object) -> bytes:
    """Return the canonical bytes of a value.

    Args:
        value: A dict with ASCII string keys, list, tuple (written as a list), string, boolean or integer within
            ±(2^53 - 1), nested at most 32 deep.

    Raises:
        InvalidInputError: a float, None, another type, a key that is no ASCII string, an integer out of range, or a
            lone surrogate.
        LimitExceededError: nested deeper.
    """
    _check_value(value, JSON_MAX_DEPTH)
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        raise InvalidInputError("text holds a lone surrogate") from None


def encode_known(value: object) -> bytes:
    """Return the canonical bytes of a value that came out of a JSON parser and whose types are judged elsewhere.

    Floats and nulls, which have no canonical form, are written as Python writes them.

    Raises:
        ValueError: a lone surrogate, NaN or an infinity.
    """
    return _encode(value).encode()


def _check_value(value: object, levels: int) -> None:
    """Refuse what has no canonical form; `levels` is how many arrays and objects may still open."""
    kind = type(value)
    if kind is str or kind is bool:
        return
    if kind is int:
        if not -INTEGER_MAX <= cast(int, value) <= INTEGER_MAX:
            raise InvalidInputError("an integer is outside ±(2^53 - 1)")
        return
    if kind is dict:
        if not levels:
            _refuse_depth()
        for key, item in cast("dict[object, object]", value).items():
            if not isinstance(key, str) or not key.isascii():
                raise InvalidInputError("a key is a string of ASCII characters")
            if type(item) is not str:
                _check_value(item, levels - 1)
        return
    if kind is list or kind is tuple:
        if not levels:
            _refuse_depth()
        for item in cast("list[object]", value):
            if type(item) is not str:
                _check_value(item, levels - 1)
        return
    _check_rare(value)


def _check_rare(value: object) -> None:
    """Accept members of string and integer enumerations; refuse the rest."""
    if isinstance(value, str):
        return
    if isinstance(value, int):
        _check_value(int(value), 0)
        return
    if value is None:
        raise InvalidInputError("null has no place here; leave the member out")
    if isinstance(value, float):
        raise InvalidInputError("a number is an integer here")
    raise InvalidInputError(f"a {type(value).__name__} has no JSON form")


def _refuse_depth() -> NoReturn:
    raise LimitExceededError(f"JSON is nested deeper than {JSON_MAX_DEPTH}")


def decode_strict(
    data: bytes | str, *, max_bytes: int, allow_floats: bool = False, allow_nul: bool = False
) -> dict[str, object]:
    """Read one JSON object from outside.

    Args:
        data: The document, UTF-8 when bytes.
        max_bytes: Largest size accepted, in bytes of UTF-8.
        allow_floats: Whether numbers may have a fraction or exponent; they are finite in any case.
        allow_nul: Whether strings may hold U+0000.

    Raises:
        InvalidInputError: not UTF-8, not JSON, not an object; a key twice in one object; NaN, an infinity or a number
            beyond the range of floats; a float where none is allowed; an integer outside ±(2^53 - 1); a lone surrogate;
            U+0000.
        LimitExceededError: too large, or nested deeper than 32.
    """
    value = decode_value(data, max_bytes=max_bytes, allow_floats=allow_floats, allow_nul=allow_nul)
    if not isinstance(value, dict):
        raise InvalidInputError("a JSON object is expected")
    return value


def decode_value(data: bytes | str, *, max_bytes: int, allow_floats: bool = False, allow_nul: bool = False) -> object:
    """Read one JSON value from outside, of any type; arguments and errors as of `decode_strict`.

    Raises:
        InvalidInputError, LimitExceededError: as `decode_strict`.
    """
    text = _decode_text(data, max_bytes)
    check_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_collect_pairs,
            parse_int=_read_integer,
            parse_float=_read_float if allow_floats else _refuse_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"not JSON: {error.msg} at character {error.pos}") from None
    # The bytes were valid UTF-8, so only an escape can bring in a surrogate or U+0000.
    if "\\u" in text:
        _check_escaped(value, allow_nul)
    return value


def _decode_text(data: bytes | str, max_bytes: int) -> str:
    try:
        raw = data.encode() if isinstance(data, str) else data
        if len(raw) > max_bytes:
            raise LimitExceededError(f"JSON is larger than {max_bytes} bytes")
        return data if isinstance(data, str) else raw.decode()
    except UnicodeEncodeError:
        raise InvalidInputError("text holds a lone surrogate") from None
    except UnicodeDecodeError:
        raise InvalidInputError("JSON is UTF-8") from None


def check_depth(text: str) -> None:
    """Refuse JSON that is nested deeper than 32, without parsing it; what is no JSON at all may pass.

    Raises:
        LimitExceededError: nested deeper.
    """
    if text.count("[") + text.count("{") <= JSON_MAX_DEPTH:
        return
    depth = 0
    for found in _BRACKET_OR_STRING.finditer(text):
        char = found[0]
        if char in "[{":
            depth += 1
            if depth > JSON_MAX_DEPTH:
                _refuse_depth()
        elif char in "]}":
            depth -= 1


def _collect_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInputError("a key occurs twice in one object")
    return found


def _read_integer(text: str) -> int:
    if len(text) > _INTEGER_MAX_CHARS or not -INTEGER_MAX <= int(text) <= INTEGER_MAX:
        raise InvalidInputError("an integer is outside ±(2^53 - 1)")
    return int(text)


def _read_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidInputError("a number is out of range")
    return number


def _refuse_float(_: str) -> NoReturn:
    raise InvalidInputError("a number is an integer here")


def _refuse_constant(_: str) -> NoReturn:
    raise InvalidInputError("NaN and infinities are not numbers of JSON")


def _check_escaped(value: object, allow_nul: bool) -> None:
    if isinstance(value, str):
        _check_text(value, allow_nul)
    elif isinstance(value, list):
        for item in value:
            _check_escaped(item, allow_nul)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key, allow_nul)
            _check_escaped(item, allow_nul)


def _check_text(text: str, allow_nul: bool) -> None:
    if not allow_nul and "\0" in text:
        raise InvalidInputError("text holds U+0000")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidInputError("text holds a lone surrogate") from None
