"""Text to lines: where sentences, rows, items and code begin and end, exactly."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.domain import lines as cutting
from onrecord.domain.lines import LINE_MAX_CHARS, LINES_MAX_COUNT, Line, split_lines


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split_lines(text)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        (" \n\r\n\t", []),
        ("One line", ["One line"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "Stop." Then (really!) he left.', ['He said "Stop."', "Then (really!) he left."]),
        (
            "Dr. Smith met J. R. Doe at 3.5 p.m. yesterday. Then",
            ["Dr. Smith met J. R. Doe at 3.5 p.m. yesterday.", "Then"],
        ),
        ("See e.g. Fig. 3. It is there. vs. that", ["See e.g. Fig. 3.", "It is there. vs. that"]),
        ("So did I. We left.", ["So did I.", "We left."]),
        ("Well... maybe. Wait... No.", ["Well... maybe.", "Wait...", "No."]),
        ("v0.7.2 is out. Get it at example.com/a.b now", ["v0.7.2 is out.", "Get it at example.com/a.b now"]),
    ],
)
def test_english_is_cut_into_sentences(text: str, lines: list[str]) -> None:
    assert cut(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("你好。我很好！你呢？", ["你好。", "我很好！", "你呢？"]),
        ("「走吧。」他说……然后走了", ["「走吧。」", "他说……", "然后走了"]),
        ("今日は晴れ。明日は雨！", ["今日は晴れ。", "明日は雨！"]),
        ("猫が好き!楽しい?そうです", ["猫が好き!", "楽しい?", "そうです"]),
        ("版本3.5已发布。端口5432", ["版本3.5已发布。", "端口5432"]),
        ("यह एक है। वह दो है।", ["यह एक है।", "वह दो है।"]),
    ],
)
def test_chinese_japanese_and_hindi_are_cut_at_their_marks(text: str, lines: list[str]) -> None:
    assert cut(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Title\n\nText here.", ["# Title", "Text here."]),
        ("Name: X\nAge: 5\r\nCity: Y", ["Name: X", "Age: 5", "City: Y"]),
        ("- one. two.\n* three\n  + four\n10. five", ["- one. two.", "* three", "+ four", "10. five"]),
        ("| a | b |\n|---|:-:|\n| 1. x | 2 |", ["| a | b |", "| 1. x | 2 |"]),
        ("> quoted. Twice.\n> Again", ["> quoted.", "Twice.", "> Again"]),
        ("Above\n---\nBelow\n***\n", ["Above", "Below"]),
        ("a\u2028b\x0bc", ["a", "b", "c"]),
        ("-5 degrees. Cold.", ["-5 degrees.", "Cold."]),
    ],
)
def test_markdown_is_cut_at_rows_items_and_breaks(text: str, lines: list[str]) -> None:
    assert cut(text) == lines


LONG = "This sentence is wrapped by its editor after more than sixty"


def test_wrapped_prose_goes_on_in_the_next_line() -> None:
    assert cut(f"{LONG}\ncharacters. Next one.") == [f"{LONG}\ncharacters.", "Next one."]
    assert cut(f"- {LONG}\n  characters. Next one.") == [f"- {LONG}\n  characters. Next one."]


@pytest.mark.parametrize("end", ["  ", "\\"])
def test_a_hard_break_ends_a_line(end: str) -> None:
    assert cut(f"{LONG}{end}\nnot wrapped") == [f"{LONG}{end}".rstrip(), "not wrapped"]


@pytest.mark.parametrize("after", ["- item", "# Head", "| row |", "> quote", "```\ncode\n```", "\nnew"])
def test_wrapped_prose_ends_before_what_is_no_prose(after: str) -> None:
    assert cut(f"{LONG}\n{after}") == [LONG, after.strip()]


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_block_of_code_is_one_line_with_its_fences(fence: str) -> None:
    code = f"{fence}python\ndef f(x):\n    return x. y\n\n- no item\n{fence}"
    assert cut(f"Before.\n{code}\nAfter.") == ["Before.", code, "After."]


def test_a_fence_is_closed_by_its_own_kind_only() -> None:
    assert cut("````\n```\n~~~\n````\nend") == ["````\n```\n~~~\n````", "end"]
    assert cut("```\nnever closed\n\nx") == ["```\nnever closed\n\nx"]
    assert cut("```inline``` code") == ["```inline``` code"]


def test_long_code_is_cut_at_line_breaks() -> None:
    row = "x = 1  # " + "y" * 91
    lines = cut("```\n" + f"{row}\n" * 30 + "```")
    assert len(lines) == 4
    assert all(len(line) <= LINE_MAX_CHARS for line in lines)
    assert [part for line in lines for part in line.split("\n")] == ["```", *[row] * 30, "```"]


def test_a_long_item_is_cut_into_sentences() -> None:
    sentence = "This item says one thing after another and goes on for quite some time."
    assert cut("- " + " ".join([sentence] * 4)) == [f"- {' '.join([sentence] * 4)}"]
    assert cut("- " + " ".join([sentence] * 5)) == [f"- {sentence}", *[sentence] * 4]


def test_a_line_above_the_limit_is_cut_at_a_blank_if_there_is_one() -> None:
    words = cut("word " * 500)
    assert [len(line) for line in words] == [999, 999, 499]
    assert [len(line) for line in cut("x" * 2_500)] == [1_000, 1_000, 500]


def test_a_text_of_too_many_lines_ends_with_the_rest_as_one() -> None:
    lines = split_lines("a.\n" * 100_000)
    assert len(lines) == LINES_MAX_COUNT
    assert lines[-2:] == [Line(196_599, 196_601), Line(196_602, 299_999)]


@given(st.text(alphabet=st.sampled_from("ab1. !?。…\n\r -*#|>`~\\\"'「」(）日 "), max_size=120))
@example("```\n\n```\n```")
@example("a\n" * 5 + "```")
def test_lines_are_in_order_and_hold_every_word(text: str) -> None:
    lines = split_lines(text)
    end = 0
    for line in lines:
        assert end <= line.start < line.end <= len(text)
        assert not text[line.start].isspace()
        assert not text[line.end - 1].isspace()
        end = line.end
    covered = {place for start, stop in lines for place in range(start, stop)}
    assert all(place in covered for place, character in enumerate(text) if character.isalnum())


@pytest.mark.parametrize(
    "part",
    [
        "a. ",
        "a.\n",
        ".",
        " ",
        ". ",
        "\n",
        "```\n",
        "- ",
        "x",
        "。",
        "| a |\n",
        "`",
        "(\"'",
        "!",
        ".…",
        "…",
        "\t- a",
        "# ",
    ],
)
def test_a_hostile_text_ends_with_a_bounded_number_of_lines(part: str) -> None:
    assert len(split_lines(part * (500_000 // len(part)) + "あ")) <= LINES_MAX_COUNT


@given(st.text(alphabet=st.sampled_from("aB1 .!?,'\"-:(\n\t\x0b\x1c日"), max_size=40))
@example("Tea")
@example("a" * 1_001)
@example("1. x")
def test_a_text_that_is_taken_for_one_line_is_one(text: str) -> None:
    quick = split_lines(text)
    with patch.object(cutting, "_ONE_LINE", re.compile("(?!)")):
        assert split_lines(text) == quick
