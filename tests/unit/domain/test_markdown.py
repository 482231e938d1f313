"""The parts of a record file (docs/format/record.md, Parts)."""

from __future__ import annotations

import pytest

from onrecord.domain.markdown import decode_file, find_heading, join_body, split_file, split_terminator


def codes(data: bytes) -> list[str]:
    return [problem.code for problem in split_file(data).problems]


def test_a_file_is_cut_at_the_first_closing_line() -> None:
    parts = split_file(b"\xef\xbb\xbf---\na: 1\n---\n\n# T\n---\nend\r\n", "x.md")
    assert (parts.has_bom, parts.head, parts.block) == (True, "---\na: 1\n---\n", "a: 1\n")
    assert (parts.text, parts.terminator) == ("\n# T\n---\nend", "\r\n")
    assert (parts.block_at, parts.body_at, parts.body_line) == (4, 16, 4)
    assert [(problem.code, problem.path) for problem in parts.problems] == [("byte_order_mark", "x.md")]


@pytest.mark.parametrize("fence", ["---", "---  ", "---\t", "...", "... \t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_fences_may_have_blanks_behind_them_and_any_line_end(fence: str, newline: str) -> None:
    parts = split_file(f"---{newline}a: 1{newline}{fence}{newline}text".encode())
    assert (parts.block, parts.text, parts.newline) == (f"a: 1{newline}", "text", newline)
    assert parts.is_flat_fenced == (fence == "---" and newline == "\n")


@pytest.mark.parametrize(
    "data",
    [b"", b"text", b"----\na: 1\n----\n", b" ---\na: 1\n---\n", b"--- x\n---\n", b"...\na: 1\n...\n", b"\n---\n---\n"],
)
def test_a_file_whose_first_line_is_no_fence_has_no_front_matter(data: bytes) -> None:
    parts = split_file(data)
    assert (parts.head, parts.block, parts.body.encode()) == ("", None, data)
    assert "front_matter_missing" in codes(data)


@pytest.mark.parametrize(
    "data", [b"---", b"---\n", b"---\na: 1\n", b"---\na: 1\n --- \n----\n---x\n", b"---\r\na: 1\r\n--- x"]
)
def test_a_block_that_is_not_closed_is_text(data: bytes) -> None:
    assert split_file(data).body.encode() == data
    assert "front_matter_unclosed" in codes(data)


def test_a_block_may_be_empty_and_the_last_line_may_have_no_end() -> None:
    assert split_file(b"---\n---").block == ""
    assert split_file(b"---\n---\n").text == ""
    assert split_file(b"---\n...").head == "---\n..."


def test_bytes_that_are_no_utf_8_are_read_one_by_one_as_windows_1252() -> None:
    data = "咖啡 caf".encode() + b"\xe9 \x80\x81 \xe5\x92"
    assert decode_file(data) == ("咖啡 café €\x81 å’", "windows-1252")
    assert codes(data) == ["not_utf8", "front_matter_missing", "control_character"]


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_known_by_its_mark(mark: bytes) -> None:
    order = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    parts = split_file(mark + "---\na: 1\n---\nWäg".encode(order) + b"\x00")
    assert (parts.encoding, parts.block, parts.text[:3]) == ("utf-16", "a: 1\n", "Wäg")


@pytest.mark.parametrize(
    ("data", "line"), [(b"a\nb\x0c", 2), (b"a\rb\n", 1), (b"\x00", 1), (b"a\n\nb\x7f", 3), ("a\u0085b".encode(), 1)]
)
def test_the_first_control_character_is_named_with_its_line(data: bytes, line: int) -> None:
    (problem,) = (problem for problem in split_file(data).problems if problem.code == "control_character")
    assert problem.line == line


@pytest.mark.parametrize("data", [b"a\tb\n", b"a\r\nb\r\n", "a\u2028b\u00a0\u00b0 é 😀".encode()])
def test_tabs_line_ends_and_separators_are_no_control_characters(data: bytes) -> None:
    assert "control_character" not in codes(data)


@pytest.mark.parametrize(
    ("body", "text", "end"),
    [
        ("", "", ""),
        ("a", "a", ""),
        ("a\n", "a", "\n"),
        ("a\r\n", "a", "\r\n"),
        ("a\r", "a", "\r"),
        ("a\n\n", "a\n", "\n"),
        ("a\n\r", "a\n", "\r"),
        ("\r\n", "", "\r\n"),
        ("a\u2028", "a\u2028", ""),
    ],
)
def test_one_final_terminator_is_no_part_of_the_text(body: str, text: str, end: str) -> None:
    assert split_terminator(body) == (text, end)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", ["", "a", "a\n", "a\r", "a\r\n", "\n", "\r"])
def test_a_joined_body_is_read_back_as_its_text(text: str, end: str) -> None:
    assert split_terminator(join_body(text, end))[0] == text


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("# Tea", "Tea"),
        ("\n \r\n# Tea ##\nx", "Tea"),
        ("#\tTea\t#", "Tea"),
        ("# C#", "C#"),
        ("# a # b", "a # b"),
        ("## Tea", ""),
        ("#Tea", ""),
        (" # Tea", ""),
        ("x\n# Tea", ""),
        ("#", ""),
        ("# ", ""),
        ("# #", ""),
        ("", ""),
        ("\n\n", ""),
        ("# a\u2028b", "a\u2028b"),
        ("# x\ry", "x"),
    ],
)
def test_a_heading_counts_when_it_is_the_first_line_with_anything_on_it(text: str, heading: str) -> None:
    assert find_heading(text) == heading
