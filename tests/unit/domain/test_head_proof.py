"""A checkpoint is a log's own where a key that its lines name signed it, at a size that the key is trusted for."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.domain.checkpoint import format_checkpoint, format_origin, format_rotation, parse_checkpoint, parse_note
from onrecord.domain.checkpoint import sign_note as sign
from onrecord.domain.head_proof import HeadProof
from tests.ledgers import ADDED, OTHER, OWN, Builder, build


def judge(log: Builder, data: bytes, entries: int | None = None) -> str:
    note = parse_note(data)
    proof = HeadProof(OWN.log, note, parse_checkpoint(note.text), Ed25519Verifier().verify)
    lines = log.lines[:entries]
    for seq, line in enumerate(lines):
        proof.take(seq, line)
    return proof.find_fault(len(lines))


def rotate(log: Builder) -> Builder:
    signature = OWN.private.sign(format_rotation(ADDED.vkey))
    log.add("key.rotate", key=ADDED.vkey, sig=b64encode(signature).decode())
    return log


def spoil(data: bytes) -> bytes:
    head, _, tail = data.rpartition(b" ")
    raw = bytearray(b64decode(tail))
    raw[-1] ^= 1
    return head + b" " + b64encode(bytes(raw)) + b"\n"


def test_a_head_signed_by_the_first_key_is_sound() -> None:
    log = build()
    assert judge(log, OWN.sign_head(log.lines, len(log.lines))) == ""


def test_a_signature_that_fails_is_a_fault_whether_or_not_the_ledger_reaches_it() -> None:
    log = build()
    data = spoil(OWN.sign_head(log.lines, len(log.lines)))
    assert "fails" in judge(log, data)
    assert "fails" in judge(log, data, entries=2)


@pytest.mark.parametrize("entries", [None, 2])
def test_a_head_that_only_a_strange_key_signed_is_a_fault_once_the_ledger_reaches_it(entries: int | None) -> None:
    log = build()
    found = judge(log, OTHER.sign_head(log.lines, len(log.lines)), entries)
    assert bool(found) is (entries is None)


def test_a_key_counts_once_an_earlier_one_vouches_for_it() -> None:
    log = rotate(build())
    data = ADDED.sign_head(log.lines, len(log.lines))
    assert judge(log, data) == ""
    assert judge(log, data, entries=len(log.lines) - 1) == "", "its entry may be on its way"
    assert judge(build(), ADDED.sign_head(build().lines, 3))


def test_a_compromised_key_counts_up_to_its_size() -> None:
    log = rotate(build())
    log.add("key.compromise", key=OWN.vkey, n=4)
    sizes: dict[int, Callable[[str], bool]] = {4: lambda fault: fault == "", 5: lambda fault: "no key" in fault}
    for size, is_right in sizes.items():
        assert is_right(judge(log, OWN.sign_head(log.lines, size))), size


def test_a_head_of_another_log_is_a_fault() -> None:
    log = build()
    root = log.head(3).root
    data = sign(format_checkpoint(format_origin(OTHER.log), 3, root), OWN.vkey, OWN.private.sign)
    assert "another log" in judge(log, data)
