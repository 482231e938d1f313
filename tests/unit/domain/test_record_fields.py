"""Known keys: what counts, what counts in another form, what is a problem (docs/format/record.md)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.front_matter import Value
from onrecord.domain.instants import Interval, Precision
from onrecord.domain.record_fields import SERVER_KEYS, USER_KEYS, Fields, check_fields, order_keys, read_fields

MOMENT = "2026-11-30T07:00:00.000000Z"


def read(block: str) -> Fields:
    return read_fields(RuamelReader().read(block))


def codes(fields: Fields) -> list[tuple[str, int]]:
    return [(problem.code, problem.line) for problem in fields.problems]


def test_every_user_key_is_read_into_its_type() -> None:
    fields = read(
        "title: T\ntags: ['#a', b]\naliases: one\ntype: fact\nworkspace: w\nalso_in: [x]\nevent_time: 2026-11-30\n"
        "periods: ['2026-01-01T00:00:00.000000Z/..']\nconfidence: 0.9\nsource_ref: page 4\nreview_by: 2027\n"
        "meta: {a: [1]}\nformer_ids: [old-1]\nevidence: [x@1]\nsubject: s\nattribute: a\nvalue: v\nlinks: [part_of:x]\n"
    )
    keys = fields.keys
    assert (keys.title, keys.tags, keys.aliases, keys.type, keys.workspace) == ("T", ("a", "b"), ("one",), "fact", "w")
    assert keys.event_time == "2026-11-30T00:00:00.000000Z"
    assert keys.precisions == {"event_time": Precision.DAY, "review_by": Precision.YEAR}
    assert (keys.valid_from, keys.valid_to) == ("2026-01-01T00:00:00.000000Z", None)
    assert (keys.confidence, keys.meta, keys.source_ref) == (0.9, {"a": [1]}, "page 4")
    assert (keys.also_in, keys.former_ids, keys.evidence, keys.links) == (("x",), ("old-1",), ("x@1",), ("part_of:x",))
    assert (keys.subject, keys.attribute, keys.value) == ("s", "a", "v")
    assert not fields.problems


def test_every_server_owned_key_is_read_into_its_type() -> None:
    fields = read(
        f"id: 9H1M2K8W4X6Z\nkind: fact\nversion: 3\nby: 0123456789abcdef:12\nrecorded_at: {MOMENT}\nstatus: pending\n"
        f"origin: user\nclient: c\nagent: a\nconfirmed_by: 0123456789abcdef:13\nprotection: locked\nkb: true\n"
        f"governance: {{basis: x}}\nsuperseded_by: [x]\nisolation: weak\nparent: '000000000001'\nstate: open\n"
        f"members: [x@1]\ndecision: d\nplan: {{a: 1}}\n"
    )
    server = fields.server
    assert (server.id, server.kind, server.version, str(server.by)) == (
        "9h1m2k8w4x6z",
        "fact",
        3,
        "0123456789abcdef:12",
    )
    assert (server.status, server.protection, server.kb, server.isolation) == ("pending", "locked", True, "weak")
    assert (server.members, server.plan, server.parent) == (("x@1",), {"a": 1}, "000000000001")
    assert not fields.problems


@pytest.mark.parametrize(
    "line",
    [
        "title: [a]",
        "title: {a: b}",
        "tags: {a: b}",
        "tags: [a, [b]]",
        "event_time: soon",
        "event_time: 1700000000",
        "event_time: true",
        "event_time: 2024-02-30",
        "confidence: high",
        "confidence: 1.01",
        "confidence: -0.1",
        "confidence: true",
        "confidence: '0.5'",
        "meta: words",
        "periods: [2024/2025]",
        "periods: words",
        "id: 123",
        "id: 9h1m2k8w4x6",
        "id: true",
        "version: 0",
        "version: 1.5",
        "version: true",
        "version: '1'",
        "by: x",
        "by: 7",
        "status: done",
        "origin: me",
        "kind: memo",
        "protection: high",
        "kb: 1",
        'title: "a\\0b"',
    ],
)
def test_a_value_of_the_wrong_form_is_a_problem_and_counts_as_absent(line: str) -> None:
    fields = read(f'# remark\n{line}\nconfirmed_by: "0123456789abcdef:12"\n')
    assert ("field_invalid", 2) in codes(fields)
    key = line.partition(":")[0]
    owner = fields.server if key in SERVER_KEYS else fields.keys
    assert not getattr(owner, key)
    value = line.partition(": ")[2].strip("[]{}'\"").partition(":")[0].partition(",")[0]
    assert value.partition("\\")[0] in " ".join(fields.lost)


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("title: 1984", "title", "1984"),
        ("title: 1.50", "title", "1.50"),
        ("title: True", "title", "True"),
        ("tags: 7", "tags", ("7",)),
        ("tags: [007, a]", "tags", ("007", "a")),
        ("tags: [a, ~, '']", "tags", ("a",)),
        ("tags:", "tags", ()),
        ("also_in: x", "also_in", ("x",)),
        ("confidence: 0.12345", "confidence", 0.123),
        ("evidence: 5", "evidence", ("5",)),
    ],
)
def test_a_value_that_counts_in_another_form_is_an_info(line: str, key: str, value: object) -> None:
    fields = read(f"{line}\n")
    assert getattr(fields.keys, key) == value
    assert set(codes(fields)) == {("field_normalised", 1)}


def test_a_control_character_in_a_name_counts_as_a_blank() -> None:
    fields = read('title: "a\\x07b"\n')
    assert fields.keys.title == "a b"
    assert codes(fields) == [("control_character", 1)]


def test_an_id_of_digits_needs_no_quotes_and_keeps_its_zeros() -> None:
    assert read("id: 000000000012\n").server.id == "000000000012"
    assert read("id: 123456789012\n").server.id == "123456789012"
    assert read("id: 1e1000000000\n").server.id == "1e1000000000"


def test_periods_decide_over_valid_from_and_valid_to() -> None:
    fields = read(f"valid_from: 2020\nvalid_to: 2021\nperiods: ['../{MOMENT}']\n")
    assert (fields.keys.valid_from, fields.keys.valid_to) == (None, MOMENT)
    assert fields.keys.periods == (Interval(None, fields.keys.valid_to),)
    assert codes(fields) == [("field_invalid", 1), ("field_invalid", 2)]


def test_a_valid_to_that_is_not_after_valid_from_counts_as_absent() -> None:
    fields = read("valid_from: 2021\nvalid_to: 2021\n")
    assert (fields.keys.valid_from, fields.keys.valid_to) == ("2021-01-01T00:00:00.000000Z", None)
    assert codes(fields) == [("field_invalid", 2)]


@pytest.mark.parametrize(
    ("key", "most", "above"),
    [
        ("title", "x" * 2_000, "x" * 2_001),
        ("tags", ["x" * 256] * 100, ["x"] * 101),
        ("tags", ["x" * 256], ["x" * 257]),
        ("aliases", ["x" * 2_000] * 100, ["x" * 2_001]),
        ("aliases", ["x"] * 100, ["x"] * 101),
        ("workspace", "x" * 2_000, "x" * 2_001),
        ("type", "x" * 2_000, "x" * 2_001),
        ("source_ref", "x" * 2_000, "x" * 2_001),
        ("client", "x" * 2_000, "x" * 2_001),
        ("meta", {"a": "x" * (256 * 1024 - 8)}, {"a": "x" * (256 * 1024 - 7)}),
    ],
)
def test_each_limit_holds_at_its_value_and_is_refused_one_above(key: str, most: Value, above: Value) -> None:
    check_fields({key: most})
    with pytest.raises(LimitExceededError) as caught:
        check_fields({key: above})
    assert caught.value.field == key


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", "a\nb"),
        ("title", "\x00"),
        ("tags", ["a\x7f"]),
        ("confidence", Decimal("1.5")),
        ("confidence", float("nan")),
        ("version", 0),
        ("id", "x"),
        ("event_time", "soon"),
        ("kind", "memo"),
        ("tags", {"a": 1}),
        ("title", ["a"]),
    ],
)
def test_what_would_be_read_back_as_a_problem_is_not_written(key: str, value: Value) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_fields({key: value})
    assert caught.value.field == key


def test_unknown_keys_and_absent_values_are_not_judged() -> None:
    check_fields({"mood": object(), "title": None})  # type: ignore[dict-item]
    assert read("mood: {a: 1}\n").problems == ()


def test_new_records_have_the_users_keys_first_then_others_then_the_servers() -> None:
    keys = dict.fromkeys([*reversed(SERVER_KEYS), "zeta", "alpha", *reversed(USER_KEYS)])
    assert order_keys(keys) == [*USER_KEYS, "zeta", "alpha", *SERVER_KEYS]
