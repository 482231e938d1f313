"""Whatever comes in, in whatever order, SQLite answers as the reference does: same ids, same bits of score."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from onrecord.domain.heads import LOOSE_LOGS, SHARED, Partition
from onrecord.domain.ids import LogId
from onrecord.ports.index import Document, Filter, IndexBatch, IndexReader
from onrecord.storage.reference import ReferenceIndex
from onrecord.storage.sqlite import loading
from onrecord.storage.sqlite.index import SqliteIndex
from onrecord.storage.sqlite.merging import MergeLimits
from tests.indexes import (
    OTHER,
    OWN,
    answer,
    at,
    leave_out_dropped,
    make_id,
    make_loose,
    make_stamp,
    make_turn,
    make_version,
)

WORDS = (
    "apple",
    "apples",
    "pear",
    "get_user_id",
    "user",
    "v0.7.2",
    "数据库",
    "东京",
    "猫が好き",
    "the",
    "what",
    "2023",
)
RECORDS = ("a", "b", "c", "d")
STRICT = Partition("strict")

texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), max_size=4).map(". \n".join)
logs = st.sampled_from((OWN, OTHER))
minutes = st.integers(0, 12)
some_names = st.lists(st.sampled_from(("default", "work", "den")), max_size=2)

versions = st.fixed_dictionaries(
    {
        "name": st.sampled_from(RECORDS),
        "text": texts,
        "title": st.sampled_from(("", "apple", "user pear")),
        "tags": st.lists(st.sampled_from(("Red", "red", "blue")), max_size=2),
        "version": st.integers(1, 4),
        "minute": minutes,
        "status": st.sampled_from(("current", "current", "pending", "retired")),
        "workspace": st.sampled_from(("default", "work")),
        "also_in": st.lists(st.sampled_from(("default", "work", "den")), max_size=2),
        "partition": st.sampled_from((SHARED, SHARED, STRICT)),
        "kind": st.sampled_from(("note", "fact")),
        "origin": st.sampled_from(("agent", "user")),
        "is_displaced": st.sampled_from((False, False, False, True)),
    }
)
filters = st.builds(
    Filter,
    partitions=st.sampled_from(((SHARED,), (STRICT,), (SHARED, STRICT))),
    workspaces=some_names,
    statuses=st.sampled_from((("current",), ("current",), ("pending", "current"), ("retired",), ())),
    as_of=st.none() | minutes.map(at),
    horizons=st.just({}) | st.integers(0, 12).map(lambda size: {OTHER: size}),
)


class IndexMachine(RuleBasedStateMachine):
    """The reference beside two SQLite indexes: one that merges early, one that merges when asked."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.reference = ReferenceIndex()
        self.batches: list[IndexBatch] = []
        self.next_seq = {OWN: 0, OTHER: 0}
        self.indexes = [self.start(0), self.start(1)]

    def start(self, number: int) -> SqliteIndex:
        return SqliteIndex.create(str(self.folder / f"{number}.sqlite3"), limits=MergeLimits((3, 1_000)[number]))

    def apply(self, batch: IndexBatch) -> None:
        self.batches.append(batch)
        for index in (self.reference, *self.indexes):
            index.apply(batch)

    def take_seq(self, log: LogId) -> int:
        self.next_seq[log] += 1
        return self.next_seq[log]

    @rule(drafts=st.lists(st.tuples(versions, logs), min_size=1, max_size=4))
    def add_versions(self, drafts: Sequence[tuple[dict[str, object], LogId]]) -> None:
        made: list[Document] = []
        for draft, log in drafts:
            made.append(make_version(**draft, log=log, seq=self.take_seq(log)))  # type: ignore[arg-type]
        self.apply(IndexBatch(made, watermarks=dict(self.next_seq)))

    @rule(text=texts, n=st.integers(1, 5), log=logs, speaker=st.sampled_from(("Mia", "Bo")))
    def add_turn(self, text: str, n: int, log: LogId, speaker: str) -> None:
        self.apply(IndexBatch([make_turn("s", n, text, seq=self.take_seq(log), log=log, speaker=speaker)]))

    @rule(text=texts, seq=st.integers(0, 5), log=st.sampled_from(sorted(LOOSE_LOGS)), is_gone=st.booleans())
    def change_a_loose_document(self, text: str, seq: int, log: LogId, is_gone: bool) -> None:
        document = make_loose(f"loose {log}", text, seq=seq, log=log)
        self.apply(IndexBatch([] if is_gone else [document], dropped=[document.head.ref]))

    @rule(place=st.integers(0, 30))
    def repeat_a_batch(self, place: int) -> None:
        if self.batches:
            self.apply(dataclasses.replace(self.batches[place % len(self.batches)], watermarks={}))

    @rule(path=st.sampled_from(("m/a.md", "m/A.md", "m/b.md")), name=st.sampled_from(RECORDS), is_there=st.booleans())
    def change_a_file(self, path: str, name: str, is_there: bool) -> None:
        self.apply(IndexBatch(files=[make_stamp(path, name)] if is_there else (), removed_files=[path]))

    @rule(number=st.integers(0, 1), limit=st.integers(0, 2))
    def reopen_with_other_limits(self, number: int, limit: int) -> None:
        self.indexes[number].close()
        path = str(self.folder / f"{number}.sqlite3")
        self.indexes[number] = SqliteIndex.create(path, limits=MergeLimits(limit))

    @rule(number=st.integers(0, 1))
    def reopen(self, number: int) -> None:
        self.indexes[number].close()
        self.indexes[number] = self.start(number)

    @rule(number=st.integers(0, 1), is_split=st.booleans(), held=st.sampled_from((1, 12, 4_000_000)))
    def rebuild(self, number: int, is_split: bool, held: int) -> None:
        batches = leave_out_dropped(self.batches)
        if is_split:
            batches = [part for batch in batches for part in split(batch)]
        with patch.object(loading, "_HELD_MAX_POSTINGS", held):
            self.indexes[number].rebuild(batches)

    @rule(question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), allowed=filters, limit=st.integers(1, 20))
    def find(self, question: Sequence[str], allowed: Filter, limit: int) -> None:
        expected = answer(self.reference, " ".join(question), allowed, limit)
        for index in self.indexes:
            assert answer(index, " ".join(question), allowed, limit) == expected

    @rule(allowed=filters)
    def compare_statistics(self, allowed: Filter) -> None:
        terms = ("appl", "pear", "user", "数据", "none", "mia")
        with self.reference.read() as reader:
            expected = reader.match(terms, allowed).statistics
        for index in self.indexes:
            with index.read() as reader:
                assert reader.match(terms, allowed).statistics == expected

    @invariant()
    def catalogues_are_equal(self) -> None:
        if not hasattr(self, "reference"):
            return
        with self.reference.read() as reader:
            expected = describe(reader)
        for index in self.indexes:
            with index.read() as reader:
                assert describe(reader) == expected

    def teardown(self) -> None:
        for index in getattr(self, "indexes", ()):
            index.close()
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


def split(batch: IndexBatch) -> list[IndexBatch]:
    """Return a batch as one for each document, with what else it says in the last."""
    first = [IndexBatch([document]) for document in batch.documents]
    return [*first, dataclasses.replace(batch, documents=())]


def describe(reader: IndexReader) -> dict[str, object]:
    """Return all that a catalogue says."""
    records = [make_id(name) for name in (*RECORDS, "s")]
    return {
        "ids": list(reader.find_ids("", 99)),
        "current": [reader.get_current(record) for record in records],
        "versions": [list(reader.list_versions(record)) for record in records],
        "turns": [list(reader.list_turns(record)) for record in records],
        "last turn": reader.get_last_turn("chat", "s"),
        "turn": [reader.find_turn("chat", "s", f"turn-{n}") for n in range(1, 6)],
        "files": list(reader.list_files()),
        "watermarks": dict(reader.get_watermarks()),
        "counts": dict(reader.count()),
    }


TestIndexEqualsReference = IndexMachine.TestCase
