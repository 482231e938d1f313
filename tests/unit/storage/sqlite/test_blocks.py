"""Posting lists in blocks: whatever is added and removed, the list is what a dictionary would hold."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.postings import REPEAT_SHIFT
from onrecord.storage.sqlite import blocks
from onrecord.storage.sqlite.blocks import LIVE, Key, PostingList, decode_block, read_lists, write_lists

KEY = (LIVE, 1, 7)
TABLES = """CREATE TABLE postings (era, partition, term, first, block, PRIMARY KEY (era, partition, term, first))
WITHOUT ROWID; CREATE TABLE terms (term PRIMARY KEY, number) WITHOUT ROWID; INSERT INTO terms VALUES ('term', 7)"""

documents = st.sets(st.integers(1, 60), max_size=30)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks be full at four documents."""
    monkeypatch.setattr(blocks, "BLOCK_MAX_COUNT", 4)


def build(numbers: set[int]) -> PostingList:
    """Return a list in which every third document has two repeats and every second stands in a later line."""
    ordered = sorted(numbers)
    return PostingList(
        array("I", ordered),
        array("H", [number % 2 * number for number in ordered]),
        array("I", [number * 7 for number in ordered]),
        array("Q", [number << REPEAT_SHIFT | part for number in ordered if number % 3 == 0 for part in (1, 2)]),
    )


def read(connection: sqlite3.Connection) -> PostingList:
    found = PostingList()
    for _, block in read_lists(connection, LIVE, 1, ["term"]):
        assert 1 <= len(block.documents) <= blocks.BLOCK_MAX_COUNT
        found = found.join(block)
    return found


def write_list(connection: sqlite3.Connection, key: Key, added: PostingList, removed: Collection[int]) -> PostingList:
    """Change one list and return what was removed."""
    return write_lists(connection, [(key, added, removed)]).get(key, PostingList())


def open_table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    return connection


@given(st.lists(st.tuples(documents, documents), min_size=1, max_size=6))
def test_a_list_is_what_was_added_and_not_removed(changes: list[tuple[set[int], set[int]]]) -> None:
    known: set[int] = set()
    with closing(open_table()) as connection:
        for added, removed in changes:
            fresh, gone = added - known, removed & known
            if fresh or gone:
                assert write_list(connection, KEY, build(fresh), gone) == build(gone)
            known = (known - gone) | fresh
            assert read(connection) == build(known)


def test_growing_at_the_end_touches_the_last_block_only() -> None:
    with closing(open_table()) as connection:
        write_list(connection, KEY, build(set(range(1, 11))), ())
        connection.execute("UPDATE postings SET block = ? WHERE first = 1", (build({1, 2}).encode(),))
        write_list(connection, KEY, build({11, 12, 13}), ())
        firsts = [first for (first,) in connection.execute("SELECT first FROM postings ORDER BY first")]
        assert firsts == [1, 5, 9, 13]
        assert list(read(connection).documents) == [1, 2, *range(5, 14)]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Give a table of postings."""
    with closing(open_table()) as opened:
        yield opened


def test_hundreds_of_lists_are_read_in_order(connection: sqlite3.Connection) -> None:
    terms = [f"t{number:03}" for number in range(300)]
    for number, term in enumerate(reversed(terms), 100):
        connection.execute("INSERT INTO terms VALUES (?, ?)", (term, number))
        write_list(connection, (LIVE, 1, number), build({1, 2}), ())
    assert [term for term, _ in read_lists(connection, LIVE, 1, terms)] == terms


@given(st.dictionaries(st.tuples(st.integers(0, 1), st.integers(1, 2), st.integers(1, 9)), documents, min_size=1))
def test_lists_that_are_written_at_once_stay_apart(lists: dict[Key, set[int]]) -> None:
    with closing(open_table()) as connection:
        write_lists(connection, [(key, build(held), ()) for key, held in sorted(lists.items())])
        gone = {key: {document for document in held if document % 2} for key, held in lists.items()}
        removed = write_lists(connection, [(key, PostingList(), held) for key, held in sorted(gone.items())])
        assert removed == {key: build(held) for key, held in gone.items() if held}
        for key, held in lists.items():
            rows = connection.execute(
                "SELECT block FROM postings WHERE era = ? AND partition = ? AND term = ? ORDER BY first", key
            )
            kept = [document for (block,) in rows for document in decode_block(block).documents]
            assert kept == sorted(held - gone[key])
