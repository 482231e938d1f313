"""Explain operations from the catalog."""

from __future__ import annotations

from onrecord.app.catalog import OPERATIONS
from onrecord.app.operation import Argument, Operation
from onrecord.domain.errors import InvalidInputError
from onrecord.domain.near_names import find_near


def describe_operation(name: str | None) -> dict[str, object]:
    """Return one operation's arguments and result, or a list of operations: all for None, else those of a group.

    Args:
        name: An operation, a command as it is typed, or the word of a group of commands.

    Raises:
        InvalidInputError: no such operation.
    """
    if name is None:
        return {"operations": [_name_operation(operation) for operation in OPERATIONS.values()]}
    typed = " ".join(name.split())
    for operation in OPERATIONS.values():
        if typed in (operation.name, operation.command):
            return {
                **_name_operation(operation),
                "arguments": [_describe_argument(argument) for argument in operation.arguments],
                "returns": list(operation.returns),
            }
    group = [_name_operation(operation) for operation in OPERATIONS.values() if operation.group == typed]
    if group:
        return {"operations": group}
    known = [operation.command or operation.name for operation in OPERATIONS.values()]
    raise InvalidInputError(
        "there is no such operation", field="operation", hint=f"One of: {', '.join(known)}.",
        did_you_mean=find_near(typed, known),
    )  # fmt: skip


def _name_operation(operation: Operation) -> dict[str, object]:
    typed = {"command": operation.command} if operation.command else {}
    return {"operation": operation.name, **typed, "doc": operation.doc}


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
