"""An edit is told from another text, whatever the script."""

from __future__ import annotations

import pytest

from onrecord.domain.likeness import is_likely_edit


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bears sleep in winter", "bears sleep in winter and in autumn"),
        ("the first line\nthe second line\n", "the second line\nthe first line\n"),
        ("数据库的版本是十六", "数据库的版本是十七"),
        ("ab", "ab"),
    ],
)
def test_an_edit_is_likely(before: str, after: str) -> None:
    assert is_likely_edit(before, after)
    assert is_likely_edit(after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bears sleep in winter", "nothing of all that"),
        ("the meeting is on Tuesday", "the database runs on port 5432"),
        ("数据库的版本是十六", "東京で発版した"),
        ("", "something"),
        ("", ""),
        ("a word", "a word " + " ".join(f"another {number}" for number in range(100))),
    ],
)
def test_another_text_is_not(before: str, after: str) -> None:
    assert not is_likely_edit(before, after)
    assert not is_likely_edit(after, before)
