"""The format's test vectors, and the material of a log made of them."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onrecord.domain.ids import LogId
from onrecord.domain.ledger_check import ErasedRow, LogMaterial, Row, SealedRow, StoredRow, list_erasures
from onrecord.domain.ledger_report import Head
from onrecord.domain.merkle import hash_leaf

VECTORS = Path(__file__).resolve().parents[1] / "docs" / "format" / "vectors"


def load_vectors(name: str) -> Any:
    """Return one file of vectors as JSON."""
    return json.loads((VECTORS / name).read_bytes())


def build_material(shape: dict[str, Any]) -> LogMaterial:
    """Return the material that `material` of log.json describes."""
    rows, others = shape["rows"], shape["others"]

    def read_row(seq: int) -> Row:
        return decode_row(rows.get(str(seq)))

    def read_leaves(log: LogId) -> Iterable[bytes] | None:
        lines = others.get(log)
        return None if lines is None else (hash_leaf(line.encode()) for line in lines)

    return LogMaterial(
        log=LogId(shape["log"]),
        lines=[line.encode() for line in shape["entries"]],
        read_row=read_row,
        key_pub=shape["key_pub"],
        checkpoint=shape["checkpoint"].encode() if shape["checkpoint"] is not None else None,
        pinned=[Head(pin["size"], b64decode(pin["root"])) for pin in shape["pinned"]],
        read_leaves=read_leaves,
        erased_elsewhere={name for lines in others.values() for name in list_erasures(line.encode() for line in lines)},
    )


def decode_row(line: str | None) -> Row:
    """Read a row as far as verification needs it."""
    if line is None:
        return None
    shape = json.loads(line)
    if "erased" in shape:
        return ErasedRow(shape)
    if "sealed" in shape:
        return SealedRow(shape)
    data = shape["text"].encode() if "text" in shape else b64decode(shape["b64"])
    return StoredRow(b64decode(shape["salt"]), data, shape)


def apply_variant(material: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the material of a variant of log.json."""
    changed = material | changes
    if "entries" in changes:
        part = changes["entries"]
        lines = material["entries"]
        changed["entries"] = [*lines[: part["from"]], *part["lines"], *lines[part["to"] :]]
    if "rows" in changes:
        rows = material["rows"] | changes["rows"]
        changed["rows"] = {seq: line for seq, line in rows.items() if line is not None}
    return changed
