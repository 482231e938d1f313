"""Disagreements between versions of one record: merged where that is safe, else recorded as a conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onrecord.app.branches import find_tips, list_touched, mark_judged
from onrecord.app.carrying import carry_over
from onrecord.app.closing import clear_files, close_ended, is_told
from onrecord.app.merging import merge_versions, propose
from onrecord.app.next_version import plan_next, take_out_copies
from onrecord.app.places import choose_path
from onrecord.app.session import Reply, Session
from onrecord.app.twins import join_twins
from onrecord.domain.branches import says_the_same
from onrecord.domain.conflict import (
    DETECTOR,
    OPEN,
    STATUS_OF_STATE,
    Member,
    Side,
    describe_keys,
    identify,
    render_body,
)
from onrecord.domain.errors import DamagedError, LimitExceededError, NotWritableError
from onrecord.domain.ids import RecordId
from onrecord.domain.limits import CONFLICT_SIDES
from onrecord.domain.merge_marks import has_marks
from onrecord.domain.record import KeyValue, read_record, render_record
from onrecord.domain.redaction import redact
from onrecord.domain.trust import choose_weakest
from onrecord.ports.index import IndexReader, VersionHead
from onrecord.ports.store import DISPLACING, Change, VersionDraft, VersionRow, WriteUnit

# An editor that saves again and again while its edits are merged is merged with so often; then a conflict opens.
_MERGE_ROUNDS = 3
# So many texts are attended to in one call, the rest with later ones.
_ATTENDED_MAX_COUNT = 20
_LISTED_MAX_COUNT = 1_000
# A transcript only grows; of a conflict the later version is shown.
_WITHOUT_SIDES = frozenset({"event", "conflict"})
_AUTHORS = {"user": "the user", "confirmed": "the user"}


@dataclass(frozen=True, slots=True)
class Attended:
    """What became of a text that stood aside: the version it was merged as (0: none), or the conflict it is in."""

    record: RecordId
    merged: int = 0
    conflict: RecordId | None = None


def attend(session: Session, unit: WriteUnit, reply: Reply, *, may_merge: bool = True) -> list[Attended]:
    """Deal with outside edits that stand aside.

    One that a write displaced is merged where both fit; else a conflict opens. What is left beyond a bound, or because
    the disk refuses, is dealt with by later calls.

    Args:
        session: The opened vault.
        unit: The right to write.
        reply: Is told what became of each, and of what is left.
        may_merge: Whether the edits were made from the versions that they name.
    """
    done: list[Attended] = []
    try:
        _attend_all(session, unit, reply, done, may_merge=may_merge)
        if _judge_touched(session, unit, reply, done):
            _attend_all(session, unit, reply, done, may_merge=False)
        clear_files(session, unit)
    except (NotWritableError, DamagedError, LimitExceededError) as error:
        reply.degrade("conflicts_waiting", f"{error.reason}; what stands aside is kept and looked at again")
    return done


def _attend_all(session: Session, unit: WriteUnit, reply: Reply, done: list[Attended], *, may_merge: bool) -> None:
    for tries in range(_MERGE_ROUNDS + 1):
        found = 0
        with session.index.read() as reader:
            waiting = reader.list_unsettled(session.store.log, _LISTED_MAX_COUNT)
        for head in waiting:
            if len(done) >= _ATTENDED_MAX_COUNT or any(item.reason == "index_behind" for item in reply.degraded):
                return
            attended = _attend_one(session, unit, reply, head, may_merge=may_merge and tries < _MERGE_ROUNDS)
            if attended is not None:
                found += 1
                done.append(attended)
        if not found:
            return


def _judge_touched(session: Session, unit: WriteUnit, reply: Reply, done: list[Attended]) -> bool:
    """Open conflicts for records that another installation has changed too, as many as one call may.

    Returns:
        Whether texts stand aside that have to be attended to since.
    """
    judged: list[RecordId] = []
    has_carried = False
    for record in list_touched(session)[:_ATTENDED_MAX_COUNT]:
        if len(done) >= _ATTENDED_MAX_COUNT or any(item.reason == "index_behind" for item in reply.degraded):
            break
        kept, gone = join_twins(session, unit, reply, record) or (record, record)
        conflict = _open_branches(session, unit, reply, kept)
        judged.append(record)
        for ended in dict.fromkeys((record, kept)):
            close_ended(session, unit, reply, ended)
        has_carried = carry_over(session, unit, reply, gone) or has_carried
        if conflict is not None:
            reply.warnings.append(f"{record} was changed on two machines: `onrecord read {conflict}`")
            done.append(Attended(record, conflict=conflict))
    if judged:
        mark_judged(session, judged)
    return has_carried


def _open_branches(session: Session, unit: WriteUnit, reply: Reply, record: RecordId) -> RecordId | None:
    """Open the conflict between the tips of a record; None where they say the same, or it is told already."""
    with session.index.read() as reader:
        tips = find_tips(session, reader, record)
    if not tips or tips[0].kind in _WITHOUT_SIDES:
        return None
    sides: list[VersionRow] = []
    for tip in tips:
        row = session.store.read_row(tip.ref)
        if row is None or row.is_erased or row.is_sealed:
            continue
        if all(not says_the_same(row.draft.data, side.draft.data, session.yaml) for side in sides):
            sides.append(row)
    sides = sides[: len(CONFLICT_SIDES)]
    with session.index.read() as reader:
        if len(sides) < 2 or is_told(session, reader, record, [side.ref for side in sides]):
            return None
    return open_conflict(session, unit, reply, sides)


def _attend_one(
    session: Session, unit: WriteUnit, reply: Reply, head: VersionHead, *, may_merge: bool
) -> Attended | None:
    """Merge one text or open its conflict; None where it says nothing that the memory does not say, or is gone."""
    if head.kind in _WITHOUT_SIDES:
        return None
    with session.index.read() as reader:
        current = reader.get_current(head.id)
    rows = [session.store.read_row(item.ref) for item in (current, head) if item is not None]
    sides = [row for row in rows if row is not None and not (row.is_erased or row.is_sealed)]
    if current is None or len(sides) < 2:
        return None
    ours, theirs = sides
    if says_the_same(ours.draft.data, theirs.draft.data, session.yaml):
        return None
    if may_merge and theirs.actor == DISPLACING and not has_marks(theirs.draft.data):
        merged = _merge(session, unit, reply, current, ours, theirs)
        if merged:
            reply.warnings.append(f"an edit made outside of {head.id} was merged into it as version {merged}")
            return Attended(head.id, merged=merged)
    conflict = open_conflict(session, unit, reply, sides)
    if conflict is None:
        return None
    reply.warnings.append(f"an edit made outside of {head.id} stands against it: `onrecord read {conflict}`")
    return Attended(head.id, conflict=conflict)


def _merge(
    session: Session, unit: WriteUnit, reply: Reply, current: VersionHead, ours: VersionRow, theirs: VersionRow
) -> int:
    """Make a version of both; return its number, 0 where no merge can be had."""
    data, _ = merge_versions(session, ours, theirs)
    if data is None:
        return 0
    origin = choose_weakest((ours.draft.origin, theirs.draft.origin))
    change = plan_next(session, unit, current, data, (ours, theirs), origin)
    receipt = unit.commit([change], session.caller.actor)
    session.publish(receipt, reply)
    return change.draft.version if change.draft is not None else 0


def open_conflict(session: Session, unit: WriteUnit, reply: Reply, sides: Sequence[VersionRow]) -> RecordId | None:
    """Open the conflict between versions of one record; where it was opened before, here or elsewhere, nothing changes.

    Args:
        session: The opened vault.
        unit: The right to write.
        reply: As of `Session.publish`.
        sides: Their rows, the current one first.

    Returns:
        Its id; None where another installation has opened it and its entry has not arrived.
    """
    members = [Member(row.draft.id, row.draft.version, row.ref) for row in sides]
    conflict = identify(members)
    first = sides[0].draft
    title = read_record(first.data, first.path, session.yaml).title
    with session.index.read() as reader:
        if reader.get_current(conflict) is not None:
            return conflict
        path = _choose_path(session, reader, title, conflict)
    if path is None:
        return None
    shown = [_describe_side(session, member, row) for member, row in zip(members, sides, strict=True)]
    proposal = propose(session, sides)
    origin = choose_weakest(row.draft.origin for row in sides)
    stamp = unit.stamp(0)
    copies: dict[str, KeyValue] = {
        "id": conflict,
        "version": 1,
        "by": str(stamp.ref),
        "recorded_at": stamp.recorded_at,
        "origin": origin,
    }
    keys = describe_keys(title, shown, proposal) | {"workspace": first.workspace} | copies
    data = render_record(keys, _scrub(session, render_body(conflict, title, shown, proposal)))
    draft = VersionDraft(
        conflict, 1, "conflict", path, data, origin, first.workspace, status=STATUS_OF_STATE[OPEN]
    )  # fmt: skip
    refs = [{"rel": "member", "rec": member.record, "ver": member.version} for member in members]
    receipt = unit.commit(
        [Change("conflict.open", draft, {"refs": refs, "det": DETECTOR}, place="create")], session.caller.actor
    )
    session.publish(receipt, reply)
    return conflict


def _choose_path(session: Session, reader: IndexReader, title: str, conflict: RecordId) -> str | None:
    """Return a free place; None where another installation's file of this very conflict lies in the first one."""
    path = choose_path("conflict", (), f"Conflict in {title}", reader, session.store)
    first = path.rpartition(" (")[0] + ".md" if path.endswith(").md") else path
    if first != path and session.store.stat_file(first) is not None:
        found = read_record(session.store.read_file(first), first, session.yaml)
        return None if found.claimed_id == conflict else path
    return path


def _describe_side(session: Session, member: Member, row: VersionRow) -> Side:
    who = " / ".join(name for name in (row.actor.client, row.actor.agent) if name)
    author = _AUTHORS.get(row.draft.origin, "not known") if row.draft.origin == "file" or not who else who
    text = take_out_copies(session, row.draft.data).decode(errors="replace").replace("\0", "\ufffd")
    return Side(member, row.draft.origin, author, row.recorded_at, row.draft.path, text)


def _scrub(session: Session, text: str) -> str:
    """Return a text without secrets: the user's own file keeps them, what is written beside it does not."""
    return redact(text).text if session.policy.redact else text
