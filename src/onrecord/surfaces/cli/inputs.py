"""From words of the command line to arguments: numbers, JSON, `-` for standard input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import BinaryIO

from onrecord.app.admission import explain_mistake
from onrecord.app.catalog import OPERATIONS
from onrecord.app.operation import Argument, Kind
from onrecord.domain.canonical import decode_value
from onrecord.domain.errors import InvalidInputError
from onrecord.domain.limits import META_MAX_BYTES, PATCHES_MAX_BYTES, TEXT_MAX_BYTES

_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_STDIN_MAX_BYTES = TEXT_MAX_BYTES + 4


def read_arguments(operation: str, parsed: Mapping[str, object], stdin: BinaryIO) -> dict[str, object]:
    """Return the operation's arguments as the application takes them.

    Args:
        operation: Its name.
        parsed: What the parser found.
        stdin: Read at most once, for a text given as `-`.

    Raises:
        InvalidInputError: a word has the wrong form.
    """
    given: dict[str, object] = {}
    is_stdin_used = False
    for argument in OPERATIONS[operation].arguments:
        value = parsed.get(argument.name)
        if value is None:
            continue
        if argument.kind is Kind.TEXT and value == "-":
            if is_stdin_used:
                hint = "Give one of the texts as a word."
                raise InvalidInputError("standard input can be read once", field=argument.name, hint=hint)
            is_stdin_used = True
            given[argument.name] = _read_stdin(argument.name, stdin)
        else:
            try:
                given[argument.name] = _convert(argument, value)
            except InvalidInputError as error:
                raise explain_mistake(error, argument) from error
    return given


def _read_stdin(field: str, stdin: BinaryIO) -> str:
    data = stdin.read(_STDIN_MAX_BYTES)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if len(data) == _STDIN_MAX_BYTES:
            return data.decode(errors="ignore")
        raise InvalidInputError("standard input is not UTF-8", field=field) from error


def _convert(argument: Argument, value: object) -> object:
    if not isinstance(value, str):
        return value
    match argument.kind:
        case Kind.INTEGER:
            if not _INTEGER.fullmatch(value):
                raise InvalidInputError("a whole number is expected", field=argument.name)
            return int(value)
        case Kind.DECIMAL:
            if not _DECIMAL.fullmatch(value):
                raise InvalidInputError("a number from 0 to 1 is expected", field=argument.name)
            return float(value)
        case Kind.PATCHES:
            return _decode_json(argument.name, value, 4 * PATCHES_MAX_BYTES)
        case Kind.MAP:
            return _decode_json(argument.name, value, 4 * META_MAX_BYTES)
        case _:
            return value


def _decode_json(field: str, text: str, max_bytes: int) -> object:
    try:
        return decode_value(text, max_bytes=max_bytes, allow_floats=True)
    except InvalidInputError as error:
        raise InvalidInputError(error.reason, field=field, hint="Give JSON.") from error
