"""Verification of a log: what it counts, and that no tampering goes unnamed."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.checkpoint import format_checkpoint, format_origin, sign_note
from onrecord.domain.ids import LogId, Seq
from onrecord.domain.ledger_check import ErasedRow, Row, SealedRow, StoredRow, list_erasures
from onrecord.domain.ledger_report import MESSAGES, FaultCode, Head, Verdict
from onrecord.domain.merkle import compute_root, hash_leaf
from tests.ledgers import (
    ADDED,
    OTHER,
    OWN,
    SIGNED,
    Builder,
    build,
    build_other,
    check,
    describe,
    edit,
    find_fault,
    place,
)


def test_a_sound_log_is_signed_and_counted() -> None:
    log = build()
    report = check(describe(log))
    assert (report.verdict, report.fault) == (Verdict.L2, None)
    assert (report.head, report.signed, report.unsigned) == (log.head(10), log.head(SIGNED), 2)
    assert (report.opened, report.sealed, report.erased, report.unerased) == (4, 0, 0, 0)
    assert (report.waiting, report.newer, report.ts) == (0, 0, "2026-11-30T07:00:09.000000Z")


def test_a_log_without_checkpoint_is_consistent_and_no_more() -> None:
    report = check(describe(build(), checkpoint=None))
    assert (report.verdict, report.signed, report.unsigned) == (Verdict.L1, None, 10)


def test_a_log_without_key_file_is_judged_by_the_key_it_begins_with() -> None:
    assert check(describe(build(), key_pub=None)).verdict is Verdict.L2


def test_an_empty_log_may_have_a_signed_empty_head() -> None:
    material = describe(Builder(OWN), checkpoint=OWN.sign_head([], 0))
    report = check(material)
    assert (report.verdict, report.head.size, report.signed) == (Verdict.L2, 0, Head(0, compute_root([])))


def test_lines_are_taken_one_after_the_other_and_rows_in_ascending_order() -> None:
    log = build()
    read: list[int] = []

    def stream() -> Iterator[bytes]:
        for seq, line in enumerate(log.lines):
            assert all(earlier < seq for earlier in read)
            yield line

    def read_row(seq: Seq) -> Row:
        read.append(seq)
        return log.rows.get(seq)

    assert check(describe(log, lines=stream(), read_row=read_row)).verdict is Verdict.L2
    assert read == [1, 2, 4, 6]


def test_nothing_is_read_after_the_first_contradiction() -> None:
    def stream() -> Iterator[bytes]:
        yield build().lines[0]
        yield b"{}"
        raise AssertionError("read on")

    assert find_fault(describe(build(), lines=stream())) == (FaultCode.ENTRY_MISSING_MEMBER, 1)


Tamper = Callable[[list[bytes]], list[bytes]]


@pytest.mark.parametrize(
    ("tamper", "code", "seq"),
    [
        pytest.param(lambda lines: place(lines, 4, edit(lines[4], ver=2)), "row_mismatch", 4, id="version edited"),
        pytest.param(lambda lines: place(lines, 3, edit(lines[3], ver=2)), "prev_mismatch", 4, id="entry edited"),
        pytest.param(lambda lines: place(lines, 7, edit(lines[7], n=9)), "prev_mismatch", 9, id="last signed edited"),
        pytest.param(
            lambda lines: place(lines[:8], 7, edit(lines[7], n=9)), "root_mismatch", None, id="edited, tail cut"
        ),
        pytest.param(lambda lines: place(lines, 3), "seq_mismatch", 3, id="deleted"),
        pytest.param(lambda lines: lines[1:], "seq_mismatch", 0, id="first deleted"),
        pytest.param(lambda lines: place(lines, 3, lines[3], lines[3]), "seq_mismatch", 4, id="repeated"),
        pytest.param(
            lambda lines: place(lines, 3, lines[3], edit(lines[3], seq=4)), "counter_gap", 4, id="repeated as next"
        ),
        pytest.param(lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], "seq_mismatch", 3, id="swapped"),
        pytest.param(
            lambda lines: [*lines[:8], edit(lines[9], seq=8), edit(lines[8], seq=9)],
            "time_fell",
            9,
            id="swapped and renumbered",
        ),
        pytest.param(
            lambda lines: [
                *lines[:8],
                edit(lines[9], seq=8, ts=json.loads(lines[8])["ts"]),
                edit(lines[8], seq=9, ts=json.loads(lines[9])["ts"]),
            ],
            None,
            None,
            id="unsigned tail written anew",
        ),
        pytest.param(lambda lines: lines[: SIGNED - 1], "truncated", None, id="signed tail cut"),
        pytest.param(lambda _: [], "truncated", None, id="emptied"),
        pytest.param(lambda lines: place(lines, 3, edit(lines[3], log=OTHER.log)), "log_mismatch", 3, id="other log"),
        pytest.param(lambda lines: place(lines, 3, edit(lines[3], cseq=4)), "counter_gap", 3, id="counter skips"),
        pytest.param(lambda lines: place(lines, 3, edit(lines[3], cseq=2)), "counter_gap", 3, id="counter repeats"),
        pytest.param(
            lambda lines: place(lines, 3, edit(lines[3], cseq=1, prev=None)), "counter_gap", 3, id="counter restarts"
        ),
        pytest.param(
            lambda lines: place(lines, 3, edit(lines[3], prev=b64encode(bytes(32)).decode())),
            "prev_mismatch",
            3,
            id="prev edited",
        ),
        pytest.param(
            lambda lines: place(lines, 3, edit(lines[3], cred="c_" + "z" * 22)),
            "counter_gap",
            3,
            id="credential edited",
        ),
        pytest.param(
            lambda lines: place(lines, 3, edit(lines[3], ts="2026-11-30T06:00:00.000000Z")),
            "time_fell",
            3,
            id="time fell",
        ),
        pytest.param(lambda lines: place(lines, 3, lines[3] + b" "), "entry_not_canonical", 3, id="trailing blank"),
        pytest.param(lambda lines: place(lines, 3, lines[3][:-1]), "entry_not_canonical", 3, id="cut line"),
        pytest.param(lambda lines: place(lines, 3, b""), "entry_not_canonical", 3, id="empty line"),
        pytest.param(lambda lines: place(lines, 3, b"\xff" * 9), "entry_not_canonical", 3, id="not UTF-8"),
        pytest.param(lambda lines: place(lines, 3, b" " * 4_097), "entry_too_large", 3, id="too large"),
        pytest.param(
            lambda lines: place(lines, 3, edit(lines[3], type="record.burn")), "entry_unknown_type", 3, id="type"
        ),
        pytest.param(lambda lines: place(lines, 3, edit(lines[3], note="x")), "entry_unknown_member", 3, id="member"),
        pytest.param(lambda lines: place(lines, 3, edit(lines[3], rec=None)), "entry_missing_member", 3, id="lacks"),
        pytest.param(lambda lines: place(lines, 3, edit(lines[3], rec="Tea")), "entry_bad_member", 3, id="form"),
        pytest.param(
            lambda lines: place(lines, 9, edit(lines[9], type="log.start", n=None, key=OWN.vkey, seen=[])),
            "start_misplaced",
            9,
            id="second start",
        ),
        pytest.param(
            lambda lines: place(lines, 0, edit(lines[0], type="replay", n=1, key=None)),
            "start_misplaced",
            0,
            id="no start",
        ),
        pytest.param(
            lambda lines: place(lines, 0, edit(lines[0], key=OTHER.vkey)), "key_mismatch", 0, id="other's key"
        ),
        pytest.param(
            lambda lines: place(lines, 0, edit(lines[0], key=ADDED.vkey)), "key_mismatch", 0, id="added key first"
        ),
    ],
)
def test_a_tampered_ledger_is_named_at_its_first_contradiction(
    tamper: Tamper, code: str | None, seq: int | None
) -> None:
    log = build()
    material = describe(log, lines=tamper(list(log.lines)))
    if code is None:
        # Beyond the signature only a pinned head can tell.
        assert check(material).verdict is Verdict.L2
        material = replace(material, pinned=[log.head(10)])
        code = "pinned_mismatch"
    assert find_fault(material) == (FaultCode(code), seq)


@pytest.mark.parametrize(
    ("checkpoint", "code"),
    [
        pytest.param(lambda log: OTHER.sign_head(log.lines, SIGNED), "signature_missing", id="other key"),
        pytest.param(lambda log: ADDED.sign_head(log.lines, SIGNED), "signature_missing", id="key never added"),
        pytest.param(
            lambda log: OWN.sign_head(log.lines, 7).replace(b"\n7\n", b"\n8\n"), "signature_invalid", id="size"
        ),
        pytest.param(lambda log: OWN.sign_head(list(reversed(log.lines)), 8), "root_mismatch", id="other root"),
        pytest.param(lambda log: OWN.sign_head([*log.lines, b"{}"], 11), "truncated", id="larger than the ledger"),
        pytest.param(lambda log: OWN.sign_head(log.lines, 8)[:-1], "checkpoint_malformed", id="cut"),
        pytest.param(lambda _: b"", "checkpoint_malformed", id="empty"),
        pytest.param(lambda _: b"\xff\n\n", "checkpoint_malformed", id="not text"),
        pytest.param(
            lambda _: sign_note("x\n8\nx\n", OWN.vkey, OWN.private.sign), "checkpoint_malformed", id="signed nonsense"
        ),
        pytest.param(
            lambda log: sign_note(
                format_checkpoint(format_origin(OTHER.log), 8, log.head(8).root), OWN.vkey, OWN.private.sign
            ),
            "checkpoint_malformed",
            id="other origin",
        ),
    ],
)
def test_a_false_checkpoint_is_broken(checkpoint: Callable[[Builder], bytes], code: str) -> None:
    log = build()
    assert find_fault(describe(log, checkpoint=checkpoint(log))) == (FaultCode(code), None)


def test_a_head_known_before_must_be_a_prefix() -> None:
    log = build()
    assert check(describe(log, pinned=[log.head(size) for size in (10, 0, 3, 3)])).verdict is Verdict.L2
    assert find_fault(describe(log, pinned=[Head(3, bytes(32))])) == (FaultCode.PINNED_MISMATCH, None)


def test_a_ledger_shorter_than_a_pinned_head_was_rolled_back() -> None:
    log = build()
    assert find_fault(describe(log, lines=log.lines[:9], pinned=[log.head(10)])) == (FaultCode.ROLLED_BACK, None)


def test_a_ledger_that_grew_anew_after_a_rollback_is_not_the_pinned_one() -> None:
    log, regrown = build(), build()
    regrown.lines[9:] = [edit(log.lines[9], n=7)]
    material = describe(regrown, pinned=[log.head(10)], checkpoint=OWN.sign_head(regrown.lines, 10))
    assert find_fault(material) == (FaultCode.PINNED_MISMATCH, None)


def test_a_key_file_of_another_log_is_named() -> None:
    assert find_fault(describe(build(), key_pub=OTHER.vkey)) == (FaultCode.KEY_MISMATCH, 0)
    assert find_fault(describe(Builder(OWN), key_pub=OTHER.vkey, checkpoint=None)) == (FaultCode.KEY_MISMATCH, None)


def test_a_row_that_is_gone_without_an_erasure_is_unexplained() -> None:
    log = build()
    del log.rows[4]
    assert find_fault(describe(log)) == (FaultCode.UNEXPLAINED_ABSENCE, 4)


def test_an_erased_row_without_an_erasure_is_unexplained() -> None:
    log = build()
    log.rows[4] = ErasedRow({})
    assert find_fault(describe(log)) == (FaultCode.UNEXPLAINED_ABSENCE, 4)


def test_an_erasure_explains_what_it_names_and_nothing_else() -> None:
    log = build()
    log.add("erase.execute", rec="9h1m2k8w4x6z", to=[f"{OWN.log}:4", f"{OWN.log}:6", f"{OTHER.log}:1", f"{OWN.log}:99"])
    del log.rows[4]
    report = check(describe(log))
    assert (report.verdict, report.opened, report.erased, report.unerased) == (Verdict.L2, 3, 1, 1)
    del log.rows[1]
    assert find_fault(describe(log)) == (FaultCode.UNEXPLAINED_ABSENCE, 1)


def test_an_erasure_by_another_log_explains_an_absence() -> None:
    log, other = build(), build_other()
    other.add("erase.execute", rec="9h1m2k8w4x6z", to=[f"{OWN.log}:4"])
    del log.rows[4]
    elsewhere = set(list_erasures(other.lines))
    assert elsewhere == {f"{OWN.log}:4"}
    assert check(describe(log, erased_elsewhere=elsewhere)).erased == 1


def test_a_damaged_line_names_no_erasure() -> None:
    assert list(list_erasures([b'{"type":"erase.execute"}', b"{}"])) == []


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (StoredRow(bytes([4]) * 32, b"three!"), "commitment_mismatch"),
        (StoredRow(bytes(32), b"three"), "commitment_mismatch"),
        (StoredRow(bytes([4]) * 32, b""), "commitment_mismatch"),
    ],
)
def test_other_bytes_or_salt_do_not_open_a_commitment(row: Row, code: str) -> None:
    log = build()
    log.rows[4] = row
    assert find_fault(describe(log)) == (FaultCode(code), 4)


@pytest.mark.parametrize("name", ["id", "version", "kind", "origin", "ts", "type", "from"])
def test_a_row_that_says_something_else_than_its_entry_is_named(name: str) -> None:
    log = build()
    row = log.rows[4]
    assert isinstance(row, StoredRow)
    log.rows[4] = replace(row, says={**row.says, name: "other"})
    assert find_fault(describe(log)) == (FaultCode.ROW_MISMATCH, 4)
    log.rows[4] = ErasedRow({**row.says, name: "other"})
    assert find_fault(describe(log)) == (FaultCode.ROW_MISMATCH, 4)


def test_a_sealed_row_counts_as_not_opened() -> None:
    log = build()
    log.rows[4] = SealedRow()
    report = check(describe(log))
    assert (report.verdict, report.opened, report.sealed) == (Verdict.L2, 3, 1)


def test_the_fault_with_the_lowest_number_is_named_first_and_absence_after_all_entries() -> None:
    log = build()
    del log.rows[1]
    del log.rows[2]
    assert find_fault(describe(log)) == (FaultCode.UNEXPLAINED_ABSENCE, 1)
    lines = place(log.lines, 7, edit(log.lines[7], note="x"))
    assert find_fault(describe(log, lines=lines, checkpoint=b"")) == (FaultCode.ENTRY_UNKNOWN_MEMBER, 7)


def test_another_log_that_does_not_extend_what_was_seen_is_a_fork() -> None:
    forked = build_other()
    forked.lines[3] = edit(forked.lines[3], n=77)
    leaves = [hash_leaf(line) for line in forked.lines]
    assert find_fault(describe(build(), read_leaves=lambda _: leaves)) == (FaultCode.FORK, 5)


def test_another_log_that_has_not_arrived_is_waited_for() -> None:
    leaves = [hash_leaf(line) for line in build_other().lines]
    assert check(describe(build(), read_leaves=lambda _: None)).waiting == 2
    assert check(describe(build(), read_leaves=lambda _: leaves[:3])).waiting == 1


def test_leaves_of_another_log_are_read_once_and_no_further_than_seen() -> None:
    taken: list[int] = []

    def read_leaves(_: LogId) -> Iterator[bytes]:
        for number, line in enumerate(build_other().lines):
            taken.append(number)
            yield hash_leaf(line)

    assert check(describe(build(), read_leaves=read_leaves)).waiting == 0
    assert taken == [0, 1, 2, 3]


def test_a_newer_entry_is_counted_and_stops_the_judging_of_counters_and_absence() -> None:
    log = build()
    lines = place(log.lines, 8, encode_canonical({"v": 2, "anything": 1}))
    del log.rows[4]
    report = check(describe(log, lines=[*lines, edit(lines[9], seq=10, cseq=40)]))
    assert (report.verdict, report.newer, report.head.size) == (Verdict.L2, 1, 11)
    assert find_fault(describe(log, lines=[*lines, lines[9]])) == (FaultCode.SEQ_MISMATCH, 10)


def test_every_fault_has_a_message() -> None:
    assert set(MESSAGES) == set(FaultCode)
