"""Runs one command: parse, call the application, print one reply. The command line's named edge for surprises."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onrecord.domain.errors import OnRecordError
from onrecord.surfaces.cli.commands import WORKS_WITHOUT_SETTINGS, Call, run_command
from onrecord.surfaces.cli.inputs import read_arguments
from onrecord.surfaces.cli.output import print_error, print_reply
from onrecord.surfaces.cli.parser import parse_command

if TYPE_CHECKING:
    from onrecord.app.session import Reply
    from onrecord.surfaces.services import Services

_INTERRUPTED = 130


def run(argv: list[str], services: Services, environment: Mapping[str, str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Words after the program's name.
        services: The composition root.
        environment: The environment; None is the process's own.

    Returns:
        Exit status: 0 done, 1 the vault says no or a check warns, 2 the call or the vault cannot be used.
    """
    as_json = "--json" in argv
    _open_closed_streams()
    _use_utf8()
    try:
        with contextlib.ExitStack() as closing:
            return _run(argv, services, os.environ if environment is None else environment, as_json, closing)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        # Whoever reads our output has gone, or its disk is full: what was acknowledged stands, there is nobody to tell.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if isinstance(error, BrokenPipeError) else 1


def _run(
    argv: list[str],
    services: Services,
    environment: Mapping[str, str],
    as_json: bool,
    closing: contextlib.ExitStack,
) -> int:
    try:
        parsed = parse_command(argv)
        as_json = parsed.json
        operation = str(parsed.chosen)
        given = read_arguments(operation, vars(parsed), sys.stdin.buffer)
        flags = {name: getattr(parsed, name, None) for name in ("vault", "client", "agent")}
        reply, status = _call(operation, given, flags, services, environment, as_json, closing)
    except OnRecordError as error:
        print_error(error, as_json=as_json)
        return error.exit_status
    except SystemExit as leaving:
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001  - named edge: a defect of ours is told in the one shape, without content
        print_error(_describe_defect(error), as_json=as_json)
        return 2
    print_reply(operation, reply, as_json=as_json)
    return status


def _call(
    operation: str,
    given: dict[str, object],
    flags: dict[str, object],
    services: Services,
    environment: Mapping[str, str],
    as_json: bool,
    closing: contextlib.ExitStack,
) -> tuple[Reply, int]:
    settings = services.settle_settings(flags, environment, operation in WORKS_WITHOUT_SETTINGS)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    caller = services.name_caller(is_terminal, settings)
    return run_command(Call(operation, given, settings, caller, services, as_json, closing))


def _open_closed_streams() -> None:
    """Give a process that was started without standard streams empty ones, so that nothing below meets None."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  - lives with the process


def _use_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _describe_defect(error: Exception) -> OnRecordError:
    place = ""
    trace = error.__traceback__
    while trace is not None:
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return OnRecordError(
        f"an unexpected {type(error).__name__} at {place}",
        hint="This is a defect of onrecord; please report this line.",
    )
