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
from onrecord.ports.index import Document, Index, IndexBatch, IndexReader, PackedDocument
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
# So many files, or so many bytes of them, change the index together.
_FILES_A_BATCH = 200
_BYTES_A_BATCH = 1 << 20
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


@dataclass(frozen=True, slots=True)
class Intake:
    """What the index is to have of one file: these documents in place of what it has; none forgets the file.

    `known`: the document that must still stand for the file, None where any may.
    """

    source: str
    path: str
    documents: Sequence[Document] = ()
    known: VersionHead | None = None
    size_bytes: int = 0


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
        self._waiting: list[Intake] = []
        self._begin()

    def _begin(self) -> None:
        self._waiting.clear()
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
                if cost is None or (pieces is not None and pieces <= cost):
                    self._apply()
            except OnRecordError:
                self._begin()
                raise
            self._is_done = cost is None
            pieces = None if pieces is None else pieces - (cost or 0)
        return self._is_done

    def _put(self, intake: Intake) -> None:
        """Let a file wait for others, as a change of the index costs the same for one and for many."""
        self._waiting.append(intake)
        size_bytes = sum(waiting.size_bytes for waiting in self._waiting)
        if len(self._waiting) >= _FILES_A_BATCH or size_bytes >= _BYTES_A_BATCH:
            self._apply()

    def _apply(self) -> None:
        if self._waiting:
            apply_intakes(self._parts, self._waiting)
            self._waiting.clear()

    def _compare(self, sources: Sequence[NativeSource], known: frozenset[str]) -> Iterator[int]:
        """Yield the cost of each piece of work."""
        with self._parts.index.read() as reader:
            heads = {head.path: head for head in reader.list_loose(NATIVE_LOG, FILE_KIND)}
        for path in heads:
            if path.partition("/")[0] not in known:
                self._put(Intake(*split_path(path)))
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
                taken = read_anew(self._parts, source, item.path)
                if isinstance(taken, LeftOut):
                    self._put(Intake(source.name, item.path))
                    tally.left_out.append(taken)
                    continue
                self._put(taken)
                head = taken.documents[0].head
            if head.status == NO_TEXT:
                tally.left_out.append(LeftOut(item.path, _NOT_TEXT))
                continue
            tally.files += 1
            tally.sections += head.size_bytes
        for path in heads:
            if path.startswith(f"{source.name}/") and path not in met:
                self._put(Intake(*split_path(path)))
                yield 1


def _is_current(head: VersionHead, source: NativeSource, file: NativeFile) -> bool:
    is_same = is_as_stamped(file, head.key) and _is_settled(head.key, file)
    return is_same and head.partition == choose_partition(source)


def split_path(path: str) -> tuple[str, str]:
    """Return the source's name and the path below it of a document's path."""
    source, _, inner = path.partition("/")
    return source, inner


def take_in_file(parts: NativeParts, source: NativeSource, path: str) -> None:
    """Read a file anew and let the index have what it says now; what cannot be read is forgotten.

    Raises:
        LockTimeoutError, StorageFailedError, DamagedError: as `SourceScan.advance`.
    """
    taken = read_anew(parts, source, path)
    apply_intakes(parts, [Intake(source.name, path) if isinstance(taken, LeftOut) else taken])


def read_anew(parts: NativeParts, source: NativeSource, path: str) -> Intake | LeftOut:
    """Read a file; return what the index is to have of it, first the document that stands for it, or why nothing.

    Raises:
        StorageFailedError, DamagedError: the index cannot be read.
    """
    read = parts.shelf.read_file(source, path)
    if isinstance(read, LeftOut):
        return read
    file, data = read
    stamp = f"{parts.clock.read().wall_us * 1_000} {_write_stamp(file)}"
    with parts.index.read() as reader:
        known = _get_head(reader, source.name, path)
    if known is not None and _is_same(known, source, file, hash_native(data)):
        return Intake(source.name, path, [Document(known._replace(key=stamp), _NOTHING)], known)
    documents = parts.build(source, file, data, choose_partition(source), stamp)
    return Intake(source.name, path, documents, size_bytes=file.size_bytes)


def apply_intakes(parts: NativeParts, intakes: Sequence[Intake]) -> None:
    """Let the index have what some files say, all at once; each file is named once.

    Raises:
        LockTimeoutError, StorageFailedError, DamagedError: as `SourceScan.advance`.
    """
    with parts.hold():
        documents: list[Document] = []
        dropped: list[EntryRef] = []
        with parts.index.read() as reader:
            for intake in intakes:
                head = _get_head(reader, intake.source, intake.path)
                if intake.known is None:
                    dropped += list_refs(intake.source, intake.path, head)
                    documents += intake.documents
                elif intake.known == head:
                    dropped.append(head.ref)
                    documents += intake.documents
        if documents or dropped:
            parts.index.apply(IndexBatch(documents, dropped=dropped))


def _get_head(reader: IndexReader, source: str, path: str) -> VersionHead | None:
    return reader.get_loose(name_section(make_section_id(source, path, 0)))


def _is_same(known: VersionHead, source: NativeSource, file: NativeFile, digest: bytes) -> bool:
    """Tell whether a file that was read again is in the index as it is."""
    is_in_place = is_as_stamped(file, known.key) and known.partition == choose_partition(source)
    return is_in_place and known.text_sha256 == digest


def hash_native(data: bytes) -> bytes:
    """Return the hash by which a file is told from its other states; never that of a record's text."""
    return hashlib.sha256(b"onrecord/native/v1\0" + data).digest()
