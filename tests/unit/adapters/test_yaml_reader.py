"""YAML that others wrote: bounded, without side effects, and with every problem at its line."""

from __future__ import annotations

import pytest

from onrecord.adapters.yaml_reader import NODES_MAX_COUNT, RuamelReader
from onrecord.domain.front_matter import Span, Value

YAML = RuamelReader()


@pytest.mark.parametrize(
    ("block", "values"),
    [
        ("", {}),
        ("# only a remark\n", {}),
        ("{a: 1}\n", {"a": 1}),
        ("a: |\n  x\n\n  y\n", {"a": "x\n\ny\n"}),
        ("a: >-\n  x\n  y\n", {"a": "x y"}),
        ('a: "x\n  y"\n', {"a": "x y"}),
        ("a: [x,\n  y]\n", {"a": ["x", "y"]}),
        ("a:\n  b:\n    - c: ~\n", {"a": {"b": [{"c": None}]}}),
        ("2024: x\nnull: y\n", {"2024": "x", "null": "y"}),
        ("a: !!str 1\nb: ! 2\nc: !!int '3'\n", {"a": "1", "b": "2", "c": 3}),
        ("a: 2024-05-01\nb: 12:30:00\nc: yes\n", {"a": "2024-05-01", "b": "12:30:00", "c": "yes"}),
        ("a: 0o17\nb: .inf\n", {"a": 15, "b": ".inf"}),
        ("a: x\u2028y\n", {"a": "x\u2028y"}),
        ('a: "x\u0085 y"\n', {"a": "x\u0085 y"}),
        ('a: "\\ud83d\\ude00\\/"\n', {"a": "😀/"}),
        ("a: &x 1\nb: 2\n", {"a": 1, "b": 2}),
        ("<<: {a: 1}\n", {"<<": {"a": 1}}),
        ("? a\n: b\n", {"a": "b"}),
        ("a: b\r\nc: d\r", {"a": "b", "c": "d"}),
    ],
)
def test_yaml_1_2_is_read_into_plain_values(block: str, values: dict[str, Value]) -> None:
    reading = YAML.read(block)
    assert dict(reading.values) == values
    assert not reading.problems


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("a: 'x\nb: 1\n", 1),
        ("a: 1\nb: [x\n", 3),
        ("a:\n\t- x\n", 2),
        ("a: b: c\n", 1),
        ("a: 1\n b: 2\n", 2),
        ("- a\n", 1),
        ("words\n", 1),
        ("a: 1\nb: \x07\n", 2),
        ("a: 1\n--- x\n", 2),
        ("a: 1\n... x\n", 2),
        ("a: %x\n", 1),
        ('a: "\\U00110000"\n', 1),
        ('a: "\\UFFFFFFFF"\n', 1),
        ("a: *nowhere\n", 1),
        ("a: 1\nb: " + "[" * 40 + "\n", 2),
        ("a: [" + "x, " * NODES_MAX_COUNT + "x]\n", 1),
        ("a: " + "x" * 600_000 + "\n", 1),
        ("%YAML 9.9\n---\na: b\n", 1),
        ("a: !<\n", 1),
        ("a: &\n", 1),
    ],
)
def test_a_block_that_is_no_mapping_is_broken_at_a_line(block: str, line: int) -> None:
    reading = YAML.read(block)
    assert reading.is_broken
    assert not reading.values
    (problem,) = reading.problems
    assert (problem.code, problem.line) == ("front_matter_broken", line)
    assert problem.mend


def test_a_problem_does_not_repeat_what_the_file_says() -> None:
    for block in (
        "secret-word: 'secret-word\n",
        "a: [secret-word\n",
        "a: !secret-word!x y\n",
        "secret-word\n",
        "a: *secret-word\n",
    ):
        assert all("secret" not in problem.message for problem in YAML.read(block).problems)


@pytest.mark.parametrize(
    "value",
    [
        "*x",
        "[*x, word]",
        "{k: *x}",
        "!t word",
        "!!binary word",
        "!!timestamp word",
        "!!int word",
        '"\\ud800 word"',
        "{[a]: word}",
        "!!set {word}",
    ],
)
def test_an_alias_a_foreign_tag_or_half_a_pair_costs_one_key_and_no_word(value: str) -> None:
    reading = YAML.read(f"a: &x 1\nb: {value}\nc: 3\n")
    assert dict(reading.values) == {"a": 1, "c": 3}
    assert [(problem.code, problem.line) for problem in reading.problems] == [("field_invalid", 2)]
    assert ("word" in value) == ("word" in " ".join(reading.dropped))


def test_aliases_are_never_expanded() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for name, below in zip("bcdefghi", "abcdefgh", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]")
    reading = YAML.read("\n".join(lines))
    assert list(reading.values) == ["a"]
    assert len(reading.problems) == 8


def test_of_a_key_that_occurs_twice_the_first_counts_and_the_second_is_found() -> None:
    reading = YAML.read("a: 1\nb: {c: 1, c: 2}\na: second\n")
    assert dict(reading.values) == {"a": 1, "b": {"c": 1}}
    assert sorted((problem.code, problem.line) for problem in reading.problems) == [
        ("front_matter_duplicate_key", 2),
        ("front_matter_duplicate_key", 3),
    ]
    assert reading.dropped == ("second",)
    assert reading.locate("a") == (Span(1, 1), Span(3, 3))


def test_keys_keep_their_lines_without_remarks_and_empty_lines_behind_them() -> None:
    block = (
        "a: |\n  x\n\n  y\n\n# remark\nb: >\n  folded\n\n\nc: [x,\n  y\n]\n# remark\nd:\n  - x\n  -\n\n"
        "  # remark\ne:\nf: 'x\n\n  y'\n"
        "g:\n  h: 1\n  i: |+\n    z\n\n"
    )
    reading = YAML.read(block)
    spans = {key: reading.locate(key)[0] for key in "abcdefg"}
    assert spans == {
        "a": (1, 4),
        "b": (7, 8),
        "c": (11, 13),
        "d": (15, 17),
        "e": (20, 20),
        "f": (21, 23),
        "g": (24, 27),
    }


def test_the_spelling_of_numbers_and_booleans_is_kept() -> None:
    reading = YAML.read("a: 007\nb: [1.50, True, x, 2]\nc: {d: 007}\n")
    assert dict(reading.spellings) == {("a", -1): "007", ("b", 0): "1.50", ("b", 1): "True"}
