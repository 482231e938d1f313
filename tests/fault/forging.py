"""What an attacker with a file tool can make of `.onrecord`: rows, entries and whole logs with a key of their own."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from onrecord.domain.pseudonym import commit_bytes
from tests.ledgers import Builder, Key

SALT = bytes(32)
AHEAD = "2099-01-01T00:00:00.000000Z"


def describe(seq: int, record: str, version: int, text: str, origin: str, ts: str, **more: Any) -> dict[str, object]:
    """Return the members of a row as its writer would have made them."""
    shape: dict[str, object] = {
        "v": 1, "seq": seq, "id": record, "version": version, "kind": "note", "path": "memories/default/forged.md",
        "salt": base64.b64encode(SALT).decode(), "ts": ts, "type": "record.create", "origin": origin,
        "status": "current", "workspace": "default", "mode": "placed",
    }  # fmt: skip
    return shape | more


def forge_row(seq: int, record: str, version: int, text: str, origin: str, ts: str, **more: Any) -> bytes:
    """Return the line of a row; half a surrogate pair is written as it is escaped."""
    shape = describe(seq, record, version, text, origin, ts, **more) | {"text": text}
    return json.dumps(shape, sort_keys=True, separators=(",", ":")).encode() + b"\n"


class ForgedLog:
    """A log of the attacker's own, sound in itself: key, entries, rows, signed head."""

    def __init__(self, seed: int = 77) -> None:
        self.builder = Builder(Key(seed))
        self.builder.add("log.start", key=self.builder.key.vkey, seen=[])
        self.rows: list[bytes] = []

    @property
    def log(self) -> str:
        return self.builder.key.log

    def add(self, record: str, version: int, text: str, origin: str, **more: Any) -> None:
        """Add a version with its entry."""
        seq = len(self.builder.lines)
        kind = "record.create" if version == 1 else "record.update"
        members: dict[str, Any] = {"from": more["from"]} if "from" in more else {}
        body = {"alg": "hmac-sha256", "c": commit_bytes(SALT, text.encode())}
        if version > 1 and not members:
            members = {"from": [f"{self.log}:0"]}
        self.builder.add(kind, rec=record, ver=version, kind="note", origin=origin, body=body, **members)
        ts = json.loads(self.builder.lines[-1])["ts"]
        ts = more.pop("ts", ts)
        self.rows.append(forge_row(seq, record, version, text, origin, ts, **{"type": kind} | members | more))

    def plant(self, vault: Path) -> Path:
        """Write the log's folder into a vault; return it."""
        folder = vault / ".onrecord" / self.log
        for name in ("ledger", "versions"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "key.pub").write_text(self.builder.key.vkey + "\n")
        (folder / "ledger" / "00000000.jsonl").write_bytes(b"".join(line + b"\n" for line in self.builder.lines))
        (folder / "versions" / "00000000.jsonl").write_bytes(b"".join(self.rows))
        (folder / "checkpoint").write_bytes(self.builder.key.sign_head(self.builder.lines, len(self.builder.lines)))
        return folder
