"""What a question's terms find: posting lists out of blocks and delta, filtered, with the statistics to score them.

Statistics are counted over live documents (current, with status `current`): sums are kept by partition, a term's
document frequency is the length of its live list, so that both are exact at every moment.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from onrecord.domain.postings import Candidates, Statistics
from onrecord.ports.index import Filter
from onrecord.storage.sqlite.blocks import LIVE, PAST, PostingList, read_lists
from onrecord.storage.sqlite.catalogue import choose_documents
from onrecord.storage.sqlite.delta import Delta, cut_list
from onrecord.storage.sqlite.filtering import filter_documents
from onrecord.storage.sqlite.members import MemberMemory
from onrecord.storage.sqlite.schema import Seen, build_damage

# A list under a name that no term can have tells which live documents are in a workspace.
_WORKSPACE: Final = "\x01w"

_Lists = dict[str, PostingList]

PARTITION_COLUMNS: Final = "number, documents, tokens, lines"


def list_facets(workspaces: Iterable[str]) -> list[str]:
    """Return the names of the lists that a live document is in because of its workspaces, home and others."""
    return [_WORKSPACE + workspace for workspace in dict.fromkeys(workspaces)]


def match(
    connection: sqlite3.Connection,
    seen: Seen,
    delta: Delta,
    members: MemberMemory,
    terms: Sequence[str],
    allowed: Filter,
) -> Candidates:
    """Return the candidates of some terms.

    Args:
        connection: Within a read.
        seen: The state that the read sees.
        delta: The delta of that state.
        members: Which merged documents are in which workspaces.
        terms: Analysed terms; repetitions are ignored.
        allowed: Which documents may answer.
    """
    distinct = list(dict.fromkeys(terms))
    names = sorted(set(allowed.partitions))
    partitions = connection.execute(
        f"SELECT {PARTITION_COLUMNS} FROM partitions WHERE name IN ({', '.join('?' * len(names))})", names
    ).fetchall()
    numbers = [row[0] for row in partitions]
    is_now = allowed.as_of is None and set(allowed.statuses) == {"current"}
    live, other = _gather(connection, seen, delta, numbers, distinct, is_past=not is_now)
    statistics = Statistics(
        documents=sum(row[1] for row in partitions),
        tokens=sum(row[2] for row in partitions),
        lines=sum(row[3] for row in partitions),
        document_frequency={term: len(live[term].documents) if term in live else 0 for term in distinct},
    )
    if not is_now:
        found = _select_past(connection, live, other, allowed)
    elif allowed.workspaces:
        merged = members.get(connection, seen, numbers, list_facets(sorted(allowed.workspaces)))
        found = _select_live(connection, seen.last, merged, live, allowed)
    else:
        found = live
    empty = PostingList()
    return Candidates(statistics, [found.get(term, empty).to_matches(term) for term in distinct])


def _gather(
    connection: sqlite3.Connection,
    seen: Seen,
    delta: Delta,
    partitions: Sequence[int],
    terms: Sequence[str],
    *,
    is_past: bool,
) -> tuple[_Lists, _Lists]:
    """Return the lists of what is live, in order, and of what is not (in no order; only if the past is asked for)."""
    live: _Lists = {}
    other: _Lists = {}
    dead = {document for (document,) in connection.execute("SELECT document FROM dead")}
    for partition in partitions:
        for term, block in read_lists(connection, LIVE, partition, terms):
            _part(live, other, term, block, dead)
        if is_past:
            for term, block in read_lists(connection, PAST, partition, terms):
                _join(other, term, block)
        for term in terms:
            if (partition, term) in delta.live:
                _part(live, other, term, cut_list(delta.live[partition, term], seen), dead)
            if is_past and (partition, term) in delta.other:
                _join(other, term, cut_list(delta.other[partition, term], seen))
    if len(partitions) > 1:
        live = {term: found.sort() for term, found in live.items()}
    return live, other


def _part(live: _Lists, other: _Lists, term: str, block: PostingList, dead: set[int]) -> None:
    """Take what is dead of a live list to the others."""
    if not dead or dead.isdisjoint(block.documents):
        _join(live, term, block)
    else:
        _join(live, term, block.drop(dead))
        _join(other, term, block.keep(dead))


def _join(lists: _Lists, term: str, block: PostingList) -> None:
    """Add a list, which stays as it is, to what is known of a term."""
    known = lists.get(term)
    lists[term] = block if known is None else known.join(block)


def _select_past(connection: sqlite3.Connection, live: _Lists, other: _Lists, allowed: Filter) -> _Lists:
    """Return, of everything, what the filter lets through."""
    for term, found in other.items():
        _join(live, term, found)
    every = sorted({document for found in live.values() for document in found.documents})
    kept = filter_documents(connection, *choose_documents(every), allowed)
    return {term: found.keep(kept).sort() for term, found in live.items()}


def _select_live(connection: sqlite3.Connection, last: int, merged: bytes, live: _Lists, allowed: Filter) -> _Lists:
    """Return, of what is live, what is in the workspaces; `merged` tells it for each merged document (MemberMemory)."""
    fresh: set[int] = set()
    for found in live.values():
        fresh.update(found.documents[bisect_left(found.documents, len(merged)) :])
    flags = merged
    if fresh:
        if max(fresh) > last:
            raise build_damage("a block cannot be read")
        taken = bytearray(last + 1)
        taken[: len(merged)] = merged
        for document in filter_documents(connection, *choose_documents(fresh), allowed):
            taken[document] = 1
        flags = bytes(taken)
    try:
        return {term: found.select(bytes(map(flags.__getitem__, found.documents))) for term, found in live.items()}
    except IndexError as error:
        raise build_damage("a block cannot be read") from error
