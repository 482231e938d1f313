"""One opened vault with all its parts, and what every use case shares: caller, replies, keeping the index caught up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from onrecord.app.arrivals import (
    find_mark,
    list_moved,
    list_said_copies,
    list_same_files,
    list_shared_places,
    list_stirred,
    list_touched,
    list_unplaced,
    list_yielded,
    settle_pending,
    spoil_outdated,
    spoil_retired,
)
from onrecord.app.comparison import CALL_PIECES, Comparison
from onrecord.app.last_seen import LastSeen, renew_stamps
from onrecord.app.settling import Settling
from onrecord.app.stamps import hash_data, stamp_placed
from onrecord.app.told_rows import read_told_rows
from onrecord.domain.copy_names import is_named_copy
from onrecord.domain.errors import DamagedError, LockTimeoutError, OnRecordError, StorageFailedError
from onrecord.domain.ids import RecordId
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.index import Document, FileStamp, Index, IndexBatch, VersionHead
from onrecord.ports.merger import Merger
from onrecord.ports.store import Actor, FileState, LogHead, Receipt, VaultStore, VersionRow, WriteUnit
from onrecord.ports.system import Clock, IdSource
from onrecord.ports.yaml_reader import YamlReader

if TYPE_CHECKING:
    from onrecord.app.source_scan import NativeParts, SourceScan

_BATCH_ROWS = 500

# From a row of the versions store to what the index takes in; given from outside, as a start rarely needs it.
DocumentBuilder = Callable[[VersionRow, YamlReader], Iterator[Document]]
# Goes on with the comparison of a session by so many pieces and takes in as many, None for all; returns how many
# versions were made.
Reconciler = Callable[["Session", "Reply", int | None, int | None], int]


# Gives what works with the sources of this vault; None where it has none, unless they are asked for to be added to.
NativeOpener = Callable[["Session", bool], "NativeParts | None"]


class Channel(StrEnum):
    """How a caller reached us; it alone decides the origin (docs/format/record.md)."""

    TERMINAL = "terminal"
    PIPE = "pipe"
    LIBRARY = "library"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: channel as observed, client and agent as claimed."""

    channel: Channel
    client: str = ""
    agent: str = ""

    @property
    def actor(self) -> Actor:
        """The caller as the ledger knows it."""
        return Actor(self.client, self.agent)

    @property
    def origin(self) -> str:
        """Origin of what this caller writes."""
        return "user" if self.channel is Channel.TERMINAL else "agent"


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings that the use cases obey; the names are those of `onrecord config`."""

    workspace: str = "default"
    redact: bool = True
    page_bytes: int = 65_536
    unknown_settings: tuple[str, ...] = ()
    refused_settings: tuple[tuple[str, str], ...] = ()  # where each stands that cannot be used, and why


@dataclass(frozen=True, slots=True)
class Degraded:
    """That an answer is less than it could be: a stable reason, and what mends it."""

    reason: str
    mend: str = ""


@dataclass(slots=True)
class Reply:
    """What a use case returns beside its data: warnings for the caller, degradation, notices."""

    data: dict[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    degraded: list[Degraded] = field(default_factory=list)
    notices: list[dict[str, str]] = field(default_factory=list)

    def degrade(self, reason: str, mend: str = "") -> None:
        """Add a reason once."""
        if all(known.reason != reason for known in self.degraded):
            self.degraded.append(Degraded(reason, mend))

    def withdraw(self, reason: str) -> None:
        """Take a reason back."""
        self.degraded = [known for known in self.degraded if known.reason != reason]

    def join(self, other: Reply) -> None:
        """Add what another reply says of degradation, as that of opening the vault."""
        for item in other.degraded:
            self.degrade(item.reason, item.mend)


@dataclass(slots=True)
class Session:
    """An opened vault. `owns_index`: nobody else uses the index, so that it is changed without the lock."""

    store: VaultStore
    index: Index
    clock: Clock
    ids: IdSource
    yaml: YamlReader
    policy: Policy
    caller: Caller
    build: DocumentBuilder
    reconcile: Reconciler
    problems: list[Problem] = field(default_factory=list)
    refused: dict[str, Problem] = field(default_factory=dict)  # files that are no memories as they lie (`refusals`)
    owns_index: bool = False
    comparison: Comparison | None = None  # of files with their stamps, while it has not ended
    make_index: Callable[[], Index] | None = None  # makes an empty index in memory, for comparing
    open_native: NativeOpener = lambda _, __: None
    scan: SourceScan | None = None  # of the files of native sources, begun when they are first asked for
    sought: set[RecordId] = field(default_factory=set)  # whose missing file was looked for in this opening
    replaced: set[RecordId] = field(default_factory=set)  # have no place, or lost it; asked with the next look
    is_shared: bool = False  # whether other installations write to the vault, too
    stirred: set[RecordId] = field(default_factory=set)  # got versions; what is connected with them is told apart again
    merger: Merger | None = None  # None: no merge can be had
    on_progress: Callable[[int, int | None], None] = lambda _, __: None  # done, and of how many: long work
    hindrance: str = ""  # what a person can do where outside edits could not be taken in, as met last
    settling: Settling = field(init=False)

    def __post_init__(self) -> None:
        self.settling = Settling(self.store, self.index, self.clock)

    def own_index(self, index: Index) -> None:
        """Go on with an index that nobody else uses, in the place of one that cannot be used."""
        self.index.close()
        self.index, self.owns_index = index, True
        self.settling = Settling(self.store, index, self.clock)

    @property
    def is_comparing(self) -> bool:
        """Whether a comparison is under way, or what it found is still being taken in."""
        return self.comparison is not None

    def compare_files(
        self, reply: Reply, *, pieces: int | None = CALL_PIECES, intake_pieces: int | None = CALL_PIECES
    ) -> int:
        """Go on with the comparison that opening began, if it has not ended; from its end on take in what differs.

        Files that were being saved when they were looked at last are looked at again; all are, where a memory lost its
        place to another one's file and nobody noted yet whether it has one.

        Args:
            reply: Is marked `reconciling` while files have not been compared and taken in.
            pieces: How much to compare; None for all.
            intake_pieces: How much to take in; None for all.

        Returns:
            How many versions were made.

        Raises:
            StorageFailedError, DamagedError: index or vault cannot be read; the comparison is given up.
        """
        if self.comparison is None and self.replaced:
            self.comparison = Comparison(self.store, self.index, self.refused)
        if self.comparison is None and not self.settling.put_off and not self.stirred:
            return 0
        return self.reconcile(self, reply, pieces, intake_pieces)

    def hurry(self, records: Iterable[RecordId]) -> None:
        """Let the next step of a comparison take in the files that had these records, wherever they lie now."""
        if self.comparison is not None:
            with self.index.read() as reader:
                known = [stamp for record in records for stamp in reader.find_files_of(record)]
            self.comparison.hurried.update((stamp.device, stamp.inode) for stamp in known)

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[WriteUnit]:
        """Take the lock; store and index are caught up when the block begins.

        Raises:
            NotWritableError, DamagedError: as `VaultStore.write`.
        """
        with self.store.write(wait_s) as unit:
            self.take_in_rows()
            self.store.check_writable()
            self._stamp_settled(unit)
            yield unit

    def _stamp_settled(self, unit: WriteUnit) -> None:
        now_ns = self.clock.read().wall_us * 1_000
        stamps = [stamp_placed(state, row, now_ns) for row, state in unit.settled if state is not None]
        if stamps:
            self.index.apply(IndexBatch(files=stamps))

    def take_in_rows(self) -> int:
        """Bring the index up to the versions stores of all logs; return how many rows were new. Under the lock."""
        with self.index.read() as reader:
            known = reader.get_watermarks()
        taken = 0
        logs = self.store.list_logs()
        self.is_shared = len(logs) > 1
        for head in logs:
            first = known.get(head.log, 0)
            if first < head.entries:
                taken += self._take_in_sound(head, first)
        with self.index.read() as reader:
            arrived = settle_pending(self.store, reader)
        if arrived is not None:
            self.index.apply(arrived.batch)
            self.settling.put_off.update(arrived.spoiled)
        return taken

    def _take_in_sound(self, head: LogHead, first: int) -> int:
        """Take in the rows of a log; another log's store that is damaged is named, and stops nothing here."""
        try:
            return self._take_in_log(head, first)
        except DamagedError as error:
            if head.is_own:
                raise
            path, reason = f".onrecord/{head.log}", f"another log: {error.reason}"
            self.note(Problem(path, 0, "version_unreadable", Severity.CRITICAL, reason, error.hint))
        return 0

    def _take_in_log(self, head: LogHead, first: int) -> int:
        """Take in rows; the mark stays before one of a newer format, so that each opening meets it again."""
        taken = 0
        is_known = True
        documents: list[Document] = []
        own: list[VersionRow] = []
        said: set[bytes] = set()
        last = first - 1
        for row in read_told_rows(self.store, head.log, first):
            if isinstance(row, Problem):
                self.note(row)
                is_known = is_known and row.code != "newer_format"
                continue
            documents.extend(self.build(row, self.yaml))
            taken += 1
            last = row.ref.seq
            if head.is_own and first:  # an index without a row of it has no stamp of one
                own.append(row)
            elif not head.is_own and row.draft.turn is None and row.draft.mode != "displaced":
                said.add(hash_data(row.draft.data))
            if len(documents) >= _BATCH_ROWS:
                self._apply_rows(head, documents, last + 1 if is_known else None, own)
                documents, own = [], []
        mark = find_mark(self.store, head, first, last)
        self._apply_rows(head, documents, mark if is_known and mark > first else None, own)
        with self.index.read() as reader:
            self.settling.put_off.update(list_said_copies(reader, said))
            moved = list_moved(self.store, reader, head.log, first) if not head.is_own else []
            self.settling.put_off |= list_same_files(reader, moved)
        if moved:
            self.index.apply(IndexBatch(touched={known.id for known in moved}))
        return taken

    def _apply_rows(
        self, head: LogHead, documents: Sequence[Document], mark: int | None, own: Sequence[VersionRow]
    ) -> None:
        touched: Collection[RecordId] = ()
        spoiled: Sequence[FileStamp] = ()
        yielded: list[str] = []
        seen = LastSeen()
        if own:
            with self.index.read() as reader:
                seen = renew_stamps(self.store, reader, own)
        elif documents:
            heads = [document.head for document in documents]
            with self.index.read() as reader:
                touched = list_touched(reader, heads)
                spoiled = [*spoil_outdated(reader, heads), *spoil_retired(reader, heads)]
                yielded = list_yielded(reader, heads)
                self.replaced |= list_unplaced(reader, self.store.log, heads)
                looked = (*yielded, *(stamp.path for stamp in spoiled))
                self.settling.put_off.update(list_shared_places(reader, heads), looked)
        if documents or mark is not None:
            marks = {head.log: mark} if mark is not None else {}
            removed = [*seen.left, *yielded, *(stamp.path for stamp in spoiled if is_named_copy(stamp.path))]
            files = [*seen.stamps, *(stamp for stamp in spoiled if stamp.path not in removed)]
            batch = IndexBatch(documents, files=files, removed_files=removed, watermarks=marks, touched=touched)
            self.index.apply(batch)
        self.stir(document.head for document in documents)

    def stir(self, heads: Iterable[VersionHead]) -> None:
        """Let what is connected with some records be told apart again with the next look, where others write, too."""
        if self.is_shared:
            self.stirred |= list_stirred(self.store.log, heads)

    def count_off(self, files: Collection[FileState]) -> Iterator[FileState]:
        """Yield the files of a pass, and tell how far it is."""
        for number, state in enumerate(files, 1):
            yield state
            self.on_progress(number, len(files))

    def note(self, problem: Problem) -> None:
        """Keep a problem that was met on the way, once."""
        if problem not in self.problems:
            self.problems.append(problem)

    def publish(
        self,
        receipt: Receipt,
        reply: Reply,
        documents: Sequence[Document] = (),
        stamps: Sequence[FileStamp] = (),
        removed: Sequence[str] = (),
        touched: Collection[RecordId] = (),
        *,
        is_followed: bool = False,
    ) -> None:
        """Make a commit searchable. The commit stands whatever happens here.

        Args:
            receipt: What the store did.
            reply: Gets warnings and degradation.
            documents: Documents already built of the receipt's rows; empty builds them here.
            stamps: Stamps of files that were observed, not placed.
            removed: Paths that hold no record any more.
            touched: Records that are to be looked at for branches.
            is_followed: Whether the next batch of the same pass comes at once.
        """
        built = list(documents) or [part for row in receipt.rows for part in self.build(row, self.yaml)]
        files = [*stamps, *self._stamp_placed(receipt)]
        self.stir(document.head for document in built)
        if receipt.not_placed:
            is_shut = any(self.store.links.is_shut(row.draft.path) for row in receipt.rows)
            served = "read by id from there, and not found until then" if is_shut else "served from there"
            reply.degrade("not_placed", f"{receipt.not_placed}; it is kept in the journal and {served}")
        reply.warnings.extend(problem.message for problem in receipt.problems)
        try:
            marks = {self.store.log: self.store.entries}
            batch = IndexBatch(
                built, files=files, removed_files=removed, watermarks=marks, touched=touched, is_followed=is_followed
            )
            self.index.apply(batch)
        except (StorageFailedError, DamagedError) as error:
            reply.degrade("index_behind", f"{error.reason}; `onrecord reindex` mends it")

    def _stamp_placed(self, receipt: Receipt) -> list[FileStamp]:
        rows = {row.ref: row for row in receipt.rows}
        now_ns = self.clock.read().wall_us * 1_000
        return [
            stamp_placed(placed.state, rows[placed.ref], now_ns)
            for placed in receipt.placed
            if placed.state is not None
        ]

    def refresh(self, reply: Reply | None = None) -> bool:
        """Before a read: finish what a crashed writer left and take it in, without waiting for a busy lock.

        Where nothing may be written, what the logs hold is taken in all the same: the index is no part of the vault.

        Returns:
            False when another process writes or the vault cannot be written; the answer is of the last known state.
        """
        try:
            with self.write(0):
                return True
        except LockTimeoutError:
            return False
        except OnRecordError as error:
            if reply is not None:
                reply.degrade(error.code, error.hint)
            with suppress(OnRecordError):
                if self.owns_index:
                    self.take_in_rows()
                else:
                    with self.store.hold(0):
                        self.take_in_rows()
            return False

    def close(self) -> None:
        """Release what is held."""
        self.index.close()
        self.store.close()
