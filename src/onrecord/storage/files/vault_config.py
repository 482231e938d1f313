"""`onrecord.toml` and the making of a vault's folders (docs/format/vault.md)."""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from onrecord.domain.errors import (
    InvalidInputError,
    NoVaultError,
    VaultClosedError,
    VaultError,
    VaultExistsError,
    VaultIncompleteError,
)
from onrecord.domain.ids import ALPHABET, VAULT_ID_CHARS, LogId, VaultId, encode_base32, is_log_id
from onrecord.ports.system import IdSource
from onrecord.storage.files.access import check_open, name_unfit
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.ignore_files import make_ignore_files

CONFIG_NAME = "onrecord.toml"
_CONFIG_MAX_BYTES = 1 << 20
README_NAME = "README.md"
MACHINE_FOLDER = ".onrecord"
FORMAT = 1
TEMPORARY_CONFIG_NAME = ".onrecord.toml.tmp"
_OPEN_CONFIG = "Let the user who runs onrecord read onrecord.toml: mend its permissions, and leave its words alone."
INCOMPLETE = "onrecord.toml is here, but .onrecord is not: the rest of the vault has still to come, or is lost"

_KEYS = frozenset({"format", "vault", "created", "settings"})
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
    """What `onrecord.toml` says.

    Attributes:
        vault: The vault's id; empty where the file gives none.
        format: 0 where the file gives none.
        settings: The table `[settings]`.
        problem: Why the file cannot be used; the vault is offline then.
        unknown: Top-level keys that mean nothing here, in order.
        mend: What mends the problem where the words of the file are not to be changed; empty elsewhere.
    """

    vault: VaultId
    format: int
    settings: dict[str, object]
    problem: str = ""
    unknown: tuple[str, ...] = ()
    mend: str = ""


def is_vault(folder: str) -> bool:
    """Tell whether a folder is a vault, any one: it has a machine folder and a configuration."""
    has_machine_folder = os.path.isdir(os.path.join(folder, MACHINE_FOLDER))
    return has_machine_folder and os.path.lexists(os.path.join(folder, CONFIG_NAME))


def list_upwards(path: str) -> Iterator[str]:
    """Yield an absolute path and every folder above it, the root last."""
    while True:
        yield path
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def list_log_ids(folder: str) -> list[LogId]:
    """Return the ids of the logs that have a folder in the vault, ascending; none where it cannot be listed."""
    base = os.path.join(folder, MACHINE_FOLDER)
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return []
    return [
        LogId(name)
        for name in names
        if is_log_id(name) and os.path.isdir(path := os.path.join(base, name)) and not os.path.islink(path)
    ]


def _holds_entries(folder: str) -> bool:
    base = os.path.join(folder, MACHINE_FOLDER)
    ledgers = (os.path.join(base, log, "ledger") for log in list_log_ids(folder))
    return any(os.path.isdir(ledger) and os.listdir(ledger) for ledger in ledgers)


def has_machine_folder(folder: str) -> bool:
    """Tell whether a folder has `.onrecord`."""
    return os.path.isdir(os.path.join(folder, MACHINE_FOLDER))


def read_config(folder: str, is_looking: bool = False) -> VaultConfig:
    """Read `onrecord.toml`.

    Args:
        folder: The vault.
        is_looking: A vault whose `.onrecord` has not come is looked at, too.

    Raises:
        VaultIncompleteError: it is a vault whose `.onrecord` has not come, or is lost.
        NoVaultError: the folder has no `.onrecord`, so it never was a vault; or `init` was cut off in it.
        VaultClosedError: this user may not look into the folder, or into its `.onrecord`.
        VaultError: `.onrecord` is a link, or it cannot be opened and the vault is not only looked at.
    """
    check_open(folder, MACHINE_FOLDER)
    has_folder = has_machine_folder(folder)
    if not has_folder and not os.path.lexists(os.path.join(folder, CONFIG_NAME)):
        raise NoVaultError("there is no vault at this place", field="vault")
    config = _read_config(folder)
    if config.vault and not os.path.lexists(os.path.join(folder, MACHINE_FOLDER)):
        if is_looking:
            return config
        raise VaultIncompleteError(INCOMPLETE, field="vault")
    if not has_folder or (not config.vault and not list_log_ids(folder)):
        raise NoVaultError(
            "the vault at this place is half made: its making was cut off, or a part is missing",
            field="vault",
            hint="Run `onrecord init DIR` on it: what is missing is made, what is there stays.",
        )
    if not is_looking or os.path.islink(os.path.join(folder, MACHINE_FOLDER)):
        _check_machine_folder(folder)
    return config


def _check_machine_folder(folder: str) -> None:
    path = os.path.join(folder, MACHINE_FOLDER)
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
        os.stat(os.path.join(path, "."))
    except OSError as error:
        reason = "is a link" if os.path.islink(path) else f"cannot be opened: {os.strerror(error.errno or 0)}"
        hint = f"Put the folder itself at {path}, where the user who runs onrecord may read and write it."
        raise VaultError(f"{MACHINE_FOLDER} of the vault {reason}", field="vault", hint=hint) from error


def _read_regular(path: str) -> bytes:
    """Return the bytes of a regular file, as far as a configuration may reach; what would block or never end is none.

    Raises:
        OSError: not there, a link (ELOOP), not a regular file (EINVAL) or too large (EFBIG).
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        data = file.read(_CONFIG_MAX_BYTES + 1)
    if len(data) > _CONFIG_MAX_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def _read_config(folder: str) -> VaultConfig:
    offline = VaultId("")
    try:
        shape = tomllib.loads(_read_regular(os.path.join(folder, CONFIG_NAME)).decode())
    except FileNotFoundError:
        return VaultConfig(offline, 0, {}, "onrecord.toml is absent")
    except OSError as error:
        problem = f"onrecord.toml cannot be read: {os.strerror(error.errno or 0)}"
        mend = _OPEN_CONFIG if error.errno in (errno.EACCES, errno.EPERM) else ""
        return VaultConfig(offline, 0, {}, problem, mend=mend)
    except (ValueError, RecursionError) as error:
        return VaultConfig(offline, 0, {}, f"onrecord.toml cannot be read: {error}")
    vault, number, settings = shape.get("vault"), shape.get("format"), shape.get("settings", {})
    unknown = tuple(name for name in shape if name not in _KEYS)
    kept = settings if isinstance(settings, dict) else {}
    if not isinstance(vault, str) or len(vault) != VAULT_ID_CHARS or not set(ALPHABET).issuperset(vault):
        return VaultConfig(offline, 0, kept, "onrecord.toml names no vault", unknown)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        return VaultConfig(VaultId(vault), 0, kept, "onrecord.toml names no format", unknown)
    return VaultConfig(VaultId(vault), number, kept, unknown=unknown)


def create_vault(folder: str, ids: IdSource, created: str, workspace: str) -> VaultId:
    """Make the folders, `onrecord.toml` and README of a new vault, or what a making that was cut off left unmade.

    Existing files of the user stay.

    Raises:
        VaultExistsError: it already is one, or its `onrecord.toml` cannot be used and is not ours to replace.
        InvalidInputError: the folder is closed to this user, or there cannot be one.
        StorageFailedError: the folder cannot be made or written.
    """
    try:
        check_open(folder, MACHINE_FOLDER)
    except VaultClosedError as error:
        raise InvalidInputError(error.reason, field="dir", hint=error.hint) from error
    known = _read_config(folder)
    has_folder = os.path.lexists(os.path.join(folder, MACHINE_FOLDER))
    if has_folder and (_holds_entries(folder) or (not known.vault and list_log_ids(folder))):
        if known.problem:
            hint = f"`onrecord doctor --vault {folder}` says what to write into it."
            raise VaultExistsError(f"this folder already is a vault, but {known.problem}", field="dir", hint=hint)
        raise VaultExistsError("this folder already is a vault", field="dir")
    path = os.path.join(folder, CONFIG_NAME)
    is_empty = os.path.lexists(path) and os.path.isfile(path) and os.path.getsize(path) == 0
    if os.path.lexists(path) and known.problem and not is_empty:
        raise VaultExistsError(f"a vault was begun here, but {known.problem}", field="dir", hint="Mend or remove it.")
    vault = known.vault or VaultId(encode_base32(ids.draw(15), VAULT_ID_CHARS))
    # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
    quoted = json.dumps(workspace, ensure_ascii=False).replace("\x7f", "\\u007f")
    text = f'format = {FORMAT}\nvault = "{vault}"\ncreated = "{created}"\n\n[settings]\nworkspace = {quoted}\n'
    with storage_errors("make the vault"):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            disk = Disk(folder)
            try:
                _make_parts(disk, b"" if known.vault else text.encode())
            finally:
                disk.close()
        except OSError as error:
            unfit = name_unfit(folder, error)
            if unfit is None:
                raise
            raise unfit from error
    return vault


def _make_parts(disk: Disk, config: bytes) -> None:
    """Make what is not there yet; `onrecord.toml` comes last and in one step."""
    if not os.path.islink(os.path.join(disk.root, "memories")):  # the user's own; the caller allows it
        disk.make_folder("memories")
    disk.make_folder(MACHINE_FOLDER)
    if not os.path.lexists(os.path.join(disk.root, README_NAME)):
        disk.write_new(README_NAME, _README.encode())
        disk.sync(README_NAME)
    make_ignore_files(disk)
    if config:
        if disk.stat(TEMPORARY_CONFIG_NAME) is not None:
            disk.unlink(TEMPORARY_CONFIG_NAME)
        disk.write_new(TEMPORARY_CONFIG_NAME, config)
        disk.sync(TEMPORARY_CONFIG_NAME)
        disk.rename(TEMPORARY_CONFIG_NAME, CONFIG_NAME)
    disk.sync_folder("")
