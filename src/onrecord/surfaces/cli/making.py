"""The command `init`: make a vault, and count the notes that were there before."""

from __future__ import annotations

import os

from onrecord.app.admission import admit
from onrecord.app.catalog import INIT
from onrecord.app.session import Reply, Session
from onrecord.domain.filenames import RECORD_FOLDERS
from onrecord.domain.problem import Problem
from onrecord.surfaces.cli.commands import Call

_NAMES_MAX_COUNT = 100_000


def make_vault(call: Call) -> tuple[Reply, int]:
    """Run `init`. What is there is only counted: a person may leave some out before a command takes them in."""
    folder = admit(INIT, call.given).get("dir")
    path = os.path.abspath(os.path.expanduser(str(folder))) if folder else call.settings.vault_folder
    opened = call.services.make_vault(path, call.settings.switch_off("reconcile"), call.caller)
    call.closing.callback(opened.close)
    reply = Reply(
        data={
            "vault": opened.session.store.vault,
            "path": path,
            "notes": _count_waiting(opened.session),
            "notes_elsewhere": _count_elsewhere(path),
        }
    )
    reply.join(opened.opening)
    reply.warnings.extend(opened.opening.warnings)
    return reply, 0


def _count_waiting(session: Session) -> int:
    """Return how many files the next command will take in."""
    with session.index.read() as reader:
        return sum(
            not isinstance(item, Problem) and reader.get_file(item.path) is None for item in session.store.scan_files()
        )


def _count_elsewhere(path: str) -> int:
    """Return how many Markdown files lie in the folder where no memories are looked for; hidden ones do not count."""
    names = found = 0
    for folder, folders, files in os.walk(path):
        closed = RECORD_FOLDERS if folder == path else ()
        files = [name for name in files if folder != path or name != "README.md"]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in closed)
        found += sum(name.lower().endswith(".md") and not name.startswith(".") for name in files)
        names += len(files) + len(folders)
        if names > _NAMES_MAX_COUNT:
            break
    return found
