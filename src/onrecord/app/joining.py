"""What an edit by hand took in beside the version that its file held: sides of git's marks, and texts that it holds.

A side counts as taken in only where the user had both before them, between marks in this very file, or where every
line of it stands in the text. So nothing is said to be merged whose words are gone without anybody's doing.
"""

from __future__ import annotations

from collections.abc import Sequence

from onrecord.app.branches import find_tips, plan_parents
from onrecord.app.closing import find_taken, list_alike, list_open
from onrecord.app.identity import Found
from onrecord.app.merging import find_base
from onrecord.app.session import Session
from onrecord.app.standing import is_marked
from onrecord.domain.branches import drop_copies
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.ids import EntryRef
from onrecord.domain.line_edits import holds_edit
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import VersionRow


def plan_edit(
    session: Session,
    reader: IndexReader,
    found: Found,
    head: VersionHead,
    base: VersionHead,
    stamps: Sequence[FileStamp],
) -> tuple[tuple[EntryRef, ...], bool]:
    """Return the parents of an edit by hand, and whether the record is to be looked at for its branches.

    Args:
        session: The opened vault.
        reader: Reads the index.
        found: The file.
        head: The current version of its record.
        base: The version that it was made from.
        stamps: Of the record's files, as they were last seen.
    """
    marked = list_marked(session, reader, found, stamps)
    parents, is_branch = plan_parents(session, reader, head if base.is_displaced and not marked else base)
    if marked:
        parents, is_branch = tuple(dict.fromkeys((*marked, *parents))), True
    elif base.is_displaced:  # a copy was put over the file: the edit comes from both
        parents = (*parents, base.ref)
    others = find_tips(session, reader, base.id) if is_branch else ()
    taken = _list_held(session, reader, found, base, parents, others)
    return (*parents, *taken), is_branch or bool(taken) or base.is_displaced


def list_marked(
    session: Session, reader: IndexReader, found: Found, stamps: Sequence[FileStamp]
) -> tuple[EntryRef, ...]:
    """Return the sides between which marks stood in the file when it was last seen, none where none stood.

    They are two, ours first, where they stand in a conflict.
    """
    stamp = next((stamp for stamp in stamps if stamp.path == found.state.path), None)
    if stamp is None or stamp.ref is None or not is_marked(session, stamp):
        return ()
    members = list_open(session, reader, stamp.record).values()
    same = list_alike(session, reader, stamp.record).get(stamp.ref, frozenset((stamp.ref,)))
    pairs = [refs for refs in members if same.intersection(refs) and len(refs) == 2]
    return pairs[0] if len(pairs) == 1 else (stamp.ref,)


def _list_held(
    session: Session,
    reader: IndexReader,
    found: Found,
    base: VersionHead,
    parents: Sequence[EntryRef],
    tips: Sequence[VersionHead],
) -> list[EntryRef]:
    """Return the other tips of the record, and sides of its open conflicts, whose edits stand in the text."""
    sides = dict.fromkeys(tip.ref for tip in tips)
    sides |= dict.fromkeys(ref for refs in list_open(session, reader, base.id).values() for ref in refs)
    left = [ref for ref in sides if ref not in parents]
    if not left:
        return []
    known = find_taken(session, parents, left)
    ours = _read_row(session, base.ref)
    rows = [row for ref in left if ref not in known and (row := _read_row(session, ref)) is not None]
    return [row.ref for row in rows if ours is not None and _holds(session, found, ours, row)]


def _holds(session: Session, found: Found, ours: VersionRow, theirs: VersionRow) -> bool:
    base = find_base(session, ours, theirs)
    if base is None or theirs.is_erased or theirs.is_sealed or ours.is_erased or ours.is_sealed:
        return False
    files = (found.data, base.draft.data, ours.draft.data, theirs.draft.data)
    return holds_edit(*(drop_copies(data, session.yaml) for data in files))


def _read_row(session: Session, ref: EntryRef) -> VersionRow | None:
    try:
        return session.store.read_row(ref)
    except (DamagedError, NewerFormatError):
        return None
