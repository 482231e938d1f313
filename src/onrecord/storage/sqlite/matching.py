"""What a question's terms find: posting lists out of blocks and delta, filtered, with the statistics to score them.

Statistics are counted over live documents (current, with status `current`): sums are kept by partition, a term's
document frequency is the length of its live list, so that both are exact at every moment.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from onrecord.domain.postings import Candidates, Statistics
from onrecord.ports.index import Filter
from onrecord.storage.sqlite.blocks import LIVE, PAST, PostingList, read_documents, read_lists
from onrecord.storage.sqlite.catalogue import choose_documents, filter_documents, fold_tags
from onrecord.storage.sqlite.delta import Delta, cut_list
from onrecord.storage.sqlite.schema import Seen

# Lists under names that no term can have tell which live documents have a workspace or tag.
_WORKSPACE, _TAG = "\x01w", "\x01t"

_Lists = dict[str, PostingList]

PARTITION_COLUMNS: Final = "number, documents, tokens, lines"


def list_facets(workspace: str, folded_tags: Iterable[str]) -> list[str]:
    """Return the names of the lists that a live document is in because of its head."""
    return [_WORKSPACE + workspace, *(_TAG + tag for tag in dict.fromkeys(folded_tags))]


def match(
    connection: sqlite3.Connection, seen: Seen, delta: Delta, terms: Sequence[str], allowed: Filter
) -> Candidates:
    """Return the candidates of some terms.

    Args:
        connection: Within a read.
        seen: The state that the read sees.
        delta: The delta of that state.
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
    else:
        found = _select_live(connection, seen.merged, numbers, live, allowed)
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
                _part(live, other, term, cut_list(delta.live[partition, term], seen.last), dead)
            if is_past and (partition, term) in delta.other:
                _join(other, term, cut_list(delta.other[partition, term], seen.last))
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


def _select_live(
    connection: sqlite3.Connection, merged: int, partitions: Sequence[int], live: _Lists, allowed: Filter
) -> _Lists:
    """Return, of what is live, what the filter lets through."""
    asked = [[_WORKSPACE + workspace for workspace in set(allowed.workspaces)]] if allowed.workspaces else []
    asked += [[_TAG + tag] for tag in set(fold_tags(allowed.tags))]
    is_rare = bool(allowed.kinds or allowed.origins or allowed.types)
    if not (asked or is_rare):
        return live
    found = {document for postings in live.values() for document in postings.documents}
    fresh = {document for document in found if document > merged}
    kept = found - fresh
    for names in asked:
        kept = _intersect(connection, partitions, names, kept)
    unsure = kept | fresh if is_rare else fresh
    kept = (kept - unsure) | filter_documents(connection, *choose_documents(unsure), allowed)
    return {term: postings.keep(kept) for term, postings in live.items()}


def _intersect(
    connection: sqlite3.Connection, partitions: Sequence[int], names: Sequence[str], documents: set[int]
) -> set[int]:
    """Return those of some documents that are in any of the lists of some names."""
    blocks = chain.from_iterable(read_documents(connection, LIVE, partition, names) for partition in partitions)
    return set().union(*map(documents.intersection, blocks))
