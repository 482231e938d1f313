"""That an installation has begun anew where this machine had one of the same vault, and why: nobody should miss it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from onrecord.domain.errors import OnRecordError
from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.head import StoreEnd, read_head
from onrecord.storage.files.vault_config import list_log_ids
from onrecord.storage.files.whereabouts import find_log, list_states, read_place

INSTALLATION_NEW: Final = "installation_new"


def tell_beginning(vault_folder: str, folder: str) -> tuple[tuple[str, str], ...]:
    """Return reason and mend for the replies of an installation that has begun anew and has no version yet; or nothing.

    Args:
        vault_folder: The vault.
        folder: Its state folder, empty for none.
    """
    if not folder or not _is_without_versions(folder):
        return ()
    parent, name = os.path.split(folder)
    aside = [other for other in sorted(os.listdir(parent)) if other.startswith(f"{name}.headless-")]
    if aside:
        path = os.path.join(parent, aside[-1])
        mend = (
            f"The state folder of this machine had lost head.json, so log {find_log(path) or 'unknown'} ends and a new "
            f"one begins. Its key and its last writes are in {path}: keep it. See `onrecord doctor`."
        )
        return ((INSTALLATION_NEW, mend),)
    others = [(problem.message, problem.mend) for problem in find_others(vault_folder, folder)]
    return ((INSTALLATION_NEW, f"A new log begins here: {others[0][0]}. {others[0][1]}"),) if others else ()


def find_others(vault_folder: str, folder: str) -> Iterator[Problem]:
    """Yield a note for each other state folder of this machine whose log lies in this vault, too: it is a copy."""
    logs = set(list_log_ids(vault_folder))
    for other in list_states(folder):
        log = find_log(other)
        if log not in logs:
            continue
        place = read_place(other)
        where = f"at {place}" if place and os.path.isdir(place) else "elsewhere"
        message = f"this machine has another installation of this vault, log {log}, of a folder {where}"
        mend = (
            f"Use one of the two folders; as a copy this one has a log and a key of its own. Keep {other}, where the "
            "other's are."
        )
        yield Problem("", 0, INSTALLATION_NEW, Severity.INFO, message, mend)


def _is_without_versions(folder: str) -> bool:
    try:
        state = Disk(folder)
    except OSError:
        return False
    try:
        return read_head(state).versions == StoreEnd(0, 0)
    except OnRecordError:
        return False
    finally:
        state.close()
