"""Ledger entries: what may be written is exactly what may be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.entry import Entry, EntryFault, encode_entry, make_entry, read_entry
from onrecord.domain.entry_types import TYPES
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.ids import LogId
from onrecord.domain.instants import Instant
from onrecord.domain.limits import ENTRY_MAX_BYTES
from tests.vectors import load_vectors

LOG = LogId("0123456789abcdef")
BODY = {"alg": "hmac-sha256", "c": "A" * 43 + "="}
MEMBERS = {"rec": "9h1m2k8w4x6z", "ver": 1, "kind": "note", "origin": "agent", "body": BODY}
EXAMPLES = {
    json.loads(item["line"])["type"]: json.loads(item["line"]) for item in load_vectors("entries.json")["entries"]
}


def make(members: dict[str, Any] | None = None, **changes: Any) -> dict[str, object]:
    arguments: dict[str, Any] = {
        "log": LOG,
        "seq": 5,
        "ts": Instant("2026-11-30T07:00:00.000000Z"),
        "type": "record.create",
        "actor": "p_" + "a" * 22,
        "cred": "c_" + "b" * 22,
        "cseq": 2,
        "prev": bytes(32),
        "members": MEMBERS if members is None else members,
    }
    return make_entry(**(arguments | changes))


def test_an_entry_is_read_back_as_it_was_made() -> None:
    entry = read_entry(encode_entry(make()))
    assert isinstance(entry, Entry)
    assert entry == Entry(
        log=LOG,
        seq=entry.seq,
        ts=Instant("2026-11-30T07:00:00.000000Z"),
        type="record.create",
        actor="p_" + "a" * 22,
        cred="c_" + "b" * 22,
        cseq=2,
        prev=bytes(32),
        members=MEMBERS,
    )
    assert entry.seq == 5


def test_the_first_entry_of_a_credential_has_no_prev() -> None:
    line = encode_entry(make(cseq=1, prev=None))
    assert b"prev" not in line
    entry = read_entry(line)
    assert isinstance(entry, Entry)
    assert entry.prev is None


@pytest.mark.parametrize(
    "changes",
    [
        {"cseq": 1},
        {"prev": None},
        {"prev": bytes(31)},
        {"type": "record.burn"},
        {"ts": Instant("2026-11-30")},
        {"actor": "claude"},
        {"cred": "c_local"},
        {"log": LogId("short")},
        {"seq": -1},
        {"cseq": 0, "prev": None},
        {"members": MEMBERS | {"title": "x"}},
        {"members": MEMBERS | {"seq": 6}},
        {"members": {"rec": "9h1m2k8w4x6z"}},
        {"members": MEMBERS | {"from": []}},
        {"members": MEMBERS | {"refs": None}},
    ],
    ids=repr,
)
def test_what_could_not_be_read_is_not_made(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        make(**changes)


def test_an_error_names_the_member() -> None:
    with pytest.raises(InvalidInputError) as caught:
        make(MEMBERS | {"origin": "admin"})
    assert caught.value.field == "origin"


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_each_member_that_a_type_may_have_is_needed_allowed_or_refused(kind: str) -> None:
    rule = TYPES[kind]
    full = {name: value for name, value in EXAMPLES[kind].items() if name in rule.allowed}
    needed = {*rule.needed, "prev", *(("kind", "origin", "body") if "body" in rule.allowed else ())}
    for name in full:
        found = read_entry(encode_canonical({key: value for key, value in full.items() if key != name}))
        assert found is EntryFault.MISSING_MEMBER if name in needed else isinstance(found, Entry), name
    for other in ("title", "reason", "turn", "sig", "off", "ws"):
        if other not in rule.allowed:
            assert read_entry(encode_canonical(full | {other: 1})) is EntryFault.UNKNOWN_MEMBER


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_no_member_of_any_type_takes_free_text(kind: str) -> None:
    full = EXAMPLES[kind]
    for name in full:
        fault = read_entry(encode_canonical(full | {name: "free text, with a name"}))
        assert fault is (EntryFault.UNKNOWN_TYPE if name == "type" else EntryFault.BAD_MEMBER)


def test_one_of_several_members_is_enough_where_the_type_asks_for_one() -> None:
    given = {name: EXAMPLES["erase.request"][name] for name in ("cause", "appr", "level")}
    for member in ("rec", "to"):
        assert make(given | {member: EXAMPLES["erase.request"][member]}, type="erase.request")
    with pytest.raises(InvalidInputError):
        make(given, type="erase.request")


def test_subjects_and_policy_need_a_record() -> None:
    policy = {"doc": "A" * 43 + "=", "d": "deny", "rule": "R1"}
    assert make({"rec": "9h1m2k8w4x6z", "ver": 1, "pol": policy}, type="record.missing")
    with pytest.raises(InvalidInputError):
        make({"n": 1, "pol": policy}, type="replay")


def test_an_entry_at_the_limit_is_written_and_above_refused() -> None:
    def encode(parents: int) -> bytes:
        return encode_entry(make(MEMBERS | {"from": [f"{LOG}:0"] * parents}))

    most = 1
    while len(encode(most)) + len(f',"{LOG}:0"') <= ENTRY_MAX_BYTES:
        most += 1
    assert isinstance(read_entry(encode(most)), Entry)
    with pytest.raises(LimitExceededError):
        encode(most + 1)
    too_long = encode_canonical(make(MEMBERS | {"from": [f"{LOG}:0"] * (most + 1)}))
    assert read_entry(too_long) is EntryFault.TOO_LARGE


def test_a_newer_entry_is_no_damage() -> None:
    line = encode_canonical(make() | {"v": 2, "new": "member"})
    assert read_entry(line) is EntryFault.NEWER_FORMAT


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"[" * 4_000, "entry_not_canonical"),
        (b"{}", "entry_missing_member"),
        (b'{"v":1}', "entry_missing_member"),
        (b'{"type":"replay","v":true}', "entry_bad_member"),
        (b'{"type":[],"v":1}', "entry_unknown_type"),
        (b'{"a":' + b"9" * 4_000 + b"}", "entry_not_canonical"),
        (b"\xff", "entry_not_canonical"),
        (b" " * 5_000, "entry_too_large"),
    ],
)
def test_damage_is_named(line: bytes, code: str) -> None:
    assert read_entry(line) == code


def test_the_members_of_an_entry_cannot_be_changed() -> None:
    entry = read_entry(encode_entry(make()))
    assert isinstance(entry, Entry)
    with pytest.raises(TypeError):
        entry.members["rec"] = "x"  # type: ignore[index]
