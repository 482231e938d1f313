"""Two versions of one record, joined on what both come from."""

from __future__ import annotations

from collections.abc import Sequence

from onrecord.app.next_version import take_out_copies
from onrecord.app.session import Session
from onrecord.domain.ancestry import find_nearest_common
from onrecord.domain.conflict import Proposal
from onrecord.domain.ids import EntryRef
from onrecord.domain.record import read_record
from onrecord.ports.merger import MergeObstacle
from onrecord.ports.store import VersionRow

_NO_BASE = "no version is known that both come from"
_NO_FRONT_MATTER = "its front matter could not be read"
_NO_TEXT = "one of them is no UTF-8 text"


def list_parents(session: Session, ref: EntryRef) -> Sequence[EntryRef]:
    """Return the parents of a version, none where it has not arrived."""
    row = session.store.read_row(ref)
    return row.draft.parents if row is not None else ()


def find_base(session: Session, one: VersionRow, other: VersionRow) -> VersionRow | None:
    """Return the nearest version that two come from, with its bytes."""
    ref = find_nearest_common(one.ref, other.ref, lambda ref: list_parents(session, ref))
    row = session.store.read_row(ref) if ref is not None else None
    return None if row is None or row.is_erased or row.is_sealed else row


def merge_versions(session: Session, one: VersionRow, other: VersionRow) -> tuple[bytes | None, str]:
    """Return both edits in one file, without display copies; else None and why no merge can be had.

    Only line ends and lines that one side changed differ from what both come from; front matter that cannot be read,
    or has a key twice, is no merge.
    """
    base = find_base(session, one, other)
    if base is None:
        return None, _NO_BASE
    if session.merger is None:
        return None, MergeObstacle.NO_PROGRAM.value
    files = [take_out_copies(session, row.draft.data) for row in (base, one, other)]
    if any(read_record(data, "", session.yaml).parts.encoding != "utf-8" for data in files):
        return None, _NO_TEXT
    merged = session.merger.merge(*files)
    if isinstance(merged, MergeObstacle):
        return None, merged.value
    known = {problem for data in files for problem in _find_faults(session, data)}
    return (None, _NO_FRONT_MATTER) if _find_faults(session, merged) - known else (merged, "")


def propose(session: Session, rows: Sequence[VersionRow]) -> Proposal:
    """Return what a merge of a conflict's sides gives; of more than two none is tried."""
    if len(rows) != 2:
        return Proposal(None, "more than two texts stand against each other")
    merged, reason = merge_versions(session, rows[0], rows[1])
    return Proposal(merged.decode() if merged is not None else None, reason)


def _find_faults(session: Session, data: bytes) -> set[str]:
    problems = read_record(data, "", session.yaml).problems
    return {problem.code for problem in problems if problem.severity != "info"}
