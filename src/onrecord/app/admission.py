"""Checks every argument of every call against the catalog before anything happens."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from onrecord.app.operation import Argument, Kind, Operation
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.ids import parse_entry_ref, parse_id_prefix, parse_readable_id
from onrecord.domain.instants import parse_instant
from onrecord.domain.limits import INTEGER_MAX, JSON_MAX_DEPTH, PATCH_TEXT_MAX_CHARS, PATCHES_MAX_BYTES
from onrecord.domain.names import check_characters, check_name, strip_hashes
from onrecord.domain.near_names import find_near

_THOUSANDTH = Decimal("0.001")
_SPAN = re.compile(r"(\d{1,9}):(\d{1,9})")


def admit(operation: Operation, given: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call, checked and in their canonical form; None stands for absent and is dropped.

    Raises:
        InvalidInputError: unknown or missing argument, wrong form.
        LimitExceededError: too large.
    """
    known = {argument.name: argument for argument in operation.arguments}
    for name in given:
        if name not in known:
            raise _name_unknown(operation, str(name), known)
    admitted: dict[str, object] = {}
    for argument in operation.arguments:
        value = given.get(argument.name)
        if value is None:
            if argument.is_required:
                raise explain_mistake(InvalidInputError(f"{argument.name} is missing"), argument)
            continue
        try:
            admitted[argument.name] = _admit_value(argument, value)
        except InvalidInputError as error:
            raise explain_mistake(error, argument) from error
    if operation.exclusive:
        _check_exclusive(operation, admitted)
    _check_validity(admitted)
    return admitted


def explain_mistake(error: InvalidInputError, argument: Argument) -> InvalidInputError:
    """Return a mistake in an argument with what the argument is for as its hint, where it has no hint of its own."""
    if error.own_hint:
        return error
    hint = f"{argument.name}: {argument.doc}."
    return type(error)(error.reason, field=error.field or argument.name, hint=hint, did_you_mean=error.did_you_mean)


def _name_unknown(operation: Operation, name: str, known: Iterable[str]) -> InvalidInputError:
    names = list(known)
    near = find_near(name, names)
    hint = f"{operation.name} takes: {', '.join(names)}" if names else f"{operation.name} takes no arguments"
    return InvalidInputError(f"{operation.name} has no argument of this name", field=name, hint=hint, did_you_mean=near)


def _check_exclusive(operation: Operation, admitted: Mapping[str, object]) -> None:
    whole = [group for group in operation.exclusive if all(name in admitted for name in group)]
    touched = [group for group in operation.exclusive if any(name in admitted for name in group)]
    if len(whole) == 1 and len(touched) == 1:
        return
    ways = "; ".join(" and ".join(group) for group in operation.exclusive)
    field = touched[-1][0] if touched else operation.exclusive[0][0]
    raise InvalidInputError("give exactly one of the ways to ask for this", field=field, hint=f"One of: {ways}.")


def _check_validity(admitted: Mapping[str, object]) -> None:
    """Refuse an end that is not after its beginning: an interval is half-open, so an equal end leaves nothing."""
    start, end = admitted.get("valid_from"), admitted.get("valid_to")
    if isinstance(start, str) and isinstance(end, str) and end <= start:
        raise InvalidInputError(
            "valid_to is not after valid_from",
            field="valid_to",
            hint="It is the first instant at which the thing told holds no more; leave it out if it still holds.",
        )


def _admit_value(argument: Argument, value: object) -> object:
    match argument.kind:
        case Kind.TEXT:
            return check_text(argument.name, value, argument)
        case Kind.NAME | Kind.PATH:
            return check_name(value, argument.name, argument.maximum)
        case Kind.ID:
            return parse_id_prefix(value, argument.name)
        case Kind.ANY_ID:
            return parse_readable_id(value, argument.name)
        case Kind.INTEGER:
            return _check_integer(argument, value)
        case Kind.INSTANT:
            if not isinstance(value, str):
                raise InvalidInputError("an instant is a string", field=argument.name)
            return _check_instant(argument.name, value)
        case Kind.CHOICE:
            return _check_choice(argument, value)
        case Kind.FLAG:
            if not isinstance(value, bool):
                raise InvalidInputError("true or false is expected", field=argument.name)
            return value
        case Kind.SPAN:
            return _check_span(argument.name, value)
        case Kind.ENTRY:
            if not isinstance(value, str):
                raise InvalidInputError("an entry is a string", field=argument.name)
            return parse_entry_ref(value, argument.name)
        case Kind.NAMES:
            return _check_names(argument, value)
        case Kind.ANY_IDS:
            items = _check_list(argument, value)
            return tuple(parse_readable_id(item, f"{argument.name}[{n}]") for n, item in enumerate(items))
        case Kind.PATCHES:
            return _check_patches(argument, value)
        case Kind.MAP:
            return _check_map(argument, value)
        case Kind.DECIMAL:
            return _check_decimal(argument.name, value)


def check_text(field: str, value: object, argument: Argument) -> str:
    """Return a content text.

    Raises:
        InvalidInputError, LimitExceededError: as `admit`.
    """
    if not isinstance(value, str):
        raise InvalidInputError("a text is expected", field=field)
    check_characters(value, field)
    if argument.minimum and not value.strip():
        raise InvalidInputError("the text is empty", field=field)
    if argument.maximum and len(value) > argument.maximum:
        raise LimitExceededError(f"at most {argument.maximum} characters", field=field)
    if argument.maximum_bytes and len(value.encode()) > argument.maximum_bytes:
        raise LimitExceededError(f"at most {argument.maximum_bytes} bytes", field=field)
    return value


def _check_names(argument: Argument, value: object) -> tuple[str, ...]:
    names = []
    for number, item in enumerate(_check_list(argument, value)):
        is_tag = argument.name == "tags" and isinstance(item, str)
        name = strip_hashes(str(item)) if is_tag else item
        names.append(check_name(name, f"{argument.name}[{number}]", argument.item_maximum))
    return tuple(names)


def _check_integer(argument: Argument, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError("a whole number is expected", field=argument.name)
    if not argument.minimum <= value <= argument.maximum:
        raise InvalidInputError(f"from {argument.minimum} to {argument.maximum}", field=argument.name)
    return value


def _check_instant(field: str, value: str) -> str:
    try:
        return parse_instant(value)[0]
    except InvalidInputError as error:
        raise InvalidInputError(
            error.reason, field=field, hint="For example 2026-11-30T07:00:00Z or 2026-11-30."
        ) from error


def _check_choice(argument: Argument, value: object) -> str:
    if isinstance(value, str) and value in argument.choices:
        return value
    near = find_near(value, argument.choices) if isinstance(value, str) else None
    allowed = f"One of: {', '.join(argument.choices)}."
    raise InvalidInputError("not one of the values", field=argument.name, hint=allowed, did_you_mean=near)


def _check_span(field: str, value: object) -> tuple[int, int]:
    if isinstance(value, str) and (match := _SPAN.fullmatch(value)):
        start, end = int(match[1]), int(match[2])
    elif isinstance(value, tuple | list) and len(value) == 2 and all(type(part) is int for part in value):
        start, end = value
    else:
        raise InvalidInputError("a span is A:B", field=field)
    if not 0 <= start <= end:
        raise InvalidInputError("a span begins before it ends", field=field)
    return start, end


def _check_list(argument: Argument, value: object) -> list[object]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise InvalidInputError("a list is expected", field=argument.name)
    if len(value) > argument.maximum:
        raise LimitExceededError(f"at most {argument.maximum} items", field=argument.name)
    if len(value) < argument.minimum:
        raise InvalidInputError("the list is empty", field=argument.name)
    return list(value)


def _check_patches(argument: Argument, value: object) -> tuple[tuple[str, str], ...]:
    items = _check_list(argument, value)
    if not items:
        raise InvalidInputError("the list is empty", field=argument.name)
    patches: list[tuple[str, str]] = []
    side = Argument("text", Kind.TEXT, "", maximum=PATCH_TEXT_MAX_CHARS)
    for number, item in enumerate(items):
        field = f"{argument.name}[{number}]"
        if not isinstance(item, dict) or set(item) != {"old", "new"}:
            raise InvalidInputError("a patch is {old, new}", field=field)
        patches.append((check_text(f"{field}.old", item["old"], side), check_text(f"{field}.new", item["new"], side)))
    if sum(len(part.encode()) for patch in patches for part in patch) > PATCHES_MAX_BYTES:
        raise LimitExceededError(f"at most {PATCHES_MAX_BYTES} bytes together", field=argument.name)
    return tuple(patches)


def _check_map(argument: Argument, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InvalidInputError("a JSON object is expected", field=argument.name)
    _check_json(value, argument.name, JSON_MAX_DEPTH)
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > argument.maximum_bytes:
        raise LimitExceededError(f"at most {argument.maximum_bytes} bytes", field=argument.name)
    return value


def _check_json(value: object, field: str, levels: int) -> None:
    """Refuse what is no JSON; `levels` is how many arrays and objects may still open."""
    if not levels and isinstance(value, dict | list):
        raise LimitExceededError(f"nested deeper than {JSON_MAX_DEPTH}", field=field)
    match value:
        case dict():
            for name, item in value.items():
                if not isinstance(name, str):
                    raise InvalidInputError("a key is a text", field=field)
                check_characters(name, field)
                _check_json(item, field, levels - 1)
        case list():
            for item in value:
                _check_json(item, field, levels - 1)
        case str():
            check_characters(value, field)
        case float() if not math.isfinite(value):
            raise InvalidInputError("NaN and infinity are not allowed", field=field)
        case int() if not -INTEGER_MAX <= value <= INTEGER_MAX:
            hint = "Write a longer number as a text."
            raise InvalidInputError("an integer is outside ±(2^53 - 1)", field=field, hint=hint)
        case None | bool() | int() | float():
            return
        case _:
            raise InvalidInputError("not a JSON value", field=field)


def _check_decimal(field: str, value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise InvalidInputError("a number from 0 to 1 is expected", field=field)
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise InvalidInputError("a number from 0 to 1 is expected", field=field)
    number = Decimal(str(value))
    rounded = number.quantize(_THOUSANDTH)
    if rounded != number:
        raise InvalidInputError("at most three decimals", field=field, hint=f"For example {rounded.normalize():f}.")
    return rounded.normalize()
