"""What doctor asks of an installation: each file of it that is absent, damaged, or of nobody."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from onrecord.domain.checkpoint import format_origin
from onrecord.domain.errors import OnRecordError, StorageFailedError, VaultIncompleteError
from onrecord.domain.ids import LogId
from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.beginning import find_others
from onrecord.storage.files.claims import find_strays
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.head import read_head
from onrecord.storage.files.ignore_files import find_unguarded
from onrecord.storage.files.installation import KEY_NAME, KeyMaker, find_damage
from onrecord.storage.files.journal import Journal
from onrecord.storage.files.links import inspect_links
from onrecord.storage.files.parted import find_parted
from onrecord.storage.files.parts import find_bad_heads, find_misplaced, find_unwritable
from onrecord.storage.files.vault_config import (
    CONFIG_NAME,
    FORMAT,
    INCOMPLETE,
    TEMPORARY_CONFIG_NAME,
    VaultConfig,
    has_machine_folder,
    list_log_ids,
)
from onrecord.storage.files.whereabouts import find_log

_KEY_MEND = (
    "Put the file key back from where you keep secrets. Without it the log goes on unsigned; to sign again, move "
    "{folder} away: a new installation begins."
)

_KEEP = "Keep it while anything of its log may be missing; to end this notice move {path} to where you keep backups."


@dataclass(frozen=True, slots=True)
class Place:
    """What is looked at: a vault and this machine's state folder of it.

    Attributes:
        vault: The vault.
        state: The state folder, None for none.
        config: What `onrecord.toml` says.
        known: The vault's id on this machine; empty where it is not known.
        own: The own log; empty for none.
        obstacle: What forbids writing, None for nothing.
    """

    vault: Disk
    state: Disk | None
    config: VaultConfig
    known: str
    own: LogId
    obstacle: OnRecordError | None


def inspect_installation(place: Place, keys: KeyMaker | None, now_us: int) -> Iterator[Problem]:
    """Yield what is wrong with any file of an installation; without `keys` the key and what it signed is left out."""
    vault, state, own = place.vault, place.state, place.own
    yield from inspect_vault(vault, place.config, place.known)
    logs = list_log_ids(vault.root)
    yield from find_misplaced(vault, state, logs, own)
    yield from find_unwritable(vault, state, own)
    if state is None:
        yield from name_absent_state(place.obstacle)
        return
    yield from inspect_state(state, vault.root, own, keys)
    yield from find_parted(state, now_us)
    vkey = read_vkey(state, own, keys)
    yield from find_bad_heads(vault, logs, own, vkey, _count_signed(state) if vkey else 0)


def _count_signed(state: Disk) -> int:
    try:
        return read_head(state).signed
    except OnRecordError:
        return 0


def inspect_vault(vault: Disk, config: VaultConfig, known: str) -> Iterator[Problem]:
    """Yield what is wrong with `onrecord.toml` and with `.onrecord`; `known` is the vault's id on this machine."""
    if known and config.vault and config.vault != known:
        message = "onrecord.toml names another vault than this machine knows here"
        mend = f'Write vault = "{known}" into it again, or put the right folder here.'
        yield Problem(CONFIG_NAME, 0, "vault_offline", Severity.CRITICAL, message, mend)
    if config.problem:
        mend = "Put onrecord.toml back from a copy of the vault."
        if known:
            mend = f'Put onrecord.toml back from a copy, or write it anew: format = {FORMAT}, vault = "{known}".'
        yield Problem(CONFIG_NAME, 0, "vault_offline", Severity.CRITICAL, config.problem, config.mend or mend)
    for name in config.unknown:
        message = f"unknown key {name[:80]!r}; it has no effect"
        yield Problem(CONFIG_NAME, 0, "unknown_setting", Severity.WARNING, message, "Correct or remove it.")
    if vault.stat(TEMPORARY_CONFIG_NAME) is not None:
        message = "left by an init that was cut off"
        yield Problem(TEMPORARY_CONFIG_NAME, 0, "temporary_left", Severity.INFO, message, "Remove it.")
    yield from find_unguarded(vault.root)
    if not has_machine_folder(vault.root):
        error = VaultIncompleteError(INCOMPLETE)
        yield Problem("", 0, error.code, Severity.CRITICAL, error.reason, error.hint)
        return
    try:
        yield from find_strays(vault, is_state=False)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        yield Problem(".onrecord", 0, "not_a_regular_file", Severity.CRITICAL, f"it cannot be read: {reason}")


def inspect_state(state: Disk, vault_folder: str, log: LogId, keys: KeyMaker | None) -> Iterator[Problem]:
    """Yield what is wrong with a state folder: files absent or damaged, the key, strays, what was set aside.

    Without `keys` the key is not looked at.
    """
    damaged = list(find_damage(state))
    for error in damaged:
        yield Problem("", 0, f"state_{error.code}", Severity.CRITICAL, error.reason, error.hint)
    if not damaged:
        yield from _inspect_journal(state)
    if keys is not None:
        yield from _inspect_key(state, log, keys)
    yield from inspect_links(state)
    yield from find_strays(state, is_state=True)
    yield from _find_set_aside(state.root)
    yield from find_others(vault_folder, state.root)


def _find_set_aside(folder: str) -> Iterator[Problem]:
    """Yield what lies beside a state folder: those that were set aside have a key, and the last writes of its log."""
    parent, name = os.path.split(folder)
    for other in sorted(os.listdir(parent)):
        path = os.path.join(parent, other)
        if other.startswith(f"{name}.rolled-back-"):
            message = f"{other}: the state folder of a log that was given up, with its key and maybe its last writes"
            yield Problem("", 0, "state_set_aside", Severity.INFO, message, _KEEP.format(path=path))
        elif other.startswith(f"{name}.headless-"):
            log = find_log(path) or "unknown"
            message = f"{other}: set aside as a new log began; it has the key and the last writes of log {log}"
            yield Problem("", 0, "state_set_aside", Severity.WARNING, message, _KEEP.format(path=path))
        elif other.startswith(f"{name}.new"):
            message = f"{other}: a state folder that was never finished"
            mend = f"If `onrecord adopt --yes` was cut off, run it again, it goes on with it; else move {path} away."
            yield Problem("", 0, "stray_file", Severity.WARNING, message, mend)


def name_absent_state(obstacle: OnRecordError | None) -> Iterator[Problem]:
    """Yield that this machine has no state folder of the vault, or one that cannot be read."""
    if obstacle is None:
        yield Problem("", 0, "state_absent", Severity.INFO, "this machine has no installation of this vault yet")
    elif isinstance(obstacle, StorageFailedError):
        yield Problem("", 0, "state_damaged", Severity.CRITICAL, obstacle.reason)


def read_vkey(state: Disk, log: LogId, keys: KeyMaker | None) -> str:
    """Return the line of the public key of an installation; empty where its key cannot be used or is another log's."""
    if keys is None:
        return ""
    try:
        vkey = keys.open(os.path.join(state.root, KEY_NAME)).vkey()
    except OnRecordError:
        return ""
    return vkey if vkey.startswith(f"{format_origin(log)}+") else ""


def _inspect_journal(state: Disk) -> Iterator[Problem]:
    journal = Journal(state, read_head(state).generation)
    try:
        journal.read_new()
    except OnRecordError as error:
        message = f"{journal.name} of the state folder: {error.reason}"
        mend = f"Put {state.root} back from a copy, or move it away: a new installation begins then."
        yield Problem("", 0, "state_damaged", Severity.CRITICAL, message, mend)


def _inspect_key(state: Disk, log: LogId, keys: KeyMaker) -> Iterator[Problem]:
    mend = _KEY_MEND.format(folder=state.root)
    try:
        vkey = keys.open(os.path.join(state.root, KEY_NAME)).vkey()
    except OnRecordError as error:
        yield Problem("", 0, "key_unusable", Severity.CRITICAL, f"{KEY_NAME}: {error.reason}", mend)
        return
    if log and not vkey.startswith(f"{format_origin(log)}+"):
        message = f"{KEY_NAME}: the private key is another log's"
        yield Problem("", 0, "key_unusable", Severity.CRITICAL, message, mend)
