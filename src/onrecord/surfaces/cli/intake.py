"""The command `import`: what a path holds decides how it is taken in."""

from __future__ import annotations

import sys

from onrecord.app.importing import import_markdown, import_turns
from onrecord.app.links import list_targets
from onrecord.app.session import Reply, Session
from onrecord.surfaces.cli.commands import Call
from onrecord.surfaces.cli.progress import show_progress


def import_path(call: Call) -> tuple[Reply, int]:
    """Run `import`."""
    path = str(call.given.get("path", ""))
    is_turns = call.given.get("format") == "turns" or (
        call.given.get("format") is None and (path == "-" or path.endswith((".jsonl", ".ndjson")))
    )

    def take_in(session: Session) -> Reply:
        with show_progress("importing", is_quiet=call.as_json) as progress:
            session.on_progress = progress
            if is_turns:
                lines = call.services.list_lines(sys.stdin.buffer if path == "-" else path)
                return import_turns(session, call.given, lines)
            files = call.services.list_sources(path, list_targets(session))
            return import_markdown(session, call.given, files)

    return call.use_vault(take_in), 0
