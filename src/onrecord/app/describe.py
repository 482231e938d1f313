"""Explain operations from the catalog."""

from __future__ import annotations

import difflib

from onrecord.app.catalog import OPERATIONS, Argument
from onrecord.domain.errors import InvalidInputError


def describe_operation(name: str | None) -> dict[str, object]:
    """Return one operation's arguments and result, or the list of all for None.

    Raises:
        InvalidInputError: no such operation.
    """
    if name is None:
        return {"operations": [{"operation": item.name, "doc": item.doc} for item in OPERATIONS.values()]}
    operation = OPERATIONS.get(name)
    if operation is None:
        near = difflib.get_close_matches(name, OPERATIONS, n=1)
        raise InvalidInputError(
            "there is no such operation", field="operation", hint=f"One of: {', '.join(OPERATIONS)}.",
            did_you_mean=near[0] if near else None,
        )  # fmt: skip
    return {
        "operation": operation.name,
        "doc": operation.doc,
        "arguments": [_describe_argument(argument) for argument in operation.arguments],
        "returns": list(operation.returns),
    }


def _describe_argument(argument: Argument) -> dict[str, object]:
    shape: dict[str, object] = {
        "name": argument.name,
        "kind": argument.kind.value,
        "doc": argument.doc,
        "required": argument.is_required,
    }
    if argument.choices:
        shape["choices"] = list(argument.choices)
    if argument.minimum:
        shape["minimum"] = argument.minimum
    if argument.maximum:
        shape["maximum"] = argument.maximum
    if argument.maximum_bytes:
        shape["maximum_bytes"] = argument.maximum_bytes
    return shape
