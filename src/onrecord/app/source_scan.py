"""The comparison of all files of some sources with what the index has of them, in pieces; what differs is taken in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from onrecord.domain.errors import OnRecordError
from onrecord.domain.heads import NATIVE_LOG, SHARED, Partition, VersionHead
from onrecord.domain.ids import EntryRef
from onrecord.domain.sections import Section, make_section_id, name_section
from onrecord.ports.index import Document, Index, IndexBatch, PackedDocument
from onrecord.ports.native import LeftOut, NativeFile, NativeShelf, NativeSource
from onrecord.ports.system import Clock

# From a file and its bytes to what the index takes in; given from outside, as a start rarely needs it.
SectionBuilder = Callable[[NativeSource, NativeFile, bytes, Partition, str], Sequence[Document]]

SECTION_KIND = "section"
# A document that stands for a file has this kind and status, or the second status where the file is no text.
FILE_KIND = "source"
NO_TEXT = "no_text"

_NOT_TEXT = "it holds the character U+0000, so it is no text"
_NOTHING = PackedDocument([], [], [], [], 0, 0)

_NAMES_A_PIECE = 500
_BYTES_A_PIECE = 256 * 1024
# A file saved within this time before it was read may have been saved again in the same tick.
_SAME_TICK_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class NativeParts:
    """What works with the sources of a vault.

    Attributes:
        shelf: The sources and their files.
        index: What finds their sections.
        clock: Tells when a file was read.
        build: Makes the documents of a file.
        cut: Cuts a file's bytes into its sections, secrets replaced; None for what is no text.
        clean: Replaces the secrets in a path.
        hold: Takes the lock for changes of the index; LockTimeoutError at once where another process has it.
    """

    shelf: NativeShelf
    index: Index
    clock: Clock
    build: SectionBuilder
    cut: Callable[[NativeSource, str, bytes], Sequence[Section] | None]
    clean: Callable[[str], str]
    hold: Callable[[], AbstractContextManager[None]]


@dataclass(slots=True)
class Tally:
    """What there is of one source: files and sections taken in, and what is left out."""

    files: int = 0
    sections: int = 0
    left_out: list[LeftOut] = field(default_factory=list)


def choose_partition(source: NativeSource) -> Partition:
    """Return whose statistics a source counts in; what is its owner's alone has a partition that no other asks."""
    return Partition(f"~{source.agent}") if source.is_owner_only else SHARED


def is_as_stamped(file: NativeFile, stamp: str) -> bool:
    """Tell whether a file still is as it was when it was taken in, as far as stat can tell."""
    return stamp.partition(" ")[2] == _write_stamp(file)


def _write_stamp(file: NativeFile) -> str:
    return f"{file.size_bytes} {file.mtime_ns} {file.ctime_ns} {file.device} {file.inode}"


def _is_settled(stamp: str, file: NativeFile) -> bool:
    checked_ns = int(stamp.partition(" ")[0])
    return not 0 <= checked_ns - file.mtime_ns < _SAME_TICK_NS


def list_refs(source: str, path: str, head: VersionHead | None) -> list[EntryRef]:
    """Return the documents of a file that the index has; `head` is the one that stands for the file."""
    places = range(head.size_bytes + 1) if head is not None else ()
    return [name_section(make_section_id(source, path, place)) for place in places]


class SourceScan:
    """Looks at every file of some sources once, and forgets those of sources that are no more.

    Args:
        parts: Shelf and index.
        sources: Those to look at.
        known: Names of all sources that there are.
    """

    def __init__(self, parts: NativeParts, sources: Sequence[NativeSource], known: Sequence[str]) -> None:
        self.sources = tuple(sources)
        self.tallies: dict[str, Tally] = {}
        self._known = frozenset(known)
        self._parts = parts
        self._is_done = False
        self._begin()

    def _begin(self) -> None:
        self.tallies = {source.name: Tally() for source in self.sources}
        self._pieces = self._compare(self.sources, self._known)

    def advance(self, pieces: int | None = None) -> bool:
        """Do some more pieces of the work, None for all that is left; return whether it is done.

        Raises:
            LockTimeoutError: another process writes; the next call begins anew.
            StorageFailedError, DamagedError: the index cannot be read or written.
        """
        while not self._is_done and (pieces is None or pieces > 0):
            try:
                cost = next(self._pieces, None)
            except OnRecordError:
                self._begin()
                raise
            self._is_done = cost is None
            pieces = None if pieces is None else pieces - (cost or 0)
        return self._is_done

    def _compare(self, sources: Sequence[NativeSource], known: frozenset[str]) -> Iterator[int]:
        """Yield the cost of each piece of work."""
        with self._parts.index.read() as reader:
            heads = {head.path: head for head in reader.list_loose(NATIVE_LOG, FILE_KIND)}
        for path in heads:
            if path.partition("/")[0] not in known:
                forget(self._parts, *split_path(path))
                yield 1
        for source in sources:
            yield from self._compare_source(source, heads)

    def _compare_source(self, source: NativeSource, heads: Mapping[str, VersionHead]) -> Iterator[int]:
        tally = self.tallies[source.name]
        met: set[str] = set()
        for number, item in enumerate(self._parts.shelf.list_files(source), 1):
            if not number % _NAMES_A_PIECE:
                yield 1
            if isinstance(item, LeftOut):
                tally.left_out.append(item)
                continue
            met.add(f"{source.name}/{item.path}")
            head = heads.get(f"{source.name}/{item.path}")
            if head is None or not _is_current(head, source, item):
                yield 1 + item.size_bytes // _BYTES_A_PIECE
                taken = take_in_file(self._parts, source, item.path)
                if isinstance(taken, LeftOut):
                    tally.left_out.append(taken)
                    continue
                head = taken
            if head.status == NO_TEXT:
                tally.left_out.append(LeftOut(item.path, _NOT_TEXT))
                continue
            tally.files += 1
            tally.sections += head.size_bytes
        for path in heads:
            if path.startswith(f"{source.name}/") and path not in met:
                forget(self._parts, *split_path(path))
                yield 1


def _is_current(head: VersionHead, source: NativeSource, file: NativeFile) -> bool:
    is_same = is_as_stamped(file, head.key) and _is_settled(head.key, file)
    return is_same and head.partition == choose_partition(source)


def split_path(path: str) -> tuple[str, str]:
    """Return the source's name and the path below it of a document's path."""
    source, _, inner = path.partition("/")
    return source, inner


def take_in_file(parts: NativeParts, source: NativeSource, path: str) -> VersionHead | LeftOut:
    """Read a file anew and let the index have what it says now; what cannot be read is forgotten.

    Returns:
        The document that stands for the file, or why there is none.

    Raises:
        LockTimeoutError, StorageFailedError, DamagedError: as `SourceScan.advance`.
    """
    read = parts.shelf.read_file(source, path)
    if isinstance(read, LeftOut):
        forget(parts, source.name, path)
        return read
    file, data = read
    stamp = f"{parts.clock.read().wall_us * 1_000} {_write_stamp(file)}"
    known = _get_head(parts, source.name, path)
    if known is not None and _is_same(known, source, file, hash_native(data)):
        head = known._replace(key=stamp)
        with parts.hold():
            if _get_head(parts, source.name, path) == known:
                parts.index.apply(IndexBatch([Document(head, _NOTHING)], dropped=[known.ref]))
        return head
    documents = parts.build(source, file, data, choose_partition(source), stamp)
    with parts.hold():
        dropped = list_refs(source.name, path, _get_head(parts, source.name, path))
        parts.index.apply(IndexBatch(documents, dropped=dropped))
    return documents[0].head


def _get_head(parts: NativeParts, source: str, path: str) -> VersionHead | None:
    with parts.index.read() as reader:
        return reader.get_loose(name_section(make_section_id(source, path, 0)))


def _is_same(known: VersionHead, source: NativeSource, file: NativeFile, digest: bytes) -> bool:
    """Tell whether a file that was read again is in the index as it is."""
    is_in_place = is_as_stamped(file, known.key) and known.partition == choose_partition(source)
    return is_in_place and known.text_sha256 == digest


def hash_native(data: bytes) -> bytes:
    """Return the hash by which a file is told from its other states; never that of a record's text."""
    return hashlib.sha256(b"onrecord/native/v1\0" + data).digest()


def forget(parts: NativeParts, source: str, path: str) -> None:
    """Let the index forget a file.

    Raises:
        LockTimeoutError, StorageFailedError, DamagedError: as `SourceScan.advance`.
    """
    with parts.hold():
        refs = list_refs(source, path, _get_head(parts, source, path))
        if refs:
            parts.index.apply(IndexBatch(dropped=refs))
