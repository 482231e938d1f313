"""Vectors of canonical JSON, ids, commitments and ledger entries."""

from encoding import (
    DEPTH_MAX,
    b64,
    base32,
    block_id,
    canonical,
    commitment,
    conflict_id,
    log_id,
    parse_strict,
    place,
    pseudonym,
    refusal,
    salt,
    sha256,
)
from entries import TYPES, parse_entry
from proofs import Key, hash_leaf

LOG_KEY, OTHER_KEY = Key(b"log"), Key(b"other log")
PEPPER = salt("pepper")
RECORD, SECOND_RECORD = "9h1m2k8w4x6z", "4t7c0n2bq5vd"


def nest(depth):
    """Return an object of this depth."""
    value = 1
    for _ in range(depth - 1):
        value = [value]
    return {"a": value}


def make_canonical_vectors():
    """Return values and their canonical bytes, and inputs that are refused."""
    values = [
        {},
        {"b": 1, "a": 2},
        {"a": [1, 2, [3]], "A": {"z": True, "y": False}},
        {"n": 2**53 - 1, "m": -(2**53 - 1), "z": 0},
        {"s": '\u0000\u0001\b\t\n\u000b\f\r\u001f"\\/'},
        {"s": "\u007f\u0080\u2028\u2029\ufeff\uffff"},
        {"s": "é e\u0301 咖啡 😀 مرحبا"},
        {"a-b": 1, "a.b": 2, "a_b": 3, "a b": 4, "aB": 5, "": 6, "~": 7, '"': 8},
        {"a": [], "b": {}, "c": ""},
        nest(DEPTH_MAX),
    ]
    depth = "[" * DEPTH_MAX
    refused = {
        "empty": b"",
        "blank": b" ",
        "array": b"[]",
        "string": b'"a"',
        "not_json": b"{",
        "trailing": b"{} {}",
        "single_quotes": b"{'a':1}",
        "duplicate_key": b'{"a":1,"a":1}',
        "duplicate_inner_key": b'{"a":{"b":1,"\\u0062":2}}',
        "nan": b'{"a":NaN}',
        "infinity": b'{"a":Infinity}',
        "negative_infinity": b'{"a":-Infinity}',
        "float": b'{"a":1.0}',
        "exponent": b'{"a":1e2}',
        "huge_exponent": b'{"a":1e400}',
        "integer_too_large": b'{"a":9007199254740992}',
        "integer_too_small": b'{"a":-9007199254740992}',
        "leading_zero": b'{"a":01}',
        "plus": b'{"a":+1}',
        "lone_surrogate": b'{"a":"\\ud800"}',
        "low_surrogate_first": b'{"a":"\\udc00\\ud800"}',
        "lone_surrogate_in_key": b'{"\\ud800":1}',
        "not_utf8": b'{"a":"\xff"}',
        "surrogate_in_utf8": b'{"a":"\xed\xa0\x80"}',
        "raw_control": b'{"a":"\x01"}',
        "byte_order_mark": b'\xef\xbb\xbf{"a":1}',
        "too_deep": b'{"a":' + depth.encode() + b"}",
        "much_too_deep": b'{"a":' + b"[" * 100,
        "comma": b'{"a":1,}',
        "comment": b'{"a":1/**/}',
    }
    return {
        "values": [{"value": value, "canonical": canonical(value).decode()} for value in values],
        "same": [
            {"input": text, "canonical": canonical(parse_strict(text.encode())).decode()}
            for text in (
                ' { "b" : [ 1 , -0 ] , "a" : "\\u0041\\/\\ud83d\\ude00" } ',
                '{"\\u0061":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}',
            )
        ],
        "refused": [
            {"name": name, "b64": b64(data), "why": refusal(parse_strict, data)} for name, data in refused.items()
        ],
        "not_canonical": [
            {"name": "float", "json": '{"a":1.5}', "why": refusal(canonical, {"a": 1.5})},
            {"name": "whole float", "json": '{"a":1.0}', "why": refusal(canonical, {"a": 1.0})},
            {"name": "null", "json": '{"a":null}', "why": refusal(canonical, {"a": None})},
            {"name": "key", "json": '{"é":1}', "why": refusal(canonical, {"é": 1})},
        ],
    }


def make_id_vectors():
    """Return base32, log, block and conflict ids."""
    members = [f"{RECORD}@10", f"{SECOND_RECORD}@1", f"{RECORD}@2"]
    turns = [
        ("claude-code", "s 1", "1"),
        ("", "", ""),
        ("a", "b\u00e9", "咖"),
        ("a", "", "b"),
        ("", "a", "b"),
    ]
    return {
        "base32": [
            {"hex": data.hex(), "chars": chars, "text": base32(data, chars)}
            for data, chars in (
                (bytes(8), 12),
                (b"\xff" * 8, 12),
                (sha256(b"x"), 16),
                (sha256(b"y"), 10),
                (bytes(range(15)), 24),
            )
        ],
        "read_as": [{"input": "9H1M2K8W4X6Z", "id": RECORD}, {"input": "oOiIlL2222zZ", "id": "0011112222zz"}],
        "refused": ["", "abc", "9h1m2k8w4x6zz", "9h1m2k8w4x6u", "9h1m 2k8w4x6"],
        "logs": [{"public": key.public.hex(), "log": log_id(key.public)} for key in (LOG_KEY, OTHER_KEY)],
        "blocks": [
            {"source": source, "session": session, "turn": turn, "id": block_id(source, session, turn)}
            for source, session, turn in turns
        ],
        "conflicts": [
            {"members": members, "id": conflict_id(members)},
            {"members": sorted(members), "id": conflict_id(members)},
        ],
    }


def make_commitment_vectors():
    """Return commitments and pseudonyms."""
    texts = [b"", b"---\nid: 9h1m2k8w4x6z\n---\n92 \xc2\xb0C\n", bytes(range(256)), b"\0"]
    names = [
        ("actor", ""),
        ("actor", "claude\x1f"),
        ("actor", "claude\x1fplanner"),
        ("cred", "claude"),
        ("cred", ""),
        ("subject", RECORD),
        ("actor", "Zoë\x1f咖"),
    ]
    return {
        "commitments": [
            {"salt": b64(salt(str(number))), "b64": b64(data), "c": commitment(salt(str(number)), data)}
            for number, data in enumerate(texts)
        ],
        "places": [
            {"salt": b64(salt("place")), "path": path, "place": place(salt("place"), path)}
            for path in ("memories/default/tea.md", "memories/ops/Kühe 咖.md")
        ],
        "pepper": PEPPER.hex(),
        "pseudonyms": [
            {"class": group, "name": name, "pseudonym": pseudonym(PEPPER, group, name)} for group, name in names
        ],
    }


def _example(name, entry):
    samples = {
        "key": LOG_KEY.vkey(),
        "sig": b64(LOG_KEY.sign(b"onrecord/key/v1\0" + LOG_KEY.vkey().encode())),
        "seen": [
            {
                "log": OTHER_KEY.log,
                "size": 7,
                "root": b64(sha256(b"other head")),
                "ts": "2026-11-29T09:00:00.000001Z",
            }
        ],
        "appr": f"{LOG_KEY.log}:12",
        "level": "passphrase",
        "n": 3,
        "to": [f"{LOG_KEY.log}:4", f"{OTHER_KEY.log}:0"],
        "off": -7200,
        "rec": RECORD,
        "ver": 2,
        "kind": "note",
        "origin": "agent",
        "status": "draft",
        "protection": "protected",
        "body": {"alg": "hmac-sha256", "c": commitment(salt("example"), b"example")},
        "from": [f"{LOG_KEY.log}:4"],
        "turn": 5,
        "refs": [{"rel": "supersedes", "rec": SECOND_RECORD, "ver": 1}],
        "ws": SECOND_RECORD,
        "subj": sorted(pseudonym(PEPPER, "subject", record) for record in (RECORD, SECOND_RECORD)),
        "pol": {"doc": b64(sha256(b"policy")), "d": "allow", "rule": "R7"},
        "cause": "user",
        "det": "lexical-2",
        "place": place(salt("example"), "memories/ops/Kühe.md"),
    }
    return entry | {name: samples[name]}


def _common(kind):
    return {
        "v": 1,
        "log": LOG_KEY.log,
        "seq": 41,
        "ts": "2026-11-30T07:00:00.123456Z",
        "type": kind,
        "actor": pseudonym(PEPPER, "actor", "claude\x1fplanner"),
        "cred": pseudonym(PEPPER, "cred", "claude"),
        "cseq": 9,
        "prev": b64(hash_leaf(b"before")),
    }


def make_example(kind, is_full):
    """Return an example of a type: with the required members, or with all that it may have."""
    required, optional, some = TYPES[kind]
    entry = _common(kind)
    names = required | some | (optional | {"seen"} if is_full else set())
    if is_full and "rec" in names:
        names |= {"subj", "pol"}
    if is_full and "body" in names:
        names |= {"status", "protection"}
    for name in sorted(names):
        entry = _example(name, entry)
    return entry


def _list_refused():
    entry = make_example("record.create", False)
    line = canonical(entry)

    def change(**members):
        return canonical(entry | members)

    def drop(name):
        return canonical({key: value for key, value in entry.items() if key != name})

    def retype(name, /, **members):
        return canonical(make_example(name, False) | members)

    seen = make_example("log.seen", False)["seen"][0]
    reference = make_example("record.link", False)["refs"][0]
    policy = make_example("policy.change", False)["pol"]
    refused = {
        "blank": line.replace(b":1,", b": 1,", 1),
        "line_end": line + b"\n",
        "carriage_return": line + b"\r",
        "unsorted": line[:-1].replace(b',"v":1', b"") + b',"v":1}',
        "escaped": line.replace(b"note", b"n\\u006fte"),
        "duplicate": line[:-1] + b',"v":1}',
        "float": line.replace(b'"ver":2', b'"ver":2.0'),
        "null": drop("ver")[:-1] + b',"ws":null}',
        "array": b"[]",
        "empty": b"",
        "not_utf8": line.replace(b"note", b"n\xffte"),
        "too_deep": b'{"a":' * 33 + b"1" + b"}" * 33,
        "very_deep": b"[" * 4000,
        "too_large": change(refs=[reference] * 90),
        "newer": change(v=2, x=1),
        "v_0": change(v=0),
        "v_true": change(v=True),
        "v_text": change(v="1"),
        "no_v": drop("v"),
        "unknown_type": change(type="record.burn"),
        "type_of_number": change(type=1),
        "no_type": drop("type"),
        "unknown_member": change(note="free text"),
        "member_of_another_type": change(n=1),
        "title": change(title="x"),
        "no_rec": drop("rec"),
        "no_cred": drop("cred"),
        "no_prev": drop("prev"),
        "prev_at_the_start": change(cseq=1),
        "no_body": drop("body"),
        "kind_alone": retype("record.retire", kind="note"),
        "neither": canonical(
            _common("erase.request") | {"cause": "consent", "appr": f"{LOG_KEY.log}:12", "level": "passphrase"}
        ),
        "subj_without_rec": retype("recall", subj=make_example("export", True)["subj"]),
        "seq_negative": change(seq=-1),
        "seq_true": change(seq=True),
        "seq_text": change(seq="41"),
        "cseq_0": change(cseq=0),
        "ver_0": change(ver=0),
        "n_negative": retype("replay", n=-1),
        "log_too_short": change(log=LOG_KEY.log[:-1]),
        "log_upper_case": change(log=LOG_KEY.log.upper()),
        "ts_short": change(ts="2026-11-30T07:00:00Z"),
        "ts_of_no_day": change(ts="2026-02-30T07:00:00.000000Z"),
        "ts_leap_second": change(ts="2016-12-31T23:59:60.000000Z"),
        "actor_of_a_name": change(actor="p_claude"),
        "cred_local": change(cred="c_local"),
        "prev_of_31_bytes": change(prev=b64(bytes(31))),
        "prev_unused_bits": change(prev="A" * 42 + "B="),
        "prev_unpadded": change(prev="A" * 43),
        "rec_prefix": change(rec="9h1m"),
        "rec_with_u": change(rec="9h1m2k8w4x6u"),
        "kind_unknown": change(kind="diary"),
        "origin_unknown": change(origin="admin"),
        "status_unknown": change(status="lost"),
        "status_list": change(status=["draft"]),
        "status_without_body": retype("record.link", status="draft"),
        "body_text": change(body="x"),
        "body_extra": change(body=entry["body"] | {"x": 1}),
        "body_alg": change(body=entry["body"] | {"alg": "sha256"}),
        "from_empty": change(**{"from": []}),
        "from_zero": change(**{"from": [f"{LOG_KEY.log}:01"]}),
        "from_text": change(**{"from": f"{LOG_KEY.log}:1"}),
        "refs_rel": change(refs=[reference | {"rel": "likes"}]),
        "refs_no_ver": change(refs=[{"rel": "copy", "rec": RECORD}]),
        "subj_unsorted": change(subj=["p_" + "b" * 22, "p_" + "a" * 22]),
        "subj_twice": change(subj=["p_" + "a" * 22] * 2),
        "pol_rule_text": change(pol=policy | {"rule": "not R7"}),
        "pol_maybe": change(pol=policy | {"d": "maybe"}),
        "seen_empty": retype("log.seen", seen=[]),
        "seen_own_log": retype("log.seen", seen=[seen | {"log": LOG_KEY.log}]),
        "seen_twice": retype("log.seen", seen=[seen, seen]),
        "seen_size_0": retype("log.seen", seen=[seen | {"size": 0}]),
        "seen_no_ts": retype("log.seen", seen=[{k: seen[k] for k in ("log", "size", "root")}]),
        "det_upper_case": retype("scan.complete", det="Lexical"),
        "det_long": retype("scan.complete", det="a" * 65),
        "level_root": retype("approval.grant", level="root"),
        "cause_text": retype("write.deny", cause="because"),
        "key_text": retype("log.start", key="key"),
        "key_of_a_witness": retype("log.start", key=Key(b"witness", "witness.example/w").vkey()),
        "sig_short": retype("key.rotate", sig=b64(bytes(63))),
        "off_text": retype("clock.jump", off="1"),
    }
    return refused


def make_entry_vectors():
    """Return an example of every type and refused lines."""
    examples = []
    for kind in TYPES:
        for is_full in (False, True):
            line = canonical(make_example(kind, is_full))
            assert parse_entry(line)["type"] == kind
            examples.append({"line": line.decode(), "leaf": b64(hash_leaf(line))})
    first = {name: value for name, value in make_example("log.start", False).items() if name != "prev"}
    line = canonical(first | {"seq": 0, "cseq": 1, "seen": []})
    parse_entry(line)
    examples.append({"line": line.decode(), "leaf": b64(hash_leaf(line))})
    return {
        "types": {
            kind: {"required": sorted(required), "optional": sorted(optional), "some": sorted(some)}
            for kind, (required, optional, some) in TYPES.items()
        },
        "entries": examples,
        "refused": [
            {"name": name, "b64": b64(line), "why": refusal(parse_entry, line)}
            for name, line in _list_refused().items()
        ],
    }
