"""`sources.json` of the state folder: which files of other programs this machine reads (docs/format/vault.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from onrecord.domain.canonical import decode_strict, encode_canonical
from onrecord.domain.errors import DamagedError, InvalidInputError, NewerFormatError, OnRecordError, StorageFailedError
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.native import LeftOut, NativeFile, NativeSource
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.grants import SOURCES_NAME
from onrecord.storage.files.seal import Seal
from onrecord.storage.files.source_files import SourceFiles

_MAX_BYTES = 4 << 20
_MEND = "Put it back from a copy of the state folder, or remove it and add the sources again."
_MEMBERS = frozenset({"name", "path", "folder", "format", "agent", "owner_only"})


class FileShelf:
    """The driver; see `onrecord.ports.native.NativeShelf`.

    Args:
        state_folder: Of the vault on this machine; empty where there is none.
        closed: Absolute folders of which nothing is ever a source.
    """

    def __init__(self, state_folder: str, closed: tuple[str, ...]) -> None:
        self._folder = state_folder
        self._files = SourceFiles(closed)

    def list_sources(self) -> Sequence[NativeSource]:
        """Return the sources by name; none where their list is damaged."""
        try:
            return self._read()
        except OnRecordError:
            return ()

    def _read(self) -> Sequence[NativeSource]:
        if not self._folder:
            return ()
        try:
            state = Disk(self._folder)
        except OSError:
            return ()
        try:
            if state.stat(SOURCES_NAME) is None:
                return ()
            with storage_errors("read the list of sources"):
                data = state.read(SOURCES_NAME, 0, _MAX_BYTES)
            return _decode(Seal(state, SOURCES_NAME).open(data.removesuffix(b"\n")))
        finally:
            state.close()

    def save_sources(self, sources: Sequence[NativeSource]) -> None:
        """Replace the list; durable when it returns."""
        if not self._folder:
            raise StorageFailedError("there is no state folder that could keep the source")
        self._read()
        new = f"{SOURCES_NAME}.tmp"
        with storage_errors("write the list of sources"):
            state = Disk(self._folder)
            try:
                if state.stat(new) is not None:
                    state.unlink(new)
                state.write_new(new, Seal(state, SOURCES_NAME).close(_encode(sources)) + b"\n")
                state.sync(new)
                state.rename(new, SOURCES_NAME)
                state.sync_folder("")
            finally:
                state.close()

    def locate(self, path: str) -> tuple[str, bool]:
        """Return the absolute path of what is to be a source, and whether it is a folder."""
        return self._files.locate(path)

    def list_files(self, source: NativeSource) -> Iterator[NativeFile | LeftOut]:
        """Yield the files of a source and what is left out."""
        return self._files.list_files(source)

    def stat_file(self, source: NativeSource, path: str) -> NativeFile | LeftOut:
        """Look at one file of a source."""
        return self._files.stat_file(source, path)

    def read_file(self, source: NativeSource, path: str) -> tuple[NativeFile, bytes] | LeftOut:
        """Return all bytes of a file of a source with what stat said of exactly them."""
        return self._files.read_file(source, path)

    def inspect(self) -> Iterator[Problem]:
        """Yield what is wrong with the list."""
        try:
            self._read()
        except OnRecordError as error:
            message = f"{SOURCES_NAME} of the state folder: {error.reason}; no source is read"
            yield Problem("", 0, "state_sources_unreadable", Severity.WARNING, message, error.hint or _MEND)


def _encode(sources: Sequence[NativeSource]) -> bytes:
    rows = [
        {
            "name": source.name,
            "path": source.path,
            "folder": source.is_folder,
            "format": source.format or "",
            "agent": source.agent,
            "owner_only": source.is_owner_only,
        }
        for source in sorted(sources, key=lambda source: source.name)
    ]
    return encode_canonical({"v": 1, "sources": rows})


def _decode(data: bytes) -> Sequence[NativeSource]:
    try:
        shape: dict[str, Any] = decode_strict(data, max_bytes=_MAX_BYTES)
        if isinstance(shape.get("v"), int) and shape["v"] > 1:
            raise NewerFormatError("it is of a newer format")
        if shape.keys() != {"v", "sources"} or shape["v"] != 1:
            raise ValueError("other members")
        return [_decode_source(row) for row in shape["sources"]]
    except (InvalidInputError, KeyError, TypeError, ValueError) as error:
        raise DamagedError("the list of sources is damaged", hint=_MEND) from error


def _decode_source(row: dict[str, Any]) -> NativeSource:
    name, path, kind, agent = (row[member] for member in ("name", "path", "format", "agent"))
    is_text = all(isinstance(value, str) for value in (name, path, kind, agent))
    is_sound = is_text and name and path.startswith("/") and kind in ("", "markdown", "text")
    is_owned = type(row["folder"]) is type(row["owner_only"]) is bool and (bool(agent) or not row["owner_only"])
    if row.keys() != _MEMBERS or not is_sound or not is_owned:
        raise ValueError("not a source")
    return NativeSource(name, path, row["folder"], kind or None, agent, row["owner_only"])
