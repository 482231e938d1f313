"""Which keys may sign the heads of a log: rotation and compromise."""

from __future__ import annotations

from base64 import b64encode

import pytest

from onrecord.domain.checkpoint import format_rotation
from onrecord.domain.ledger_report import FaultCode, Verdict
from tests.ledgers import ADDED, OTHER, OWN, Key, build, check, describe, find_fault


def rotate(voucher: Key, added: Key) -> dict[str, object]:
    return {"key": added.vkey, "sig": b64encode(voucher.private.sign(format_rotation(added.vkey))).decode()}


def test_an_added_key_signs_heads_when_an_earlier_one_vouches_for_it() -> None:
    log = build()
    log.add("key.rotate", **rotate(OWN, ADDED))
    assert check(describe(log, checkpoint=ADDED.sign_head(log.lines, 11))).verdict is Verdict.L2


@pytest.mark.parametrize("voucher", [ADDED, OTHER])
def test_nobody_without_an_earlier_key_adds_one(voucher: Key) -> None:
    log = build()
    log.add("key.rotate", **rotate(voucher, ADDED))
    assert find_fault(describe(log)) == (FaultCode.ROTATION_UNSIGNED, 10)


def test_an_added_key_has_the_logs_name() -> None:
    log = build()
    log.add("key.rotate", **rotate(OWN, OTHER))
    assert find_fault(describe(log)) == (FaultCode.KEY_MISMATCH, 10)


def test_a_compromised_key_signs_no_head_beyond_its_size() -> None:
    log = build()
    log.add("key.rotate", **rotate(OWN, ADDED))
    log.add("key.compromise", key=OWN.vkey, n=11)
    assert check(describe(log, checkpoint=OWN.sign_head(log.lines, 11))).verdict is Verdict.L2
    assert find_fault(describe(log, checkpoint=OWN.sign_head(log.lines, 12))) == (FaultCode.SIGNATURE_MISSING, None)
    assert check(describe(log, checkpoint=ADDED.sign_head(log.lines, 12))).verdict is Verdict.L2


def test_a_key_that_only_a_compromised_one_vouches_for_is_not_trusted() -> None:
    log = build()
    log.add("key.rotate", **rotate(OWN, ADDED))
    log.add("key.compromise", key=OWN.vkey, n=10)
    assert find_fault(describe(log, checkpoint=ADDED.sign_head(log.lines, 12))) == (FaultCode.SIGNATURE_MISSING, None)


def test_a_later_word_does_not_widen_the_trust_in_a_compromised_key() -> None:
    log = build()
    log.add("key.compromise", key=OWN.vkey, n=4)
    log.add("key.compromise", key=OWN.vkey, n=99)
    assert find_fault(describe(log)) == (FaultCode.SIGNATURE_MISSING, None)


def test_only_a_key_of_the_log_can_be_compromised() -> None:
    log = build()
    log.add("key.compromise", key=ADDED.vkey, n=4)
    assert find_fault(describe(log)) == (FaultCode.KEY_MISMATCH, 10)
