"""The command line, made from the catalog. Every mistake becomes an InvalidInputError of the one shape."""

from __future__ import annotations

import argparse
import difflib
from typing import NoReturn

from onrecord.app.catalog import OPERATIONS, Argument, Kind, Operation
from onrecord.domain.errors import InvalidInputError

_GROUPED = {"replay": "repair"}
_HIDDEN = frozenset({"batch_read"})
_EPILOG = "Exit status: 0 done, 1 the vault says no or doctor warns, 2 the call or the vault cannot be used."


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of printing and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise the mistake; argparse's message may hold the caller's text, so it is told in own words."""
        raise _translate(message, self)


class _ShowVersion(argparse.Action):
    """Prints the installed version; looking it up costs more than all other parsing, so it is done only here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"onrecord {version('onrecord')}")
        parser.exit()


def _translate(message: str, parser: argparse.ArgumentParser) -> InvalidInputError:
    hint = f"See `{parser.prog} --help`."
    for opening, reason in (
        ("the following arguments are required: ", "a required argument is missing"),
        ("argument ", "an argument cannot be used"),
    ):
        if message.startswith(opening):
            name = message.removeprefix(opening).split(":")[0].split(",")[0].split("/")[-1].strip().lstrip("-")
            return InvalidInputError(reason, field=name.replace("-", "_").lower(), hint=hint)
    return InvalidInputError("the command line cannot be read", hint=hint)


def list_commands() -> list[str]:
    """Return the commands as they are typed, in the order of help."""
    return [_GROUPED.get(name, name) for name in OPERATIONS if name not in _HIDDEN]


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands; the operation is `chosen` of the result."""
    parser = _Parser(
        prog="onrecord", description="A memory for AI agents that stands up to inspection.", epilog=_EPILOG
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    _add_general(parser, suppress=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    groups: dict[str, argparse._SubParsersAction[_Parser]] = {}
    for name, operation in OPERATIONS.items():
        if name in _HIDDEN:
            continue
        target = commands
        group = _GROUPED.get(name)
        if group is not None:
            if group not in groups:
                outer = commands.add_parser(group, help="Mend what is left behind.")
                groups[group] = outer.add_subparsers(dest="group_command", metavar="TASK", required=True)
            target = groups[group]
        inner = target.add_parser(
            name, help=operation.doc, description=operation.doc, epilog=_describe_returns(operation)
        )
        inner.set_defaults(chosen=name)
        _add_general(inner, suppress=True)
        for argument in operation.arguments:
            _add_argument(inner, argument)
    return parser


def _describe_returns(operation: Operation) -> str:
    return f"With --json, data has: {', '.join(operation.returns)}." if operation.returns else ""


def _add_general(parser: argparse.ArgumentParser, *, suppress: bool) -> None:
    default = argparse.SUPPRESS if suppress else None
    parser.add_argument(
        "--vault", metavar="DIR", default=default, help="the vault; else ONRECORD_VAULT, else the configured one"
    )
    parser.add_argument("--client", metavar="NAME", default=default, help="name of the calling program, as claimed")
    parser.add_argument("--agent", metavar="NAME", default=default, help="name of the calling agent, as claimed")
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS if suppress else False, help="print one JSON envelope"
    )


def _add_argument(parser: argparse.ArgumentParser, argument: Argument) -> None:
    metavar = _name_metavar(argument)
    if argument.is_positional:
        nargs = "+" if argument.kind is Kind.IDS else None if argument.is_required else "?"
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
    words = {Kind.INTEGER: "N", Kind.INSTANT: "T", Kind.SPAN: "A:B", Kind.PATCHES: "JSON", Kind.MAP: "JSON"}
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
    _check_command(argv)
    parsed, rest = parser.parse_known_args(argv)
    if rest:
        raise _name_unknown(rest, parsed)
    if getattr(parsed, "chosen", None) is None:
        raise InvalidInputError("a command is missing", field="command", hint=f"One of: {', '.join(list_commands())}.")
    return parsed


def _check_command(argv: list[str]) -> None:
    """Name a mistyped command; options that take a value are passed over with it."""
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word in ("--vault", "--client", "--agent"):
            skip = True
        elif not word.startswith("-"):
            names = list_commands()
            if word not in names:
                near = difflib.get_close_matches(word, names, n=1)
                hint = f"One of: {', '.join(names)}."
                raise InvalidInputError(
                    "there is no such command", field="command", hint=hint, did_you_mean=next(iter(near), None)
                )
            return


def _name_unknown(rest: list[str], parsed: argparse.Namespace) -> InvalidInputError:
    operation = OPERATIONS.get(getattr(parsed, "chosen", "") or "")
    options = ["vault", "json", "client", "agent"]
    if operation is not None:
        options += [argument.flag or argument.name.replace("_", "-") for argument in operation.arguments]
    word = next((item for item in rest if item.startswith("-")), "")
    if not word:
        return InvalidInputError(
            "more words than the command takes", field="arguments", hint="Quote a text that has blanks."
        )
    name = word.lstrip("-").split("=")[0]
    near = difflib.get_close_matches(name, options, n=1)
    return InvalidInputError(
        "there is no such option", field=name.replace("-", "_"), hint="See the command's --help.",
        did_you_mean=f"--{near[0]}" if near else None,
    )  # fmt: skip
