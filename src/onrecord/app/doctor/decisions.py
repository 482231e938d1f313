"""What waits for a person to decide: texts that stand against each other or aside, and what edits by hand ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from onrecord.app.closing import list_choices, list_open
from onrecord.app.proposals import find_open
from onrecord.app.session import Session
from onrecord.app.stamps import COPY_MARK, hash_data
from onrecord.app.standing import is_marked, list_joined, name_marked
from onrecord.domain.copy_names import describe_copy
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.merge_marks import split_marked
from onrecord.domain.problem import Problem, Severity, describe_displaced, name_reading
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import DISPLACING, MARKING, VersionRow

_ALL: Final = 2**31
_OPEN: Final = ("pending",)


def name_marks(session: Session, reader: IndexReader, stamp: FileStamp, data: bytes) -> Iterator[Problem]:
    """Yield the finding that git left its marks in a memory's file, with the conflict that both sides are in."""
    if split_marked(data) is None and not is_marked(session, stamp):
        return
    conflicts = _list_conflicts_between(session, reader, stamp, data)
    found = name_marked(stamp.path, list_joined(session, reader, stamp))
    message, mend = found.message, found.mend
    if conflicts:
        message += f", both sides are in conflict {', '.join(conflicts[:2])}"
        mend = f"Take the marks out of the file, or {_name_settling(session, reader, conflicts[0])}."
    yield replace(found, message=message, mend=mend)


def _name_settling(session: Session, reader: IndexReader, conflict: RecordId) -> str:
    """Return the call that settles a conflict, with what may be kept of it."""
    first, *others = list_choices(session, reader, conflict) or ["current"]
    told = f"`onrecord settle {conflict} --keep {first}`"
    return f"{told}, {', '.join(f'`{name}`' for name in others[:-1])} or `{others[-1]}`" if others else told


def _list_conflicts_between(session: Session, reader: IndexReader, stamp: FileStamp, data: bytes) -> list[RecordId]:
    """Return the open conflicts of which each member is a side of a file's marks: no other one ends them."""
    found = (split_marked(data), split_marked(data, in_code=True))
    sides = {side for marked in found if marked is not None for side in (marked.ours, marked.theirs)}
    try:
        members = list_open(session, reader, stamp.record)
        rows = {conflict: [session.store.read_row(ref) for ref in refs] for conflict, refs in members.items()}
    except (DamagedError, NewerFormatError):
        return []  # named where the logs are read
    return [
        conflict
        for conflict, of_it in rows.items()
        if all(row is not None and row.draft.data in sides for row in of_it)
    ]


def check_displaced(session: Session) -> Iterator[Problem]:
    """Yield a problem for each outside text that stands aside and is neither merged nor settled.

    It gave way to a write, or is of a copy; of sides of a marked file the file itself tells.
    """
    with session.index.read() as reader:
        waiting = {head.ref for head in reader.list_unsettled(session.store.log, _ALL)}
        stamps = reader.find_files_of(COPY_MARK)
        copies = _list_copies(session, stamps)
        told: set[tuple[RecordId, bytes]] = set()
        for record, path in sorted({(stamp.record, stamp.path) for stamp in reader.list_files()}):
            displaced = [head for head in reader.list_versions(record) if head.is_displaced]
            is_open = bool(displaced and reader.find_conflicts((record,)))
            for head in displaced:
                if is_open or head.ref in waiting:
                    row = read_known(session, head.ref)
                    text = (head.id, hash_data(row.draft.data)) if row is not None else None
                    if row is None or row.actor == MARKING or text is None or text in told:
                        continue
                    told.add(text)
                    places = copies.get(text, [])
                    if not places and _is_untold(session, reader, head.path):
                        places = [head.path]
                    if not places and head.ref not in waiting and _is_settled(session, reader, head):
                        continue
                    yield from _name_aside(head, row, path, places, is_own=head.ref.log == session.store.log)


def _is_settled(session: Session, reader: IndexReader, head: VersionHead) -> bool:
    """Tell whether no open conflict of a record has this version as a side."""
    known = list_open(session, reader, head.id)
    is_clear = len(known) == len(reader.find_conflicts((head.id,)).get(head.id, ()))
    return is_clear and all(head.ref not in refs for refs in known.values())


def _list_copies(session: Session, stamps: Sequence[FileStamp]) -> dict[tuple[RecordId, bytes], list[str]]:
    """Return where copies of each text of a memory lie.

    A stamp names the first version of its bytes, which two machines may have kept as a version each.
    """
    places: dict[tuple[RecordId, bytes], list[str]] = {}
    for stamp in stamps:
        row = read_known(session, stamp.ref)
        if row is not None and session.store.stat_file(stamp.path) is not None:
            places.setdefault((row.draft.id, stamp.sha256), []).append(stamp.path)
    return places


def read_known(session: Session, ref: EntryRef | None) -> VersionRow | None:
    """Return the row of a version; None where it cannot be read, which is named where the logs are read."""
    try:
        return session.store.read_row(ref) if ref is not None else None
    except (DamagedError, NewerFormatError):
        return None


def _is_untold(session: Session, reader: IndexReader, path: str) -> bool:
    """Tell whether a file lies at a place that is not taken in yet: neither a memory's nor another copy's."""
    return reader.get_file(path) is None and session.store.stat_file(path) is not None


def _name_aside(
    head: VersionHead, row: VersionRow, path: str, places: Sequence[str], *, is_own: bool
) -> Iterator[Problem]:
    """Name one text at the places where the copy lies now, which a person may have moved; else at the memory's file.

    Of a copy that another machine found (not `is_own`) nobody here knows that it was ever on this one.
    """
    if row.actor == DISPLACING:
        yield describe_displaced(path, head.id, head.version, head.ref)
    elif head.path != path:
        kept = f"version {head.version}, {head.ref}"
        message = f"{describe_copy(head.path)}; its text is kept as {kept}, beside {path[-120:]!r}"
        mend = f"Compare with {name_reading(head.id, head.ref)}, then settle (`onrecord conflicts`)."
        if not places:
            state = "is gone" if is_own else "was found on another machine and is not on this one"
            message = f"the copy {head.path[-120:]!r} of this file {state}; its text is kept as {kept}"
        for place in places or [path]:
            yield Problem(place, 0, "conflict_copy", Severity.WARNING, message, mend)


def check_conflicts(session: Session) -> Iterator[Problem]:
    """Yield a problem for each open conflict."""
    with session.index.read() as reader:
        for head in reader.list_conflicts(_OPEN):
            message = f"conflict {head.id} is open: texts of one memory stand against each other"
            mend = f"{_name_settling(session, reader, head.id)}; the file shows the sides one after another."
            yield Problem(head.path, 0, "conflict_open", Severity.WARNING, message, mend)


def check_proposals(session: Session) -> Iterator[Problem]:
    """Yield a problem for each change of a server-owned key that asks for what the user has to decide."""
    for wish in find_open(session):
        whose = "" if wish["path"] else f" of {wish['record']}, which has no file"
        message = f"proposal {wish['id']}: {wish['key']}{whose} was changed by hand, which asks for your decision"
        yield Problem(str(wish["path"] or ""), 0, "proposal_open", Severity.WARNING, message)
