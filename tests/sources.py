"""Native sources for tests of sessions: a shelf in the state folder, and callers of other names."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from onrecord.app.native_sections import build_sections, clean_path, cut_file
from onrecord.app.session import Caller, Channel, Session
from onrecord.app.source_scan import NativeParts
from onrecord.app.sources import add_source
from onrecord.storage.files.source_list import FileShelf
from onrecord.storage.files.store import FileVaultStore

USER = Caller(Channel.TERMINAL)


def use_sources(session: Session, vault: Path, state: Path) -> None:
    """Let a session have sources, as the composition root does."""

    def open_native(of: Session, is_needed: bool) -> NativeParts:
        def hold() -> AbstractContextManager[None]:
            return nullcontext() if of.owns_index else of.store.hold(0)

        assert isinstance(of.store, FileVaultStore)
        shelf = FileShelf(of.store.state_folder, (str(vault), str(state)))
        return NativeParts(shelf, of.index, of.clock, build_sections, cut_file, clean_path, hold)

    session.open_native = open_native


def call_as(session: Session, *, agent: str = "", client: str = "") -> Session:
    """Return the same vault as another program opens it."""
    return replace(session, caller=Caller(Channel.PIPE, client, agent), scan=None, problems=[])


def add(session: Session, path: Path, name: str, **more: object) -> None:
    """Add a source as the user."""
    add_source(replace(session, caller=USER, scan=None), {"path": str(path), "name": name, **more})
