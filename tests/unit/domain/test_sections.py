"""Sections of other programs' texts: where they begin, how they are bounded, and what their ids stand for."""

from __future__ import annotations

import pytest

from onrecord.domain.errors import InvalidInputError
from onrecord.domain.heads import NATIVE_LOG
from onrecord.domain.ids import decode_base32, encode_base32, parse_id_prefix, parse_readable_id
from onrecord.domain.limits import SECTION_MAX_CHARS, SECTIONS_MAX_COUNT
from onrecord.domain.sections import Section, cut_sections, make_section_id, name_section


def list_titles(text: str) -> list[str]:
    return [section.title for section in cut_sections(text, "markdown")]


def test_a_section_of_markdown_goes_from_heading_to_heading() -> None:
    text = "before\n\n# Build\r\nmake it\n\n## Fast ##\nuse make\n# Ship\nnow\n"
    assert cut_sections(text, "markdown") == [
        Section("", (), "before"),
        Section("Build", (), "# Build\r\nmake it"),
        Section("Fast", ("Build",), "## Fast ##\nuse make"),
        Section("Ship", (), "# Ship\nnow"),
    ]


def test_what_looks_like_a_heading_in_code_or_front_matter_is_none() -> None:
    assert list_titles("# a\n```sh\n# comment\n~~~\n```\n# b\n") == ["a", "b"]
    assert list_titles("# a\n~~~\n# comment\n```\n~~~~\n# b\n") == ["a", "b"]
    assert list_titles("---\n# comment\norigin: user\n---\n# b\n") == ["", "b"]
    assert list_titles("---\n# unclosed\n") == ["", "unclosed"]
    assert list_titles("#hash\n####### seven\n    # code\n#\n# #\n") == ["", "", ""]


def test_front_matter_is_plain_text() -> None:
    (first, _) = cut_sections("---\nid: 0123456789ab\norigin: user\n---\n# b\n", "markdown")
    assert first == Section("", (), "---\nid: 0123456789ab\norigin: user\n---")


def test_a_text_is_cut_every_80_lines() -> None:
    sections = cut_sections("".join(f"line {number}\n" for number in range(161)), "text")
    assert [section.text.count("\n") + 1 for section in sections] == [80, 80, 1]
    assert cut_sections("# no heading\n", "text") == [Section("", (), "# no heading")]


def test_a_long_section_goes_on_in_the_next_under_the_same_heading() -> None:
    text = "# a\n" + "word " * 5_000 + "\n" + "tail\n"
    sections = cut_sections(text, "markdown")
    assert [section.title for section in sections] == ["a"] * len(sections)
    assert all(len(section.text) <= SECTION_MAX_CHARS for section in sections)
    assert "".join("".join(section.text.split()) for section in sections) == "".join(text.split())


@pytest.mark.parametrize(
    "text", ["# a\n" * 100_000, "# x" + " " * 300_000 + "y", "\n" * 100_000 + "end", "x\n" * 500_000, "記" * 1_700_000]
)
def test_no_text_gives_more_sections_than_an_index_should_hold(text: str) -> None:
    for kind in ("markdown", "text"):
        sections = cut_sections(text, kind)
        assert 0 < len(sections) <= SECTIONS_MAX_COUNT + 400
        assert all(len(section.text) <= SECTION_MAX_CHARS for section in sections)
        assert "".join("".join(section.text.split()) for section in sections) == "".join(text.split())


def test_what_is_blank_is_no_section() -> None:
    assert cut_sections("", "markdown") == cut_sections(" \n\n\t\n", "text") == []


def test_an_id_stands_for_a_place_and_names_an_entry_of_no_log() -> None:
    made = make_section_id("claude", "CLAUDE.md", 1)
    others = {
        make_section_id(*place) for place in (("claude", "CLAUDE.md", 2), ("claude", "b.md", 1), ("c", "b.md", 1))
    }
    assert len(others | {made}) == 4
    assert made == make_section_id("claude", "CLAUDE.md", 1)
    assert name_section(made).log == NATIVE_LOG
    assert 0 <= name_section(made).seq < 1 << 60
    assert encode_base32((name_section(made).seq << 4).to_bytes(8, "big"), 12) == made[1:]
    assert decode_base32("10z") == 1024 + 31


def test_a_sections_id_is_read_whole_and_nothing_else_takes_it() -> None:
    made = make_section_id("claude", "CLAUDE.md", 1)
    assert parse_readable_id(f" {made.upper()} ") == made
    assert parse_readable_id("7H2K") == "7h2k"
    for wrong in (made[:-1], f"{made}0", "~", "~~" + made[2:], f"x{made}", 5):
        with pytest.raises(InvalidInputError):
            parse_readable_id(wrong)
    with pytest.raises(InvalidInputError, match="no versions"):
        parse_id_prefix(made)
