"""One machine's use of a vault: the state folder with its key, log and head (docs/format/vault.md, state folder)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from onrecord.domain.checkpoint import Verify
from onrecord.domain.errors import (
    ConflictError,
    DamagedError,
    NewerFormatError,
    OnRecordError,
    StorageFailedError,
    VaultIncompleteError,
    VaultOfflineError,
)
from onrecord.domain.ids import LogId, VaultId, derive_log_id, is_log_id
from onrecord.domain.pseudonym import PEPPER_BYTES
from onrecord.ports.signing import Signer
from onrecord.ports.store import Actor, Rollback
from onrecord.ports.system import IdSource
from onrecord.storage.files.adoption import ADOPTED_NAME, find_rollback, read_adoption, write_adoption
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.grants import carry_grants, drop_grants
from onrecord.storage.files.head import HEAD_NAME, Head, read_head, write_head
from onrecord.storage.files.journal import Journal
from onrecord.storage.files.lock import VaultLock
from onrecord.storage.files.logs import LogFolders
from onrecord.storage.files.vault_config import (
    FORMAT,
    INCOMPLETE,
    MACHINE_FOLDER,
    VaultConfig,
    has_machine_folder,
    list_log_ids,
    read_config,
)
from onrecord.storage.files.whereabouts import (
    LOG_NAME,
    find_log,
    find_other,
    find_pair,
    find_remembered,
    note_place,
    sync_absolute,
    take_over,
)

KEY_NAME = "key"
PEPPER_NAME = "pseudonyms"
_ROLLED_BACK = ".rolled-back-"
_LOCK_WAIT_S = 10.0
_TRIES = 5
_RESTORE = "Put the file back from a copy of {folder}, or move that folder away: a new installation begins then."

_NO_HEAD = (
    "Put head.json back from a copy of the state folder before another command runs: that begins a new installation "
    "and sets the folder aside with its key."
)


@dataclass(frozen=True, slots=True)
class KeyMaker:
    """How keys are made, opened and asked.

    Attributes:
        make: Gives PEM and raw public key of a new one.
        open: Gives the signer of the file at a path.
        verify: Tells whether (public key, message, signature) holds.
    """

    make: Callable[[], tuple[bytes, bytes]]
    open: Callable[[str], Signer]
    verify: Verify


@dataclass(frozen=True, slots=True)
class Installation:
    """What this machine has of a vault.

    Attributes:
        folder: The state folder, absolute; empty where there is none and none may be made.
        log: The own log; empty where it is not known.
        pepper: 32 bytes; empty where nothing may be written.
        obstacle: What forbids every write; None where writing is allowed.
    """

    folder: str
    log: LogId
    pepper: bytes = b""
    obstacle: OnRecordError | None = None


def find_obstacle(config: VaultConfig) -> OnRecordError | None:
    """Return what `onrecord.toml` alone says against writing, None for nothing."""
    if not config.vault:
        return VaultOfflineError(config.problem, hint=config.mend)
    if config.format > FORMAT:
        return NewerFormatError("the vault has a newer format than this program knows")
    return VaultOfflineError(config.problem) if config.problem else None


def open_installation(
    vault_folder: str,
    state_root: str,
    config: VaultConfig,
    keys: KeyMaker,
    ids: IdSource,
    may_begin: bool = True,
) -> Installation:
    """Open this machine's state folder of a vault, or make it with a new key and log if the pair is unknown.

    What forbids writing is a value, so that what can be read is read: `onrecord.toml` absent, of another vault or of
    a newer format, a state folder that is damaged or cannot be made. Nothing is made then, nor without `may_begin`.

    Raises:
        StorageFailedError: the vault's folder cannot be looked at.
    """
    if not has_machine_folder(vault_folder):
        return Installation("", LogId(""), obstacle=VaultIncompleteError(INCOMPLETE))
    place = find_pair(vault_folder)
    folder = os.path.join(state_root, "vaults", f"{config.vault}-{place}")
    obstacle = find_obstacle(config)
    if not os.path.exists(folder):
        other = find_other(vault_folder, os.path.dirname(folder), place)
        if other and not obstacle:
            obstacle = VaultOfflineError("onrecord.toml names another vault than this machine knows here")
        if other or obstacle:
            return _read_installation(other, obstacle) if other else Installation("", LogId(""), obstacle=obstacle)
    if not may_begin and not os.path.lexists(folder):
        remembered = find_remembered(vault_folder, folder)
        return _read_installation(remembered, None) if remembered else Installation("", LogId(""))
    if may_begin and obstacle is None and not os.path.exists(os.path.join(folder, HEAD_NAME)):
        try:
            with storage_errors("make the state folder"):
                os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
            with VaultLock((folder + ".lock",), _LOCK_WAIT_S).hold():
                if not os.path.exists(os.path.join(folder, HEAD_NAME)):
                    _check_nothing_newer(vault_folder)
                    _begin(vault_folder, folder, keys, ids)
        except (StorageFailedError, NewerFormatError, DamagedError) as error:
            is_there = os.path.isdir(folder)
            return _read_installation(folder, error) if is_there else Installation("", LogId(""), obstacle=error)
    installation = _read_installation(folder, obstacle)
    if may_begin and installation.obstacle is None:
        with suppress(OnRecordError):
            note_place(vault_folder, folder, _LOCK_WAIT_S)
    return installation


def _begin(vault_folder: str, folder: str, keys: KeyMaker, ids: IdSource) -> None:
    """Take over the state folder of the vault that lay here, or make one."""
    remembered = "" if os.path.lexists(folder) else find_remembered(vault_folder, folder)
    if remembered:
        take_over(remembered, folder, _LOCK_WAIT_S)
    else:
        _make_installation(vault_folder, folder, keys, ids)


def _check_nothing_newer(vault_folder: str) -> None:
    """Before a log begins: the vault may be one that a newer program shares.

    Raises:
        NewerFormatError: a log has an entry or row of a newer format.
    """
    vault = Disk(vault_folder)
    try:
        newer = LogFolders(vault).scan_for_newer()
    finally:
        vault.close()
    if newer:
        raise NewerFormatError(newer)


def forget_lost_log(vault_folder: str, state_root: str, vault: VaultId) -> None:
    """Set aside the state folder of a vault whose log is not in it any more: `init` has just made `.onrecord` anew.

    A file system may give the new folder the device and inode of the one that is gone.

    Raises:
        StorageFailedError: it cannot be set aside.
    """
    folder = os.path.join(state_root, "vaults", f"{vault}-{find_pair(vault_folder)}")
    log = find_log(folder)
    if log and log not in list_log_ids(vault_folder):
        with storage_errors("set the old state folder aside"):
            os.rename(folder, f"{folder}.headless-{log}")


def adopt_vault(vault_folder: str, state_root: str, keys: KeyMaker, ids: IdSource, actor: Actor) -> str:
    """Set the state folder of a vault that was rolled back aside and begin a new installation, with a new key and log.

    Whatever cuts it off, either the old state folder is in its place, or the first write of the new log says what was
    given up.

    Args:
        vault_folder: The vault.
        state_root: Where state folders lie.
        keys: Makes the key.
        ids: Makes the pepper.
        actor: Who accepts it.

    Returns:
        Where the old state folder lies now.

    Raises:
        ConflictError: the vault goes on from what was acknowledged here, or another process has adopted it already.
        LockTimeoutError, VaultOfflineError, NewerFormatError, DamagedError, StorageFailedError: as named.
    """
    config = read_config(vault_folder)
    obstacle = find_obstacle(config)
    if obstacle is not None:
        raise obstacle
    folder = os.path.join(state_root, "vaults", f"{config.vault}-{find_pair(vault_folder)}")
    own_locks = (os.path.join(folder, "lock"), os.path.join(vault_folder, MACHINE_FOLDER, "lock"))
    with VaultLock((folder + ".lock",), _LOCK_WAIT_S).hold(), VaultLock(own_locks, _LOCK_WAIT_S).hold():
        with storage_errors("open the state folder"):
            state, vault = Disk(folder), Disk(vault_folder)
        try:
            rollback = find_rollback(state, vault)
        finally:
            state.close()
            vault.close()
        if rollback is None:
            raise ConflictError("the vault goes on from what was acknowledged here; there is nothing to adopt")
        aside = f"{folder}{_ROLLED_BACK}{rollback.log}"
        with storage_errors("make the state folder"):
            log = _prepare(folder, keys, ids, rollback, actor)
            _make_log_folder(vault_folder, log, keys.open(os.path.join(folder + ".new", KEY_NAME)).vkey())
            os.rename(folder, aside)
            try:
                os.rename(folder + ".new", folder)
            except OSError:
                os.rename(aside, folder)
                raise
            sync_absolute(os.path.dirname(folder))
    return aside


def _prepare(folder: str, keys: KeyMaker, ids: IdSource, rollback: Rollback, actor: Actor) -> LogId:
    """Make the state folder that takes the place of `folder`, or go on with one that was begun; return its log.

    It tells what was given up, and allows what the old one allowed.
    """
    new = folder + ".new"
    if not _is_whole(new):
        _make_state(new, keys, ids)
    carry_grants(folder, new)
    state = Disk(new)
    try:
        write_adoption(state, rollback, actor, folder)
        state.sync_folder("")
    finally:
        state.close()
    return find_log(new)


def _forget_adoption(folder: str) -> None:
    """Take back what a begun state folder says was given up, if the old one was not set aside after all."""
    state = Disk(folder + ".new")
    try:
        adoption = read_adoption(state)
        if adoption is not None and not os.path.isdir(f"{folder}{_ROLLED_BACK}{adoption.log}"):
            state.unlink(ADOPTED_NAME)
            drop_grants(state)
    finally:
        state.close()


def _read_installation(folder: str, obstacle: OnRecordError | None) -> Installation:
    """Read a state folder; what of it is not whole is an obstacle that names the file."""
    try:
        state = Disk(folder)
    except OSError as error:
        reason = f"the state folder cannot be read: {os.strerror(error.errno or 0)}"
        return Installation("", LogId(""), obstacle=obstacle or StorageFailedError(reason))
    try:
        damage = next(find_damage(state), None)
        pepper = b"" if damage or obstacle else state.read(PEPPER_NAME)
    finally:
        state.close()
    return Installation(folder, find_log(folder), pepper, obstacle or damage)


def find_damage(state: Disk) -> Iterator[OnRecordError]:
    """Yield, for each file of a state folder without which nothing can be written, what is wrong with it."""
    hint = _RESTORE.format(folder=state.root)
    pepper = _read_small(state, PEPPER_NAME)
    if pepper is None or len(pepper) != PEPPER_BYTES:
        yield DamagedError(f"{PEPPER_NAME} of the state folder is {_describe(pepper)}", hint=hint)
    try:
        head = _read_live_head(state)
    except NewerFormatError as error:
        yield error
        return
    except OnRecordError as error:
        yield DamagedError(error.reason, hint=hint if state.stat(HEAD_NAME) is not None else _NO_HEAD)
        head = None
    found = _read_small(state, LOG_NAME)
    log = (found or b"").decode(errors="replace").strip()
    if not is_log_id(log) or (head is not None and head.log != log):
        mend = f"Write the line {head.log} into it." if head is not None else hint
        yield DamagedError(f"{LOG_NAME} of the state folder is {_describe(found)}", hint=mend)
    if head is not None and state.stat(Journal(state, head.generation).name) is None:
        yield DamagedError(f"journal.{head.generation} of the state folder is absent or no file", hint=hint)


def _read_live_head(state: Disk) -> Head:
    """Return the head; one whose journal a checkpoint of another process has just removed is read anew."""
    head = read_head(state)
    for _ in range(_TRIES):
        if state.stat(Journal(state, head.generation).name) is not None:
            return head
        before, head = head, read_head(state)
        if before.generation == head.generation:
            return head
    return head


def _read_small(state: Disk, name: str) -> bytes | None:
    try:
        return state.read(name, 0, 4_096)
    except OSError:
        return None


def _describe(data: bytes | None) -> str:
    return "absent or cannot be read" if data is None else "damaged"


def _make_installation(vault_folder: str, folder: str, keys: KeyMaker, ids: IdSource) -> None:
    """Make a state folder aside, then the log's folder in the vault, then move the state folder to its place.

    A try that was cut off is gone on with, so that no second key is made for a log that is begun.
    """
    new = folder + ".new"
    with storage_errors("make the state folder"):
        if not _is_whole(new):
            _make_state(new, keys, ids)
        _forget_adoption(folder)
        log = find_log(new)
        if os.path.isdir(folder):
            # A hand left a folder without a head: a new installation begins, and doctor names the old folder.
            carry_grants(folder, new)
            os.rename(folder, f"{folder}.headless-{log}")
        _make_log_folder(vault_folder, log, keys.open(os.path.join(new, KEY_NAME)).vkey())
        os.rename(new, folder)
        sync_absolute(os.path.dirname(folder))


def _is_whole(folder: str) -> bool:
    try:
        state = Disk(folder)
    except OSError:
        return False
    try:
        return state.stat(KEY_NAME) is not None and next(find_damage(state), None) is None
    finally:
        state.close()


def _make_state(new: str, keys: KeyMaker, ids: IdSource) -> None:
    if os.path.isdir(new):
        shutil.rmtree(new)
    pem, public_key = keys.make()
    log = derive_log_id(public_key)
    os.mkdir(new, 0o700)
    state = Disk(new)
    try:
        files = {KEY_NAME: pem, PEPPER_NAME: ids.draw(PEPPER_BYTES), LOG_NAME: f"{log}\n".encode()}
        for name, data in files.items():
            state.write_new(name, data)
            state.sync(name)
        Journal(state, 0).create()
        write_head(state, Head(log))
    finally:
        state.close()


def _make_log_folder(vault_folder: str, log: LogId, vkey: str) -> None:
    disk = Disk(vault_folder)
    try:
        base = f"{MACHINE_FOLDER}/{log}"
        for name in ("ledger", "versions"):
            disk.make_folder(f"{base}/{name}")
        if disk.stat(f"{base}/key.pub") is not None:
            disk.unlink(f"{base}/key.pub")
        disk.write_new(f"{base}/key.pub", f"{vkey}\n".encode())
        disk.sync(f"{base}/key.pub")
        for name in (f"{base}/ledger", f"{base}/versions", base, MACHINE_FOLDER, ""):
            disk.sync_folder(name)
    finally:
        disk.close()
