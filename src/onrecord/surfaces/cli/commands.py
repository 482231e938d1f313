"""One function a command: opens the vault, calls the use case, says the exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from onrecord.app.admission import admit
from onrecord.app.capture import capture
from onrecord.app.catalog import CONFIG, HELP, INIT, OPERATIONS
from onrecord.app.describe import describe_operation
from onrecord.app.doctor import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.importing import import_markdown, import_turns
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.remember import remember
from onrecord.app.replay import replay
from onrecord.app.session import Caller, Reply, Session
from onrecord.app.status import describe_status
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.config import SETTINGS, Settings
from onrecord.surfaces.cli.progress import show_progress
from onrecord.surfaces.services import Services

UseCase = Callable[[Session, dict[str, object]], Reply]


@dataclass(frozen=True, slots=True)
class Call:
    """One command to be run."""

    operation: str
    given: dict[str, object]
    settings: Settings
    caller: Caller
    services: Services
    as_json: bool


Command = Callable[[Call], tuple[Reply, int]]


def _use(use_case: UseCase) -> Command:
    """Make a command of a use case that needs nothing but an opened vault."""

    def command(call: Call) -> tuple[Reply, int]:
        opened = call.services.open_vault(call.settings, call.caller, True)
        try:
            reply = use_case(opened.session, call.given)
        finally:
            opened.session.close()
        reply.join(opened.opening)
        return reply, 0

    return command


def _init(call: Call) -> tuple[Reply, int]:
    folder = admit(INIT, call.given).get("dir")
    path = os.path.abspath(os.path.expanduser(str(folder))) if folder else call.settings.vault_folder
    opened = call.services.make_vault(path, call.settings, call.caller)
    reply = Reply(data={"vault": opened.session.store.vault, "path": path})
    reply.join(opened.opening)
    opened.session.close()
    return reply, 0


def _import(call: Call) -> tuple[Reply, int]:
    path = str(call.given.get("path", ""))
    is_turns = call.given.get("format") == "turns" or (
        call.given.get("format") is None and (path == "-" or path.endswith((".jsonl", ".ndjson")))
    )
    opened = call.services.open_vault(call.settings, call.caller, True)
    try:
        with show_progress("importing", is_quiet=call.as_json) as progress:
            if is_turns:
                lines: Iterable[bytes] = sys.stdin.buffer if path == "-" else call.services.list_lines(path)
                reply = import_turns(opened.session, call.given, lines, progress)
            else:
                sources = call.services.list_sources(path)
                reply = import_markdown(opened.session, call.given, sources, progress)
    finally:
        opened.session.close()
    reply.join(opened.opening)
    return reply, 0


def _verify(call: Call) -> tuple[Reply, int]:
    opened = call.services.open_vault(call.settings, call.caller, True)
    try:
        reply = verify(opened.session, call.given, call.services.get_verifier())
    finally:
        opened.session.close()
    reply.join(opened.opening)
    is_broken = reply.data["verdict"] == "BROKEN"
    return reply, 2 if is_broken else 1 if reply.data["differences"] else 0


def _doctor(call: Call) -> tuple[Reply, int]:
    opened = call.services.open_vault(call.settings, call.caller, True)
    try:
        reply = diagnose(opened.session, call.given)
    finally:
        opened.session.close()
    reply.join(opened.opening)
    counts = reply.data["counts"]
    assert isinstance(counts, dict)
    return reply, 2 if counts["critical"] else 1 if counts["warning"] else 0


def _reindex(call: Call) -> tuple[Reply, int]:
    opened = call.services.open_vault(call.settings, call.caller, False)
    try:
        with show_progress("indexing", is_quiet=call.as_json) as progress:
            reply = rebuild(opened.session, progress)
    finally:
        opened.session.close()
    reply.join(opened.opening)
    return reply, 0


def _config(call: Call) -> tuple[Reply, int]:
    admit(CONFIG, call.given)
    docs = {spec.name: (spec.doc, spec.variable) for spec in SETTINGS}
    settings: list[dict[str, object]] = [
        {
            "name": setting.name,
            "value": setting.value,
            "source": setting.source.value,
            "variable": docs[setting.name][1],
            "doc": docs[setting.name][0],
        }
        for setting in call.settings.values.values()
    ]
    reply = Reply(data={"settings": settings})
    reply.warnings.extend(f"unknown setting {name}" for name in call.settings.unknown)
    return reply, 0


def _help(call: Call) -> tuple[Reply, int]:
    name = admit(HELP, call.given).get("operation")
    return Reply(data=describe_operation(str(name) if name is not None else None)), 0


COMMANDS: dict[str, Command] = {
    "init": _init,
    "remember": _use(remember),
    "find": _use(find),
    "read": _use(read),
    "update": _use(update),
    "history": _use(list_history),
    "capture": _use(capture),
    "import": _import,
    "replay": _use(replay),
    "verify": _verify,
    "doctor": _doctor,
    "status": _use(describe_status),
    "config": _config,
    "reindex": _reindex,
    "help": _help,
}

assert set(COMMANDS) | {"batch_read"} == set(OPERATIONS)
