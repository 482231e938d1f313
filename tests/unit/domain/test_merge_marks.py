"""Marks of git in a file: both sides are told apart, byte for byte; a note that tells of marks has none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from onrecord.domain.merge_marks import Sides, has_marks, split_marked

PLAIN = b"a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\nb\n"


def test_both_sides_are_told_apart() -> None:
    assert split_marked(PLAIN) == Sides(b"a\nours\nb\n", b"a\ntheirs\nb\n")


def test_the_base_of_the_longer_style_is_of_no_side() -> None:
    marked = PLAIN.replace(b"=======\n", b"||||||| 1234567\nbase\n=======\n")
    assert split_marked(marked) == Sides(b"a\nours\nb\n", b"a\ntheirs\nb\n")


def test_line_ends_are_kept() -> None:
    assert split_marked(PLAIN.replace(b"\n", b"\r\n")) == Sides(b"a\r\nours\r\nb\r\n", b"a\r\ntheirs\r\nb\r\n")
    assert split_marked(PLAIN.removesuffix(b"b\n") + b"end") == Sides(b"a\nours\nend", b"a\ntheirs\nend")


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_what_git_writes_is_read(tmp_path: Path, style: str) -> None:
    texts = {
        "base": b"1\n2\n3\n4\n5\n6\n7\n",
        "ours": b"1\nx\n3\n4\n5\n6\nlast\n",
        "theirs": b"1\ny\n3\n4\n5\n6\nend\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    flags = {"merge": [], "diff3": ["--diff3"], "zdiff3": ["--zdiff3"]}[style]
    marked = subprocess.run(
        ["git", "merge-file", "-p", *flags, "ours", "base", "theirs"], cwd=tmp_path, stdout=subprocess.PIPE, check=False
    ).stdout
    assert split_marked(marked) == Sides(texts["ours"], texts["theirs"])


@pytest.mark.parametrize(
    "text",
    [
        b"```\n" + PLAIN + b"```\n",
        b"~~~~ text\n```\n" + PLAIN + b"~~~~\n",
        b"".join(b"    " + line for line in PLAIN.splitlines(keepends=True)),
        b"Heading\n=======\ntext\n",
        PLAIN.replace(b"=======\n", b""),
        PLAIN.replace(b">>>>>>> other\n", b""),
        PLAIN.replace(b"<<<<<<< HEAD\n", b""),
        b">>>>>>> x\n=======\n<<<<<<< y\n",
        PLAIN.replace(b"<<<<<<<", b"<<<<<<<<"),
        b"in a line <<<<<<< HEAD\n=======\n>>>>>>> x\n",
        b"",
    ],
)
def test_what_only_looks_like_it_has_no_sides(text: bytes) -> None:
    assert split_marked(text) is None


def test_a_heading_beside_a_marked_place_stays() -> None:
    assert split_marked(b"Title\n=======\n" + PLAIN) == Sides(
        b"Title\n=======\na\nours\nb\n", b"Title\n=======\na\ntheirs\nb\n"
    )


def test_code_that_begins_within_a_side_hides_no_later_marks() -> None:
    fenced = (
        PLAIN.replace(b"ours\n", b"```\nours\n").replace(b"theirs\n", b"```\ntheirs\n").replace(b"b\n", b"```\nb\n")
    )
    one = b"a\n```\nours\n```\nb\n"
    other = b"a\n```\ntheirs\n```\nb\n"
    assert split_marked(fenced + PLAIN) == Sides(one + b"a\nours\nb\n", other + b"a\ntheirs\nb\n")


def test_marks_within_code_count_where_that_is_asked_for() -> None:
    told = b"```\n" + PLAIN + b"```\n"
    assert split_marked(told) is None
    assert split_marked(told, in_code=True) == Sides(b"```\na\nours\nb\n```\n", b"```\na\ntheirs\nb\n```\n")


def test_the_places_of_the_marks_are_counted() -> None:
    counts = [sides.count for data in (PLAIN, PLAIN + PLAIN) if (sides := split_marked(data)) is not None]
    assert counts == [1, 2]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<<<<<<< a\n1\n=======\n<<<<<<< b\n2\n=======\n3\n>>>>>>> b\n>>>>>>> a\n", True),
        (b"a\n=======\n<<<<<<< a\n1\n>>>>>>> a\n", False),
        (b"```\n<<<<<<< a\n1\n=======\n2\n>>>>>>> a\n```\n", False),
        (b" <<<<<<< a\n=======\n>>>>>>> a\n", False),
    ],
)
def test_lines_look_like_marks_in_their_order_outside_fenced_code(data: bytes, expected: bool) -> None:
    assert has_marks(data) is expected
