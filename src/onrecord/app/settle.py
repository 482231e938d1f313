"""List conflicts, and settle one: a side is kept, or a merge of both, in one step."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from onrecord.app.admission import admit
from onrecord.app.branches import find_tips, list_touched
from onrecord.app.callers import check_user
from onrecord.app.closing import close_ended, find_written, list_choices, plan_resolution
from onrecord.app.conflicts import attend
from onrecord.app.log_losses import list_given_up
from onrecord.app.marked import tell_given_way
from onrecord.app.merging import list_parents, merge_versions
from onrecord.app.next_version import plan_next
from onrecord.app.outside_operations import CONFLICTS, SETTLE
from onrecord.app.pages import fill_page
from onrecord.app.places import is_whole
from onrecord.app.session import Channel, Reply, Session
from onrecord.app.sides import describe_sides
from onrecord.app.stamps import list_record_stamps
from onrecord.app.update import locate_current
from onrecord.domain.ancestry import is_ancestor
from onrecord.domain.branches import says_the_same
from onrecord.domain.conflict import OPEN, RESOLVED, STATUS_OF_STATE, Conflict
from onrecord.domain.errors import (
    ConflictError,
    DamagedError,
    InvalidInputError,
    NotFoundError,
    NotWritableError,
    StaleVersionError,
)
from onrecord.domain.ids import EntryRef, LogId, RecordId
from onrecord.domain.limits import CONFLICT_SIDES
from onrecord.domain.near_names import find_near
from onrecord.domain.trust import choose_weakest, get_trust
from onrecord.ports.index import IndexReader, VersionHead
from onrecord.ports.store import Change, VersionRow, WriteUnit

_LISTED = "`onrecord conflicts` lists them with their whole ids."
_GIVEN_UP = "the text was given up with the log that held it"
_MERGE = "merge"
# The memory's text as it is now: for one that was edited until it says what it should.
_CURRENT = "current"


@dataclass(frozen=True, slots=True)
class _Case:
    """A conflict with the rows of its sides that are kept, A first, and the current version of their record.

    `names` has the letter of each of these sides; a side that was given up with its log has none.
    """

    head: VersionHead
    conflict: Conflict
    sides: Sequence[VersionRow]
    names: Sequence[str]
    current: VersionHead


def list_conflicts(session: Session, given: Mapping[str, object]) -> Reply:
    """List the open conflicts, oldest first; with `all` the settled ones too.

    Returns:
        data: conflicts[] with id, title, members, sides[] (as of `describe_sides`), state, since, decision; truncated
        and next_offset where the page ended early; not_checked: memories that another installation has changed and
        that are yet to be compared.

    Raises:
        InvalidInputError: the call is refused.
    """
    arguments = admit(CONFLICTS, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply)
    statuses = ("pending", "retired") if arguments.get("all") else ("pending",)
    offset = arguments.get("offset", 0)
    assert isinstance(offset, int)
    with session.index.read() as reader:
        heads = reader.list_conflicts(statuses)
        given_up = list_given_up(session) if heads[offset:] else {}
        items = (_describe(session, reader, head, given_up) for head in heads[offset:])
        page = fill_page(items, session.policy.page_bytes)
    reply.data = {"conflicts": page.items}
    if page.is_full:
        reply.data |= {"truncated": True, "next_offset": offset + len(page.items)}
    waiting = len(list_touched(session))
    if waiting:
        reply.data["not_checked"] = waiting
    return reply


def _describe(
    session: Session, reader: IndexReader, head: VersionHead, given_up: Collection[LogId]
) -> dict[str, object]:
    written = find_written(session, reader, head.id)
    conflict = written[0] if written is not None else None
    first = next(iter(reader.list_versions(head.id)), head)
    state, decision = (conflict.state, conflict.decision) if conflict is not None else (OPEN, "")
    if STATUS_OF_STATE.get(state) != head.status:  # changed by hand: a copy without effect
        state, decision = OPEN if head.status == STATUS_OF_STATE[OPEN] else RESOLVED, ""
    item: dict[str, object] = {
        "id": head.id,
        "title": head.title,
        "members": [str(member) for member in conflict.members] if conflict is not None else [],
        "sides": describe_sides(session, conflict.members, given_up) if conflict is not None else [],
        "state": state,
        "since": first.recorded_at,
    }
    if decision:
        item["decision"] = decision
    return item


def settle(session: Session, given: Mapping[str, object]) -> Reply:
    """Keep a side of a conflict, or a merge of both: one commit makes the memory's next version and ends the conflict.

    Args:
        session: The opened vault.
        given: Arguments of the operation `settle`.

    Returns:
        data: id, record, version, kept; copies[], paths of the copies that hold a side;
        removed[], those of them that were deleted.

    Raises:
        InvalidInputError, NotFoundError: as named.
        ConflictError: it is settled, or no merge can be had.
        StaleVersionError: the memory has moved on to what no side says, another than `current` is to be kept, and
            `expect` does not name its version.
        ApprovalRequiredError: the caller is not the user, and a side is of a stronger origin than the caller's.
        DamagedError: the bytes of a side are nowhere.
        NotWritableError: nothing was stored.
    """
    try:
        arguments = admit(SETTLE, given)
    except InvalidInputError as error:
        raise _name_choices(session, given, error) from error
    if not is_whole(str(arguments["id"])):
        raise InvalidInputError("a write takes the whole id of 12 characters", field="id", hint=_LISTED)
    reply = Reply()
    session.compare_files(reply, pieces=None, intake_pieces=None)
    with session.write() as unit:
        _settle(session, unit, arguments, reply)
    return reply


def _name_choices(session: Session, given: Mapping[str, object], error: InvalidInputError) -> InvalidInputError:
    """Return the error of what is no side at all with what may be kept of this very conflict, as far as it is known."""
    record, keep = given.get("id"), given.get("keep")
    if error.field != "keep" or not isinstance(record, str) or not is_whole(record):
        return error
    with session.index.read() as reader:
        choices = list_choices(session, reader, RecordId(record))
    near = find_near(keep, choices) if isinstance(keep, str) else None
    hint = f"One of: {', '.join(choices)}."
    return InvalidInputError(error.reason, field="keep", hint=hint, did_you_mean=near) if choices else error


def _settle(session: Session, unit: WriteUnit, arguments: Mapping[str, object], reply: Reply) -> None:
    keep = str(arguments["keep"])
    case = _find_case(session, unit, RecordId(str(arguments["id"])), reply)
    _check_current(session, case, keep, arguments.get("expect"))
    if session.caller.channel is not Channel.TERMINAL:
        strongest = min(
            get_trust(origin) for origin in (case.current.origin, *(row.draft.origin for row in case.sides))
        )
        if strongest < get_trust(session.caller.origin):
            check_user(session.caller, "settle what was written with more trust than an agent's", "keep")
    change = _plan_memory(session, unit, case, keep)
    resolution = plan_resolution(session, unit, case.head, 1, keep, "user")
    assert resolution is not None
    with session.index.read() as reader:
        stamps = list_record_stamps(reader, case.current.id)
    receipt = unit.commit([change, resolution], session.caller.actor)
    session.publish(receipt, reply)
    tell_given_way(session, stamps if change.place == "replace" else (), reply)
    assert change.draft is not None
    reply.data = {"id": case.head.id, "record": case.current.id, "version": change.draft.version, "kept": keep}
    _tell_copies(session, unit, case, reply, is_removing=arguments.get("remove_copies") is True)
    close_ended(session, unit, reply, case.current.id)
    attend(session, unit, reply)


def _find_case(session: Session, unit: WriteUnit, record: RecordId, reply: Reply) -> _Case:
    with session.index.read() as reader:
        if reader.get_current(record) is None:
            near = find_near(record, (head.id for head in reader.list_conflicts((STATUS_OF_STATE[OPEN],))))
            raise NotFoundError("no conflict with this id", field="id", hint=_LISTED, did_you_mean=near)
    head, _ = locate_current(session, unit, record, reply)
    if head.kind != "conflict":
        raise InvalidInputError("this is no conflict", field="id", hint=_LISTED)
    if head.status != STATUS_OF_STATE[OPEN]:
        raise ConflictError("this conflict is settled", field="id", hint="`onrecord conflicts --all` tells how.")
    with session.index.read() as reader:
        written = find_written(session, reader, record)
    if written is None:
        raise DamagedError("no version of this conflict names its members")
    conflict = written[0]
    if len({member.record for member in conflict.members}) > 1:
        raise ConflictError("only a conflict between versions of one memory can be settled so")
    sides = _read_sides(session, conflict)
    current, _ = locate_current(session, unit, conflict.members[0].record, reply)
    return _Case(head, conflict, list(sides.values()), list(sides), current)


def _read_sides(session: Session, conflict: Conflict) -> dict[str, VersionRow]:
    """Return the row of each side by its letter, but for those that were given up with their log: they never come."""
    sides: dict[str, VersionRow] = {}
    lost: list[EntryRef | None] = []
    for name, member in zip(CONFLICT_SIDES, conflict.members, strict=False):
        row = session.store.read_row(member.ref) if member.ref is not None else None
        if row is None or row.is_erased or row.is_sealed:
            lost.append(member.ref)
        else:
            sides[name] = row
    given_up = list_given_up(session) if lost else {}
    if any(ref is None or ref.seq + 1 not in given_up.get(ref.log, ()) for ref in lost):
        raise DamagedError("the bytes of a side are not here", hint="Sync the other machine's vault, then repeat.")
    return sides


def _check_current(session: Session, case: _Case, keep: str, expect: object) -> None:
    """Refuse to settle over a version that the caller has not seen: one that says what no side says.

    `current` writes over none, so that it needs no version; one that is named has to be the current one all the same.
    """
    current = case.current
    if expect is None and (keep == _CURRENT or _is_seen(session, case)):
        return
    if expect != current.version:
        hint = f"Read {current.id}; then repeat with --expect {current.version}, or keep `current`: what it says now."
        raise StaleVersionError(f"the memory has moved on to version {current.version}", field="expect", hint=hint)


def _is_seen(session: Session, case: _Case) -> bool:
    """Tell whether the current version is a side, says what one says, or is what all of them come from."""
    now = session.store.read_row(case.current.ref)
    if now is None:
        return False
    said = any(row.ref == now.ref or says_the_same(row.draft.data, now.draft.data, session.yaml) for row in case.sides)
    return said or all(_comes_from(session, row, now.ref) for row in case.sides)


def _plan_memory(session: Session, unit: WriteUnit, case: _Case, keep: str) -> Change:
    """Return the memory's next version, with all sides as parents."""
    now = session.store.read_row(case.current.ref)
    if now is None:
        raise DamagedError("the current version is not in the versions store")
    data, origin = _choose_text(session, case, now, keep)
    parents = {row.ref: row for row in (now, *case.sides)}
    with session.index.read() as reader:
        tips = [session.store.read_row(tip.ref) for tip in find_tips(session, reader, case.current.id)]
    parents |= {row.ref: row for row in tips if row is not None and row.draft.data == now.draft.data}
    status = _choose_status(case, keep)
    change = plan_next(session, unit, case.current._replace(status=status), data, list(parents.values()), origin)
    if status != "retired" or change.draft is None:
        return change
    # What stays retired gets no file.
    return Change("record.retire", replace(change.draft, mode="observed"), {"cause": "user"})


def _choose_status(case: _Case, keep: str) -> str:
    """Return the status of what is kept: a side that stands brings a retired memory back, a retired one ends it."""
    if keep in CONFLICT_SIDES:
        return _find_side(case, keep).draft.status
    living = (row.draft.status for row in case.sides if row.draft.status != "retired")
    is_back = keep == _MERGE and case.current.status == "retired"
    return next(living, case.current.status) if is_back else case.current.status


def _choose_text(session: Session, case: _Case, now: VersionRow, keep: str) -> tuple[bytes, str]:
    """Return exactly the text that is asked for, with its origin; what is written since stays in none but a merge."""
    if keep == _CURRENT:
        return now.draft.data, now.draft.origin
    if keep != _MERGE:
        side = _find_side(case, keep)
        return side.draft.data, side.draft.origin
    if len(case.conflict.members) != 2:
        raise ConflictError("only two sides can be merged", field="keep", hint=_list_choices(case))
    if len(case.sides) != 2:
        raise ConflictError(f"no merge can be had: {_GIVEN_UP}", field="keep", hint=_list_choices(case))
    # The current version stands for a side from which it comes, as the user has gone on writing there, or that says so.
    one, other = (now if _stands_for(session, now, row) else row for row in case.sides)
    is_seen = now.ref in (one.ref, other.ref) or all(_comes_from(session, row, now.ref) for row in case.sides)
    if one.ref == other.ref or not is_seen:
        raise ConflictError(
            f"the memory has moved on to version {now.draft.version}, which a merge of the sides would not hold",
            field="keep",
            hint=_list_choices(case, has_merge=False),
        )
    data, reason = merge_versions(session, one, other)
    if data is None:
        raise ConflictError(f"no merge can be had: {reason}", field="keep", hint=_list_choices(case, has_merge=False))
    return data, choose_weakest(row.draft.origin for row in (one, other))


def _find_side(case: _Case, keep: str) -> VersionRow:
    if keep in case.names:
        return case.sides[case.names.index(keep)]
    is_member = CONFLICT_SIDES.index(keep) < len(case.conflict.members)
    reason = f"side {keep} cannot be kept: {_GIVEN_UP}" if is_member else "the conflict has no such side"
    raise NotFoundError(reason, field="keep", hint=_list_choices(case))


def _list_choices(case: _Case, *, has_merge: bool = True) -> str:
    """Return what may be kept of the conflict, as a hint."""
    merge = [_MERGE] if has_merge and case.conflict.has_merge and len(case.sides) == 2 else []
    return f"One of: {', '.join([*case.names, *merge, _CURRENT])}."


def _stands_for(session: Session, now: VersionRow, row: VersionRow) -> bool:
    return _comes_from(session, now, row.ref) or says_the_same(now.draft.data, row.draft.data, session.yaml)


def _comes_from(session: Session, row: VersionRow, older: EntryRef) -> bool:
    return is_ancestor(older, row.ref, lambda ref: list_parents(session, ref))


def _tell_copies(session: Session, unit: WriteUnit, case: _Case, reply: Reply, *, is_removing: bool) -> None:
    """Name the files beside the memory's own that hold a side; they are the user's, and go only at a word."""
    with session.index.read() as reader:
        own = {stamp.path for stamp in reader.find_files_of(case.current.id)}
    copies = [row for row in case.sides if row.draft.mode == "displaced" and row.draft.path not in own]
    found = {row.draft.path: row for row in copies if session.store.stat_file(row.draft.path) is not None}
    if not found:
        return
    if is_removing:
        hashes = {path: hashlib.sha256(row.draft.data).digest() for path, row in found.items()}
        reply.data["removed"] = _remove_copies(unit, hashes, reply)
    removed = reply.data.get("removed", [])
    assert isinstance(removed, list)
    left = sorted(found.keys() - set(removed))
    if left:
        reply.data["copies"] = left
        reply.warnings.append("copies beside the file hold a side; they are yours (--remove-copies deletes them)")


def _remove_copies(unit: WriteUnit, hashes: Mapping[str, bytes], reply: Reply) -> list[str]:
    """Delete files of these bytes; return which. The conflict is settled, whether they can be deleted or not."""
    removed: list[str] = []
    for path in sorted(hashes):
        try:
            if unit.remove_file(path, hashes[path]):
                removed.append(path)
        except NotWritableError as error:
            reply.warnings.append(f"{path} could not be deleted: {error.reason}")
    return removed
