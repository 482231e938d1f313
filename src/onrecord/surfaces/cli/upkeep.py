"""Commands about the vault as a whole: show its settings, make its index anew, go on from an older one; and help."""

from __future__ import annotations

from onrecord.app.admission import admit
from onrecord.app.adopt import adopt
from onrecord.app.catalog import CONFIG, HELP
from onrecord.app.describe import describe_operation
from onrecord.app.rebuild import rebuild
from onrecord.app.session import Reply, Session
from onrecord.config import SETTINGS
from onrecord.surfaces.cli.commands import Call
from onrecord.surfaces.cli.progress import show_progress


def adopt_vault(call: Call) -> tuple[Reply, int]:
    """Run `adopt`: show, or with `--yes` close the vault and open it anew under a new log."""
    opened = call.services.open_vault(call.settings, call.caller, True)
    try:
        reply = adopt(opened.session, call.given)
    finally:
        opened.close()
    if not call.given.get("yes"):
        reply.join(opened.opening)
        return reply, 0
    again, aside = call.services.adopt_vault(call.settings, call.caller)
    call.closing.callback(again.close)
    data = reply.data | {"adopted": True, "log": again.session.store.log, "set_aside": aside}
    accepted = Reply(data=data)
    accepted.join(again.opening)
    return accepted, 0


def rebuild_index(call: Call) -> tuple[Reply, int]:
    """Run `reindex`; an index that only this call had, in memory, is none that was made."""

    def make_anew(session: Session) -> Reply:
        with show_progress("indexing", is_quiet=call.as_json) as progress:
            session.on_progress = progress
            return rebuild(session)

    reply = call.use_vault(make_anew, is_index_needed=False)
    return reply, 1 if any(item.reason == "index_in_memory" for item in reply.degraded) else 0


def show_settings(call: Call) -> tuple[Reply, int]:
    """Run `config`."""
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
    folders = {"vault": call.settings.vault_folder, "state": call.settings.state_root}
    reply = Reply(data={"settings": settings, "folders": folders})
    reply.warnings.extend(f"unknown setting {name}" for name in call.settings.unknown)
    return reply, 0


def explain(call: Call) -> tuple[Reply, int]:
    """Run `help`."""
    name = admit(HELP, call.given).get("operation")
    return Reply(data=describe_operation(str(name) if name is not None else None)), 0
