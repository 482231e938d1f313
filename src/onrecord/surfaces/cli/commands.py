"""Which function runs a command. It is loaded when it is asked for, so that a start pays only for what it needs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from onrecord.surfaces.cli.progress import show_progress

if TYPE_CHECKING:
    from onrecord.app.session import Caller, Reply, Session
    from onrecord.config import Settings
    from onrecord.surfaces.services import Services

    UseCase: TypeAlias = Callable[[Session, dict[str, object]], Reply]
    Command: TypeAlias = Callable[["Call"], tuple[Reply, int]]


_MANY_FILES: Final = 200


@dataclass(frozen=True, slots=True)
class Call:
    """One command to be run; `closing` is closed after the reply has been printed."""

    operation: str
    given: dict[str, object]
    settings: Settings
    caller: Caller
    services: Services
    as_json: bool
    closing: ExitStack

    def show_intake(self, session: Session) -> None:
        """Show how far it is when many files are taken in, also while the vault is closed."""
        line = show_progress("taking in files", is_quiet=self.as_json, least=_MANY_FILES)
        session.on_progress = self.closing.enter_context(line)

    def use_vault(self, use: Callable[[Session], Reply], *, is_index_needed: bool = True) -> Reply:
        """Open the vault and use it; return the reply, with what opening had to say.

        Raises:
            OnRecordError: it cannot be opened, or what the use says no with.
        """
        opened = self.services.open_vault(self.settings, self.caller, is_index_needed)
        self.show_intake(opened.session)
        self.closing.callback(opened.close)
        reply = use(opened.session)
        reply.join(opened.opening)
        return reply


# Module and function of each command; those of `onrecord.app` need nothing but an opened vault.
COMMANDS: Final = {
    "init": ("onrecord.surfaces.cli.making", "make_vault"),
    "remember": ("onrecord.app.remember", "remember"),
    "find": ("onrecord.app.find", "find"),
    "read": ("onrecord.surfaces.cli.reading", "read_memory"),
    "update": ("onrecord.app.update", "update"),
    "history": ("onrecord.app.history", "list_history"),
    "capture": ("onrecord.app.capture", "capture"),
    "import": ("onrecord.surfaces.cli.intake", "import_path"),
    "conflicts": ("onrecord.app.settle", "list_conflicts"),
    "settle": ("onrecord.app.settle", "settle"),
    "watch": ("onrecord.surfaces.cli.watching", "watch"),
    "link": ("onrecord.app.links", "link"),
    "unlink": ("onrecord.app.links", "unlink"),
    "replay": ("onrecord.app.replay", "replay"),
    "missing": ("onrecord.app.missing", "repair_missing"),
    "proposals": ("onrecord.app.proposals", "list_proposals"),
    "verify": ("onrecord.surfaces.cli.checks", "check_ledger"),
    "doctor": ("onrecord.surfaces.cli.checks", "check_vault"),
    "status": ("onrecord.app.status", "describe_status"),
    "config": ("onrecord.surfaces.cli.upkeep", "show_settings"),
    "reindex": ("onrecord.surfaces.cli.upkeep", "rebuild_index"),
    "adopt": ("onrecord.surfaces.cli.upkeep", "adopt_vault"),
    "source_add": ("onrecord.app.sources", "add_source"),
    "source_list": ("onrecord.app.sources", "list_sources"),
    "source_remove": ("onrecord.app.sources", "remove_source"),
    "help": ("onrecord.surfaces.cli.upkeep", "explain"),
}
# What goes on with the defaults where a setting cannot be used, and names it.
WORKS_WITHOUT_SETTINGS: Final = frozenset({"doctor"})


def run_command(call: Call) -> tuple[Reply, int]:
    """Run a command; return its reply and exit status.

    Raises:
        OnRecordError: what the command says no with.
    """
    module, name = COMMANDS[call.operation]
    function = getattr(import_module(module), name)
    if not module.startswith("onrecord.app."):
        return cast("Command", function)(call)
    use_case = cast("UseCase", function)
    return call.use_vault(lambda session: use_case(session, call.given)), 0
