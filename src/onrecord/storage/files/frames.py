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
from onrecord.storage.files.head import decode_clock, encode_clock
from onrecord.storage.files.rows import build_row, describe_row, encode_row

_HOW = frozenset({"create", "replace", "append"})


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
            if change.pre_sha256:
                shape["place"] = {"how": change.how, "pre": base64.b64encode(change.pre_sha256).decode()}
        shapes.append(shape)
    head = encode_canonical({"v": 1, "changes": shapes, "clock": encode_clock(clock)})
    data = b"".join(change.row.draft.data for change in changes if change.row is not None)
    return head + b"\n" + data


def decode_payload(payload: bytes, log: LogId) -> tuple[list[FrameChange], ClockReading | None]:
    """Read the payload of a frame.

    Raises:
        DamagedError: it is not what `encode_payload` writes.
    """
    head, _, data = payload.partition(b"\n")
    try:
        shape = json.loads(head)
        if shape["v"] != 1:
            raise ValueError("a frame of a newer format")
        changes: list[FrameChange] = []
        offset = 0
        for item in shape["changes"]:
            size = int(item.get("size", 0))
            changes.append(_decode_change(item, log, data[offset : offset + size]))
            offset += size
        if offset != len(data):
            raise ValueError("sizes and bytes differ")
        return changes, decode_clock(shape.get("clock"))
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInputError) as error:
        raise DamagedError("a whole frame of the journal cannot be read") from error


def _decode_change(item: dict[str, object], log: LogId, data: bytes) -> FrameChange:
    text = item["entry"]
    row_shape = item.get("row")
    place = item.get("place")
    if not isinstance(text, str) or not isinstance(row_shape, dict | None) or not isinstance(place, dict | None):
        raise TypeError("unexpected form")
    entry = json.loads(text)
    how = place["how"] if place is not None else None
    if how is not None and how not in _HOW:
        raise ValueError("unknown placement")
    return FrameChange(
        entry=text.encode(),
        ts=str(entry["ts"]),
        cred=str(entry["cred"]),
        cseq=int(entry["cseq"]),
        row=build_row(row_shape, log, data) if row_shape is not None else None,
        how=how,
        pre_sha256=base64.b64decode(place.get("pre", "")) if place is not None else b"",
    )


def hash_bytes(data: bytes) -> bytes:
    """Return the SHA-256 of file bytes, as pre-images are named."""
    return hashlib.sha256(data).digest()
