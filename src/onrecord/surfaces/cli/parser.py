"""The command line, made from the catalog. Every mistake becomes an InvalidInputError of the one shape."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any, NoReturn

from onrecord.app.catalog import OPERATIONS
from onrecord.app.operation import Argument, Kind, Operation
from onrecord.domain.errors import InvalidInputError
from onrecord.domain.near_names import find_near

_GROUPS = {
    "repair": "Mend what is left behind.",
    "source": "Files of other programs: read and found where they lie, never changed.",
}
_GENERAL = ("vault", "json", "client", "agent", "help")
# What argparse takes for an option: a dash and no blank, but no number.
_OPTION = re.compile(r"-(?!\d+\Z|\d*\.\d+\Z)[^ ]+", re.DOTALL)
_NO_VALUE = "an option is without its value"
_DASHED = "A text that begins with - goes behind --, or as - through standard input."
_EPILOG = "Exit status: 0 done, 1 the vault says no or doctor warns, 2 the call or the vault cannot be used."


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of printing and exiting, and takes options as they are written in full only."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise the mistake; argparse's message may hold the caller's text, so it is told in own words."""
        raise _translate(message, self)


def _show_version(*, as_json: bool) -> NoReturn:
    """Print the installed version; looking it up costs more than all other parsing, so it is done only here."""
    from importlib.metadata import version

    installed = version("onrecord")
    envelope = {"ok": True, "data": {"version": installed}, "warnings": [], "degraded": [], "notices": []}
    print(json.dumps(envelope) if as_json else f"onrecord {installed}")
    raise SystemExit(0)


def _translate(message: str, parser: argparse.ArgumentParser) -> InvalidInputError:
    hint = f"See `{parser.prog} --help`."
    if message.startswith("argument --") and message.endswith(": expected one argument"):
        option = message.removeprefix("argument ").partition(":")[0]
        return InvalidInputError(
            _NO_VALUE, field=option.lstrip("-").replace("-", "_"),
            hint=f"A value that begins with - is written {option}=-VALUE.",
        )  # fmt: skip
    for opening, reason in (
        ("the following arguments are required: ", "a required argument is missing"),
        ("argument ", "an argument cannot be used"),
    ):
        if message.startswith(opening):
            if "invalid choice: " in message and message.startswith("argument TASK"):
                return _name_unknown_task(message, parser)
            name = message.removeprefix(opening).split(":")[0].split(",")[0].split("/")[-1].strip().lstrip("-")
            return InvalidInputError(reason, field=name.replace("-", "_").lower(), hint=hint)
    return InvalidInputError("the command line cannot be read", hint=hint)


def _name_unknown_task(message: str, parser: argparse.ArgumentParser) -> InvalidInputError:
    given = message.split("invalid choice: ")[1].split(" (choose from", maxsplit=1)[0].strip("'\"")
    group = parser.prog.split()[-1]
    tasks = [operation.word for operation in OPERATIONS.values() if operation.group == group]
    hint = f"One of: {', '.join(tasks)}."
    return InvalidInputError(f"{group} has no such task", field="task", hint=hint, did_you_mean=find_near(given, tasks))


def list_commands() -> list[str]:
    """Return the first words of the commands as they are typed, each once, in the order of help."""
    words = (operation.command.split()[0] for operation in OPERATIONS.values() if operation.command)
    return list(dict.fromkeys(words))


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands; the operation is `chosen` of the result."""
    parser = _Parser(
        prog="onrecord", description="A memory for AI agents that stands up to inspection.", epilog=_EPILOG
    )
    parser.add_argument("--version", action="store_true", dest="asks_version", help="show the version and exit")
    _add_general(parser, suppress=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    groups: dict[str, argparse._SubParsersAction[_Parser]] = {}
    for name, operation in OPERATIONS.items():
        if not operation.is_typed:
            continue
        target = commands
        group = operation.group
        if group:
            if group not in groups:
                outer = commands.add_parser(group, help=_GROUPS[group])
                groups[group] = outer.add_subparsers(dest="group_command", metavar="TASK", required=True)
            target = groups[group]
        inner = target.add_parser(
            operation.word, help=operation.doc, description=operation.doc, epilog=_describe_returns(operation)
        )
        inner.set_defaults(chosen=name)
        _add_general(inner, suppress=True, own=frozenset(argument.name for argument in operation.arguments))
        for argument in operation.arguments:
            _add_argument(inner, argument)
    return parser


def _describe_returns(operation: Operation) -> str:
    return f"With --json, data has: {', '.join(operation.returns)}." if operation.returns else ""


def _add_general(parser: argparse.ArgumentParser, *, suppress: bool, own: frozenset[str] = frozenset()) -> None:
    """Add the options that every command has, but for those that a command has of its `own`."""
    default = argparse.SUPPRESS if suppress else None
    parser.add_argument(
        "--vault", metavar="DIR", default=default, help="the vault; else ONRECORD_VAULT, else the configured one"
    )
    parser.add_argument("--client", metavar="NAME", default=default, help="name of the calling program, as claimed")
    if "agent" not in own:
        parser.add_argument("--agent", metavar="NAME", default=default, help="name of the calling agent, as claimed")
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS if suppress else False, help="print one JSON envelope"
    )


def _add_argument(parser: argparse.ArgumentParser, argument: Argument) -> None:
    metavar = _name_metavar(argument)
    if argument.is_positional:
        nargs = "+" if argument.kind is Kind.ANY_IDS else None if argument.is_required else "?"
        parser.add_argument(argument.name, metavar=metavar, nargs=nargs, help=argument.doc)
        return
    option = "--" + (argument.flag or argument.name.replace("_", "-"))
    if argument.kind is Kind.FLAG:
        parser.add_argument(option, dest=argument.name, action="store_true", default=None, help=argument.doc)
    elif argument.kind is Kind.NAMES:
        parser.add_argument(option, dest=argument.name, metavar=metavar, action="append", help=argument.doc)
    else:
        parser.add_argument(option, dest=argument.name, metavar=metavar, help=argument.doc)


def _name_metavar(argument: Argument) -> str:
    if argument.kind is Kind.CHOICE:
        return "|".join(argument.choices)
    words = {
        Kind.INTEGER: "N",
        Kind.INSTANT: "T",
        Kind.SPAN: "A:B",
        Kind.ENTRY: "LOG:SEQ",
        Kind.PATCHES: "JSON",
        Kind.MAP: "JSON",
    }
    if argument.is_positional or argument.kind not in words:
        return (argument.flag or argument.name).upper()
    return words[argument.kind]


def parse_command(argv: list[str]) -> argparse.Namespace:
    """Read a command line.

    Raises:
        InvalidInputError: it cannot be read.
        SystemExit: help or version was printed.
    """
    parser = build_parser()
    operations = _find_operations(argv)
    try:
        parsed, rest = parser.parse_known_args(argv)
    except InvalidInputError as error:
        raise _explain_dash(error, argv, operations) from error
    if rest not in ([], ["--"]):
        raise _name_rest(rest, operations)
    if parsed.asks_version:
        _show_version(as_json=parsed.json)
    if getattr(parsed, "chosen", None) is None:
        raise InvalidInputError("a command is missing", field="command", hint=f"One of: {', '.join(list_commands())}.")
    return parsed


def _find_operations(argv: list[str]) -> list[Operation]:
    """Return the operations that the first word may mean, one or a group; options are passed over with their value.

    Raises:
        InvalidInputError: there is no such command, or no such option before it.
    """
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in ("--vault", "--client", "--agent")
            if word.startswith("--") and _name_option(word) not in (*_GENERAL, "version", ""):
                raise _name_unknown(word, [])
        else:
            found = [operation for operation in OPERATIONS.values() if word in operation.command.split()[:1]]
            if found:
                return found
            names = list_commands()
            near = find_near(word, names)
            hint = f"One of: {', '.join(names)}."
            raise InvalidInputError("there is no such command", field="command", hint=hint, did_you_mean=near)
    return []


def _name_option(word: str) -> str:
    return word.lstrip("-").partition("=")[0]


def _list_options(operations: list[Operation]) -> list[str]:
    own = [argument for operation in operations for argument in operation.arguments if not argument.is_positional]
    return [*_GENERAL, *(argument.flag or argument.name.replace("_", "-") for argument in own)]


def _find_near(word: str, operations: list[Operation]) -> str | None:
    """Return the option that a word begins, or comes near to."""
    name, options = _name_option(word), _list_options(operations)
    begun = [option for option in options if word.startswith("--") and name and option.startswith(name)]
    near = begun[0] if begun else find_near(name, options)
    return f"--{near}" if near else None


def _explain_dash(error: InvalidInputError, argv: list[str], operations: list[Operation]) -> InvalidInputError:
    """Return the mistake behind a missing argument where a word was taken for an option: mistyped, or a text."""
    known = {"-h", *(f"--{option}" for option in _list_options(operations))}
    if error.reason == _NO_VALUE:
        return error
    for word in argv[: argv.index("--")] if "--" in argv else argv:
        if not _OPTION.fullmatch(word) or word.partition("=")[0] in known:
            continue
        if _find_near(word, operations) is not None:
            return _name_unknown(word, operations)
        if _takes_text(operations):
            return InvalidInputError(error.reason, field=error.field, hint=_DASHED)
    return error


def _takes_text(operations: list[Operation]) -> bool:
    own = (argument for operation in operations for argument in operation.arguments)
    return any(argument.is_positional and argument.kind is Kind.TEXT for argument in own)


def _name_rest(rest: list[str], operations: list[Operation]) -> InvalidInputError:
    word = next((item for item in rest if item.startswith("-")), None)
    if word is None:
        return InvalidInputError(
            "more words than the command takes", field="arguments", hint="Quote a text that has blanks."
        )
    return _name_unknown(word, operations)


def _name_unknown(word: str, operations: list[Operation]) -> InvalidInputError:
    hint = f"See the command's --help. {_DASHED}" if _takes_text(operations) else "See the command's --help."
    return InvalidInputError(
        "there is no such option", field=_name_option(word).replace("-", "_"), hint=hint,
        did_you_mean=_find_near(word, operations),
    )  # fmt: skip
