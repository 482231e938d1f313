"""Append turns to transcripts: one by one, or many in few commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from onrecord.app.admission import admit
from onrecord.app.catalog import CAPTURE
from onrecord.app.conflicts import attend
from onrecord.app.content import read_turn_text
from onrecord.app.outbox import keep_in_backup
from onrecord.app.places import choose_path, is_unchanged
from onrecord.app.reconcile import observe_under_lock
from onrecord.app.remember import note_secrets
from onrecord.app.scrub import Scrubbed, scrub
from onrecord.app.session import Reply, Session
from onrecord.app.workspaces import spell_workspace
from onrecord.domain.errors import StorageFailedError, TurnExistsError
from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import BlockId, RecordId, derive_block_id, show_block_id
from onrecord.domain.instants import Instant
from onrecord.domain.limits import TRANSCRIPT_PART_MAX_BYTES
from onrecord.domain.transcript import Turn, read_part_number, render_block, render_head
from onrecord.ports.index import IndexReader
from onrecord.ports.store import Change, TurnRow, VersionDraft, WriteUnit


@dataclass(frozen=True, slots=True)
class Captured:
    """Where a turn is: transcript, block, and whether it was there before."""

    id: RecordId
    turn: str
    block: BlockId
    duplicate: bool


@dataclass(slots=True)
class _Part:
    """The newest part of a session's transcript while turns are appended to it; number 0 is not looked up yet."""

    id: RecordId
    path: str
    size_bytes: int
    number: int = 0


@dataclass(slots=True)
class _Batch:
    """Changes of one commit, with what they change in the sessions they touch."""

    origin: str
    changes: list[Change] = field(default_factory=list)
    parts: dict[tuple[str, str], _Part | None] = field(default_factory=dict)
    ordinals: dict[tuple[str, str], int] = field(default_factory=dict)
    seen: dict[tuple[str, str, str], tuple[Turn, Captured]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)


def capture(session: Session, given: Mapping[str, object]) -> Reply:
    """Append one turn, once.

    Returns:
        data: id of the transcript, turn, block, duplicate; or backup_only when the vault cannot be written.

    Raises:
        InvalidInputError, LimitExceededError: nothing was stored.
        TurnExistsError: the turn is there with another text.
        NotWritableError: nothing was stored, not even in the backup.
    """
    scrubbed = scrub(admit(CAPTURE, given), is_on=session.policy.redact)
    reply = Reply()
    try:
        write_turn(session, scrubbed, reply)
    except StorageFailedError as error:
        keep_in_backup(session, "capture", scrubbed.arguments, reply, error)
    return reply


def write_turn(session: Session, scrubbed: Scrubbed, reply: Reply) -> None:
    """Write what `capture` was given to the vault alone.

    Args:
        session: The opened vault.
        scrubbed: Admitted arguments without secrets.
        reply: Gets data and warnings as of `capture`.

    Raises:
        TurnExistsError: the turn is there with another text.
        NotWritableError: nothing was stored.
    """
    arguments = scrubbed.arguments
    note_secrets(reply, scrubbed.rules)
    time = arguments.get("time")
    turn = Turn(
        source=str(arguments["source"]),
        session=str(arguments["session"]),
        turn=str(arguments["turn"]),
        role=str(arguments["role"]),
        text=str(arguments["text"]),
        origin=name_turn_origin(session, str(arguments["role"])),
        speaker=str(arguments.get("speaker", "")),
        time=Instant(str(time)) if time is not None else None,
    )
    workspace = str(arguments.get("workspace") or session.policy.workspace)
    with session.write() as unit:
        (result,) = append_turns(session, unit, [turn], workspace, reply, scrubbed.rules)
        attend(session, unit, reply)
    if isinstance(result, TurnExistsError):
        raise result
    block = show_block_id(result.block)
    reply.data = {"id": result.id, "turn": result.turn, "block": block, "duplicate": result.duplicate}


def name_turn_origin(session: Session, role: str) -> str:
    """Return the origin of a captured turn: the user's only at a terminal and in the user's role."""
    if role == "tool":
        return "tool"
    return session.caller.origin if role == "user" else "agent"


def append_turns(
    session: Session,
    unit: WriteUnit,
    turns: Sequence[Turn],
    workspace: str,
    reply: Reply,
    redacted: tuple[str, ...] = (),
) -> list[Captured | TurnExistsError]:
    """Append turns in one commit; under the lock. Turns that are there already change nothing.

    Args:
        session: The opened vault.
        unit: The right to write.
        turns: At most 900 (a new transcript part is a change too), without secrets.
        workspace: Home of new transcripts.
        reply: Gets warnings and degradation.
        redacted: Rules that hit in any of them.

    Returns:
        One result a turn, in order.

    Raises:
        StorageFailedError: nothing was stored.
    """
    _observe_edits(session, unit, turns, reply)
    batch = _Batch(session.caller.origin)
    results: list[Captured | TurnExistsError] = []
    with session.index.read() as reader:
        workspace = spell_workspace(reader, workspace)
        for turn in turns:
            results.append(_append(session, unit, reader, batch, turn, workspace, redacted))
    if batch.changes:
        receipt = unit.commit(batch.changes, session.caller.actor)
        session.publish(receipt, reply)
    return results


def _observe_edits(session: Session, unit: WriteUnit, turns: Sequence[Turn], reply: Reply) -> None:
    """Take in what was written by hand into the transcripts that are about to grow: the stamp of an append hides it."""
    edited: list[str] = []
    with session.index.read() as reader:
        for name in dict.fromkeys((turn.source, turn.session) for turn in turns):
            last = reader.get_last_turn(*name)
            stamp = reader.get_file(last.path) if last is not None else None
            if stamp is None:
                continue
            state = session.store.stat_file(stamp.path)
            if state is not None and not is_unchanged(state, stamp):
                edited.append(stamp.path)
    if edited:
        observe_under_lock(session, unit, edited, reply)


def _append(
    session: Session,
    unit: WriteUnit,
    reader: IndexReader,
    batch: _Batch,
    turn: Turn,
    workspace: str,
    redacted: tuple[str, ...],
) -> Captured | TurnExistsError:
    known = _find_known(session, reader, batch, turn)
    if known is not None:
        return known
    name = (turn.source, turn.session)
    block = render_block(turn)
    part = _open_part(session, reader, batch, name)
    if part is None or part.size_bytes + len(block) > TRANSCRIPT_PART_MAX_BYTES:
        part = _begin_part(session, unit, reader, batch, turn, workspace, part)
        batch.parts[name] = part
    ordinal = batch.ordinals[name] = batch.ordinals[name] + 1
    row = TurnRow(turn.source, turn.session, turn.turn, turn.role, ordinal, part.size_bytes, turn.speaker, turn.time)
    draft = VersionDraft(part.id, 1, "event", part.path, block, turn.origin, workspace, turn=row, redacted=redacted)
    batch.changes.append(Change("event.append", draft, place="append"))
    part.size_bytes += len(block)
    captured = Captured(part.id, turn.turn, derive_block_id(turn.source, turn.session, turn.turn), duplicate=False)
    batch.seen[(*name, turn.turn)] = (turn, captured)
    return captured


def _find_known(session: Session, reader: IndexReader, batch: _Batch, turn: Turn) -> Captured | TurnExistsError | None:
    earlier = batch.seen.get((turn.source, turn.session, turn.turn))
    if earlier is not None:
        same, captured = earlier
        if (same.role, same.speaker, same.text) == (turn.role, turn.speaker, turn.text):
            return Captured(captured.id, captured.turn, captured.block, duplicate=True)
        return TurnExistsError("this turn is there with another text", field="turn")
    head = reader.find_turn(turn.source, turn.session, turn.turn)
    if head is None or head.turn is None:
        return None
    is_same = (head.turn.role, head.turn.speaker) == (turn.role, turn.speaker)
    if is_same and read_turn_text(session, head) == turn.text:
        return Captured(head.id, head.turn.turn, BlockId(head.turn.block), duplicate=True)
    return TurnExistsError("this turn is there with another text", field="turn")


def _open_part(session: Session, reader: IndexReader, batch: _Batch, name: tuple[str, str]) -> _Part | None:
    """Return the newest part of a session that can still grow, None if a new one must begin."""
    if name in batch.parts:
        return batch.parts[name]
    last = reader.get_last_turn(*name)
    batch.ordinals[name] = last.turn.n if last is not None and last.turn is not None else 0
    part = None
    if last is not None:
        expected = last.offset_bytes + last.size_bytes
        state = session.store.stat_file(last.path)
        size = max(expected, state.size_bytes) if state is not None else TRANSCRIPT_PART_MAX_BYTES
        part = _Part(last.id, last.path, size)
    batch.parts[name] = part
    return part


def _count_parts(session: Session, reader: IndexReader, part: _Part | None) -> int:
    """Return the number of a session's newest part, 0 without one: its file name does not tell it."""
    if part is None:
        return 0
    if part.number:
        return part.number
    versions = reader.list_versions(part.id)
    row = session.store.read_row(versions[0].ref) if versions else None
    return read_part_number(row.draft.data) if row is not None else 1


def _begin_part(
    session: Session,
    unit: WriteUnit,
    reader: IndexReader,
    batch: _Batch,
    turn: Turn,
    workspace: str,
    before: _Part | None,
) -> _Part:
    number = _count_parts(session, reader, before) + 1
    title = turn.session if number == 1 else f"{turn.session}.{number}"
    path = choose_path("event", (turn.source,), title, reader, session.store, batch.taken)
    batch.taken.add(fold_path(path))
    record_id = unit.draw_record_id()
    stamp = unit.stamp(len(batch.changes))
    data = render_head(
        record_id=record_id,
        source=turn.source,
        session=turn.session,
        part=number,
        workspace=workspace,
        by=str(stamp.ref),
        recorded_at=stamp.recorded_at,
        origin=batch.origin,
    )
    draft = VersionDraft(record_id, 1, "event", path, data, batch.origin, workspace)
    batch.changes.append(Change("record.create", draft, place="create"))
    return _Part(record_id, path, len(data), number)
