"""For doctor: files of vault and state folder that are something else, and folders that cannot be written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Final

from onrecord.domain.checkpoint import parse_checkpoint, parse_note
from onrecord.domain.errors import DamagedError
from onrecord.domain.filenames import RECORD_FOLDERS
from onrecord.domain.ids import LogId
from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.sealing import find_torn_pairs
from onrecord.storage.files.vault_config import MACHINE_FOLDER

# Files of the state folder that are made when they are needed; what stands in their place is in the way.
_MADE_WHEN_NEEDED: Final = ("applied", "backup.jsonl", "backup.done", "backup.failed.jsonl", "lock", "removing")
_INDEX: Final = "index.sqlite3"
_MOVE: Final = "Move {path} away; it is made anew when it is needed."


def find_misplaced(vault: Disk, state: Disk | None, logs: list[LogId], own: LogId) -> Iterator[Problem]:
    """Yield a problem for each file of the installation in whose place something else stands, or beside it.

    Args:
        vault: The vault.
        state: The state folder, None for none.
        logs: Logs that have a folder in the vault.
        own: The own log, empty where it is not known.
    """
    path = f"{MACHINE_FOLDER}/lock"
    kind = _name_kind(vault.root, path)
    if kind:
        yield _name_damaged(path, kind, Severity.CRITICAL, _MOVE.format(path=path))
    for log in logs:
        severity = Severity.CRITICAL if log == own else Severity.WARNING
        for name in ("key.pub", "checkpoint"):
            path = f"{MACHINE_FOLDER}/{log}/{name}"
            kind = _name_kind(vault.root, path)
            if kind:
                yield _name_damaged(path, kind, severity, _name_log_mend(path, name, is_own=log == own))
        yield from find_torn_pairs(vault, f"{MACHINE_FOLDER}/{log}/versions", is_own=log == own)
    if state is None:
        return
    for name in _MADE_WHEN_NEEDED:
        kind = _name_kind(state.root, name)
        if kind:
            mend = _MOVE.format(path=os.path.join(state.root, name))
            message = f"{kind} stands in the place of {name} of the state folder"
            yield Problem("", 0, "state_damaged", Severity.CRITICAL, message, mend, kind)
    kind = _name_kind(state.root, _INDEX)
    if kind:
        mend = _MOVE.format(path=os.path.join(state.root, _INDEX))
        message = f"{kind} stands in the place of {_INDEX} of the state folder"
        yield Problem("", 0, "index_unusable", Severity.CRITICAL, message, mend, kind)


def find_bad_heads(vault: Disk, logs: list[LogId], own: LogId, vkey: str, signed: int) -> Iterator[Problem]:
    """Yield a problem for each signed head that cannot be read or is gone, and for a public key that is not the log's.

    Args:
        vault: The vault.
        logs: Logs that have a folder in the vault.
        own: The own log.
        vkey: The line that `key.pub` of the own log should have, empty where it is not known.
        signed: How many entries of the own log a head was signed over here, 0 where that is not known.
    """
    for log in logs:
        severity = Severity.CRITICAL if log == own else Severity.WARNING
        path = f"{MACHINE_FOLDER}/{log}/checkpoint"
        data = _read(vault, path)
        if data is not None and not _is_head(data):
            mend = _name_log_mend(path, "checkpoint", is_own=log == own)
            message = "the signed head of the log cannot be read"
            yield Problem(path, 0, "damaged", severity, message, mend, f"{len(data)} bytes")
        elif data is None and log == own and signed and _name_kind(vault.root, path) == "":
            message = f"the signed head of the own log is gone, which covered {signed} entries"
            mend = "Put it back from a copy of the vault, or go on: a later write signs a new one."
            yield Problem(path, 0, "head_gone", Severity.INFO, message, mend, "absent")
        if log != own and data is not None:
            yield from _find_lost_key(vault, f"{MACHINE_FOLDER}/{log}/key.pub")
    if own in logs and vkey:
        path = f"{MACHINE_FOLDER}/{own}/key.pub"
        data = _read(vault, path)
        if _name_kind(vault.root, path) == "" and (data is None or data.decode(errors="replace").rstrip("\n") != vkey):
            seen = "absent" if data is None else f"{len(data)} bytes, another key"
            message = "the public key of the own log is absent or another one"
            yield Problem(path, 0, "damaged", Severity.CRITICAL, message, f"Write the line {vkey} into it.", seen)


def _find_lost_key(vault: Disk, path: str) -> Iterator[Problem]:
    if _read(vault, path) is None and _name_kind(vault.root, path) == "":
        message = "the public key of another log is gone: what it signed is judged by the keys that its entries name"
        mend = _name_log_mend(path, "key.pub", is_own=False)
        yield Problem(path, 0, "damaged", Severity.WARNING, message, mend, "absent")


def find_unwritable(vault: Disk, state: Disk | None, own: LogId) -> Iterator[Problem]:
    """Yield a problem for each folder or file that has to be written and cannot be; nothing is tried."""
    machine = (MACHINE_FOLDER, *(f"{MACHINE_FOLDER}/{own}{part}" for part in ("", "/ledger", "/versions") if own))
    for folder in machine:
        yield from _judge_access(vault.root, folder, "vault_read_only", Severity.CRITICAL)
    for folder in ("", *RECORD_FOLDERS):
        yield from _judge_access(vault.root, folder, "vault_read_only", Severity.WARNING)
    if state is not None:
        yield from _judge_access(state.root, "", "state_read_only", Severity.CRITICAL)


def _judge_access(root: str, folder: str, code: str, severity: Severity) -> Iterator[Problem]:
    path = os.path.join(root, folder) if folder else root
    try:
        found = os.stat(path, follow_symlinks=not folder)
    except OSError:
        return
    if not stat.S_ISDIR(found.st_mode) or os.access(path, os.W_OK | os.X_OK):
        return
    what = "the state folder" if code == "state_read_only" else folder or "the folder of the vault"
    mend = f"Let the user who runs onrecord write to {path}."
    shown = folder if code == "vault_read_only" else ""
    seen = f"mode {stat.S_IMODE(found.st_mode):04o}"
    yield Problem(shown, 0, code, severity, f"{what} cannot be written", mend, seen)


def _name_kind(root: str, path: str) -> str:
    """Return what stands at the place of a file, where it is there and no regular file; else nothing."""
    try:
        mode = os.lstat(os.path.join(root, path)).st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return ""
    return "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "a special file"


def _name_damaged(path: str, kind: str, severity: Severity, mend: str) -> Problem:
    return Problem(path, 0, "damaged", severity, f"{kind} stands in the place of the file", mend, kind)


def _name_log_mend(path: str, name: str, *, is_own: bool) -> str:
    if not is_own:
        return f"Put {path} back from the machine that writes the log."
    return _MOVE.format(path=path) if name == "checkpoint" else f"Move {path} away and put it back from a copy."


def _read(vault: Disk, path: str) -> bytes | None:
    try:
        return vault.read(path, 0, 1 << 20)
    except OSError:
        return None


def _is_head(data: bytes) -> bool:
    try:
        parse_checkpoint(parse_note(data).text)
    except DamagedError:
        return False
    return True
