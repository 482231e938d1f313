"""Ledger entries: building, encoding and strict reading (docs/format/ledger.md).

An entry is a value of one type out of a closed set. Reading refuses whatever is not exactly what building writes: what
is signed is always understood. Chains of entries are judged by `onrecord.domain.ledger_check`.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from onrecord.domain.canonical import check_depth, encode_canonical, encode_known
from onrecord.domain.entry_types import (
    BODY_EXTRAS,
    BODY_MEMBERS,
    COMMON,
    EMPTY_SEEN_TYPES,
    FORMS,
    RECORD_EXTRAS,
    TYPES,
    Form,
    is_seen_head,
)
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.ids import LogId, Seq
from onrecord.domain.instants import Instant
from onrecord.domain.limits import ENTRY_MAX_BYTES

ENTRY_VERSION: Final = 1


class EntryFault(StrEnum):
    """Why a line is no entry of version 1; the codes of docs/format/tree.md."""

    TOO_LARGE = "entry_too_large"
    NOT_CANONICAL = "entry_not_canonical"
    UNKNOWN_TYPE = "entry_unknown_type"
    UNKNOWN_MEMBER = "entry_unknown_member"
    MISSING_MEMBER = "entry_missing_member"
    BAD_MEMBER = "entry_bad_member"
    NEWER_FORMAT = "newer_format"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it was read.

    Attributes:
        log: The log that it belongs to.
        seq: Its place in the log, from 0.
        ts: Record time.
        type: One of the closed set.
        actor: Pseudonym of who acted.
        cred: Credential used.
        cseq: Counter of this credential, from 1.
        prev: Leaf hash of this credential's entry before, 32 bytes; None for its first.
        members: The other members by name, as JSON values.
    """

    log: LogId
    seq: Seq
    ts: Instant
    type: str
    actor: str
    cred: str
    cseq: int
    prev: bytes | None
    members: Mapping[str, Any]


def make_entry(
    *,
    log: LogId,
    seq: int,
    ts: Instant,
    type: str,
    actor: str,
    cred: str,
    cseq: int,
    prev: bytes | None,
    members: Mapping[str, object],
) -> dict[str, object]:
    """Return the JSON form of a new entry.

    Args:
        log: The log's id.
        seq: Place in the log, from 0.
        ts: Record time.
        type: One of the closed set.
        actor: Pseudonym, `p_…`.
        cred: Credential, `c_…`.
        cseq: Counter of the credential, from 1.
        prev: Leaf hash of the credential's entry before; None exactly when `cseq` is 1.
        members: The type's own members as JSON values.

    Raises:
        InvalidInputError: the type is unknown, or a member is unknown, missing or of another form.
    """
    if not COMMON.isdisjoint(members):
        raise InvalidInputError("a member of every entry is set by its own argument")
    shape: dict[str, object] = {
        "v": ENTRY_VERSION,
        "log": log,
        "seq": seq,
        "ts": ts,
        "type": type,
        "actor": actor,
        "cred": cred,
        "cseq": cseq,
        **members,
    }
    if prev is not None:
        shape["prev"] = b64encode(prev).decode("ascii")
    found = _find_fault(shape)
    if found is not None:
        fault, member = found
        raise InvalidInputError(f"an entry of this type cannot be written: {fault.value} ({member})", field=member)
    return shape


def encode_entry(entry: Mapping[str, object]) -> bytes:
    """Return the canonical line of an entry that `make_entry` gave, without LF: the bytes of the leaf.

    Raises:
        LimitExceededError: above 4,096 bytes.
        InvalidInputError: an integer out of range.
    """
    line = encode_canonical(dict(entry))
    if len(line) > ENTRY_MAX_BYTES:
        raise LimitExceededError(f"a ledger entry has at most {ENTRY_MAX_BYTES} bytes")
    return line


def read_entry(line: bytes) -> Entry | EntryFault:
    """Read a line of a ledger, without its LF; a fault is a value, so that verification can name it."""
    if len(line) > ENTRY_MAX_BYTES:
        return EntryFault.TOO_LARGE
    shape = _parse_object(line)
    if shape is None:
        return EntryFault.NOT_CANONICAL
    found = _find_fault(shape)
    if found is not None:
        return _name_fault(shape, found[0])
    prev = shape.pop("prev", None)
    del shape["v"]
    return Entry(
        log=shape.pop("log"),
        seq=shape.pop("seq"),
        ts=shape.pop("ts"),
        type=shape.pop("type"),
        actor=shape.pop("actor"),
        cred=shape.pop("cred"),
        cseq=shape.pop("cseq"),
        prev=b64decode(prev) if prev is not None else None,
        members=MappingProxyType(shape),
    )


def _parse_object(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line, or None where writing it again gives other bytes.

    What has no canonical form but is written as it was read (a float, null) is left to the members' forms.
    """
    try:
        text = line.decode()
        check_depth(text)
        shape = json.loads(text)
        if type(shape) is not dict or encode_known(shape) != line:
            return None
    except (ValueError, InvalidInputError):
        return None
    return shape


def _name_fault(shape: Mapping[str, Any], fault: EntryFault) -> EntryFault:
    """Return what to call a fault: first that there is no canonical form, then that the format is newer."""
    try:
        encode_canonical(shape)
    except InvalidInputError:
        return EntryFault.NOT_CANONICAL
    version = shape.get("v")
    return EntryFault.NEWER_FORMAT if type(version) is int and version > ENTRY_VERSION else fault


def _find_fault(shape: Mapping[str, Any]) -> tuple[EntryFault, str] | None:
    """Return what is wrong with an entry of version 1 and at which member, or None."""
    for name in ("v", "type"):
        if name not in shape:
            return EntryFault.MISSING_MEMBER, name
    if type(shape["v"]) is not int or shape["v"] != ENTRY_VERSION:
        return EntryFault.BAD_MEMBER, "v"
    kind = shape["type"]
    if type(kind) is not str or kind not in TYPES:
        return EntryFault.UNKNOWN_TYPE, "type"
    plan = _plan_forms(kind, tuple(shape))
    if isinstance(plan, EntryFault):
        return plan, "type"
    found = _find_prev_fault(shape)
    if found is not None:
        return found
    for form, name in plan:
        if not form(shape[name]):
            return EntryFault.BAD_MEMBER, name
    if "seen" in shape and not _is_seen(shape["seen"], shape["log"], is_empty_allowed=kind in EMPTY_SEEN_TYPES):
        return EntryFault.BAD_MEMBER, "seen"
    return None


@lru_cache(maxsize=1024)
def _plan_forms(kind: str, names: tuple[str, ...]) -> tuple[tuple[Form, str], ...] | EntryFault:
    """Return the form of each member of a set that a type may have, or the fault of the set; few sets occur."""
    rule = TYPES[kind]
    present = frozenset(names)
    unknown = present - rule.allowed
    if unknown and "rec" in present:
        unknown -= RECORD_EXTRAS
    if unknown and "body" in present:
        unknown -= BODY_EXTRAS
    if unknown:
        return EntryFault.UNKNOWN_MEMBER
    is_body_split = not BODY_MEMBERS.isdisjoint(present) and not present.issuperset(BODY_MEMBERS)
    is_none_of_some = bool(rule.some) and rule.some.isdisjoint(present)
    if rule.needed - present or is_none_of_some or is_body_split:
        return EntryFault.MISSING_MEMBER
    return tuple((FORMS[name], name) for name in names if name in FORMS)


def _find_prev_fault(shape: Mapping[str, Any]) -> tuple[EntryFault, str] | None:
    is_first = shape["cseq"] == 1
    if is_first and "prev" in shape:
        return EntryFault.UNKNOWN_MEMBER, "prev"
    if not is_first and "prev" not in shape and FORMS["cseq"](shape["cseq"]):
        return EntryFault.MISSING_MEMBER, "prev"
    return None


def _is_seen(value: object, log: object, *, is_empty_allowed: bool) -> bool:
    if not isinstance(value, list) or not all(is_seen_head(head) for head in value):
        return False
    logs = [head["log"] for head in value]
    return bool(logs or is_empty_allowed) and log not in logs and all(left < right for left, right in pairwise(logs))
