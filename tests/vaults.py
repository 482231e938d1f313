"""Opened vaults for tests, with parts that can be replaced: disk, clock, caller."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from onrecord.adapters.keys import Ed25519Verifier, KeyFileSigner, generate_key
from onrecord.adapters.system import SystemClock, SystemIds
from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.app.indexing import build_document
from onrecord.app.reconcile import continue_reconcile, reconcile
from onrecord.app.session import Caller, Channel, Policy, Reply, Session
from onrecord.app.verify import verify
from onrecord.ports.index import Index
from onrecord.ports.merger import Merger
from onrecord.ports.system import Clock, ClockReading
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.installation import KeyMaker
from onrecord.storage.files.store import FileVaultStore, StoreOptions
from onrecord.storage.files.vault_config import create_vault
from onrecord.storage.reference import ReferenceIndex
from onrecord.storage.sqlite.index import SqliteIndex

CREATED = "2026-01-01T00:00:00.000000Z"
KEYS = KeyMaker(generate_key, KeyFileSigner, Ed25519Verifier().verify)

MakeDisk = Callable[[str], Disk]


@dataclass
class FixedClock:
    """A clock that a test sets."""

    wall_us: int = 1_780_000_000_000_000
    boottime_us: int = 1_000_000
    boot: str = "boot-1"

    def read(self) -> ClockReading:
        return ClockReading(self.wall_us, self.boottime_us, self.boot)

    def pause(self, seconds: float) -> None:
        self.pass_s(seconds)

    def pass_s(self, seconds: float) -> None:
        """Let time pass on both clocks."""
        self.wall_us += int(seconds * 1e6)
        self.boottime_us += int(seconds * 1e6)


@dataclass
class BootClock:
    """The machine's clock with a boot name of the test's choice; a pause puts it forward instead of lasting."""

    boot: str
    system: SystemClock = field(default_factory=SystemClock)
    paused_us: int = 0

    def read(self) -> ClockReading:
        now = self.system.read()
        return ClockReading(now.wall_us + self.paused_us, now.boottime_us + self.paused_us, self.boot)

    def pause(self, seconds: float) -> None:
        self.paused_us += int(seconds * 1e6)


def make_store(
    folder: Path, state: Path, *, clock: Clock | None = None, make_disk: MakeDisk = Disk, checkpoint_entries: int = 256,
    lock_wait_s: float = 10.0,
) -> FileVaultStore:  # fmt: skip
    """Open a vault's store."""

    class Store(FileVaultStore):
        def open_disk(self, root: str) -> Disk:
            return make_disk(root)

    options = StoreOptions(str(folder), str(state), lock_wait_s, checkpoint_entries)
    return Store(options, KEYS, clock or SystemClock(), SystemIds())


def make_vault(folder: Path) -> None:
    """Make an empty vault."""
    create_vault(str(folder), SystemIds(), CREATED, "default")


def open_session(
    folder: Path,
    state: Path,
    *,
    clock: Clock | None = None,
    make_disk: MakeDisk = Disk,
    checkpoint_entries: int = 256,
    channel: Channel = Channel.LIBRARY,
    index: Index | None = None,
    lock_wait_s: float = 10.0,
    merger: Merger | None = None,
) -> Session:
    """Open a vault as the composition root does, with parts replaced."""
    store = make_store(
        folder, state, clock=clock, make_disk=make_disk, checkpoint_entries=checkpoint_entries, lock_wait_s=lock_wait_s
    )
    if index is None:
        path = os.path.join(store.state_folder, "index.sqlite3")
        with store.hold():
            index = SqliteIndex.create(path)
    session = Session(
        store,
        index,
        clock or SystemClock(),
        SystemIds(),
        RuamelReader(),
        Policy(),
        Caller(channel, "test"),
        build_document,
        continue_reconcile,
    )
    session.merger = merger
    reply = Reply()
    session.refresh(reply)
    reconcile(session, reply)
    return session


def open_reference(session: Session) -> Session:
    """Return the same vault over a fresh in-memory index, brought up from the versions store and the files."""
    other = Session(
        session.store,
        ReferenceIndex(),
        session.clock,
        session.ids,
        session.yaml,
        session.policy,
        session.caller,
        build_document,
        continue_reconcile,
    )
    reply = Reply()
    other.refresh(reply)
    reconcile(other, reply)
    return other


def check_verifies(session: Session, *, may_differ: bool = False) -> None:
    """Fail unless the vault verifies (and no file differs)."""
    data = verify(session, {}, Ed25519Verifier()).data
    assert data["verdict"] in ("L1", "L2"), data
    assert may_differ or not data["differences"], data
