"""From a row of the versions store to what the index takes in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from onrecord.domain.conflict import read_conflict
from onrecord.domain.documents import analyze_document, describe_time
from onrecord.domain.record import Record, read_record
from onrecord.domain.transcript import hide_turns, parse_transcript
from onrecord.ports.index import SHARED, Document, Mention, PackedDocument, TurnName, VersionHead
from onrecord.ports.store import MARKING, VersionDraft, VersionRow
from onrecord.ports.yaml_reader import YamlReader


def hash_text(text: str) -> bytes:
    """Return the SHA-256 of a text, lone surrogates replaced."""
    return hashlib.sha256(text.encode(errors="replace")).digest()


def build_document(row: VersionRow, yaml: YamlReader) -> Iterator[Document]:
    """Yield the document of a row: one, or none where nothing is left to index (erased, or sealed)."""
    if row.is_erased or row.is_sealed:
        return
    if row.draft.turn is not None:
        yield build_turn(row)
        return
    record = read_record(row.draft.data, row.draft.path, yaml)
    yield build_version(row, record)


def build_version(row: VersionRow, record: Record) -> Document:
    """Return the document of a version; `record` is read from the row's bytes."""
    draft, title = row.draft, record.named_title
    packed = _analyze(draft, title, record)
    head = VersionHead(
        ref=row.ref,
        id=draft.id,
        version=draft.version,
        kind=draft.kind,
        status=draft.status,
        origin=draft.origin,
        workspace=draft.workspace,
        partition=SHARED,
        path=draft.path,
        title=title or record.title,
        recorded_at=row.recorded_at,
        text_sha256=hash_text(record.text),
        also_in=record.keys.also_in,
        tags=record.tags,
        event_time=record.event_time,
        is_displaced=draft.mode == "displaced",
        is_observed=draft.mode == "observed",
        key=row.key,
        redacted=draft.redacted,
    )
    return Document(head, packed, _list_mentions(row, record))


def _analyze(draft: VersionDraft, title: str, record: Record) -> PackedDocument:
    """Return what a version is found by: nothing of a conflict, which tells of memories and is none."""
    if draft.kind == "conflict":
        return analyze_document(title="", tags=(), aliases=(), text="")
    return analyze_document(title=title, tags=record.tags, aliases=record.aliases, text=read_own_text(draft, record))


def _list_mentions(row: VersionRow, record: Record) -> tuple[Mention, ...]:
    """Return the members of a conflict; of another version its parents where it has several.

    A file with marks of git is spoken of by itself: nothing has to be decided of it beside its sides.
    """
    draft = row.draft
    if draft.mode == "displaced" and row.actor == MARKING:
        return (Mention(draft.id, row.ref),)
    if draft.kind != "conflict":
        parents = draft.parents if len(draft.parents) > 1 else ()
        return tuple(Mention(draft.id, parent) for parent in parents)
    conflict = read_conflict(record, draft.id)
    members = conflict.members if conflict is not None else ()
    return tuple(Mention(member.record, member.ref) for member in members if member.ref is not None)


def read_own_text(draft: VersionDraft, record: Record) -> str:
    """Return the text by which a version is found; of a transcript what was written by hand around its turns.

    Offsets are those of `record.searchable_text`.
    """
    if draft.kind != "event":
        return record.searchable_text
    return hide_turns(record.searchable_text, parse_transcript(draft.data).turns)


def build_turn(row: VersionRow) -> Document:
    """Return the document of a turn."""
    draft = row.draft
    turn = draft.turn
    assert turn is not None
    parsed = parse_transcript(draft.data).turns
    block = parsed[0] if parsed else None
    text = block.text if block is not None else ""
    told = describe_time(turn.time) if turn.time is not None else (block.time_text if block is not None else "")
    context = " ".join(part for part in (turn.speaker, told) if part)
    head = VersionHead(
        ref=row.ref,
        id=draft.id,
        version=draft.version,
        kind=draft.kind,
        status=draft.status,
        origin=draft.origin,
        workspace=draft.workspace,
        partition=SHARED,
        path=draft.path,
        title=f"{turn.source} {turn.session}".strip(),
        recorded_at=row.recorded_at,
        text_sha256=hash_text(text),
        event_time=turn.time,
        key=row.key,
        turn=TurnName(
            turn.source,
            turn.session,
            turn.turn,
            turn.n,
            block.block if block is not None else "",
            turn.role,
            turn.speaker,
            turn.time,
        ),
        offset_bytes=turn.offset_bytes,
        size_bytes=len(draft.data),
        redacted=draft.redacted,
    )
    return Document(head, analyze_document(title="", tags=(), aliases=(), text=text, context=context))
