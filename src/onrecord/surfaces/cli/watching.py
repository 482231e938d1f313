"""The command `watch`: the loop in the foreground, one line (or JSON object) an event, ended by SIGINT or SIGTERM."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import asdict

from onrecord.app.admission import admit
from onrecord.app.outside_operations import WATCH
from onrecord.app.session import Reply, Session
from onrecord.app.watch import RESCAN_S, Watch
from onrecord.app.watch_events import Event
from onrecord.surfaces.cli.commands import Call
from onrecord.surfaces.cli.terminal import show_line


def watch(call: Call) -> tuple[Reply, int]:
    """Run `watch`."""
    rescan_s = admit(WATCH, call.given).get("rescan", RESCAN_S)
    assert isinstance(rescan_s, int)
    # The loop itself takes in what was edited, so that it can tell of it.
    flags = {"vault": call.settings.vault_folder, "reconcile": False}
    flags |= {name: call.settings.text(name) or None for name in ("client", "agent")}
    settings = call.services.settle_settings(flags, os.environ, False)

    def open_session() -> Session:
        return call.services.open_vault(settings, call.caller, True).session

    open_session().close()  # what is no vault at all is refused at once
    watcher = call.services.make_watcher()
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.signal(number, lambda *_: watcher.end())
        call.closing.callback(signal.signal, number, before)
    loop = Watch(open_session, watcher, _print_json if call.as_json else _print_line, rescan_s)
    loop.run()
    return Reply(data={"versions": loop.tally.versions, "comparisons": loop.tally.comparisons}), 0


def _print_json(event: Event) -> None:
    print(json.dumps({name: value for name, value in asdict(event).items() if value}, ensure_ascii=False), flush=True)


def _print_line(event: Event) -> None:
    version = str(event.version) if event.version else ""
    place = f"{event.was} -> {event.path}" if event.was else event.path
    told = f"{place}  {event.message}".strip()
    if event.kind != "offline" and told:
        told = f"{event.id:<12}  {version:>4}  {event.origin:<9}  {told}"
    print(f"{event.kind:<9}  {show_line(told)}".rstrip(), flush=True)
