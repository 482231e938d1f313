"""Records as values, and the least changes to their files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.domain.errors import ConflictError, InvalidInputError, LimitExceededError
from onrecord.domain.front_matter import YamlReading
from onrecord.domain.limits import TEXT_MAX_BYTES
from onrecord.domain.problem import Severity
from onrecord.domain.record import (
    KeyValue,
    Record,
    name_workspace,
    read_record,
    render_record,
    replace_keys,
    replace_text,
)

YAML = RuamelReader()
PATH = "memories/kitchen/brewing.md"


class NoYaml:
    """A YAML reader that must not be needed."""

    def read(self, block: str) -> YamlReading:
        raise AssertionError(block)


def read(data: bytes | str) -> Record:
    return read_record(data.encode() if isinstance(data, str) else data, PATH, YAML)


def change(block: str, changes: Mapping[str, KeyValue | None]) -> str:
    return replace_keys(f"---\n{block}---\nbody\n".encode(), changes, YAML).decode().removesuffix("---\nbody\n")[4:]


def test_the_title_is_the_key_else_the_first_heading_else_the_file_name() -> None:
    assert read("---\ntitle: Key\n---\n# Heading\n").title == "Key"
    assert read("---\ntags: [a]\n---\n\n# Heading\n").title == "Heading"
    assert read("text\n# Heading\n").title == "brewing"
    assert read_record(b"", "memories/A.b.MD", YAML).title == "A.b"


def test_a_file_claims_what_it_says_and_nothing_by_itself() -> None:
    record = read("---\nid: 9h1m2k8w4x6z\nkind: fact\nmood: good\n---\n")
    assert (record.claimed_id, record.claimed_kind, set(record.present_keys)) == (
        "9h1m2k8w4x6z",
        "fact",
        {"id", "kind", "mood"},
    )
    plain = read("text")
    assert (plain.claimed_id, plain.claimed_kind, plain.workspace, list(plain.present_keys)) == (None, "", "", [])
    assert not plain.has_front_matter


def test_present_keys_name_those_that_do_not_count_too() -> None:
    assert set(read("---\na: &x 1\nb: *x\nc: 1\nc: 2\n---\n").present_keys) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("path", "workspace"),
    [("memories/a.md", "default"), ("memories/w/a.md", "w"), ("facts/w/x/a.md", "w"), ("a.md", "default")],
)
def test_the_folder_below_the_kinds_folder_names_the_workspace(path: str, workspace: str) -> None:
    assert name_workspace(path) == workspace


def test_the_flat_subset_and_plain_forms_need_no_yaml_reader() -> None:
    data = render_record({"title": "T", "tags": ["a"], "meta": {"a": 1}}, "x")
    assert read_record(data, PATH, NoYaml()).problems == ()
    for block in ("tags:\n  - a\n", "title: it's\r\n", "title: T # mine\n\n"):
        record = read_record(f"---\n{block}---\n".encode(), PATH, NoYaml())
        assert [problem.code for problem in record.problems] == ["front_matter_foreign"]


def test_a_broken_block_is_text_for_finding_and_gives_no_keys() -> None:
    record = read("---\ntitle: [half\nid: 9h1m2k8w4x6z\n---\nbody\n")
    assert record.is_broken
    assert (record.text, record.title, record.claimed_id) == ("body", "brewing", None)
    assert record.searchable_text == "body\ntitle: [half\nid: 9h1m2k8w4x6z\n"
    (problem,) = record.problems
    assert (problem.path, problem.line, problem.severity) == (PATH, 3, Severity.WARNING)


def test_lines_of_problems_count_in_the_file() -> None:
    record = read("\ufeff---\n# one\ntitle: T\nconfidence: high\ntitle: U\n---\nx\x07\n")
    found = {(problem.code, problem.line) for problem in record.problems}
    assert found == {
        ("byte_order_mark", 1),
        ("field_invalid", 4),
        ("front_matter_duplicate_key", 5),
        ("control_character", 7),
    }


def test_values_that_do_not_count_are_found_behind_the_text() -> None:
    record = read("---\ntitle: T\ntitle: second\nconfidence: [so, {high: indeed}]\n---\nbody")
    assert record.searchable_text == "body\nsecond\nso high indeed"
    assert record.searchable_text.startswith(record.text)


def test_a_problem_does_not_hold_what_the_file_says() -> None:
    keys = "title: {secret: secret}\nkind: secret\nby: secret\nevent_time: secret\nid: secret\nmeta: secret\n"
    keys += "confirmed_by: '0123456789abcdef:12'\n"
    problems = read(f"---\n{keys}---\nsecret").problems
    assert len(problems) == 7
    assert all("secret" not in problem.message + problem.mend for problem in problems)


def test_a_block_above_its_limit_is_broken() -> None:
    record = read("---\n" + "# remark\n" * 60_000 + "---\ntext\n")
    assert record.is_broken
    assert "remark" in record.searchable_text


def test_a_new_record_has_its_keys_in_order_and_its_text_exactly() -> None:
    keys: dict[str, KeyValue] = {"version": 1, "mood": "fine", "tags": ("a", "b"), "title": "a: b", "aliases": None}
    assert (
        render_record(keys, "one\n").decode()
        == '---\ntitle: "a: b"\ntags: [a, b]\nmood: fine\nversion: 1\n---\none\n\n'
    )
    assert render_record({}, "") == b"---\n---\n\n"


@pytest.mark.parametrize("text", ["\0", "\ud800", "a" * (TEXT_MAX_BYTES + 1)])
def test_a_text_that_may_not_be_stored_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        render_record({}, text)
    assert caught.value.field == "text"
    with pytest.raises(InvalidInputError):
        replace_text(b"x", text)


def test_a_text_of_2_mib_is_taken() -> None:
    text = "é" * (TEXT_MAX_BYTES // 2)
    assert read(render_record({}, text)).text == text


def test_front_matter_above_its_limit_is_refused() -> None:
    keys: dict[str, KeyValue] = {f"key-{number}": "x" * 60_000 for number in range(9)}
    with pytest.raises(LimitExceededError):
        render_record(keys, "")
    with pytest.raises(LimitExceededError):
        replace_keys(b"---\n---\n", keys)


def test_a_file_that_is_not_utf_8_is_never_rewritten() -> None:
    for data in (b"---\na: 1\n---\ncaf\xe9\n", "---\na: 1\n---\nx\n".encode("utf-16")):
        with pytest.raises(ConflictError) as caught:
            replace_text(data, "new")
        assert "UTF-8" in caught.value.hint
        assert replace_keys(data, {"a": 2}, YAML) == data


def test_the_text_of_a_file_with_a_broken_block_can_be_replaced() -> None:
    assert replace_text(b"---\na: [\n---\nold\r\n", "new") == b"---\na: [\n---\nnew\r\n"


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("a: 1\n# remark\ntags:\n- x\n- y\n\n# b\nb: 2\n", {"tags": ["z"]}, "a: 1\n# remark\ntags: [z]\n\n# b\nb: 2\n"),
        ("a: |\n  x\n\n  y\n\n# b\nb:   2\n", {"a": "z"}, "a: z\n\n# b\nb:   2\n"),
        ("a: 'x\n\n  y'  # gone\nb: 2\n", {"a": None}, "b: 2\n"),
        ("a: {x: [1,\n  2]}\nb: 2\n", {"a": "z", "c": 3}, "a: z\nb: 2\nc: 3\n"),
        ("a: x # mine\n", {"a": "x"}, "a: x # mine\n"),
        ("a: x # mine\n", {"a": "y"}, 'a: "y"\n'),
        ("version: 1\n", {"version": True}, "version: 1\n"),
        ("a: 1\na: 2\na: 3\nb: 4\n", {"a": None}, "b: 4\n"),
        ("a: 1\na: 2\n", {"a": 5}, "a: 5\na: 2\n"),
        ("  a: 1\n  b: 2\n", {"a": 3, "c": 4}, "  a: 3\n  b: 2\n  c: 4\n"),
        ("a: &x 1\nb: 2\n", {"a": 3}, "a: 3\nb: 2\n"),
        ('"a": 1\nb: 2\n', {"a": 3}, "a: 3\nb: 2\n"),
        ("", {"tags": ["a"], "title": "T", "version": 2}, "title: T\ntags: [a]\nversion: 2\n"),
        ("# only a remark\n", {"title": "T"}, "# only a remark\ntitle: T\n"),
        ("a: |+\n  x\n\n", {"b": 1}, "a: |+\n  x\n\nb: 1\n"),
        ("id: 000000000012\n", {"id": "000000000012"}, 'id: "000000000012"\n'),
    ],
)
def test_a_change_of_keys_touches_only_their_lines(before: str, changes: dict[str, KeyValue], after: str) -> None:
    if changes == {"version": True}:
        with pytest.raises(InvalidInputError):
            change(before, changes)
        return
    assert change(before, changes) == after


@pytest.mark.parametrize("block", ["{a: 1, b: 2}\n", "a: &x 1\nb: [*x]\n", "a: [\n", "- a\n"])
def test_keys_that_cannot_be_told_apart_by_lines_leave_the_file_alone(block: str) -> None:
    assert change(block, {"a": 5}) == block


def test_without_a_yaml_reader_a_block_of_other_forms_is_left_alone() -> None:
    data = b"---\na: |\n  x\n---\n"
    assert replace_keys(data, {"b": 1}) == data
    assert replace_keys(data, {"b": 1}, YAML) == b"---\na: |\n  x\nb: 1\n---\n"
    assert replace_keys(b"---\na:\n  - x\n---\n", {"b": 1}) == b"---\na:\n  - x\nb: 1\n---\n"


@pytest.mark.parametrize("data", [b"text", b"", b"---\na: 1\n", b"---\na: [\n---\n"])
def test_where_no_sound_block_is_no_key_is_written(data: bytes) -> None:
    assert replace_keys(data, {"title": "T"}, YAML) == data


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_new_lines_end_as_the_opening_line_does(newline: str) -> None:
    data = "---\na: 1\n---\nx\n".replace("\n", newline).encode()
    assert replace_keys(data, {"title": "T"}, YAML) == "---\na: 1\ntitle: T\n---\nx\n".replace("\n", newline).encode()


def test_a_change_that_cannot_be_written_is_refused_before_anything_else() -> None:
    for changes in ({"title": "a\nb"}, {"a b": 1}, {"mood": float("nan")}):
        with pytest.raises(InvalidInputError):
            replace_keys(b"text", changes)
