"""Keep a memory in the words given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from onrecord.app.admission import admit
from onrecord.app.catalog import REMEMBER
from onrecord.app.conflicts import attend
from onrecord.app.content import find_kept
from onrecord.app.indexing import hash_text
from onrecord.app.next_version import list_rows
from onrecord.app.outbox import keep_in_backup
from onrecord.app.places import choose_path
from onrecord.app.scrub import Scrubbed, scrub
from onrecord.app.session import Reply, Session
from onrecord.app.workspaces import spell_workspace
from onrecord.domain.errors import IdempotencyMismatchError, StorageFailedError
from onrecord.domain.front_matter import Value, YamlReading
from onrecord.domain.ids import RecordId
from onrecord.domain.names import fold_name
from onrecord.domain.record import KeyValue, read_record, render_record
from onrecord.domain.record_fields import read_fields
from onrecord.ports.index import IndexReader, VersionHead
from onrecord.ports.store import Change, Stamp, VersionDraft, WriteUnit

_USER_KEYS = (
    "title", "tags", "aliases", "type", "workspace", "event_time", "valid_from", "valid_to", "confidence",
    "source_ref", "review_by", "meta",
)  # fmt: skip
_NAME_FROM_TEXT_CHARS = 80


def remember(session: Session, given: Mapping[str, object]) -> Reply:
    """Write one new record, or return the one that already holds exactly this text in its workspace.

    Args:
        session: The opened vault.
        given: Arguments of the operation `remember`.

    Returns:
        data: id, version, duplicate; or backup_only without an id when the vault cannot be written.

    Raises:
        InvalidInputError, LimitExceededError: nothing was stored.
        IdempotencyMismatchError: the key came with another text before.
        NotWritableError: nothing was stored, not even in the backup.
    """
    scrubbed = scrub(admit(REMEMBER, given), is_on=session.policy.redact)
    reply = Reply()
    try:
        write_memory(session, scrubbed, reply)
    except StorageFailedError as error:
        keep_in_backup(session, "remember", scrubbed.arguments, reply, error)
    return reply


def write_memory(session: Session, scrubbed: Scrubbed, reply: Reply, *, stored_key: str = "") -> None:
    """Write what `remember` was given to the vault alone.

    Args:
        session: The opened vault.
        scrubbed: Admitted arguments without secrets.
        reply: Gets data and warnings as of `remember`.
        stored_key: The idempotency key in its stored form, from the backup; empty takes it from the arguments.

    Raises:
        IdempotencyMismatchError: the key came with another text before.
        NotWritableError: nothing was stored.
    """
    note_secrets(reply, scrubbed.rules)
    session.compare_files(reply, pieces=None)
    _take_in_same(session, str(scrubbed.arguments["text"]).encode(errors="replace"), reply)
    with session.write() as unit:
        _write(session, unit, scrubbed, reply, stored_key)


def _take_in_same(session: Session, text: bytes, reply: Reply) -> None:
    """Take in the files that still wait and hold just this text, so that no second memory comes to say it."""
    comparison = session.comparison
    if comparison is None or comparison.intake is None:
        return
    sized = comparison.intake.list_sized(len(text))
    read = session.store.read_files(state.path for state in sized)
    same = [state for state, data in zip(sized, read, strict=True) if data is not None and text in data]
    if same:
        comparison.hurried.update((state.device, state.inode) for state in same)
        session.compare_files(reply, pieces=None, intake_pieces=0)


def note_secrets(reply: Reply, rules: Sequence[str]) -> None:
    """Warn of what was taken out."""
    if rules:
        reply.warnings.append(f"secrets were replaced before anything was written: {', '.join(rules)}")


def _write(session: Session, unit: WriteUnit, scrubbed: Scrubbed, reply: Reply, stored_key: str) -> None:
    arguments = scrubbed.arguments
    text = str(arguments["text"])
    key = stored_key or (unit.hash_key(str(arguments["idempotency_key"])) if "idempotency_key" in arguments else "")
    with session.index.read() as reader:
        workspace = spell_workspace(reader, str(arguments.get("workspace") or session.policy.workspace))
        known = _find_known(session, reader, workspace, text, arguments, key, reply)
        if known is not None:
            reply.data = {"id": known.id, "version": known.version, "duplicate": True}
            return
        title = str(arguments.get("title") or _name_text(text))
        path = choose_path("note", (workspace,), title, reader, session.store)
    record_id = unit.draw_record_id()
    stamp = unit.stamp(0)
    data = render_record(_list_keys(session, arguments, workspace, record_id, stamp), text)
    draft = VersionDraft(record_id, 1, "note", path, data, session.caller.origin, workspace, redacted=scrubbed.rules)
    receipt = unit.commit([Change("record.create", draft, place="create")], session.caller.actor, key)
    session.publish(receipt, reply)
    if "workspace" not in arguments:
        reply.warnings.append(f"no workspace was given; kept in {workspace!r}")
    (row,) = list_rows(receipt)
    reply.data = {"id": row.draft.id, "version": row.draft.version, "duplicate": False}
    attend(session, unit, reply)


def _name_text(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), text)
    return first.strip().lstrip("#").strip()[:_NAME_FROM_TEXT_CHARS]


def _find_known(
    session: Session,
    reader: IndexReader,
    workspace: str,
    text: str,
    arguments: Mapping[str, object],
    key: str,
    reply: Reply,
) -> VersionHead | None:
    """Return the record that a repeated call or an exact duplicate names."""
    digest = hash_text(text)
    for head in reader.find_by_key(key) if key else ():
        if not _is_same_request(head, workspace, digest, arguments):
            raise IdempotencyMismatchError("this key came with another request", field="idempotency_key")
        return head
    title = arguments.get("title")
    for head in find_kept(session, reader, workspace, digest):
        if head.kind == "note" and (title is None or head.title == title):
            if ignored := _list_ignored(session, head, arguments):
                reply.warnings.append(f"this text is already kept; not applied: {', '.join(ignored)}")
            return head
    return None


def _list_ignored(session: Session, head: VersionHead, arguments: Mapping[str, object]) -> list[str]:
    """Return which of the given keys the memory has not, or has with another value."""
    given = {name: arguments[name] for name in _USER_KEYS if name in arguments and name not in ("title", "workspace")}
    row = session.store.read_row(head.ref) if given else None
    if row is None:
        return list(given)
    kept = read_record(row.draft.data, row.draft.path, session.yaml).keys
    wanted = read_fields(YamlReading(cast("Mapping[str, Value]", given))).keys
    return [name for name in given if getattr(kept, name) != getattr(wanted, name)]


def _is_same_request(head: VersionHead, workspace: str, digest: bytes, arguments: Mapping[str, object]) -> bool:
    """Tell whether the record that a key made is the one that these arguments would make."""
    title, tags = arguments.get("title"), arguments.get("tags", ())
    is_same = (head.version, head.turn, head.text_sha256) == (1, None, digest)
    is_same = is_same and fold_name(head.workspace) == fold_name(workspace)
    return is_same and (title is None or head.title == title) and head.tags == tags


def _list_keys(
    session: Session, arguments: Mapping[str, object], workspace: str, record_id: RecordId, stamp: Stamp
) -> dict[str, KeyValue]:
    keys: dict[str, KeyValue] = {}
    for name in _USER_KEYS:
        value = workspace if name == "workspace" else arguments.get(name)
        if value is not None:
            keys[name] = list(value) if isinstance(value, tuple) else value  # type: ignore[assignment]
    return keys | describe_copies(session, record_id, 1, stamp)


def describe_copies(session: Session, record_id: RecordId, version: int, stamp: Stamp) -> dict[str, KeyValue]:
    """Return the server-owned display copies of a version written by this caller."""
    keys: dict[str, KeyValue] = {
        "id": record_id,
        "version": version,
        "by": str(stamp.ref),
        "recorded_at": stamp.recorded_at,
        "origin": session.caller.origin,
    }
    if session.caller.client:
        keys["client"] = session.caller.client
    if session.caller.agent:
        keys["agent"] = session.caller.agent
    return keys
