"""The composition root: settings become an opened vault. The only module that knows both ends of the house.

Each function brings in what it needs itself, so that a command pays for nothing that it does not use.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO

from onrecord.surfaces.services import Opened, Services

if TYPE_CHECKING:
    from onrecord.app.session import Caller, NativeOpener, Policy, Reply, Session
    from onrecord.app.source_scan import NativeParts
    from onrecord.config import Settings
    from onrecord.domain.front_matter import YamlReading
    from onrecord.domain.sections import Section
    from onrecord.ports.index import Document, Index, Partition
    from onrecord.ports.merger import MergeObstacle
    from onrecord.ports.native import NativeFile, NativeSource
    from onrecord.ports.signing import Verifier
    from onrecord.ports.sources import SourceFile
    from onrecord.ports.store import VersionRow
    from onrecord.ports.yaml_reader import YamlReader
    from onrecord.storage.files.store import FileVaultStore
    from onrecord.surfaces.library import Vault

_INDEX_NAME = "index.sqlite3"
_SOURCES_NAME = "sources.json"


def settle_settings(flags: Mapping[str, object], environment: Mapping[str, str], is_lenient: bool = False) -> Settings:
    """Return the settings, the vault's own included if there is a vault.

    Raises:
        ConfigError: a value has the wrong form, and it is not asked to go on without it.
    """
    from onrecord.config import load_settings
    from onrecord.domain.errors import ConfigError, VaultError
    from onrecord.storage.files.vault_config import read_config

    first = load_settings(flags, environment, is_lenient=is_lenient)
    try:
        project = read_config(first.vault_folder).settings
    except VaultError:
        return first
    except ConfigError:
        if not is_lenient:
            raise
        return first
    return load_settings(flags, environment, project, is_lenient=is_lenient)


def name_caller(is_terminal: bool, settings: Settings) -> Caller:
    """Return who calls the command line: the channel as it is seen, the names as they are claimed."""
    from onrecord.app.session import Caller, Channel

    channel = Channel.TERMINAL if is_terminal else Channel.PIPE
    return Caller(channel, settings.text("client"), settings.text("agent"))


def make_vault(folder: str, settings: Settings, caller: Caller) -> Opened:
    """Make a vault in `folder`, or what a making that was cut off left unmade, and open it as the settings say.

    Raises:
        VaultExistsError, InvalidInputError, StorageFailedError: as `create_vault` and `open_vault`.
    """
    from onrecord.adapters.system import SystemClock, SystemIds
    from onrecord.app.links import take_in_links
    from onrecord.domain.instants import from_unix_us
    from onrecord.storage.files.ignore_files import list_missing_lines
    from onrecord.storage.files.installation import forget_lost_log
    from onrecord.storage.files.vault_config import create_vault

    created = from_unix_us(SystemClock().read().wall_us)
    caller, policy = _admit_caller(settings, caller)
    vault = create_vault(folder, SystemIds(), created, policy.workspace)
    forget_lost_log(folder, settings.state_root, vault)
    opened = open_vault(settings.replace_vault(folder), caller, takes_in := settings.is_on("reconcile"))
    session = opened.session
    take_in_links(session, session.store.links.allow_record_folders(), opened.opening, may_reconcile=takes_in)
    session.store.checkpoint()
    for name, lines in list_missing_lines(folder).items():
        opened.opening.warnings.append(f"{name} is yours and stays as it is; add to it: {', '.join(lines)}")
    return opened


def open_vault(settings: Settings, caller: Caller, is_index_needed: bool = True) -> Opened:
    """Open a vault: state folder, store, index; take in outside edits if the settings say so.

    Args:
        settings: As `settle_settings` gives them.
        caller: Who will use it.
        is_index_needed: False leaves a damaged index alone (for `reindex`, which makes it anew).

    Raises:
        VaultError, StorageFailedError, DamagedError: it cannot be opened. What only forbids writing is said in
            `opening` and raised by the first write.
        InvalidInputError, LimitExceededError: client, agent or workspace of the settings is no name.
    """
    from onrecord.app.session import Degraded, Reply

    caller, policy = _admit_caller(settings, caller)
    store = _open_store(settings)
    opening = Reply(degraded=[Degraded(reason, mend) for reason, mend in store.beginnings])
    index, is_fresh, is_in_memory = _open_index(store, opening)
    session = _make_session(store, index, policy, caller, is_in_memory)
    session.open_native = _name_opener(store, (settings.vault_folder, settings.state_root))
    if is_fresh and is_index_needed:
        from onrecord.app.rebuild import fill_anyhow

        fill_anyhow(session, opening)
    if is_index_needed and (session.owns_index or not is_fresh):
        session.refresh(opening)
        if settings.is_on("reconcile") and _may_write(store):
            _begin_reconcile(session, opening)
    return Opened(session, settings, opening)


def adopt_vault(settings: Settings, caller: Caller) -> tuple[Opened, str]:
    """Accept an older vault: set the state folder aside, begin a new log that says so, and open the vault.

    Returns:
        The opened vault, and where the old state folder lies now.

    Raises:
        ConflictError: there is nothing to adopt.
        LockTimeoutError, VaultOfflineError, NewerFormatError, DamagedError, StorageFailedError: as named.
    """
    from onrecord.adapters.keys import Ed25519Verifier, KeyFileSigner, generate_key
    from onrecord.adapters.system import SystemIds
    from onrecord.domain.errors import NotWritableError, StorageFailedError
    from onrecord.storage.files import installation

    acting, _ = _admit_caller(settings, caller)
    keys = installation.KeyMaker(generate_key, KeyFileSigner, Ed25519Verifier().verify)
    aside = installation.adopt_vault(settings.vault_folder, settings.state_root, keys, SystemIds(), acting.actor)
    try:
        opened = open_vault(settings, caller)
    except StorageFailedError as error:
        raise StorageFailedError(f"the older vault is adopted, but {error.reason}", hint=error.hint) from error
    try:
        with opened.session.write():
            pass
    except NotWritableError as error:  # the first write that can be made says what was given up
        opened.opening.degrade(error.code, error.hint)
    return opened, aside


def look_into_vault(settings: Settings, caller: Caller) -> Opened:
    """Open a vault for looking: nothing is made, taken in or written, in the vault or in the state folder.

    An index that cannot be used is made in memory, as far as the logs can be read. What is odd is said in `opening`.

    Raises:
        VaultError, StorageFailedError, InvalidInputError, LimitExceededError: as `open_vault`.
    """
    from onrecord.app.rebuild import fill
    from onrecord.app.session import Reply
    from onrecord.domain.errors import DamagedError, OnRecordError, StorageFailedError
    from onrecord.storage.sqlite.index import SqliteIndex

    caller, policy = _admit_caller(settings, caller)
    store = _open_store(settings, is_looking=True)
    opening = Reply()
    if store.state_folder:
        try:
            index = SqliteIndex(os.path.join(store.state_folder, _INDEX_NAME), f"{store.vault}/{store.log}")
            return Opened(_make_session(store, index, policy, caller), settings, opening)
        except (DamagedError, StorageFailedError) as error:
            reason = "index_unusable" if isinstance(error, DamagedError) else "index_in_memory"
            opening.degrade(reason, f"{error.reason}. {error.hint}")
    session = _make_session(store, _make_index_in_memory(), policy, caller, owns=True)
    try:
        fill(session)
    except OnRecordError as error:
        opening.degrade(error.code, f"{error.reason}; {error.hint}")
    return Opened(session, settings, opening)


def _open_store(settings: Settings, *, is_looking: bool = False) -> FileVaultStore:
    from onrecord.adapters.keys import Ed25519Verifier, KeyFileSigner, generate_key
    from onrecord.adapters.system import SystemClock, SystemIds
    from onrecord.storage.files.installation import KeyMaker
    from onrecord.storage.files.store import FileVaultStore, StoreOptions

    wait_s, entries = settings.number("lock_wait_s"), int(settings.number("checkpoint_entries"))
    options = StoreOptions(settings.vault_folder, settings.state_root, wait_s, entries, is_looking)
    keys = KeyMaker(generate_key, KeyFileSigner, Ed25519Verifier().verify)
    return FileVaultStore(options, keys, SystemClock(), SystemIds())


def _make_session(store: FileVaultStore, index: Index, policy: Policy, caller: Caller, owns: bool = False) -> Session:
    from onrecord.adapters.system import SystemClock, SystemIds
    from onrecord.app.session import Session

    clock, ids = SystemClock(), SystemIds()
    session = Session(store, index, clock, ids, _LateReader(), policy, caller, _build_document, _continue_reconcile)
    session.owns_index, session.make_index, session.merger = owns, _make_index_in_memory, _LateMerger()
    return session


def _begin_reconcile(session: Session, opening: Reply) -> None:
    """Take in outside edits if any file differs; what a large vault has left to compare comes with later calls."""
    from onrecord.app.comparison import CALL_PIECES, OPENING_PIECES, Comparison

    comparison = Comparison(session.store, session.index, session.refused)
    is_done = comparison.advance(OPENING_PIECES)
    if is_done and not (comparison.changed or comparison.unmet or session.store.absences.read().missing):
        return
    session.comparison = comparison
    if is_done:
        session.compare_files(opening, intake_pieces=max(CALL_PIECES, OPENING_PIECES - comparison.spent))
        opening.withdraw("reconciling" if session.is_comparing else "")  # each call says so by itself


def _continue_reconcile(session: Session, reply: Reply, pieces: int | None, intake_pieces: int | None) -> int:
    from onrecord.app.reconcile import continue_reconcile

    return continue_reconcile(session, reply, pieces, intake_pieces)


def _name_opener(store: FileVaultStore, closed: tuple[str, str]) -> NativeOpener:
    """Return what opens the sources of a vault; where it has none, nothing is loaded."""
    listed = os.path.join(store.state_folder, _SOURCES_NAME)

    def open_native(session: Session, is_needed: bool) -> NativeParts | None:
        if not store.state_folder or not (is_needed or os.path.lexists(listed)):
            return None
        from onrecord.app.source_scan import NativeParts
        from onrecord.storage.files.source_list import FileShelf

        def hold() -> AbstractContextManager[None]:
            return nullcontext() if session.owns_index else store.hold(0)

        shelf = FileShelf(store.state_folder, (*closed, *[link.target for link in store.links.list_links()]))
        return NativeParts(shelf, session.index, session.clock, _build_sections, _cut_sections, _clean_path, hold)

    return open_native


def _build_sections(
    source: NativeSource, file: NativeFile, data: bytes, partition: Partition, stamp: str
) -> Sequence[Document]:
    from onrecord.app.native_sections import build_sections

    return build_sections(source, file, data, partition, stamp)


def _cut_sections(source: NativeSource, path: str, data: bytes) -> Sequence[Section] | None:
    from onrecord.app.native_sections import cut_file

    return cut_file(source, path, data)


def _clean_path(path: str) -> str:
    from onrecord.app.native_sections import clean_path

    return clean_path(path)


def _admit_caller(settings: Settings, caller: Caller) -> tuple[Caller, Policy]:
    from onrecord.app.session import Policy

    words, page_bytes = settings.text("workspace"), int(settings.number("page_bytes"))
    policy = Policy(words, settings.is_on("redact"), page_bytes, settings.unknown, settings.refused)
    if (caller.client, caller.agent, policy.workspace) == ("", "", Policy().workspace):
        return caller, policy
    from onrecord.app.callers import admit_caller  # brings the rules of redaction with it

    return admit_caller(caller, policy)


def _build_document(row: VersionRow, yaml: YamlReader) -> Iterator[Document]:
    from onrecord.app.indexing import build_document

    return build_document(row, yaml)


class _LateReader:
    """The YAML reader, loaded with the first block that needs it."""

    def read(self, block: str) -> YamlReading:
        """Read a block as `RuamelReader` does."""
        from onrecord.adapters.yaml_reader import RuamelReader

        return RuamelReader().read(block)


class _LateMerger:
    """The merger, loaded with the first merge that is asked for."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | MergeObstacle:
        """Merge as `GitMerger` does."""
        from onrecord.adapters.git_merge import GitMerger, find_git

        return GitMerger(find_git()).merge(base, ours, theirs)


def _may_write(store: FileVaultStore) -> bool:
    """Tell whether nothing forbids writing; else no file is judged, and refreshing has said why."""
    with suppress(import_module("onrecord.domain.errors").OnRecordError):
        store.check_writable()
        return True
    return False


def _open_index(store: FileVaultStore, opening: Reply) -> tuple[Index, bool, bool]:
    """Return the index, whether it is empty, and whether it is in memory, where the state folder cannot be used."""
    from onrecord.domain.errors import DamagedError, StorageFailedError
    from onrecord.storage.sqlite.index import SqliteIndex

    path, owner = os.path.join(store.state_folder, _INDEX_NAME), f"{store.vault}/{store.log}"
    if not store.state_folder:
        return _make_index_in_memory(), True, True
    try:
        try:
            return SqliteIndex(path, owner), False, False
        except DamagedError:
            with store.hold():
                return SqliteIndex.create(path, owner), True, False
    except StorageFailedError as error:
        disk = f"Free space on the disk of {store.state_folder}, or mend its permissions."
        mend = f"{error.reason}; the index is made in memory. {error.own_hint or disk}"
        opening.degrade("index_in_memory", mend)
        return _make_index_in_memory(), True, True


def _make_index_in_memory() -> Index:
    from onrecord.storage.reference import ReferenceIndex

    return ReferenceIndex()


def get_verifier() -> Verifier:
    """Return what checks Ed25519 signatures."""
    from onrecord.adapters.keys import Ed25519Verifier

    return Ed25519Verifier()


def list_sources(path: str, closed: Sequence[str]) -> Iterator[SourceFile]:
    """Yield the Markdown files of an import."""
    from onrecord.adapters.source_tree import read_tree

    return read_tree(path, closed)


def list_lines(source: str | BinaryIO) -> Iterable[bytes]:
    """Yield the lines of a turns import: of a file, or of a stream."""
    from onrecord.adapters.source_tree import read_lines

    return read_lines(source)


SERVICES = Services(
    settle_settings, name_caller, make_vault, open_vault, adopt_vault, look_into_vault, list_sources, list_lines,
    get_verifier, lambda: import_module("onrecord.adapters.watcher").FileWatcher(),
)  # fmt: skip


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
        VaultError, VaultOfflineError, StorageFailedError, DamagedError, ConfigError: it cannot be opened.
    """
    from onrecord.app.session import Caller, Channel
    from onrecord.surfaces.library import Vault

    flags = {"vault": os.fspath(path) if path is not None else None, "client": client, "agent": agent}
    settings = settle_settings(flags, os.environ)
    caller = Caller(Channel.LIBRARY, settings.text("client"), settings.text("agent"))
    folder = settings.vault_folder
    if create and not os.path.isdir(os.path.join(folder, ".onrecord")):
        return Vault(make_vault(folder, settings, caller), SERVICES)
    return Vault(open_vault(settings, caller), SERVICES)
