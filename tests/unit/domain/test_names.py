"""What a name may hold, and which names are one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.names import check_characters, check_name, fold_name, strip_hashes


@pytest.mark.parametrize("value", ["", "  ", "a\nb", "a\x7fb", "a\0b", "\ud800", 5, None, True])
def test_what_is_no_name_is_refused_with_its_field(value: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_name(value, "speaker")
    assert caught.value.field == "speaker"


def test_a_name_holds_at_its_limit_and_is_refused_one_above() -> None:
    assert check_name("記" * 5, "tag", 5) == "記" * 5
    with pytest.raises(LimitExceededError):
        check_name("記" * 6, "tag", 5)
    assert check_name("", "speaker", may_be_blank=True) == ""


def test_line_separators_are_kept() -> None:
    assert check_name("a\x85b\u2028c", "title") == "a\x85b\u2028c"
    assert check_characters("a\nb\x1b", "text") == "a\nb\x1b"


# Beyond them stands U+0345, whose casefold is a letter: there the order of the two steps shows.
@given(st.text(st.characters(max_codepoint=0x344)))
def test_case_and_composition_do_not_make_another_name(name: str) -> None:
    folded = fold_name(name)
    assert fold_name(folded) == folded
    for form in ("NFC", "NFD"):
        assert fold_name(unicodedata.normalize(form, name)) == folded
    assert fold_name(name.casefold()) == folded


def test_every_sign_before_a_tag_is_dropped() -> None:
    assert [strip_hashes(tag) for tag in ("#a", "##a", "a#b", "#", "")] == ["a", "a", "a#b", "", ""]
