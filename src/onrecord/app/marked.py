"""Files in which git left its marks: the memory keeps its text.

Both sides are kept as versions that stand aside, and so is the file as it is: what stands on a line of the marks, or
between those of the base, is of no side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onrecord.app.between_marks import is_of_another, make_side, name_other
from onrecord.app.closing import close_ended
from onrecord.app.conflicts import open_conflict
from onrecord.app.copies import plan_aside
from onrecord.app.current import choose_number
from onrecord.app.identity import Found
from onrecord.app.joining import list_marked
from onrecord.app.judging import has_bytes
from onrecord.app.merging import list_parents
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import hash_data, list_record_stamps, stamp_file
from onrecord.app.standing import is_marked, list_joined, name_marked, name_told
from onrecord.domain.ancestry import find_nearest_common
from onrecord.domain.branches import says_the_same
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.ids import EntryRef
from onrecord.domain.merge_marks import Sides, has_marks, split_marked
from onrecord.domain.problem import name_reading
from onrecord.ports.index import FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import MARKING, Actor, Change, VersionRow, WriteUnit


@dataclass(frozen=True, slots=True)
class Marks:
    """That git left marks in a file: what they stand between, None where no side is to be told apart."""

    sides: Sides | None


def find_marks(session: Session, reader: IndexReader, found: Found, head: VersionHead) -> Marks | None:
    """Return what git's marks in a memory's file stand between, None where there are none.

    A note may tell of marks: in fenced code, where they are git's own only if a side of them is a version that was
    there; and anywhere, if the current version has marks, and at as many places where they are to be told apart. A
    conflict has no sides of its own.
    """
    sides, whole = split_marked(found.data), split_marked(found.data, in_code=True)
    if whole is not None and whole != sides:
        versions = reader.list_versions(head.id)
        files = [make_side(session, found, head, data) for data in (whole.ours, whole.theirs)]
        if any(has_bytes(session, version, side) for version in versions for side in files):
            return Marks(whole if head.kind != "conflict" else None)
    if not has_marks(found.data):
        return None
    row = _read_row(session, head.ref)
    told = split_marked(row.draft.data) if row is not None else None
    if sides is None or head.kind == "conflict":
        return Marks(None) if row is None or not has_marks(row.draft.data) else None
    return None if told is not None and told.count >= sides.count else Marks(sides)


def _read_row(session: Session, ref: EntryRef) -> VersionRow | None:
    try:
        return session.store.read_row(ref)
    except (DamagedError, NewerFormatError):
        return None


def tell_words(session: Session, head: VersionHead | None, found: Found, reply: Reply) -> None:
    """Tell of lines that look like marks of git and become words of a memory that had none, or of a new one."""
    if not has_marks(found.data):
        return
    before = _read_row(session, head.ref) if head is not None else None
    if before is None or not has_marks(before.draft.data):
        told = name_told(found.state.path)
        reply.warnings.append(f"{told.path}: {told.message}. {told.mend}")


def tell_given_way(session: Session, stamps: Iterable[FileStamp], reply: Reply) -> None:
    """Tell the caller of a write that a file with marks gave way to it, and where that is kept as it was.

    Args:
        session: The opened vault.
        stamps: Of the files that the write was to replace, as they were before it.
        reply: Gets a warning for each.
    """
    for stamp in stamps:
        if is_marked(session, stamp):
            with session.index.read() as reader:
                displaced = [head.ref for head in reader.list_versions(stamp.record) if head.is_displaced]
            rows = (_read_row(session, ref) for ref in displaced)
            whole = [row for row in rows if row is not None and hash_data(row.draft.data) == stamp.sha256]
            told = f"; it is kept as it was: {name_reading(stamp.record, whole[0].ref)}" if whole else ""
            reply.warnings.append(f"{stamp.path} had marks of an unfinished merge and was written over{told}")


def keep_marked(session: Session, unit: WriteUnit, found: Found, head: VersionHead, marks: Marks, reply: Reply) -> int:
    """Keep both sides of a marked file, and the file as it is, as versions that are never current, each once.

    A side that is another memory is no version of this one, but an edit of that one where its bytes are not known. The
    file stays as it is. Its stamp says that it holds another version than the current one, so that the memory is shown
    from the versions store until the file is mended or the conflict is settled.

    Args:
        session: The opened vault.
        unit: The right to write.
        found: The file, marks included.
        head: The current version of its memory.
        marks: What the marks stand between.
        reply: As of `Session.publish`.

    Returns:
        How many versions were made.

    Raises:
        NotWritableError: what was not stored is kept at the next look.
    """
    sides = marks.sides
    both = [make_side(session, found, head, data) for data in (sides.ours, sides.theirs)] if sides is not None else []
    with session.index.read() as reader:
        others = [side for side in both if is_of_another(session, reader, side, head)]
        named = [(side, name_other(session, reader, side, head)) for side in others]
        before = list_marked(session, reader, found, list_record_stamps(reader, head.id))
    is_one = sides is not None and says_the_same(sides.ours, sides.theirs, session.yaml)
    files = [side for side in (both[:1] if is_one and not others else both) if side not in others]
    # What the marks stood between in this file before is gone on with, so that its conflict has nothing more to tell.
    older = [before] if len(files) == 1 else [before[:1], before[1:]] if len(before) == 2 else []
    kept, made = _keep_each(session, unit, files, head, Actor(), reply, older)
    (whole,), also_made = _keep_each(session, unit, [found], head, MARKING, reply)
    _open_between(session, unit, kept, reply)
    other = next((ref for ref in reversed(kept) if ref != head.ref), whole)
    stamp = stamp_file(found.state, head.id, found.data, session.clock.read().wall_us * 1_000, other)
    session.index.apply(IndexBatch(files=[stamp]))
    close_ended(session, unit, reply, head.id)
    made += also_made + sum(_keep_edit(session, unit, side, of_it, reply) for side, of_it in named if of_it is not None)
    _tell_kept(session, stamp, name_reading(head.id, whole), reply)
    return made


def _keep_edit(session: Session, unit: WriteUnit, side: Found, head: VersionHead, reply: Reply) -> int:
    """Keep an edit of another memory that a side is: it stands against what that memory says."""
    if head.kind in ("event", "conflict") or head.status == "retired":
        return 0
    kept, made = _keep_each(session, unit, [side], head, Actor(), reply)
    if made:
        _open_between(session, unit, [head.ref, *kept], reply)
    return made


def _tell_kept(session: Session, stamp: FileStamp, whole: str, reply: Reply) -> None:
    with session.index.read() as reader:
        joined = list_joined(session, reader, stamp)
    found = name_marked(stamp.path, joined)
    told = f"; it is kept as it is: {whole}"
    mend = f". {found.mend}" if len(joined) > 1 else ""
    reply.warnings.append(f"{found.path}: {found.message}{told}{mend}")


def _keep_each(
    session: Session,
    unit: WriteUnit,
    files: Sequence[Found],
    head: VersionHead,
    actor: Actor,
    reply: Reply,
    older: Sequence[tuple[EntryRef, ...]] = (),
) -> tuple[list[EntryRef], int]:
    """Return the version of each of some texts, and how many of them were made: those whose bytes were not known.

    `older` has for each text, or for none, the versions that it goes on from, as far as that is known.
    """
    with session.index.read() as reader:
        versions = reader.list_versions(head.id)
        number = choose_number(reader, head.id)
    changes: list[Change] = []
    refs: list[EntryRef | None] = []
    for place, found in enumerate(files):
        known = next((version for version in versions if has_bytes(session, version, found)), None)
        refs.append(known.ref if known is not None else None)
        if known is None:
            parents = older[place] if older else ()
            changes.append(plan_aside(session, head, versions, found, number + len(changes), parents))
    if not changes:
        return [ref for ref in refs if ref is not None], 0
    receipt = unit.commit(changes, actor)
    session.publish(receipt, reply)
    made = [row.ref for row in receipt.rows]
    return [ref if ref is not None else made.pop(0) for ref in refs], len(changes)


def _open_between(session: Session, unit: WriteUnit, refs: Sequence[EntryRef], reply: Reply) -> None:
    """Open one conflict between both sides, ours first; none where one of them comes from the other."""
    rows = [row for ref in refs if (row := session.store.read_row(ref)) is not None]
    if len(rows) < 2 or any(row.is_erased or row.is_sealed for row in rows):
        return
    one, other = rows
    if find_nearest_common(one.ref, other.ref, lambda ref: list_parents(session, ref)) not in refs:
        open_conflict(session, unit, reply, rows)
