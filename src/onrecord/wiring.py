"""The composition root: settings become an opened vault. The only module that knows both ends of the house."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from onrecord.adapters.keys import Ed25519Verifier, KeyFileSigner, generate_key
from onrecord.adapters.source_tree import read_lines, read_tree
from onrecord.adapters.system import SystemClock, SystemIds
from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.app.rebuild import fill, rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Caller, Channel, Policy, Reply, Session
from onrecord.config import Settings, load_settings
from onrecord.domain.errors import (
    DamagedError,
    LockTimeoutError,
    NotWritableError,
    NoVaultError,
    OnRecordError,
    StorageFailedError,
)
from onrecord.domain.instants import from_unix_us
from onrecord.ports.index import Index
from onrecord.ports.signing import Verifier
from onrecord.ports.sources import SourceFile
from onrecord.storage.files.installation import KeyMaker, forget_lost_log
from onrecord.storage.files.store import FileVaultStore, StoreOptions
from onrecord.storage.files.vault_config import create_vault, read_config
from onrecord.storage.reference import ReferenceIndex
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
    """Make a vault in `folder` with key and log, or what a making that was cut off left unmade, and open it.

    Raises:
        VaultExistsError, StorageFailedError: as named.
    """
    created = from_unix_us(SystemClock().read().wall_us)
    vault = create_vault(folder, SystemIds(), created, settings.text("workspace"))
    forget_lost_log(folder, settings.state_root, vault)
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
        NoVaultError, StorageFailedError, DamagedError: it cannot be opened. What only forbids writing is said in
            `opening` and raised by the first write.
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
    policy = Policy(
        settings.text("workspace"), settings.is_on("redact"), int(settings.number("page_bytes")), settings.unknown
    )
    opening = Reply()
    index, is_fresh = _open_index(store, opening)
    session = Session(store, index, clock, ids, RuamelReader(), policy, caller)
    session.owns_index = isinstance(index, ReferenceIndex)
    if is_fresh and is_index_needed:
        _fill_index(session, opening)
    if is_index_needed and (session.owns_index or not is_fresh):
        session.refresh(opening)
        if settings.is_on("reconcile") and _may_write(store):
            reconcile(session, opening)
    return Opened(session, settings, opening)


def _may_write(store: FileVaultStore) -> bool:
    """Tell whether nothing forbids writing; else no file is judged, and refreshing has said why."""
    try:
        store.check_writable()
    except OnRecordError:
        return False
    return True


def _open_index(store: FileVaultStore, opening: Reply) -> tuple[Index, bool]:
    """Return the index, and whether it is empty: a new one, or one in memory where the state folder cannot be used."""
    path = os.path.join(store.state_folder, _INDEX_NAME)
    if not store.state_folder:
        return ReferenceIndex(), True
    try:
        try:
            return SqliteIndex(path), False
        except DamagedError:
            with store.hold():
                return SqliteIndex.create(path), True
    except StorageFailedError as error:
        mend = f"{error.reason}; the index is made in memory. Mend the permissions of {store.state_folder}."
        opening.degrade("index_in_memory", mend)
        return ReferenceIndex(), True


def _fill_index(session: Session, opening: Reply) -> None:
    """Make the index anew; where nothing may be written, of what can be read."""
    if session.owns_index:
        fill(session)
        return
    try:
        rebuild(session, lambda _: None)
    except LockTimeoutError:
        raise
    except (NotWritableError, DamagedError) as error:
        opening.degrade(error.code, error.hint)
        with session.store.hold():
            fill(session)


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
