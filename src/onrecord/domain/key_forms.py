"""Forms of the values of known keys: what is taken, what counts in another form, what is refused.

A form takes a value as front matter gives it and returns it typed, or raises InvalidInputError, or LimitExceededError
where it is too large. `FormContext` tells how the value is spelled in the file, and collects what was made of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.front_matter import Value, YamlReading, spell_scalar
from onrecord.domain.ids import EntryRef, RecordId, parse_entry_ref, parse_record_id
from onrecord.domain.instants import Instant, Interval, Precision, is_instant, parse_instant, parse_periods
from onrecord.domain.limits import INTEGER_MAX, META_MAX_BYTES
from onrecord.domain.names import strip_hashes

_CONTROL = re.compile("[\x01-\x1f\x7f]")


class FormContext:
    """The key that is being read, with its spelling in the file; collects notes of code and message.

    Args:
        reading: What holds the value.
        is_strict: Whether control characters in names are refused, as on writing, instead of counting as blanks.
    """

    __slots__ = ("is_strict", "key", "notes", "precisions", "reading")

    def __init__(self, reading: YamlReading, *, is_strict: bool) -> None:
        self.reading = reading
        self.is_strict = is_strict
        self.key = ""
        self.notes: list[tuple[str, str]] = []
        self.precisions: dict[str, Precision] = {}

    def normalise(self, message: str) -> None:
        """Note that the value counts in another form than it has."""
        self.notes.append(("field_normalised", message))

    def spell(self, value: Value, index: int = -1) -> str:
        """Return the text of a scalar; `index` is its place in a list.

        Raises:
            InvalidInputError: it is a list, a map or nothing, or holds U+0000.
        """
        if isinstance(value, str):
            text = value
        elif isinstance(value, (bool, int, float, Decimal)):
            text = self.reading.spellings.get((self.key, index)) or spell_scalar(value)
            self.normalise("a number or boolean counts as its text")
        else:
            raise InvalidInputError("a text is expected")
        if "\0" in text:
            raise InvalidInputError("the character U+0000 is not allowed")
        return text


Form: TypeAlias = Callable[[Value, FormContext], Any]


def read_text(value: Value, context: FormContext) -> str:
    """Read a text of any characters; line ends behind it, as block scalars have them, are dropped."""
    return context.spell(value).rstrip("\r\n")


def _read_name(value: Value, context: FormContext, index: int = -1) -> str:
    text = context.spell(value, index).rstrip("\r\n")
    if _CONTROL.search(text) is None:
        return text
    if context.is_strict:
        raise InvalidInputError("control characters are not allowed here")
    context.notes.append(("control_character", "a control character counts as a blank"))
    return _CONTROL.sub(" ", text)


def _check_length(text: str, max_chars: int) -> str:
    if len(text) > max_chars:
        raise LimitExceededError(f"at most {max_chars} characters")
    return text


def make_name(max_chars: int) -> Form:
    """Make the form of a name: one text without control characters."""

    def read(value: Value, context: FormContext) -> str:
        return _check_length(_read_name(value, context), max_chars)

    return read


def make_names(max_chars: int, max_count: int = INTEGER_MAX, *, is_tag: bool = False, takes_one: bool = False) -> Form:
    """Make the form of a list of names.

    Args:
        max_chars: Limit of each, in code points.
        max_count: Limit of their number.
        is_tag: Whether signs `#` in front of each are dropped.
        takes_one: Whether one text instead of a list is regular.
    """

    def read(value: Value, context: FormContext) -> tuple[str, ...]:
        items, first = (value, 0) if isinstance(value, (list, tuple)) else ((value,), -1)
        if first and not takes_one:
            context.normalise("one text counts as a list of one")
        names: list[str] = []
        for index, item in enumerate(items, first):
            name = _read_name(item, context, index) if item is not None else ""
            if is_tag:
                name = strip_hashes(name)
            if name.strip():
                names.append(_check_length(name, max_chars))
            else:
                context.normalise("an empty item is left out")
        if len(names) > max_count:
            raise LimitExceededError(f"at most {max_count} items")
        return tuple(names)

    return read


def make_choice(choices: Collection[str]) -> Form:
    """Make the form of a word of a closed set."""

    def read(value: Value, context: FormContext) -> str:
        text = context.spell(value)
        if text not in choices:
            raise InvalidInputError(f"one of {', '.join(sorted(choices))} is expected")
        return text

    return read


def read_instant(value: Value, context: FormContext) -> Instant:
    """Read an instant in any input form of docs/format/time.md; its precision is kept in the context."""
    if type(value) is str and is_instant(value):
        return Instant(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InvalidInputError("a date or time is expected")
    text = value if isinstance(value, str) else context.reading.spellings.get((context.key, -1)) or str(value)
    instant, precision = parse_instant(text.rstrip("\r\n"), context.key)
    if precision is not Precision.INSTANT:
        context.precisions[context.key] = precision
    return instant


def read_periods(value: Value, context: FormContext) -> tuple[Interval, ...]:
    """Read the periods of a fact."""
    return parse_periods(value if isinstance(value, (list, tuple)) else [value])


def read_confidence(value: Value, context: FormContext) -> float:
    """Read a number from 0 to 1, rounded to three decimals."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not math.isfinite(value):
        raise InvalidInputError("a number from 0 to 1 is expected")
    if not 0 <= value <= 1:
        raise InvalidInputError("a number from 0 to 1 is expected")
    rounded = round(float(value), 3)
    if rounded != float(value):
        context.normalise("it is rounded to three decimals")
    return rounded


def read_map(value: Value, context: FormContext) -> Mapping[str, Value]:
    """Read a map of at most 256 KiB."""
    if not isinstance(value, Mapping):
        raise InvalidInputError("a map is expected")
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    if len(shown.encode(errors="replace")) > META_MAX_BYTES:
        raise LimitExceededError(f"at most {META_MAX_BYTES} bytes")
    return value


def read_version(value: Value, context: FormContext) -> int:
    """Read a version number, from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= INTEGER_MAX:
        raise InvalidInputError("an integer from 1 is expected")
    return value


def read_flag(value: Value, context: FormContext) -> bool:
    """Read a boolean."""
    if not isinstance(value, bool):
        raise InvalidInputError("true is expected")
    return value


def read_id(value: Value, context: FormContext) -> RecordId:
    """Read a record id; one of digits alone may stand without quotes."""
    text = context.reading.spellings.get((context.key, -1))
    if text is None:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else None
    return parse_record_id(value if text is None else text, context.key)


def read_entry(value: Value, context: FormContext) -> EntryRef:
    """Read `<log id>:<seq>`."""
    if not isinstance(value, str):
        raise InvalidInputError("an entry is named <log id>:<seq>")
    return parse_entry_ref(value)


def read_any(value: Value, context: FormContext) -> Value:
    """Take a value as it is."""
    return value
