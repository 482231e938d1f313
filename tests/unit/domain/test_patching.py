"""Patches are all applied or none, each at the one place that it names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.errors import ConflictError, InvalidInputError, LimitExceededError
from onrecord.domain.patching import Patch, apply_patches


def test_every_patch_is_applied_to_the_original_text() -> None:
    patches = [Patch("b", "a"), Patch("a", "b"), Patch("c", "")]
    assert apply_patches("a-b-c", patches) == "b-a-"
    assert apply_patches("a-b-c", patches[::-1]) == "b-a-"


@pytest.mark.parametrize(("text", "old", "count"), [("abc", "x", "0"), ("aXbX", "X", "2"), ("aaa", "aa", "2")])
def test_an_old_text_that_does_not_occur_once_is_a_conflict_that_counts(text: str, old: str, count: str) -> None:
    with pytest.raises(ConflictError) as caught:
        apply_patches(text, [Patch(text[0] + "\0", "y"), Patch(old, "y")][1:])
    assert caught.value.field == "patches[0].old"
    assert f"{count} occurrences" in caught.value.hint


def test_the_patch_at_fault_is_named_and_nothing_is_applied() -> None:
    with pytest.raises(ConflictError) as caught:
        apply_patches("one two", [Patch("one", "1"), Patch("three", "3")])
    assert caught.value.field == "patches[1].old"


def test_patches_that_overlap_are_a_conflict() -> None:
    with pytest.raises(ConflictError) as caught:
        apply_patches("abcd", [Patch("abc", "x"), Patch("cd", "y")])
    assert caught.value.field == "patches[1].old"
    assert apply_patches("abcd", [Patch("ab", "x"), Patch("cd", "y")]) == "xy"


def test_an_empty_old_text_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        apply_patches("abc", [Patch("a", "b"), Patch("", "x")])
    assert caught.value.field == "patches[1].old"


def test_one_to_eight_patches_are_taken() -> None:
    text = "abcdefghi"
    patches = [Patch(letter, letter.upper()) for letter in text]
    assert apply_patches(text, patches[:8]) == "ABCDEFGHi"
    with pytest.raises(LimitExceededError):
        apply_patches(text, patches)
    with pytest.raises(InvalidInputError):
        apply_patches(text, [])


def test_each_side_of_a_patch_has_a_million_characters() -> None:
    assert len(apply_patches("a", [Patch("a", "x" * 1_000_000)])) == 1_000_000
    with pytest.raises(LimitExceededError) as caught:
        apply_patches("a", [Patch("a", "x" * 1_000_001)])
    assert caught.value.field == "patches[0].new"


def test_patches_together_and_their_result_are_bounded() -> None:
    with pytest.raises(LimitExceededError):
        apply_patches("abc", [Patch(letter, "é" * 500_000) for letter in "abc"])
    with pytest.raises(LimitExceededError):
        apply_patches("a" + "é" * 1_048_570, [Patch("a", "x" * 20)])


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        apply_patches("a", [Patch("a", "\ud800")])


def test_an_old_text_that_occurs_everywhere_is_counted_no_further_than_needed() -> None:
    with pytest.raises(ConflictError) as caught:
        apply_patches("a" * 1_000_000, [Patch("a" * 400_000, "b")])
    assert "100 or more occurrences" in caught.value.hint


@given(st.text("ab\r\n咖😀", max_size=30), st.integers(0, 30), st.integers(1, 10), st.text(max_size=5))
def test_a_patch_changes_its_place_and_no_other_character(text: str, start: int, length: int, new: str) -> None:
    old = text[start : start + length]
    if old and text.find(old) == start and text.find(old, start + 1) < 0:
        assert apply_patches(text, [Patch(old, new)]) == text[:start] + new + text[start + len(old) :]
