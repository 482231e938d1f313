"""Near names: what a mistyped one may mean."""

from __future__ import annotations

import pytest

from onrecord.domain.near_names import find_near


@pytest.mark.parametrize(
    ("word", "names", "near"),
    [
        ("memoires", ("facts", "memories"), "memories"),
        ("a", ("A", "B", "merge"), "A"),
        ("MERGE", ("A", "merge"), "merge"),
        ("nothing like it", ("A", "merge"), None),
        ("x", (), None),
    ],
)
def test_the_nearest_name_is_found_whatever_its_case(word: str, names: tuple[str, ...], near: str | None) -> None:
    assert find_near(word, names) == near
