"""The command `read`: a page for a program or a person; into a file or a pipe the text, whole and exact."""

from __future__ import annotations

import sys

from onrecord.app.read import read
from onrecord.app.session import Reply
from onrecord.surfaces.cli.commands import Call


def read_memory(call: Call) -> tuple[Reply, int]:
    """Run `read`."""
    is_paged = call.as_json or "span" in call.given or sys.stdout.isatty()
    page_bytes = None if is_paged else 0
    return call.use_vault(lambda session: read(session, call.given, page_bytes=page_bytes)), 0
