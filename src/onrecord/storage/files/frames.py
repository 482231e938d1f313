"""What a journal frame says: the changes of one commit, encoded and decoded (docs/format/vault.md, journal)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.errors import DamagedError, InvalidInputError
from onrecord.domain.ids import LogId
from onrecord.ports.store import Placement, VersionRow
from onrecord.ports.system import ClockReading
from onrecord.storage.files.head import check_version, decode_clock, encode_clock, read_count
from onrecord.storage.files.rows import build_row, describe_row, encode_row

_HOW = frozenset({"create", "replace", "append"})
_HASH_BYTES = 32


@dataclass(frozen=True, slots=True)
class FrameChange:
    """One change as it lies in the journal.

    `entry` is the ledger line without LF. `row` is None for entries without a version. `how` is None where no file
    is placed. `pre_sha256` is of the bytes to be replaced; for an append `row.draft.turn.offset_bytes` says where.
    """

    entry: bytes
    ts: str
    cred: str
    cseq: int
    row: VersionRow | None
    how: Placement | None
    pre_sha256: bytes

    @property
    def ledger_line(self) -> bytes:
        """The entry's line with LF."""
        return self.entry + b"\n"

    def encode_versions_line(self) -> bytes:
        """Return the row's line with LF, empty for an entry without a version."""
        return encode_row(describe_row(self.row), self.row.draft.data) if self.row is not None else b""

    def is_region(self) -> bool:
        """Tell whether the placed bytes are a part of a growing transcript."""
        return self.row is not None and self.row.draft.kind == "event"


def encode_payload(changes: Sequence[FrameChange], clock: ClockReading) -> bytes:
    """Return the payload of a frame."""
    shapes: list[dict[str, object]] = []
    for change in changes:
        shape: dict[str, object] = {"entry": change.entry.decode()}
        if change.row is not None:
            shape["row"] = describe_row(change.row)
            shape["size"] = len(change.row.draft.data)
        if change.how is not None:
            shape["place"] = {"how": change.how}
            if change.pre_sha256 and change.how == "replace":
                shape["place"] = {"how": change.how, "pre": base64.b64encode(change.pre_sha256).decode()}
        shapes.append(shape)
    head = encode_canonical({"v": 1, "changes": shapes, "clock": encode_clock(clock)})
    data = b"".join(change.row.draft.data for change in changes if change.row is not None)
    return head + b"\n" + data


def decode_payload(payload: bytes, log: LogId) -> tuple[list[FrameChange], ClockReading | None]:
    """Read the payload of a frame, strictly.

    Raises:
        DamagedError: it is not what `encode_payload` writes.
        NewerFormatError: a newer program wrote it.
    """
    head, _, data = payload.partition(b"\n")
    try:
        shape = json.loads(head)
        check_version(shape, "a frame of the journal")
        if shape.keys() - {"clock"} != {"v", "changes"}:
            raise ValueError("a member is unknown or missing")
        changes: list[FrameChange] = []
        offset = 0
        for item in shape["changes"]:
            size = read_count(item.get("size", 0))
            changes.append(_decode_change(item, log, data[offset : offset + size]))
            offset += size
        if offset != len(data):
            raise ValueError("sizes and bytes differ")
        return changes, decode_clock(shape.get("clock"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInputError) as error:
        raise DamagedError("a whole frame of the journal cannot be read") from error


def _decode_change(item: dict[str, object], log: LogId, data: bytes) -> FrameChange:
    text, row_shape, place = item["entry"], item.get("row"), item.get("place")
    if not isinstance(text, str) or not isinstance(row_shape, dict | None) or not isinstance(place, dict | None):
        raise TypeError("unexpected form")
    if not item.keys() <= {"entry", "row", "size", "place"} or ("row" in item) != ("size" in item):
        raise ValueError("a member is unknown or missing")
    entry = json.loads(text)
    check_version(entry, "an entry in the journal")
    if entry["log"] != log or not all(isinstance(entry[name], str) for name in ("ts", "cred")):
        raise ValueError("not an entry of this log")
    how, pre_sha256 = _decode_place(place)
    return FrameChange(
        entry=text.encode(),
        ts=entry["ts"],
        cred=entry["cred"],
        cseq=read_count(entry["cseq"]),
        row=build_row(row_shape, log, data) if row_shape is not None else None,
        how=how,
        pre_sha256=pre_sha256,
    )


def _decode_place(shape: dict[str, object] | None) -> tuple[Placement | None, bytes]:
    if shape is None:
        return None, b""
    how, pre = shape["how"], shape.get("pre")
    if how not in _HOW or not shape.keys() <= {"how", "pre"} or ("pre" in shape) != (how == "replace"):
        raise ValueError("unknown placement")
    pre_sha256 = base64.b64decode(pre, validate=True) if isinstance(pre, str) else b""
    if "pre" in shape and len(pre_sha256) != _HASH_BYTES:
        raise ValueError("not a hash")
    return how, pre_sha256  # type: ignore[return-value]  # checked above


def hash_bytes(data: bytes) -> bytes:
    """Return the SHA-256 of file bytes, as pre-images are named."""
    return hashlib.sha256(data).digest()
