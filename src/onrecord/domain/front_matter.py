"""The flat subset of front matter: a strict reader and the writer (docs/format/record.md, The flat subset).

What a block holds is a `YamlReading`, whichever reader made it: this one, `onrecord.domain.plain_yaml` for the forms
that people and editors write most, or a YAML reader behind `onrecord.ports.yaml_reader` for all others. All three agree
wherever more than one of them takes a block.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.instants import is_instant
from onrecord.domain.limits import JSON_MAX_DEPTH
from onrecord.domain.problem import Problem

Value: TypeAlias = "bool | int | float | Decimal | str | Sequence[Value] | Mapping[str, Value] | None"

KEY_MAX_CHARS: Final = 1_000
WORDS: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,8})\.[0-9]{1,3}")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_RAW_IN_QUOTES = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
_NO_NUMBER = re.compile("[g-np-wyzG-NP-WYZ]")
_THOUSANDTH = Decimal("0.001")
_SIGNS = frozenset("_-./+@%() ")
_DIGITS = frozenset("0123456789")
_ASCII_SIGNS = re.compile(r"[A-Za-z0-9_\-./+@%() ]+")
_LONGEST_WORD = max(map(len, WORDS))

# One pass over the block, each line a row: key; then one of words in ASCII, instant, string without escapes, integer,
# or any other value; or, last, a line that is none.
_WORDS_ASCII = r"[A-Za-z](?:[A-Za-z0-9_\-./+@%() ]*[A-Za-z0-9_\-./+@%()])?"
_LINES = re.compile(
    r"([A-Za-z][A-Za-z0-9_-]{0,999}):(?: (?:"
    rf"({_WORDS_ASCII})(?=\n)"
    r"|([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z)(?=\n)"
    r'|"([ !#-\[\]-~]+)"(?=\n)'
    r"|(0|[1-9][0-9]{0,17})(?=\n)"
    r"|([^\n]+)))?\n|([^\n]*\n|[^\n]+\Z)"
)
_LIST_OF_WORDS = re.compile(rf"\[{_WORDS_ASCII}(?:, {_WORDS_ASCII})*\]")


class Span(NamedTuple):
    """Lines of a key with its value, from 1 in the block, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class YamlReading:
    """What a block of front matter says.

    Attributes:
        values: Top-level keys and values in the order of the file; of a key that occurs twice the first.
        spellings: How a number or boolean is written in the file where that is not how it would be written here, by
            key and place: -1 for the value itself, else the index in its list.
        spans: Where each key stands, once for each time it occurs; None for one key a line, in order.
        problems: What was found; their lines count from 1 in the block, their path is empty.
        dropped: Text of values that do not count (of a second key, behind an alias), so that it is found all the same.
        is_broken: The block could not be read; there are no values then.
    """

    values: Mapping[str, Value]
    spellings: Mapping[tuple[str, int], str] = field(default_factory=lambda: MappingProxyType({}))
    spans: Mapping[str, tuple[Span, ...]] | None = None
    problems: tuple[Problem, ...] = ()
    dropped: tuple[str, ...] = ()
    is_broken: bool = False

    def locate(self, key: str) -> tuple[Span, ...]:
        """Return where a key stands; empty if it does not occur."""
        if self.spans is not None:
            return self.spans.get(key, ())
        if key not in self.values:
            return ()
        line = list(self.values).index(key) + 1
        return (Span(line, line),)

    def spell(self, key: str, index: int = -1) -> str:
        """Return the text of a scalar, or of an item of a list, as it stands in the file; a null is empty."""
        written = self.spellings.get((key, index))
        if written is not None:
            return written
        value = self.values[key]
        return spell_scalar(value[index] if index >= 0 and isinstance(value, Sequence) else value)


def spell_scalar(value: Value) -> str:
    """Return how a scalar is written where nothing else is known; lists and maps as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(value, ensure_ascii=False, default=dict)


class _NotFlatError(Exception):
    """The block is outside the flat subset."""


def is_plain(text: str) -> bool:
    """Tell whether a string is written without quotes."""
    if not text or text[-1] == " " or "  " in text:
        return False
    if text[0].isalpha():
        if len(text) <= _LONGEST_WORD and text.lower() in WORDS:
            return False
    elif text[0] not in _DIGITS or _NO_NUMBER.search(text) is None:
        return False
    if _ASCII_SIGNS.fullmatch(text) is not None or (":" in text and is_instant(text)):
        return True
    return all(char in _SIGNS or char.isalnum() or unicodedata.category(char)[0] == "M" for char in text)


def read_flat(block: str) -> YamlReading | None:
    """Read a block of the flat subset.

    Args:
        block: The lines between the fences, each ended by LF.

    Returns:
        The reading; None where any line is outside the grammar: another reader has to take the block.
    """
    values: dict[str, Value] = {}
    spellings: dict[tuple[str, int], str] = {}
    try:
        for key, words, instant, string, integer, other, foreign in _LINES.findall(block):
            if foreign or key in values or (len(key) <= _LONGEST_WORD and key.lower() in WORDS):
                return None
            if words:
                values[key] = words if "  " not in words and len(words) > _LONGEST_WORD else _read_words(words)
            elif string:
                values[key] = string
            elif integer:
                values[key] = int(integer)
            elif instant:
                if not is_instant(instant):
                    return None
                values[key] = instant
            elif other:
                values[key] = _read_value(other, key, spellings)
            else:
                values[key] = None
    except _NotFlatError:
        return None
    return YamlReading(values, spellings)


def _read_words(text: str) -> Value:
    if "  " in text:
        raise _NotFlatError
    if len(text) > _LONGEST_WORD or text.lower() not in WORDS:
        return text
    if text not in ("true", "false"):
        raise _NotFlatError
    return text == "true"


def _read_value(text: str, key: str, spellings: dict[tuple[str, int], str]) -> Value:
    first = text[0]
    if first == "[":
        return _read_list(text, key, spellings)
    if first == "{":
        return _read_map(text)
    return _read_scalar(text, key, -1, spellings)


def _read_scalar(text: str, key: str, index: int, spellings: dict[tuple[str, int], str]) -> Value:
    if text.startswith('"'):
        string = read_quoted(text)
        if string is None:
            raise _NotFlatError
        return string
    number: int | float
    if _DECIMAL.fullmatch(text) is not None:
        number = float(text)
    elif _INTEGER.fullmatch(text) is not None:
        number = int(text)
    elif is_plain(text):
        return text
    elif text in ("true", "false"):
        return text == "true"
    else:
        raise _NotFlatError
    if repr(number) != text:
        spellings[key, index] = text
    return number


def read_quoted(text: str) -> str | None:
    """Return a string in double quotes that JSON and YAML read alike; None if it is none."""
    if _RAW_IN_QUOTES.search(text) is not None or _SURROGATE_ESCAPE.search(text) is not None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _read_list(text: str, key: str, spellings: dict[tuple[str, int], str]) -> list[Value]:
    if text[-1] != "]" or len(text) < 2:
        raise _NotFlatError
    inner = text[1:-1]
    if not inner:
        return []
    if _LIST_OF_WORDS.fullmatch(text) is not None:
        return [_read_words(part) for part in inner.split(", ")]
    if '"' not in inner:
        return [_read_scalar(part, key, index, spellings) for index, part in enumerate(inner.split(", "))]
    items: list[Value] = []
    place = 0
    while True:
        string = _STRING.match(inner, place) if inner.startswith('"', place) else None
        end = string.end() if string is not None else inner.find(",", place)
        end = len(inner) if end < 0 else end
        items.append(_read_scalar(inner[place:end], key, len(items), spellings))
        if end == len(inner):
            return items
        if not inner.startswith(", ", end):
            raise _NotFlatError
        place = end + 2


def _read_map(text: str) -> Value:
    try:
        value: Value = json.loads(text, parse_float=_refuse_number, parse_constant=_refuse_number)
        if escape_json(encode_canonical(value).decode()) != text or max(map(len, _list_keys(value))) > KEY_MAX_CHARS:
            raise _NotFlatError
    except (ValueError, RecursionError, InvalidInputError):
        raise _NotFlatError from None
    return value


def _refuse_number(_: str) -> float:
    raise _NotFlatError


def escape_json(text: str) -> str:
    """Return JSON with the characters escaped that JSON allows raw and a line of YAML does not."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _list_keys(value: Value) -> list[str]:
    """Return the keys of a map and of all maps in it, as they are written, and one empty text."""
    keys = [""]
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            keys.extend(_write_json(key) for key in item)
            waiting.extend(item.values())
        elif isinstance(item, Sequence) and not isinstance(item, str):
            waiting.extend(item)
    return keys


def write_string(text: str) -> str:
    """Return a string as the flat subset writes it: plain where it may be, else in double quotes.

    Raises:
        InvalidInputError: it holds half a surrogate pair.
    """
    return text if is_plain(text) else _write_json(text)


def _write_json(value: Value) -> str:
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_open_up
    )
    if _SURROGATE.search(text) is not None:
        raise InvalidInputError("text holds half a surrogate pair")
    return escape_json(text)


def _open_up(value: Mapping[str, Value] | Sequence[Value] | Decimal) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return dict(value) if isinstance(value, Mapping) else list(value)


def write_value(value: Value) -> str:
    """Return a value as it stands behind `key: `; a null is empty.

    Numbers with a fraction have at most three digits of it. A map is one line of JSON; one that holds fractions, nulls
    or keys outside ASCII is outside the flat subset, but YAML all the same.

    Raises:
        InvalidInputError: a value that has no form in front matter.
        LimitExceededError: nesting above 32, or a key above 1,000 characters.
    """
    match value:
        case None:
            return ""
        case str():
            return write_string(value)
        case bool():
            return "true" if value else "false"
        case int():
            return _write_integer(value)
        case float() | Decimal():
            return _write_decimal(value)
        case Mapping():
            return _write_map(value)
        case _:
            return f"[{', '.join(_write_item(item) for item in value)}]"


def _write_item(item: Value) -> str:
    if item is None or not isinstance(item, (str, int, float, Decimal)):
        raise InvalidInputError("a list in front matter holds texts, numbers and booleans only")
    return write_value(item)


def _write_integer(value: int) -> str:
    if abs(value) >= 10**18:
        raise InvalidInputError("an integer has at most 18 digits")
    return str(value)


def _write_decimal(value: float | Decimal) -> str:
    exact = Decimal(str(value))
    if not exact.is_finite() or abs(exact) >= 10**9 or exact != exact.quantize(_THOUSANDTH):
        hint = "Round it, or give it as text."
        raise InvalidInputError("a fraction has at most three digits, and nine before the point", hint=hint)
    text = format(exact, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _write_map(value: Mapping[str, Value]) -> str:
    _check_depth(value, 1)
    try:
        text = _write_json(value)
    except (TypeError, ValueError):
        raise InvalidInputError("a map holds a value that has no form in JSON") from None
    if max(map(len, _list_keys(value))) > KEY_MAX_CHARS:
        raise LimitExceededError(f"a key of a map has at most {KEY_MAX_CHARS} characters")
    return text


def _check_depth(value: Value, depth: int) -> None:
    if depth > JSON_MAX_DEPTH:
        raise LimitExceededError(f"nesting is at most {JSON_MAX_DEPTH}")
    match value:
        case int():
            _write_integer(value)
        case Mapping():
            for item in value.values():
                _check_depth(item, depth + isinstance(item, (Mapping, list, tuple)))
        case list() | tuple():
            for item in value:
                _check_depth(item, depth + isinstance(item, (Mapping, list, tuple)))
        case _:
            return


def write_line(key: str, value: Value) -> str:
    """Return the line of a key, without its end.

    Raises:
        InvalidInputError: the key is no key of the flat subset, or as `write_value`, with the key as its field.
    """
    if _KEY.fullmatch(key) is None or key.lower() in WORDS or len(key) > KEY_MAX_CHARS:
        hint = "A key begins with an ASCII letter; letters, digits, _ and - follow."
        raise InvalidInputError("not a key that can be written", field=key, hint=hint)
    try:
        text = write_value(value)
    except InvalidInputError as error:
        raise type(error)(error.reason, field=key, hint=error.own_hint) from None
    return f"{key}: {text}" if text else f"{key}:"
