"""Which state folder a vault's folder has: by device and inode of `.onrecord`, else by the path that it remembers.

A state folder has one name and with it one pair of device and inode, so its key serves one vault folder at a time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from onrecord.domain.errors import OnRecordError
from onrecord.domain.ids import LogId, is_log_id
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.head import read_head
from onrecord.storage.files.lock import VaultLock
from onrecord.storage.files.vault_config import MACHINE_FOLDER, list_log_ids

LOG_NAME = "log"
PLACE_NAME = "place"
_APPLIED_NAME = "applied"
_PLACE_MAX_BYTES = 65_536


def find_pair(vault_folder: str) -> str:
    """Return device and inode of a vault's `.onrecord`, as names of state folders have them.

    Raises:
        StorageFailedError: the vault's folder cannot be looked at.
    """
    with storage_errors("open the vault"):
        found = os.stat(os.path.join(vault_folder, MACHINE_FOLDER))
    return f"{found.st_dev:x}-{found.st_ino:x}"


def is_state_name(name: str) -> bool:
    """Tell whether a folder's name is that of a state folder in use: one set aside, or begun, has more behind it."""
    return re.fullmatch(r"[^.]+-[0-9a-f]+-[0-9a-f]+", name) is not None


def find_other(vault_folder: str, root: str, pair: str) -> str:
    """Return the state folder of another vault id at this pair whose log lies in the vault, or "".

    Without the log in the vault it is the state of a folder that was here before and is gone.
    """
    try:
        names = sorted(name for name in os.listdir(root) if name.endswith(f"-{pair}"))
    except OSError:
        return ""
    logs = set(list_log_ids(vault_folder))
    return next((path for name in names if find_log(path := os.path.join(root, name)) in logs), "")


def find_log(folder: str) -> LogId:
    """Return the log that a state folder names, in `log` or else in `head.json`; empty for none."""
    try:
        state = Disk(folder)
    except OSError:
        return LogId("")
    try:
        with storage_errors("read the state folder"):
            if state.stat(LOG_NAME) is not None:
                log = state.read(LOG_NAME).decode(errors="replace").strip()
                if is_log_id(log):
                    return LogId(log)
        return read_head(state).log
    except OnRecordError:
        return LogId("")
    finally:
        state.close()


def find_remembered(vault_folder: str, folder: str) -> str:
    """Return the state folder whose vault lay at this path and is gone, as another one lies there; "" for none.

    Args:
        vault_folder: The vault as it is found, whose pair no state folder has.
        folder: The state folder that it would have.
    """
    logs = set(list_log_ids(vault_folder))
    path = os.path.realpath(vault_folder)
    others = (other for other in list_states(folder) if read_place(other) == path and find_log(other) in logs)
    return next(others, "")


def take_over(remembered: str, folder: str, wait_s: float) -> None:
    """Give a state folder to the vault that lies where its own has been: it goes on with key, log and pinned head.

    What the journal holds is applied anew. Whoever has it open writes no more: the lock is found by the name.

    Raises:
        LockTimeoutError: a writer holds it.
        StorageFailedError: it cannot be renamed.
    """
    with VaultLock((os.path.join(remembered, "lock"),), wait_s).hold(), storage_errors("take the state folder over"):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(remembered, _APPLIED_NAME))
        sync_absolute(remembered)
        os.rename(remembered, folder)
        sync_absolute(os.path.dirname(folder))


def note_place(vault_folder: str, folder: str, wait_s: float) -> None:
    """Let a state folder remember where its vault lies, and every other one forget that it did.

    Raises:
        LockTimeoutError: another process does the same.
        StorageFailedError: it cannot be written.
    """
    path = os.path.realpath(vault_folder)
    if read_place(folder) == path:
        return
    with VaultLock((folder + ".lock",), wait_s).hold(), storage_errors("write the state folder"):
        for other in list_states(folder):
            with suppress(FileNotFoundError):
                if read_place(other) == path:
                    os.unlink(os.path.join(other, PLACE_NAME))
        state = Disk(folder)
        try:
            temporary = f"{PLACE_NAME}.tmp"
            if state.stat(temporary) is not None:
                state.unlink(temporary)
            state.write_new(temporary, os.fsencode(path) + b"\n")
            state.sync(temporary)
            state.rename(temporary, PLACE_NAME)
            state.sync_folder("")
        finally:
            state.close()


def sync_absolute(folder: str) -> None:
    """Sync a folder outside any vault.

    Raises:
        OSError: it cannot be synced.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def list_states(folder: str) -> Iterator[str]:
    """Yield the other state folders of the same vault id, by name."""
    root, own = os.path.split(folder)
    vault = own.partition("-")[0]
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        if name != own and re.fullmatch(rf"{re.escape(vault)}-[0-9a-f]+-[0-9a-f]+", name):
            yield os.path.join(root, name)


def read_place(folder: str) -> str:
    """Return the path that a state folder remembers; empty for none."""
    try:
        with open(os.path.join(folder, PLACE_NAME), "rb") as file:
            return os.fsdecode(file.read(_PLACE_MAX_BYTES).removesuffix(b"\n"))
    except OSError:
        return ""
