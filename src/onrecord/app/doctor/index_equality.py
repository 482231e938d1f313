"""Whether the index is the one that a rebuild would make: heads, files, and the postings of a share of all terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from onrecord.app.rebuild import fill
from onrecord.app.session import Session
from onrecord.domain.heads import LOOSE_LOGS
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.index import SHARED, Document, Filter, IndexReader, VersionHead
from onrecord.ports.store import VersionRow
from onrecord.ports.yaml_reader import YamlReader

_ALL: Final = 2**31
# Terms whose postings are compared, drawn evenly from all in their order.
_TERMS_MAX_COUNT: Final = 2_000
_SHOWN_MAX_COUNT: Final = 20


def compare_indexes(session: Session) -> Iterator[Problem]:
    """Make a second index of the versions stores and yield in what the first one differs, at most twenty places.

    Args:
        session: The opened vault; one that can make no second index has nothing to compare with.

    Raises:
        StorageFailedError, DamagedError: logs or index cannot be read.
    """
    if session.make_index is None:
        return
    terms: set[str] = set()

    def build(row: VersionRow, yaml: YamlReader) -> Iterator[Document]:
        for document in session.build(row, yaml):
            terms.update(document.packed.terms)
            yield document

    other = replace(session, index=session.make_index(), build=build, problems=[], comparison=None, owns_index=True)
    fill(other)
    ordered = sorted(terms)
    drawn = ordered[:: max(1, -(-len(ordered) // _TERMS_MAX_COUNT))]
    with session.index.read() as ours, other.index.read() as theirs:
        differing = [*_compare_heads(ours, theirs), *_compare_terms(ours, theirs, drawn)]
    yield from differing[:_SHOWN_MAX_COUNT]


def _compare_heads(ours: IndexReader, theirs: IndexReader) -> Iterator[Problem]:
    for record in sorted({*ours.find_ids("", _ALL), *theirs.find_ids("", _ALL)}):
        has, asked = _list_heads(ours, record), _list_heads(theirs, record)
        if has != asked:
            seen = f"{len(has.keys() & asked.keys())} of {len(asked)} known, {len(has.keys() - asked.keys())} of nobody"
            yield _name(f"the index says other things of memory {record} than its versions", seen)


def _list_heads(reader: IndexReader, record: RecordId) -> dict[EntryRef, VersionHead]:
    return {head.ref: head for head in (*reader.list_versions(record), *reader.list_turns(record))}


def _compare_terms(ours: IndexReader, theirs: IndexReader, terms: list[str]) -> Iterator[Problem]:
    """Name the number of differing terms, never a term: it is of the content."""
    differing = sum(_list_postings(ours, term) != _list_postings(theirs, term) for term in terms)
    if differing:
        yield _name("the index finds other places for words than the versions have", f"{differing} of {len(terms)}")


def _list_postings(reader: IndexReader, term: str) -> dict[EntryRef, tuple[int, int]]:
    (found,) = reader.match((term,), Filter(partitions=(SHARED,))).matches
    heads = reader.get_heads(found.documents)
    postings = zip(found.documents, found.lines or [0] * len(found.documents), found.packed, strict=True)
    return {
        heads[document].ref: (line, packed)
        for document, line, packed in postings
        if heads[document].ref.log not in LOOSE_LOGS
    }


def _name(message: str, evidence: str) -> Problem:
    return Problem("", 0, "index_differs", Severity.CRITICAL, message, evidence=evidence)
