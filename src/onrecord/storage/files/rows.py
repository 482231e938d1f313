"""Rows of the versions store: values and their lines (docs/format/versions.md)."""

from __future__ import annotations

import base64
import json

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.errors import DamagedError, InvalidInputError
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq, parse_entry_ref
from onrecord.domain.instants import Instant
from onrecord.ports.store import Actor, TurnRow, VersionDraft, VersionRow

_MODES = frozenset({"placed", "observed", "displaced"})


def describe_row(row: VersionRow) -> dict[str, object]:
    """Return a row's members without its bytes (`text`, `b64`): the form that a journal frame carries."""
    draft = row.draft
    shape: dict[str, object] = {
        "v": 1,
        "seq": row.ref.seq,
        "id": draft.id,
        "version": draft.version,
        "kind": draft.kind,
        "path": draft.path,
        "salt": base64.b64encode(row.salt).decode(),
        "ts": row.recorded_at,
        "type": row.type,
        "origin": draft.origin,
        "status": draft.status,
        "workspace": draft.workspace,
        "mode": draft.mode,
    }
    if draft.protection != "normal":
        shape["protection"] = draft.protection
    if draft.parents:
        shape["from"] = [str(parent) for parent in draft.parents]
    if draft.redacted:
        shape["redacted"] = list(draft.redacted)
    if row.key:
        shape["key"] = row.key
    if row.actor.client:
        shape["client"] = row.actor.client
    if row.actor.agent:
        shape["agent"] = row.actor.agent
    if draft.turn is not None:
        shape |= _describe_turn(draft.turn)
    return shape


def _describe_turn(turn: TurnRow) -> dict[str, object]:
    shape: dict[str, object] = {
        "source": turn.source,
        "session": turn.session,
        "turn": turn.turn,
        "role": turn.role,
        "n": turn.n,
        "at": turn.offset_bytes,
    }
    if turn.speaker:
        shape["speaker"] = turn.speaker
    if turn.time is not None:
        shape["time"] = turn.time
    return shape


def encode_row(shape: dict[str, object], data: bytes) -> bytes:
    """Return the line (LF included) of a described row and its exact bytes."""
    full = dict(shape)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        full["b64"] = base64.b64encode(data).decode()
    else:
        full["text"] = text
    return encode_canonical(full) + b"\n"


def decode_row(line: bytes, log: LogId) -> VersionRow:
    """Read a line of a versions store, or a described row with no bytes (`data` is empty then).

    Raises:
        DamagedError: not a row of version 1.
    """
    try:
        shape = json.loads(line)
        return build_row(shape, log)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInputError) as error:
        raise DamagedError("a row of the versions store cannot be read") from error


def build_row(shape: dict[str, object], log: LogId, data: bytes | None = None) -> VersionRow:
    """Make a row of its members.

    Args:
        shape: Members as `describe_row` gives them, with or without the bytes.
        log: The log that the row belongs to.
        data: The exact bytes, where `shape` does not hold them.

    Raises:
        ValueError, KeyError, TypeError: not a row.
    """
    if shape["v"] != 1:
        raise ValueError("a row of a newer format")
    is_erased = "erased" in shape
    if data is None:
        data = _read_data(shape)
    mode = shape.get("mode", "placed")
    if mode not in _MODES:
        raise ValueError("unknown mode")
    parents = shape.get("from", ())
    redacted = shape.get("redacted", ())
    if not isinstance(parents, list | tuple) or not isinstance(redacted, list | tuple):
        raise TypeError("a list is expected")
    draft = VersionDraft(
        id=RecordId(_text(shape["id"])),
        version=_number(shape["version"]),
        kind=_text(shape["kind"]),
        path=_text(shape.get("path", "")),
        data=data,
        origin=_text(shape["origin"]),
        workspace=_text(shape["workspace"]),
        status=_text(shape["status"]),
        protection=_text(shape.get("protection", "normal")),
        parents=tuple(parse_entry_ref(_text(parent)) for parent in parents),
        mode=mode,  # type: ignore[arg-type]  # checked above
        turn=_build_turn(shape) if shape["type"] == "event.append" and not is_erased else None,
        redacted=tuple(_text(rule) for rule in redacted),
    )
    return VersionRow(
        ref=EntryRef(log, Seq(_number(shape["seq"]))),
        type=_text(shape["type"]),
        draft=draft,
        recorded_at=Instant(_text(shape["ts"])),
        salt=base64.b64decode(_text(shape.get("salt", "")), validate=True),
        key=_text(shape.get("key", "")),
        actor=Actor(_text(shape.get("client", "")), _text(shape.get("agent", ""))),
        is_erased=is_erased,
    )


def _build_turn(shape: dict[str, object]) -> TurnRow:
    time = shape.get("time")
    return TurnRow(
        source=_text(shape["source"]),
        session=_text(shape["session"]),
        turn=_text(shape["turn"]),
        role=_text(shape["role"]),
        n=_number(shape["n"]),
        offset_bytes=_number(shape["at"]),
        speaker=_text(shape.get("speaker", "")),
        time=Instant(_text(time)) if time is not None else None,
    )


def _read_data(shape: dict[str, object]) -> bytes:
    if "text" in shape:
        return _text(shape["text"]).encode()
    if "b64" in shape:
        return base64.b64decode(_text(shape["b64"]), validate=True)
    return b""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a string is expected")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("an integer is expected")
    return value
