"""Which file of a vault's machine folder and of a state folder belongs to which store (docs/format/vault.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.vault_config import MACHINE_FOLDER

_LOG = "[0-9a-hjkmnp-tv-z]{16}"
_SEGMENT = r"[0-9]{8}\.jsonl"
_VAULT = {
    "lock": "lock",
    "log": rf"{_LOG}/(?:key\.pub|checkpoint|\.checkpoint\.tmp)",
    "ledger": rf"{_LOG}/ledger/{_SEGMENT}(?:\.gz)?",
    "versions": rf"{_LOG}/versions/(?:{_SEGMENT}(?:\.gz)?|\.pack\.tmp)",
}
_STATE = {
    "installation": r"key|pseudonyms|log|lock|place(?:\.tmp)?|adopted\.json|\.exchange-(?:one|other)\.tmp",
    "sources": r"sources\.json(?:\.tmp)?",
    "head": r"head\.json(?:\.tmp)?",
    "journal": r"journal\.(?:0|[1-9][0-9]*)|applied",
    "links": r"links\.json(?:\.tmp)?",
    "backup": r"backup\.(?:jsonl|done|failed\.jsonl)",
    "absences": r"absences\.json(?:\.tmp)?",
    "parted": r"parted\.json(?:\.tmp)?",
    "index": r"index\.sqlite3(?:\.new)?(?:-wal|-shm|-journal)?",
}
_MAX_DEPTH = 4


def find_store(path: str, *, is_state: bool) -> str | None:
    """Return the store that a file belongs to, None for none.

    Args:
        path: Relative to the state folder, or to `.onrecord` of the vault.
        is_state: Which of the two.
    """
    for store, pattern in (_STATE if is_state else _VAULT).items():
        if re.fullmatch(pattern, path):
            return store
    return None


def find_strays(disk: Disk, *, is_state: bool) -> Iterator[Problem]:
    """Yield a problem for each file that no store claims; a folder is named only where a file lies in it.

    Raises:
        OSError: a folder cannot be listed.
    """
    base = "" if is_state else MACHINE_FOLDER
    where = "the state folder" if is_state else MACHINE_FOLDER
    for path in _list_files(disk, base, 0):
        inner = path if is_state else path[len(base) + 1 :]
        if find_store(inner, is_state=is_state) is None:
            shown = path.encode(errors="backslashreplace").decode()
            message = f"no part of OnRecord knows this file in {where}; it is left alone"
            yield Problem("" if is_state else shown, 0, "stray_file", Severity.WARNING, _name(message, shown, is_state),
                          "Move it away if it is not needed.")  # fmt: skip


def _name(message: str, path: str, is_state: bool) -> str:
    return f"{path}: {message}" if is_state else message


def _list_files(disk: Disk, folder: str, depth: int) -> Iterator[str]:
    for name in disk.list_folder(folder):
        path = f"{folder}/{name}" if folder else name
        try:
            with disk.folder(path):
                is_folder = True
        except OSError:
            is_folder = False
        if is_folder and depth < _MAX_DEPTH:
            yield from _list_files(disk, path, depth + 1)
        else:
            yield path
