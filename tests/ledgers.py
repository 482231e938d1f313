"""Small logs with keys of their own, and the material that verification takes of them."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.domain.canonical import encode_canonical
from onrecord.domain.checkpoint import format_checkpoint, format_origin, format_vkey, sign_note
from onrecord.domain.entry import encode_entry, make_entry
from onrecord.domain.ids import LogId, derive_log_id
from onrecord.domain.instants import Instant
from onrecord.domain.ledger_check import LogMaterial, Row, StoredRow, check_log
from onrecord.domain.ledger_report import FaultCode, Head, LogReport, Verdict
from onrecord.domain.merkle import compute_root, hash_leaf
from onrecord.domain.pseudonym import commit_bytes, make_pseudonym

PEPPER = bytes(32)
SIGNED = 8


class Key:
    """A key with a fixed seed under the name of the log that `first` begins."""

    def __init__(self, seed: int, first: Key | None = None) -> None:
        self.private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.public = self.private.public_key().public_bytes_raw()
        self.log: LogId = first.log if first else derive_log_id(self.public)
        self.vkey = format_vkey(format_origin(self.log), self.public)

    def sign_head(self, lines: list[bytes], size: int) -> bytes:
        root = compute_root(hash_leaf(line) for line in lines[:size])
        return sign_note(format_checkpoint(format_origin(self.log), size, root), self.vkey, self.private.sign)


OWN, OTHER = Key(1), Key(2)
ADDED = Key(3, OWN)


class Builder:
    """Writes entries and rows one after the other."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.lines: list[bytes] = []
        self.rows: dict[int, Row] = {}
        self._credentials: dict[str, tuple[int, bytes]] = {}

    def add(self, kind: str, client: str = "a", /, **members: Any) -> None:
        seq = len(self.lines)
        cred = make_pseudonym(PEPPER, "cred", client)
        count, prev = self._credentials.get(cred, (0, None))
        entry = make_entry(
            log=self.key.log,
            seq=seq,
            ts=Instant(f"2026-11-30T07:{seq // 60:02d}:{seq % 60:02d}.000000Z"),
            type=kind,
            actor=make_pseudonym(PEPPER, "actor", client),
            cred=cred,
            cseq=count + 1,
            prev=prev,
            members={name.rstrip("_"): value for name, value in members.items()},
        )
        line = encode_entry(entry)
        self._credentials[cred] = (count + 1, hash_leaf(line))
        self.lines.append(line)

    def add_version(self, data: bytes, client: str = "a") -> None:
        seq = len(self.lines)
        salt = bytes([seq]) * 32
        body = {"alg": "hmac-sha256", "c": commit_bytes(salt, data)}
        self.add("record.create", client, rec="9h1m2k8w4x6z", ver=1, kind="note", origin="agent", body=body)
        entry = json.loads(self.lines[seq])
        says = {"id": "9h1m2k8w4x6z", "version": 1, "kind": "note", "origin": "agent"}
        self.rows[seq] = StoredRow(salt, data, says | {"ts": entry["ts"], "type": entry["type"]})

    def head(self, size: int) -> Head:
        return Head(size, compute_root(hash_leaf(line) for line in self.lines[:size]))

    def describe_head(self, size: int) -> dict[str, object]:
        root = b64encode(self.head(size).root).decode()
        return {"log": self.key.log, "size": size, "root": root, "ts": "2026-11-29T00:00:00.000000Z"}


def build_other() -> Builder:
    other = Builder(OTHER)
    other.add("log.start", key=OTHER.vkey, seen=[])
    for count in range(4):
        other.add("replay", n=count)
    return other


def build() -> Builder:
    log = Builder(OWN)
    log.add("log.start", key=OWN.vkey, seen=[build_other().describe_head(2)])
    log.add_version(b"one")
    log.add_version(b"two", "b")
    log.add("record.move", rec="9h1m2k8w4x6z", ver=1, to=[f"{log.key.log}:1"], place="A" * 43 + "=")
    log.add_version(b"three")
    log.add("log.seen", "b", seen=[build_other().describe_head(4)])
    log.add_version(b"four")
    log.add("scan.complete", det="lexical-1", n=3)
    log.add("replay", "b", n=1)
    log.add("replay", n=2)
    return log


def describe(log: Builder, **changes: Any) -> LogMaterial:
    other = build_other()
    material = LogMaterial(
        log=OWN.log,
        lines=log.lines,
        read_row=log.rows.get,
        key_pub=OWN.vkey + "\n",
        checkpoint=OWN.sign_head(log.lines, SIGNED),
        read_leaves={OTHER.log: [hash_leaf(line) for line in other.lines]}.get,
    )
    return replace(material, **changes)


def check(material: LogMaterial) -> LogReport:
    return check_log(material, Ed25519Verifier().verify)


def find_fault(material: LogMaterial) -> tuple[FaultCode, int | None]:
    report = check(material)
    assert report.verdict is Verdict.BROKEN
    assert report.signed is None
    assert report.fault is not None
    assert report.fault.message
    return report.fault.code, report.fault.seq


def edit(line: bytes, **members: Any) -> bytes:
    entry = json.loads(line) | members
    return encode_canonical({name: value for name, value in entry.items() if value is not None})


def place(lines: list[bytes], seq: int, *new: bytes) -> list[bytes]:
    return [*lines[:seq], *new, *lines[seq + 1 :]]
