"""From a row of the versions store to what the index takes in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from onrecord.domain.documents import AnalyzedDocument, analyze_document, describe_time
from onrecord.domain.ids import RecordId
from onrecord.domain.record import Record, read_record
from onrecord.domain.transcript import parse_transcript
from onrecord.ports.index import SHARED, Document, FileStamp, TurnName, VersionHead
from onrecord.ports.store import FileState, VersionRow
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
    draft = row.draft
    analyzed = analyze_document(
        title=record.named_title, tags=record.tags, aliases=record.aliases, text=record.searchable_text
    )
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
        title=record.title,
        recorded_at=row.recorded_at,
        text_sha256=hash_text(record.text),
        type=record.type,
        tags=record.tags,
        event_time=record.event_time,
        is_displaced=draft.mode == "displaced",
        is_observed=draft.mode == "observed",
        key=row.key,
        redacted=draft.redacted,
    )
    return _join(head, analyzed)


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
    return _join(head, analyze_document(title="", tags=(), aliases=(), text=text, context=context))


def _join(head: VersionHead, analyzed: AnalyzedDocument) -> Document:
    return Document(head, analyzed.postings, analyzed.tokens, analyzed.lines)


def stamp_file(state: FileState, record: RecordId, data: bytes, checked_ns: int) -> FileStamp:
    """Return the stamp of a file with these exact bytes (empty: a growing transcript, its hash is not kept)."""
    return FileStamp(
        path=state.path,
        record=record,
        size_bytes=state.size_bytes,
        mtime_ns=state.mtime_ns,
        ctime_ns=state.ctime_ns,
        device=state.device,
        inode=state.inode,
        sha256=hashlib.sha256(data).digest() if data else b"",
        checked_ns=checked_ns,
    )
