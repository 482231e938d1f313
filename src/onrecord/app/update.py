"""Change a memory: exact old and new text, patches, a whole text, or its tags. Nothing is replaced in silence."""

from __future__ import annotations

from collections.abc import Mapping

from onrecord.app.admission import admit
from onrecord.app.branches import list_equal_tips
from onrecord.app.catalog import UPDATE
from onrecord.app.conflicts import attend
from onrecord.app.content import FilePlace, locate, read_version
from onrecord.app.current import choose_number
from onrecord.app.indexing import hash_text
from onrecord.app.judging import find_protection
from onrecord.app.marked import tell_given_way
from onrecord.app.next_version import choose_target, hash_pre_image, list_rows
from onrecord.app.origins import weigh_origin
from onrecord.app.pending import find_unknown
from onrecord.app.places import is_whole, resolve_current
from onrecord.app.reconcile import observe_all_under_lock, observe_under_lock
from onrecord.app.remember import describe_copies, note_secrets
from onrecord.app.scrub import Scrubbed, scrub, scrub_change
from onrecord.app.session import Reply, Session
from onrecord.app.waiting import tell_waiting
from onrecord.domain.errors import (
    ConflictError,
    FileBusyError,
    IdempotencyMismatchError,
    InvalidInputError,
    LimitExceededError,
    PendingSyncError,
    StaleVersionError,
)
from onrecord.domain.ids import RecordId
from onrecord.domain.limits import ADOPTED_FILE_MAX_BYTES, TEXT_MAX_BYTES
from onrecord.domain.patching import Patch, apply_patches
from onrecord.domain.record import KeyValue, Record, read_record, replace_keys, replace_text
from onrecord.ports.index import VersionHead
from onrecord.ports.store import Change, VersionDraft, WriteUnit

_RETIRED = (
    "Remember what still holds anew. A memory that was retired as its file was gone comes back by its file: put it "
    "back, or change it where it still lies."
)


def update(session: Session, given: Mapping[str, object]) -> Reply:
    """Make the next version of a record, on the version that the caller expects.

    The user's file keeps every byte that the change does not touch. An edit made outside meanwhile is recorded as a
    version first, so that `expect` is then stale.

    Returns:
        data: id, version; unchanged when the text already is as asked. Where an edit was saved while the file was
        written: merged, the version in which both are, or conflict, the record of their disagreement.

    Raises:
        InvalidInputError, LimitExceededError, NotFoundError: as named; a transcript or a conflict is not updated.
        PendingSyncError: the file is ahead of its row.
        StaleVersionError: `expect` is not the current version.
        ConflictError: it is retired, an old text does not occur exactly once, or the file is too large to take in
            what it holds.
        IdempotencyMismatchError: the key came with another request before.
        FileBusyError: another program is saving the file, and has not ended within 200 ms.
        NotWritableError: nothing was stored; updates never go to the backup.
    """
    scrubbed = scrub(admit(UPDATE, given), is_on=session.policy.redact)
    reply = Reply()
    note_secrets(reply, scrubbed.rules)
    if not is_whole(str(scrubbed.arguments["id"])):
        raise InvalidInputError("a write takes the whole id of 12 characters", field="id")
    session.hurry([RecordId(str(scrubbed.arguments["id"]))])
    session.compare_files(reply, pieces=None)
    with session.write() as unit:
        _write(session, unit, scrubbed, reply)
    tell_waiting(session, (RecordId(str(reply.data["id"])),), reply)
    return reply


def _write(session: Session, unit: WriteUnit, scrubbed: Scrubbed, reply: Reply) -> None:
    arguments = scrubbed.arguments
    record_id, expect = RecordId(str(arguments["id"])), arguments["expect"]
    key = unit.hash_key(str(arguments["idempotency_key"])) if "idempotency_key" in arguments else ""
    if key and _is_repeated(session, arguments, key, reply):
        return
    head, place = locate_current(session, unit, record_id, reply)
    if head.kind == "event":
        raise InvalidInputError("a transcript only grows", field="id", hint="Use capture, or remember a correction.")
    if head.kind == "conflict":
        hint = f"`onrecord settle {head.id} --keep A`, `B`, `merge` or `current`; or update the memory itself."
        raise InvalidInputError("a conflict is decided, not written", field="id", hint=hint)
    if head.status == "retired":
        raise ConflictError("this memory is retired, and no update brings it back", field="id", hint=_RETIRED)
    if head.version != expect:
        raise StaleVersionError(f"the current version is {head.version}", field="expect")
    base = read_version(session, head, place)
    record = read_record(base, head.path, session.yaml)
    data, rules = _change(session, record, base, arguments)
    note_secrets(reply, rules)
    # Where the file is behind, or gone, the same words again bring it level: a sync program may never do so.
    has_file = not (place.is_behind or place.is_missing or place.between)
    if data == base and has_file:
        reply.warnings.append("the memory already is as asked; no new version was made")
        reply.data = {"id": head.id, "version": head.version}
        return
    with session.index.read() as reader:
        number = choose_number(reader, record_id)
        parents = list_equal_tips(session, reader, head)
        text_sha256 = hash_text(read_record(data, head.path, session.yaml).text)
        origin = weigh_origin(reader, record_id, text_sha256, session.caller.origin)
    protection = find_protection(session, head)
    data = _refresh_copies(session, unit, record, data, head, number, protection, origin)
    path, how = choose_target(session, head, place, record.title)
    draft = VersionDraft(
        head.id, number, head.kind, path, data, origin, head.workspace, status=head.status,
        protection=protection, parents=parents, redacted=tuple(sorted({*scrubbed.rules, *rules})),
    )  # fmt: skip
    change = Change("record.update", draft, place=how, pre_sha256=hash_pre_image(place, base))
    receipt = unit.commit([change], session.caller.actor, key)
    session.publish(receipt, reply)
    if place.is_behind and place.stamp is not None:
        tell_given_way(session, [place.stamp], reply)
    reply.data = {"id": head.id, "version": list_rows(receipt)[0].draft.version}
    for attended in attend(session, unit, reply, may_merge=not place.is_behind):
        if attended.record == head.id:
            reply.data |= {"merged": attended.merged} if attended.merged else {"conflict": attended.conflict}


def _is_repeated(session: Session, arguments: Mapping[str, object], key: str, reply: Reply) -> bool:
    """Tell whether this call was made before under its key; the reply then says what it made.

    Raises:
        IdempotencyMismatchError: the key came with another request.
    """
    with session.index.read() as reader:
        for known in reader.find_by_key(key):
            if not _has_made(session, known, arguments):
                raise IdempotencyMismatchError("this key came with another request", field="idempotency_key")
            reply.data = {"id": known.id, "version": known.version}
            return True
    return False


def _has_made(session: Session, known: VersionHead, arguments: Mapping[str, object]) -> bool:
    """Tell whether these arguments, applied to the parent of a version, give that version."""
    row = session.store.read_row(known.ref)
    if row is None or known.id != arguments["id"] or not row.draft.parents:
        return False
    parent = session.store.read_row(row.draft.parents[0])
    if parent is None or parent.draft.version != arguments["expect"]:
        return False
    before = read_record(parent.draft.data, known.path, session.yaml)
    try:
        changed, _ = _change(session, before, parent.draft.data, arguments)
    except (ConflictError, InvalidInputError):
        return False
    made, wanted = (read_record(data, known.path, session.yaml) for data in (row.draft.data, changed))
    return (made.text, made.tags) == (wanted.text, wanted.tags)


def locate_current(
    session: Session, unit: WriteUnit, record_id: RecordId, reply: Reply
) -> tuple[VersionHead, FilePlace]:
    """Return the current version, after taking in what was edited outside."""
    with session.index.read() as reader:
        if find_unknown(reader, record_id) is not None:
            raise PendingSyncError("the file of this memory has come before its version")
        head = resolve_current(record_id, reader)
        place = locate(session, reader, head)
        has_come = place.stamp is None and not place.is_missing and reader.get_file(head.path) is None
    if place.is_missing:
        observe_all_under_lock(session, unit, reply)
    elif has_come and session.store.stat_file(head.path) is not None:
        observe_under_lock(session, unit, [head.path], reply)
    elif place.stamp is None or place.is_unchanged:
        _check_reachable(place, head)
        return head, place
    else:
        observe_under_lock(session, unit, [place.stamp.path], reply)
    with session.index.read() as reader:
        head = resolve_current(record_id, reader)
        place = locate(session, reader, head)
    put_off = session.settling.put_off
    if put_off and (place.is_missing or place.edited_path in put_off):
        raise FileBusyError("another program is saving the file of this memory", field="id")
    _check_reachable(place, head)
    state = session.store.stat_file(place.stamp.path) if place.stamp is not None else None
    if state is not None and state.size_bytes > ADOPTED_FILE_MAX_BYTES:
        raise ConflictError("the file has grown above 8 MiB by hand, so it was not taken in", hint="Split the file.")
    return head, place


def _check_reachable(place: FilePlace, head: VersionHead) -> None:
    if place.is_shut:
        hint = f"Allow the link again with `onrecord link`: {head.path.rpartition('/')[0]} or a folder above it."
        raise ConflictError("the file lies behind a link that is not followed", field="id", hint=hint)
    if place.stamp is not None and place.stamp.is_pending:
        raise PendingSyncError("the file holds a newer version that has not arrived")


def _change(
    session: Session, record: Record, base: bytes, arguments: Mapping[str, object]
) -> tuple[bytes, tuple[str, ...]]:
    """Return the file's bytes with the change, server-owned copies not yet refreshed, and rules that hit in its place.

    Raises:
        ConflictError, InvalidInputError, LimitExceededError: nothing is changed.
    """
    if "tags" in arguments:
        tags = arguments["tags"]
        assert isinstance(tags, tuple)
        if tuple(record.tags) == tags:
            return base, ()
        changed = replace_keys(base, {"tags": list(tags) if tags else None}, session.yaml)
        if changed == base:
            raise ConflictError("the tags of this file cannot be changed safely", hint="Edit the file by hand.")
        return changed, ()
    text = _build_text(record, arguments)
    rules: tuple[str, ...] = ()
    if session.policy.redact and text != record.text:
        text, rules = scrub_change(record.text, text)
    if len(text.encode()) > TEXT_MAX_BYTES:
        raise LimitExceededError(f"the new text is above {TEXT_MAX_BYTES} bytes", field="text")
    return (base if text == record.text else replace_text(base, text)), rules


def _build_text(record: Record, arguments: Mapping[str, object]) -> str:
    if "text" in arguments:
        text = str(arguments["text"])
        if not text.strip():
            raise InvalidInputError("the text is empty", field="text")
        return text
    if "patches" in arguments:
        pairs = arguments["patches"]
        assert isinstance(pairs, tuple)
        return apply_patches(record.text, [Patch(old, new) for old, new in pairs])
    return apply_patches(record.text, [Patch(str(arguments["old"]), str(arguments["new"]))])


def _refresh_copies(
    session: Session,
    unit: WriteUnit,
    record: Record,
    data: bytes,
    head: VersionHead,
    version: int,
    protection: str,
    origin: str,
) -> bytes:
    """Bring the display copies that the file has up to date; a file without them gets none."""
    if not record.server.is_marked:
        return data
    copies: dict[str, KeyValue | None] = dict(describe_copies(session, head.id, version, unit.stamp(0)))
    copies["origin"] = origin
    for name in ("client", "agent"):
        copies.setdefault(name, None)
    # Defaults are not written; what a hand wrote there must not stand beside what we vouch for.
    copies["status"] = head.status if head.status != "current" else None
    copies["kind"] = head.kind if head.kind != "note" else None
    copies |= dict.fromkeys(("confirmed_by", "kb", "governance"))
    copies["protection"] = protection if protection != "normal" else None
    present = record.present_keys
    wanted = {name: value for name, value in copies.items() if name in present or value is not None}
    return replace_keys(data, wanted, session.yaml)
