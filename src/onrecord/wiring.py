"""The composition root: settings become an opened vault. The only module that knows both ends of the house."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from onrecord.adapters.keys import Ed25519Verifier, KeyFileSigner, generate_key
from onrecord.adapters.source_tree import read_lines, read_tree
from onrecord.adapters.system import SystemClock, SystemIds
from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Caller, Channel, Policy, Reply, Session
from onrecord.config import Settings, load_settings
from onrecord.domain.errors import DamagedError, NoVaultError
from onrecord.domain.instants import from_unix_us
from onrecord.ports.signing import Verifier
from onrecord.ports.sources import SourceFile
from onrecord.storage.files.installation import KeyMaker, create_vault, read_config
from onrecord.storage.files.store import FileVaultStore, StoreOptions
from onrecord.storage.sqlite.index import SqliteIndex
from onrecord.surfaces.library import Vault
from onrecord.surfaces.services import Opened, Services

_INDEX_NAME = "index.sqlite3"


def settle_settings(flags: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Return the settings, the vault's own included if there is a vault.

    Raises:
        ConfigError: a value has the wrong form.
    """
    first = load_settings(flags, environment)
    try:
        project = read_config(first.vault_folder).settings
    except NoVaultError:
        return first
    return load_settings(flags, environment, project)


def make_vault(folder: str, settings: Settings, caller: Caller) -> Opened:
    """Make a vault in `folder` with key and log, and open it.

    Raises:
        VaultExistsError, StorageFailedError: as named.
    """
    created = from_unix_us(SystemClock().read().wall_us)
    create_vault(folder, SystemIds(), created, settings.text("workspace"))
    opened = open_vault(settings.replace_vault(folder), caller)
    opened.session.store.checkpoint()
    return opened


def open_vault(settings: Settings, caller: Caller, is_index_needed: bool = True) -> Opened:
    """Open a vault: state folder, store, index; take in outside edits if the settings say so.

    Args:
        settings: As `settle_settings` gives them.
        caller: Who will use it.
        is_index_needed: False leaves a damaged index alone (for `reindex`, which makes it anew).

    Raises:
        NoVaultError, VaultOfflineError, StorageFailedError, DamagedError: it cannot be opened.
    """
    keys = KeyMaker(generate_key, KeyFileSigner)
    options = StoreOptions(
        folder=settings.vault_folder,
        state_root=settings.state_root,
        lock_wait_s=settings.number("lock_wait_s"),
        checkpoint_entries=int(settings.number("checkpoint_entries")),
    )
    clock, ids = SystemClock(), SystemIds()
    store = FileVaultStore(options, keys, clock, ids)
    index_path = os.path.join(store.state_folder, _INDEX_NAME)
    policy = Policy(settings.text("workspace"), settings.is_on("redact"), int(settings.number("page_bytes")))
    opening = Reply()
    try:
        index, is_fresh = SqliteIndex(index_path), False
    except DamagedError:
        with store.hold():
            index, is_fresh = SqliteIndex.create(index_path), True
    session = Session(store, index, clock, ids, RuamelReader(), policy, caller)
    if is_fresh and is_index_needed:
        rebuild(session, lambda _: None)
    elif is_index_needed:
        session.refresh(opening)
        if settings.is_on("reconcile"):
            reconcile(session, opening)
    return Opened(session, settings, opening)


def get_verifier() -> Verifier:
    """Return what checks Ed25519 signatures."""
    return Ed25519Verifier()


def list_sources(path: str) -> Iterator[SourceFile]:
    """Yield the Markdown files of an import."""
    return read_tree(path)


def list_lines(path: str) -> Iterable[bytes]:
    """Yield the lines of a turns import."""
    return read_lines(path)


SERVICES = Services(settle_settings, make_vault, open_vault, list_sources, list_lines, get_verifier)


def open_library(
    path: str | os.PathLike[str] | None = None,
    *,
    client: str | None = None,
    agent: str | None = None,
    create: bool = False,
) -> Vault:
    """Open a vault for the Python API.

    Args:
        path: Its folder; None takes ONRECORD_VAULT or the configured one.
        client: Name of the calling program, as claimed.
        agent: Name of the calling agent, as claimed.
        create: Make the vault if there is none.

    Raises:
        NoVaultError, VaultOfflineError, StorageFailedError, DamagedError, ConfigError: it cannot be opened.
    """
    flags = {"vault": os.fspath(path) if path is not None else None, "client": client, "agent": agent}
    settings = settle_settings(flags, os.environ)
    caller = Caller(Channel.LIBRARY, settings.text("client"), settings.text("agent"))
    folder = settings.vault_folder
    if create and not os.path.isdir(os.path.join(folder, ".onrecord")):
        return Vault(make_vault(folder, settings, caller), SERVICES)
    return Vault(open_vault(settings, caller), SERVICES)
