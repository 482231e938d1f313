"""Names that every system takes (docs/format/vault.md, Path rules)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.filenames import (
    fold_path,
    is_device_name,
    make_file_stem,
    make_folder_name,
    number_stem,
)

TITLES = st.one_of(
    st.text(max_size=60),
    st.text('<>:"/\\|?*#^[] .-\t\u2028\x85aé', max_size=20),
    st.text("咖e\u0301ﬁ😀", max_size=80),
    st.sampled_from(["CON", "con.x", "nul .a", "COM¹", "lpt9", "a" * 300, "...", "- .x"]).map(lambda name: f" {name}"),
)


def is_taken_everywhere(name: str) -> bool:
    """The rule of docs/format/vault.md, Path rules, without a limit of length."""
    if not name or name != unicodedata.normalize("NFC", name) or is_device_name(name):
        return False
    odd = ("Cc", "Zl", "Zp", "Cs")
    is_clean = not any(char in '<>:"/\\|?*#^[]' or unicodedata.category(char) in odd for char in name)
    return is_clean and name[0] not in " .-" and name[-1] not in " ."


@given(TITLES)
def test_a_name_made_of_any_title_is_taken_by_every_system(title: str) -> None:
    stem = make_file_stem(title)
    assert is_taken_everywhere(stem)
    assert 1 <= len(stem.encode()) <= 120
    assert make_file_stem(stem) == stem
    assert make_folder_name(title) == stem


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("咖啡冲泡温度", "咖啡冲泡温度"),
        ("e\u0301", "é"),
        ("a/b: c?", "a b c"),
        ("..hidden", "hidden"),
        ("x. .", "x"),
        ("", "untitled"),
        ("?", "untitled"),
        ("-rf", "rf"),
        ("con.txt", "con_.txt"),
        ("Aux", "Aux_"),
        ("COM²", "COM²_"),
        ("console", "console"),
        ("a\u2028b\x85c", "a b c"),
        ("x" * 119 + "é", "x" * 119),
        ("x" * 119 + " y", "x" * 119),
    ],
)
def test_a_title_keeps_what_a_file_name_may_hold(title: str, stem: str) -> None:
    assert make_file_stem(title) == stem


@pytest.mark.parametrize(
    "name", ["CON", "nul", "Aux.md", "com0", "LPT9.tar.gz", "prn .x", "COM¹", "conin$", "CONOUT$.a"]
)
def test_windows_device_names_are_known_in_any_case_and_with_any_extension(name: str) -> None:
    assert is_device_name(name)


@pytest.mark.parametrize("name", ["CONS", "xcon", "com", "com10", "lpt", "a.con", "con_", "ＣＯＮ"])
def test_names_like_devices_are_no_devices(name: str) -> None:
    assert not is_device_name(name)


@given(TITLES)
def test_names_that_differ_in_case_or_composition_are_one_place(title: str) -> None:
    folded = fold_path(title)
    assert fold_path(unicodedata.normalize("NFD", title)) == folded
    assert fold_path(unicodedata.normalize("NFC", title)) == folded
    assert fold_path(folded) == folded


def test_case_folding_is_that_of_unicode_and_keeps_what_differs() -> None:
    assert fold_path("Memories/STRASSE.md") == fold_path("memories/straße.md")
    assert fold_path("a.md") != fold_path("b.md")
    assert fold_path("ﬁ") == fold_path("fi")
    # Marks in either order are one character, and stay one when the iota below it becomes a letter.
    assert fold_path("α\u0345\u0301") == fold_path("α\u0301\u0345") == fold_path("ᾴ")


def test_a_taken_name_gets_a_number() -> None:
    assert number_stem("Tea", 2) == "Tea (2)"
