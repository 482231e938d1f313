"""A text holds an edit if every line that it added is there, and none that it took away."""

from __future__ import annotations

import pytest

from onrecord.domain.line_edits import holds_edit

BASE = b"one\ntwo\nthree\n"
OURS = b"one changed\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("text", "theirs", "is_held"),
    [
        (b"one changed\ntwo\nthree changed\n", b"one\ntwo\nthree changed\n", True),
        (b"one changed\ntwo\nthree mended\n", b"one\ntwo\nthree changed\n", False),
        (
            b"one changed\ntwo\nthree\nthree changed\n",
            b"one\ntwo\nthree changed\n",
            False,
        ),  # the old line is still there
        (b"one changed\none other\ntwo\nthree\n", b"one other\ntwo\nthree\n", True),  # both words for one line
        (b"one changed\ntwo\nthree\n", b"one other\ntwo\nthree\n", False),
        (b"one changed\ntwo\n", b"one\ntwo\n", True),  # it took a line away
        (b"one changed\ntwo\nthree\n", b"one\ntwo\n", False),
        (b"one changed\ntwo\nthree\n", b"two\none\nthree\n", False),  # it only moved lines
        (b"one changed\ntwo\nthree\n\n---\n", b"one\ntwo\nthree\n\n---\n", False),  # no words
        (b"one changed\r\ntwo\r\nthree changed\r\n", b"one\ntwo\nthree changed\n", True),
        ("one changed\ntwo\nthree\n東京は雨\n".encode(), "one\ntwo\nthree\n東京は雨\n".encode(), True),
        (b"", b"one\ntwo\nthree changed\n", False),
    ],
)
def test_an_edit_is_held_by_the_text_that_has_all_its_lines(text: bytes, theirs: bytes, is_held: bool) -> None:
    assert holds_edit(text, BASE, OURS, theirs) is is_held


def test_a_line_that_both_sides_took_away_or_added_is_no_objection() -> None:
    assert holds_edit(b"two\nnew\nmine\n", BASE, b"two\nmine\nthree\n", b"two\nnew\n")
    assert not holds_edit(b"two\n", BASE, b"two\nthree\n", b"two\nnew\n")


def test_of_a_line_that_stands_twice_both_must_be_there() -> None:
    assert not holds_edit(b"- milk\n", b"- milk\n", b"- milk\n", b"- milk\n- milk\n")
    assert holds_edit(b"- milk\n- milk\n", b"- milk\n", b"- milk\n", b"- milk\n- milk\n")
