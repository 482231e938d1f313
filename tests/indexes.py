"""Documents for index tests, drivers under test, and the answers that are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from onrecord.domain.analyzer import analyze_query
from onrecord.domain.documents import analyze_document, describe_time
from onrecord.domain.heads import PENDING_LOG, SHARED, Partition, TurnName, VersionHead
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq, derive_block_id
from onrecord.domain.instants import Instant, from_unix_us
from onrecord.domain.ranking import rank
from onrecord.ports.index import Document, FileStamp, Filter, Index, IndexBatch
from onrecord.storage.reference import ReferenceIndex
from onrecord.storage.sqlite.index import SqliteIndex
from onrecord.storage.sqlite.merging import MergeLimits

OWN = LogId("0123456789abcdef")
OTHER = LogId("fedcba9876543210")
START_US = 1_780_000_000_000_000

DRIVERS = ("reference", "sqlite", "sqlite merged at each write", "sqlite merged in steps", "sqlite rebuilt")


def at(minute: int) -> Instant:
    """Return an instant, so many minutes after the start of the tests' time."""
    return from_unix_us(START_US + minute * 60_000_000)


def make_id(name: str) -> RecordId:
    """Return a record id that stands for a short lower-case name; ids order as their names."""
    return RecordId(name.translate(str.maketrans("ilou", "1100")).ljust(12, "0"))


def make_version(
    name: str,
    text: str,
    *,
    seq: int,
    version: int = 1,
    log: LogId = OWN,
    minute: int | None = None,
    title: str = "",
    tags: Sequence[str] = (),
    status: str = "current",
    workspace: str = "default",
    partition: Partition = SHARED,
    kind: str = "note",
    origin: str = "agent",
    also_in: Sequence[str] = (),
    key: str = "",
    is_displaced: bool = False,
) -> Document:
    """Return a version of a record as a document; recorded at minute `seq` unless told."""
    analyzed = analyze_document(title=title, tags=tags, aliases=(), text=text)
    head = VersionHead(
        ref=EntryRef(log, Seq(seq)),
        id=make_id(name),
        version=version,
        kind=kind,
        status=status,
        origin=origin,
        workspace=workspace,
        partition=partition,
        path=f"memories/{workspace}/{name}.md",
        title=title,
        recorded_at=at(seq if minute is None else minute),
        text_sha256=hashlib.sha256(text.encode()).digest(),
        also_in=tuple(also_in),
        tags=tuple(tags),
        key=key,
        is_displaced=is_displaced,
        redacted=("rule",) if "secret" in text else (),
    )
    return Document(head, analyzed)


def make_loose(name: str, text: str, *, seq: int, log: LogId = PENDING_LOG, workspace: str = "default") -> Document:
    """Return a loose document; its id is no record's and no other loose document's."""
    made = make_version(name, text, seq=seq, workspace=workspace)
    return Document(made.head._replace(ref=EntryRef(log, Seq(seq)), id=RecordId(f"~{name}{seq}")), made.packed)


def leave_out_dropped(batches: Sequence[IndexBatch]) -> list[IndexBatch]:
    """Return the batches that make, without dropping anything, what these make."""
    kept: list[IndexBatch] = []
    for batch in batches:
        gone = set(batch.dropped)
        kept = [replace(item, documents=[one for one in item.documents if one.head.ref not in gone]) for item in kept]
        kept.append(replace(batch, dropped=()))
    return kept


def make_turn(
    session: str, n: int, text: str, *, seq: int, log: LogId = OWN, speaker: str = "Mia", turn: str = ""
) -> Document:
    """Return a turn as a document, said and recorded at minute `seq`."""
    name = turn or f"turn-{n}"
    time = at(seq)
    analyzed = analyze_document("", (), (), text, f"{speaker} {describe_time(time)}")
    head = VersionHead(
        ref=EntryRef(log, Seq(seq)),
        id=make_id(session),
        version=1,
        kind="event",
        status="current",
        origin="user",
        workspace="default",
        partition=SHARED,
        path=f"events/chat/{session}.md",
        title=f"chat {session}",
        recorded_at=time,
        text_sha256=hashlib.sha256(text.encode()).digest(),
        event_time=time,
        turn=TurnName("chat", session, name, n, derive_block_id("chat", session, name), "user", speaker, time),
        offset_bytes=100 * n,
        size_bytes=90,
    )
    return Document(head, analyzed)


def make_stamp(path: str, name: str, *, inode: int = 7) -> FileStamp:
    """Return a stamp of a file that holds the record of that name."""
    return FileStamp(path, make_id(name), 10, 1, 2, 3, inode, hashlib.sha256(path.encode()).digest(), 4)


@dataclass
class Driver:
    """A driver under test, and what brings it into the state that its name promises after each write."""

    name: str
    folder: Path
    index: Index = field(init=False)
    batches: list[IndexBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        path = str(self.folder / "index.sqlite3")
        match self.name:
            case "reference":
                self.index = ReferenceIndex()
            case "sqlite merged at each write" | "sqlite merged in steps":
                limit = 0 if "each" in self.name else 2
                self.index = SqliteIndex.create(path, limits=MergeLimits(limit))
            case _:
                self.index = SqliteIndex.create(path)

    def apply(self, *documents: Document) -> None:
        """Take in documents."""
        self.apply_batch(IndexBatch(documents))

    def apply_batch(self, batch: IndexBatch) -> None:
        """Take in a batch."""
        self.batches.append(batch)
        if self.name == "sqlite rebuilt":
            self.index.rebuild(leave_out_dropped(self.batches))
        else:
            self.index.apply(batch)


@dataclass(frozen=True)
class Hit:
    """One document of an answer, as far as drivers must agree: the score as its exact bits."""

    id: str
    version: int
    n: int
    score: str
    lines: tuple[int, ...]


def answer(index: Index, question: str, allowed: Filter | None = None, limit: int = 10) -> list[Hit]:
    """Return the best documents for a question."""
    with index.read() as reader:
        candidates = reader.match(analyze_query(question), allowed or Filter())
        ranked = rank(candidates, limit, reader.get_heads)
    return [
        Hit(
            id=hit.head.id.rstrip("0"),
            version=hit.head.version,
            n=hit.head.turn.n if hit.head.turn else 0,
            score=hit.score.hex(),
            lines=hit.lines,
        )
        for hit in ranked
    ]


def list_found(index: Index, question: str, allowed: Filter | None = None) -> list[tuple[str, int]]:
    """Return record (as named to `make_version`) and version of everything found, sorted."""
    return sorted((hit.id, hit.version) for hit in answer(index, question, allowed, limit=1_000))
