"""Rows of the versions store: values and their lines (docs/format/versions.md)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.entry_types import FORMS
from onrecord.domain.errors import DamagedError, InvalidInputError
from onrecord.domain.ids import EntryRef, LogId, parse_entry_ref
from onrecord.domain.limits import VERSION_READ_MAX
from onrecord.ports.store import Actor, TurnRow, VersionDraft, VersionRow
from onrecord.storage.files.head import check_version
from onrecord.storage.files.vault_config import MACHINE_FOLDER

_MODES = frozenset({"placed", "observed", "displaced"})
_ROLES = frozenset({"user", "assistant", "tool", "system", "document"})
_NEWER = re.compile(rb'"v":(?:[2-9]|1[0-9])')
_ALWAYS: Final = frozenset(("v", "seq", "id", "version", "kind", "ts", "type", "origin", "status", "workspace"))
_OPTIONAL: Final = frozenset(("protection", "client", "agent", "from", "mode", "key", "redacted", "pending"))
# Members that few values occur of.
_SHARED: Final = frozenset({"kind", "origin", "status", "protection", "mode", "role"})
_TURN_NEEDED: Final = frozenset(("turn", "source", "session", "role", "n", "at"))
_TURN_OPTIONAL: Final = frozenset({"speaker", "time"})
_TURN_KEPT: Final = frozenset({"role", "time", "n", "at"})
_NO_PARTS: Final = frozenset(("", ".", ".."))
_NOBODY: Final = Actor()
# What a system takes as a path at most.
_PATH_MAX_CHARS: Final = 4_096


_Form = Callable[[object], bool]


def _match(pattern: str) -> _Form:
    fullmatch = re.compile(pattern).fullmatch
    return lambda value: isinstance(value, str) and fullmatch(value) is not None


def _is_number_of_a_version(value: object) -> bool:
    return FORMS["ver"](value) and isinstance(value, int) and value <= VERSION_READ_MAX


def _is_text(value: object) -> bool:
    return isinstance(value, str) and (value.isascii() or _is_encodable(value))


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_filled(value: object) -> bool:
    return _is_text(value) and value != ""


def _is_path(value: object) -> bool:
    """Tell whether a path stays below the vault and out of the machine folder (vault.md, Path rules)."""
    if not (_is_text(value) and isinstance(value, str)) or len(value) > _PATH_MAX_CHARS or "\0" in value:
        return False
    parts = value.split("/")
    return parts[0] != MACHINE_FOLDER and _NO_PARTS.isdisjoint(parts)


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


# What each member but `v` looks like; `turn` of a row is a name, of an entry a number.
_FORMS: Final[Mapping[str, _Form]] = {
    "seq": FORMS["seq"],
    "id": FORMS["rec"],
    "version": _is_number_of_a_version,
    "kind": FORMS["kind"],
    "origin": FORMS["origin"],
    "status": FORMS["status"],
    "protection": FORMS["protection"],
    "ts": FORMS["ts"],
    "time": FORMS["ts"],
    "n": FORMS["ver"],
    "at": FORMS["n"],
    "from": FORMS["from"],
    "pending": FORMS["from"],
    "salt": FORMS["prev"],
    "erased": FORMS["appr"],
    "key": _match("[A-Za-z0-9_-]{22}"),
    "mode": lambda value: isinstance(value, str) and value in _MODES,
    "role": lambda value: isinstance(value, str) and value in _ROLES,
    "path": _is_path,
    "type": _is_filled,
    "workspace": _is_text,
    "client": _is_text,
    "agent": _is_text,
    "redacted": _is_list_of_text,
    "source": _is_text,
    "session": _is_text,
    "turn": _is_text,
    "speaker": _is_text,
    "text": _is_text,
    "b64": _is_text,
    "sealed": lambda value: isinstance(value, dict),
}


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
    """Read a line of a versions store.

    Raises:
        DamagedError: not exactly a row of version 1.
        NewerFormatError: a newer program wrote it.
    """
    try:
        shape = _DECODER.decode(line.decode())
        if not isinstance(shape, dict):
            raise ValueError("an object is expected")
        return build_row(shape, log)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInputError) as error:
        raise DamagedError("a row of the versions store is damaged") from error


def is_newer_line(tail: bytes) -> bool:
    """Tell whether lines of a ledger or versions store, the first perhaps cut in front, hold one of a newer format.

    Quotes are escaped inside strings, so that the member itself is what is found.
    """
    return _NEWER.search(tail) is not None


def _collect_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member occurs twice")
    return found


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("no number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_collect_members, parse_constant=_refuse_constant)


def build_row(shape: Mapping[str, Any], log: LogId, data: bytes | None = None) -> VersionRow:
    """Make a row of its members; each is known, none is missing, all have their form.

    Args:
        shape: Members as `describe_row` gives them, with or without the bytes.
        log: The log that the row belongs to.
        data: The exact bytes, where `shape` does not hold them.

    Raises:
        NewerFormatError: a newer program wrote it.
        ValueError, KeyError, TypeError, InvalidInputError: not a row.
    """
    check_version(shape, "a row of the versions store")
    _check_members(shape, has_data=data is None)
    get = shape.get
    is_erased, client, agent = "erased" in shape, get("client", ""), get("agent", "")
    draft = VersionDraft(
        shape["id"],
        shape["version"],
        shape["kind"],
        get("path", ""),
        _read_data(shape) if data is None else data,
        shape["origin"],
        shape["workspace"],
        shape["status"],
        get("protection", "normal"),
        tuple(map(parse_entry_ref, get("from", ()))),
        get("mode", "placed"),
        _build_turn(shape) if shape["type"] == "event.append" and not is_erased else None,
        tuple(get("redacted", ())),
    )
    return VersionRow(
        EntryRef(log, shape["seq"]),
        shape["type"],
        draft,
        shape["ts"],
        base64.b64decode(get("salt", ""), validate=True),
        get("key", ""),
        Actor(client, agent) if client or agent else _NOBODY,
        is_erased,
        "sealed" in shape,
    )


def _check_members(shape: Mapping[str, object], *, has_data: bool) -> None:
    """Check which members stand, and the form of each."""
    own, shared = _plan_forms(tuple(shape), shape["type"] == "event.append", has_data)
    for name, has_form in own:
        if not has_form(shape[name]):
            raise ValueError(f"{name} has another form")
    _check_shared(shared, tuple([shape[name] for name in shared]))


@lru_cache(maxsize=512)
def _check_shared(names: tuple[str, ...], values: tuple[object, ...]) -> None:
    """Check the form of members that many rows have in common; what is a list here has none of theirs (TypeError)."""
    for name, value in zip(names, values, strict=True):
        if not _FORMS[name](value):
            raise ValueError(f"{name} has another form")


@lru_cache(maxsize=512)
def _plan_forms(
    members: tuple[str, ...], is_turn: bool, has_data: bool
) -> tuple[tuple[tuple[str, _Form], ...], tuple[str, ...]]:
    """Return what to check of a set of members that a row may have: those of its own with their forms, those shared.

    Raises:
        ValueError: a row has no such set.
    """
    names = frozenset(members)
    needed, allowed = _ALWAYS, _ALWAYS | _OPTIONAL
    if "erased" in names:
        allowed = allowed | {"erased"} | (_TURN_KEPT if is_turn else frozenset())
    else:
        needed = needed | {"path"} | (_TURN_NEEDED if is_turn else frozenset())
        allowed = allowed | needed | (_TURN_OPTIONAL if is_turn else frozenset())
        body = {"sealed"} if "sealed" in names else {"salt"} | ({"text", "b64"} & names if has_data else set())
        if has_data and len(body) != (1 if "sealed" in names else 2):
            raise ValueError("a row has its bytes once")
        needed, allowed = needed | body, allowed | body
    if not needed <= names or not names <= allowed:
        raise ValueError("a member is unknown or missing")
    own = tuple((name, _FORMS[name]) for name in members if name != "v" and name not in _SHARED)
    return own, tuple(name for name in members if name in _SHARED)


def _build_turn(shape: Mapping[str, Any]) -> TurnRow:
    return TurnRow(
        source=shape["source"],
        session=shape["session"],
        turn=shape["turn"],
        role=shape["role"],
        n=shape["n"],
        offset_bytes=shape["at"],
        speaker=shape.get("speaker", ""),
        time=shape.get("time"),
    )


def _read_data(shape: Mapping[str, Any]) -> bytes:
    if "text" in shape:
        return str(shape["text"]).encode()
    return base64.b64decode(shape["b64"], validate=True) if "b64" in shape else b""
