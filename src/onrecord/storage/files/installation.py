"""One machine's use of a vault: the state folder with its key, log and head (docs/format/vault.md, state folder)."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

from onrecord.domain.checkpoint import format_origin, format_vkey
from onrecord.domain.errors import DamagedError, NoVaultError, StorageFailedError, VaultExistsError
from onrecord.domain.ids import VAULT_ID_CHARS, LogId, VaultId, derive_log_id, encode_base32
from onrecord.ports.signing import Signer
from onrecord.ports.system import IdSource
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.head import HEAD_NAME, Head, write_head
from onrecord.storage.files.journal import Journal
from onrecord.storage.files.lock import VaultLock

CONFIG_NAME = "onrecord.toml"
MACHINE_FOLDER = ".onrecord"
KEY_NAME = "key"
PEPPER_NAME = "pseudonyms"
FORMAT = 1

_README = """# A memory vault

Your memories lie here as Markdown files. Read and edit them with any editor.

- Yours to edit, rename and move: every file below memories, facts, entities, workspaces and conflicts.
- Below events are transcripts: raw turns, appended by programs. Reading is fine; an edit is noticed and named.
- Keys such as id, version, by, recorded_at, status, origin and protection in the front matter are copies for the eye.
  Changing them changes nothing.
- Leave .onrecord alone: it holds the history and its proofs.
- `onrecord doctor` names every file that needs your attention.
"""


@dataclass(frozen=True, slots=True)
class VaultConfig:
    """What `onrecord.toml` says. `problem` is set when it cannot be used; the vault is offline then."""

    vault: VaultId
    format: int
    settings: dict[str, object]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class KeyMaker:
    """How keys are made and opened: `make()` gives (PEM, raw public key), `open(path)` a signer."""

    make: Callable[[], tuple[bytes, bytes]]
    open: Callable[[str], Signer]


@dataclass(frozen=True, slots=True)
class Installation:
    """An opened state folder."""

    folder: str
    log: LogId
    pepper: bytes


def read_config(folder: str) -> VaultConfig:
    """Read `onrecord.toml`.

    Raises:
        NoVaultError: the folder has no `.onrecord`, so it never was a vault.
    """
    if not os.path.isdir(os.path.join(folder, MACHINE_FOLDER)):
        raise NoVaultError("there is no vault at this place", field="vault")
    offline = VaultConfig(VaultId(""), 0, {}, "")
    try:
        with open(os.path.join(folder, CONFIG_NAME), "rb") as file:
            shape = tomllib.load(file)
    except FileNotFoundError:
        return VaultConfig(offline.vault, 0, {}, "onrecord.toml is absent")
    except (OSError, ValueError) as error:
        return VaultConfig(offline.vault, 0, {}, f"onrecord.toml cannot be read ({type(error).__name__})")
    vault, number, settings = shape.get("vault"), shape.get("format"), shape.get("settings", {})
    if not isinstance(vault, str) or len(vault) != VAULT_ID_CHARS or not vault.isalnum():
        return VaultConfig(offline.vault, 0, {}, "onrecord.toml names no vault")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        return VaultConfig(VaultId(vault), 0, {}, "onrecord.toml names no format")
    return VaultConfig(VaultId(vault), number, settings if isinstance(settings, dict) else {})


def create_vault(folder: str, ids: IdSource, created: str, workspace: str) -> VaultId:
    """Make the folders, `onrecord.toml` and README of a new vault; existing files of the user stay.

    Raises:
        VaultExistsError: it already is one.
        StorageFailedError: the folder cannot be made or written.
    """
    if os.path.lexists(os.path.join(folder, MACHINE_FOLDER)) or os.path.lexists(os.path.join(folder, CONFIG_NAME)):
        raise VaultExistsError("this folder already is a vault", field="dir")
    vault = VaultId(encode_base32(ids.draw(15), VAULT_ID_CHARS))
    # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
    quoted = json.dumps(workspace, ensure_ascii=False).replace("\x7f", "\\u007f")
    text = f'format = {FORMAT}\nvault = "{vault}"\ncreated = "{created}"\n\n[settings]\nworkspace = {quoted}\n'
    with storage_errors("make the vault"):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        disk = Disk(folder)
        try:
            for name in ("memories", MACHINE_FOLDER):
                disk.make_folder(name)
            if not os.path.lexists(os.path.join(folder, "README.md")):
                disk.write_new("README.md", _README.encode())
                disk.sync("README.md")
            disk.write_new(CONFIG_NAME, text.encode())
            disk.sync(CONFIG_NAME)
            disk.sync_folder("")
        finally:
            disk.close()
    return vault


def open_installation(
    vault_folder: str, state_root: str, vault: VaultId, keys: KeyMaker, ids: IdSource
) -> Installation:
    """Open this machine's state folder of a vault, or make it with a new key and log if the pair is unknown.

    Raises:
        StorageFailedError: state folder or the log's folder cannot be made.
        DamagedError: the state folder is there but not usable.
    """
    with storage_errors("open the vault"):
        found = os.stat(os.path.join(vault_folder, MACHINE_FOLDER))
    folder = os.path.join(state_root, "vaults", f"{vault}-{found.st_dev:x}-{found.st_ino:x}")
    if not os.path.exists(os.path.join(folder, HEAD_NAME)):
        with storage_errors("make the state folder"):
            os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        with VaultLock((folder + ".lock",), 10.0).hold():
            if not os.path.exists(os.path.join(folder, HEAD_NAME)):
                _make_installation(vault_folder, folder, keys, ids)
    state = Disk(folder)
    try:
        with storage_errors("read the state folder"):
            pepper = state.read(PEPPER_NAME)
            log = LogId(state.read("log").decode().strip())
    except (StorageFailedError, UnicodeDecodeError) as error:
        raise DamagedError("the state folder of this vault is not whole") from error
    finally:
        state.close()
    return Installation(folder, log, pepper)


def _make_installation(vault_folder: str, folder: str, keys: KeyMaker, ids: IdSource) -> None:
    new = folder + ".new"
    pem, public_key = keys.make()
    log = derive_log_id(public_key)
    with storage_errors("make the state folder"):
        if os.path.isdir(new):
            shutil.rmtree(new)
        if os.path.isdir(folder):
            # A crash or a hand left a folder without a head: it names no acknowledged entry, so nothing is lost.
            os.rename(folder, f"{folder}.headless-{log}")
        os.mkdir(new, 0o700)
        _make_log_folder(vault_folder, log, format_vkey(format_origin(log), public_key))
        state = Disk(new)
        try:
            state.write_new(KEY_NAME, pem)
            state.write_new(PEPPER_NAME, ids.draw(32))
            state.write_new("log", f"{log}\n".encode())
            for name in (KEY_NAME, PEPPER_NAME, "log"):
                state.sync(name)
            Journal(state, 0).create()
            write_head(state, Head(log))
        finally:
            state.close()
        os.rename(new, folder)
        _sync_absolute(os.path.dirname(folder))


def _make_log_folder(vault_folder: str, log: LogId, vkey: str) -> None:
    disk = Disk(vault_folder)
    try:
        base = f"{MACHINE_FOLDER}/{log}"
        for name in ("ledger", "versions"):
            disk.make_folder(f"{base}/{name}")
        disk.write_new(f"{base}/key.pub", f"{vkey}\n".encode())
        disk.sync(f"{base}/key.pub")
        for name in (f"{base}/ledger", f"{base}/versions", base, MACHINE_FOLDER, ""):
            disk.sync_folder(name)
    finally:
        disk.close()


def _sync_absolute(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
