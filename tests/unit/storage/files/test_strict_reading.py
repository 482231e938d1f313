"""Rows, frames and head.json are read exactly as they are written; anything else is damage, or a newer program's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from onrecord.domain.entry import encode_entry, make_entry
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.domain.instants import Instant
from onrecord.domain.merkle import Frontier
from onrecord.ports.store import Actor, TurnRow, VersionDraft, VersionRow
from onrecord.ports.system import ClockReading
from onrecord.storage.files.frames import FrameChange, decode_payload, encode_payload
from onrecord.storage.files.head import CredentialState, Head, SeenHead, StoreEnd, decode_head
from onrecord.storage.files.rows import decode_row, describe_row, encode_row

LOG = LogId("0123456789abcdef")
OTHER = LogId("fedcba9876543210")
TS = Instant("2026-11-30T07:00:00.000000Z")
HASH = bytes(range(32))
CLOCK = ClockReading(5, 6, "boot")

ABSENT = object()
Change = Mapping[str, object]


def make_row(turn: TurnRow | None = None) -> VersionRow:
    draft = VersionDraft(
        RecordId("9h1m2k8w4x6z"), 2, "event" if turn else "note", "memories/default/x.md", b"text", "agent", "default",
        parents=(EntryRef(LOG, Seq(0)),), turn=turn, redacted=("rule",),
    )  # fmt: skip
    kind = "event.append" if turn else "record.update"
    return VersionRow(EntryRef(LOG, Seq(1)), kind, draft, TS, HASH, "a" * 22, Actor("client", "agent"))


ROW = make_row()
TURN = make_row(TurnRow("s", "x", "t1", "user", 1, 40, "Mia", TS))


def write(shape: Mapping[str, object], change: Change) -> bytes:
    changed = {name: value for name, value in {**shape, **change}.items() if value is not ABSENT}
    return json.dumps(changed, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize("row", [ROW, TURN])
def test_a_row_is_read_as_it_was_written(row: VersionRow) -> None:
    assert decode_row(encode_row(describe_row(row), row.draft.data), LOG) == row


@pytest.mark.parametrize(
    "change",
    [
        {"more": "x"}, {"v": 0}, {"v": True}, {"v": "1"}, {"v": ABSENT}, {"seq": True}, {"seq": -1}, {"seq": 1.0},
        {"id": "short"}, {"id": 5}, {"version": 0}, {"version": True}, {"kind": "nothing"}, {"origin": "god"},
        {"status": "odd"}, {"path": ""}, {"path": ABSENT}, {"salt": "AAAA"}, {"salt": ABSENT}, {"ts": "2026"},
        {"text": ABSENT}, {"text": 5}, {"b64": "AAAA"}, {"mode": "nowhere"}, {"from": []}, {"from": ["x:1"]},
        {"from": "x"}, {"redacted": "rule"}, {"key": "short"}, {"protection": "none"}, {"workspace": None},
        {"client": 1}, {"turn": "t"}, {"source": "s"}, {"type": ""}, {"erased": "x"}, {"text": "\ud800"},
    ],
)  # fmt: skip
def test_a_row_with_anything_else_is_damaged(change: Change) -> None:
    line = encode_row(describe_row(ROW), ROW.draft.data)
    with pytest.raises(DamagedError):
        decode_row(write(json.loads(line), change), LOG)


@pytest.mark.parametrize(
    "change", [{"n": True}, {"n": 0}, {"at": -1}, {"role": "king"}, {"turn": 1}, {"source": ABSENT}, {"time": "2026"}]
)
def test_a_turn_with_anything_else_is_damaged(change: Change) -> None:
    line = encode_row(describe_row(TURN), TURN.draft.data)
    with pytest.raises(DamagedError):
        decode_row(write(json.loads(line), change), LOG)


@pytest.mark.parametrize("line", [b"", b"[]", b"1", b"null", b"{", b"\xff", b'{"v":1}', b"[" * 100_000])
def test_a_line_that_is_no_row_is_damaged(line: bytes) -> None:
    with pytest.raises(DamagedError):
        decode_row(line, LOG)


def test_a_member_that_occurs_twice_is_damage() -> None:
    line = encode_row(describe_row(ROW), ROW.draft.data).strip()
    with pytest.raises(DamagedError):
        decode_row(line[:-1] + b',"path":"memories/other.md"}', LOG)


def test_erased_and_sealed_rows_are_known_as_such() -> None:
    shape = json.loads(encode_row(describe_row(ROW), ROW.draft.data))
    gone = dict.fromkeys(("text", "salt", "path", "key"), ABSENT)
    assert decode_row(write(shape, {**gone, "erased": f"{LOG}:7"}), LOG).is_erased
    with pytest.raises(DamagedError):
        decode_row(write(shape, {"erased": f"{LOG}:7"}), LOG)
    sealed = decode_row(write(shape, {"text": ABSENT, "salt": ABSENT, "sealed": {"alg": "A256GCM"}}), LOG)
    assert (sealed.is_sealed, sealed.draft.data) == (True, b"")


@pytest.mark.parametrize("what", ["row", "head", "frame", "entry"])
def test_what_a_newer_program_wrote_is_called_newer(what: str) -> None:
    newer: Change = {"v": 2, "zeal": True}
    calls: dict[str, Callable[[], object]] = {
        "row": lambda: decode_row(write(describe_row(ROW), newer), LOG),
        "head": lambda: decode_head(write(json.loads(HEAD.encode()), newer)),
        "frame": lambda: decode_payload(write(read_frame(), newer) + b"\n" + b"text", LOG),
        "entry": lambda: decode_payload(change_entry(newer), LOG),
    }
    with pytest.raises(NewerFormatError):
        calls[what]()


HEAD = Head(
    LOG, 3, Frontier(1, (HASH,)), TS, StoreEnd(0, 5), StoreEnd(1, 6), HASH, {"c_x": CredentialState(1, HASH)}, 1, CLOCK,
    -7, {OTHER: SeenHead(4, HASH, TS)},
)  # fmt: skip


@pytest.mark.parametrize("head", [HEAD, Head(LOG)])
def test_a_head_is_read_as_it_was_written(head: Head) -> None:
    assert decode_head(head.encode()) == head


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1}, {"v": 0}, {"v": True}, {"v": ABSENT}, {"gen": True}, {"gen": -1}, {"gen": "3"}, {"log": "x"},
        {"log": ABSENT}, {"size": True}, {"size": 3}, {"root": "AAAA"}, {"frontier": []}, {"ts": "2026"}, {"ts": None},
        {"ledger": {"segment": 0}}, {"ledger": {"segment": 0, "bytes": True}}, {"versions": []}, {"tail": "AAAA"},
        {"versions": {"segment": 0, "bytes": 1, "more": 1}}, {"creds": {"c_x": {"cseq": 1}}}, {"creds": []},
        {"creds": {"c_x": {"cseq": True, "prev": "A" * 43 + "="}}}, {"signed": False}, {"jump": True}, {"jump": ABSENT},
        {"clock": ["boot", True, 1]}, {"clock": ["boot", 1]}, {"seen": [{"log": OTHER, "size": 1}]}, {"seen": 5},
    ],
)  # fmt: skip
def test_a_head_with_anything_else_is_damaged(change: Change) -> None:
    with pytest.raises(DamagedError):
        decode_head(write(json.loads(HEAD.encode()), change))


def make_change() -> FrameChange:
    entry = make_entry(
        log=LOG, seq=1, ts=TS, type="record.update", actor="p_" + "a" * 22, cred="c_" + "a" * 22, cseq=1, prev=None,
        members={
            "rec": ROW.draft.id, "ver": 2, "kind": "note", "origin": "agent", "from": [f"{LOG}:0"],
            "body": {"alg": "hmac-sha256", "c": "A" * 43 + "="},
        },
    )  # fmt: skip
    return FrameChange(encode_entry(entry), TS, "c_" + "a" * 22, 1, ROW, "replace", HASH)


def read_frame() -> dict[str, Any]:
    return json.loads(encode_payload([make_change()], CLOCK).split(b"\n")[0])


def change_entry(change: Change) -> bytes:
    frame = read_frame()
    frame["changes"][0]["entry"] = write(json.loads(frame["changes"][0]["entry"]), change).decode()
    return write(frame, {}) + b"\ntext"


def test_a_frame_is_read_as_it_was_written() -> None:
    assert decode_payload(encode_payload([make_change()], CLOCK), LOG) == ([make_change()], CLOCK)


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1}, {"size": True}, {"size": 3}, {"size": ABSENT}, {"size": -4}, {"row": 5}, {"row": {"v": 1}},
        {"place": {"how": "throw", "pre": "A" * 43 + "="}}, {"place": {"how": "replace"}}, {"place": {}},
        {"place": {"how": "create", "pre": "A" * 43 + "="}}, {"place": {"how": "replace", "pre": "AAAA"}},
        {"place": {"how": "create", "more": 1}}, {"entry": 5}, {"entry": "{}"}, {"entry": ABSENT},
    ],
)  # fmt: skip
def test_a_change_with_anything_else_is_damaged(change: Change) -> None:
    frame = read_frame()
    frame["changes"] = [json.loads(write(frame["changes"][0], change))]
    with pytest.raises(DamagedError):
        decode_payload(write(frame, {}) + b"\ntext", LOG)


@pytest.mark.parametrize("change", [{"more": 1}, {"v": True}, {"clock": [1, 2, 3]}, {"changes": ABSENT}])
def test_a_frame_with_anything_else_is_damaged(change: Change) -> None:
    with pytest.raises(DamagedError):
        decode_payload(write(read_frame(), change) + b"\ntext", LOG)


@pytest.mark.parametrize("change", [{"cseq": True}, {"ts": 5}, {"cred": 5}, {"log": OTHER}, {"v": True}])
def test_an_entry_in_a_frame_with_anything_else_is_damaged(change: Change) -> None:
    with pytest.raises(DamagedError):
        decode_payload(change_entry(change), LOG)
