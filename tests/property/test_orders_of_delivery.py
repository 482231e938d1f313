"""Single orders of delivery between two installations: the end is checked as `test_two_installations` does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.property.test_two_installations import AnyOrder

# Orders that once ended in two answers, of both machines or of a session and a fresh index, by what happens in them.
ORDERS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "a copy outlives the file beside which it came": [
        ("open", {"ahead_s": 0}),
        ("write_plain_note", {"who": 0, "place": 1, "text": "apple"}),
        ("write_plain_note", {"who": 1, "place": 1, "text": "Tuesday 東京 v0.7.2"}),
        ("rename", {"who": 1, "pick": 0, "place": 0}),
    ],
    "a copy is the file until the file is back": [
        ("open", {"ahead_s": 7200}),
        ("crash_behind_the_commit", {"who": 0, "text": "apple"}),
        ("crash_behind_the_commit", {"who": 0, "text": "東京 発版 v0.7.2 get_user_id"}),
        ("write_plain_note", {"who": 1, "place": 0, "text": "apple"}),
        ("carry_file", {"pick": 23}),
        ("crash_behind_the_commit", {"who": 1, "text": "apple"}),
        ("rename", {"who": 0, "pick": 0, "place": 1}),
        ("change", {"who": 0, "pick": 27, "text": "apple"}),
        ("crash_behind_the_commit", {"who": 1, "text": "apple"}),
        ("write_plain_note", {"who": 1, "place": 2, "text": "apple"}),
        ("crash_behind_the_commit", {"who": 1, "text": "apple Tuesday banana postgres"}),
        ("write_plain_note", {"who": 1, "place": 1, "text": "apple"}),
        ("rename", {"who": 1, "pick": 9, "place": 0}),
    ],
    "a copy of a copy": [
        ("open", {"ahead_s": 0}),
        ("write_plain_note", {"place": 2, "text": "apple", "who": 1}),
        ("write_plain_note", {"place": 0, "text": "apple", "who": 0}),
        ("carry_file", {"pick": 0}),
        ("delete_and_restore", {"pick": 0, "who": 1}),
        ("write_plain_note", {"place": 1, "text": "apple", "who": 0}),
        ("carry_file", {"pick": 25}),
        ("change", {"pick": 29, "text": "apple", "who": 1}),
        ("edit_outside", {"pick": 0, "text": "apple", "who": 0}),
        ("carry_file", {"pick": 0}),
        ("carry_file", {"pick": 27}),
        ("delete_and_restore", {"pick": 0, "who": 1}),
        ("edit_outside", {"pick": 5, "text": "apple", "who": 0}),
        ("change", {"pick": 5, "text": "get_user_id", "who": 1}),
    ],
    "a copy of what the other machine's newer version says no more": [
        ("open", {"ahead_s": 0}),
        ("write_plain_note", {"who": 0, "place": 1, "text": "apple"}),
        ("write_plain_note", {"who": 1, "place": 1, "text": "apple"}),
        ("carry_whole_log", {"source": 1}),
        ("carry_file", {"pick": 13}),
    ],
    "two notes of one path come to say the same and one has a second file": [
        ("open", {"ahead_s": 0}),
        ("write_plain_note", {"who": 0, "place": 1, "text": "apple"}),
        ("change", {"who": 0, "pick": 0, "text": "apple"}),
        ("edit_outside", {"who": 0, "pick": 0, "text": "apple"}),
        ("carry_log", {"source": 0, "store": "ledger", "per_mille": 1000}),
        ("write_plain_note", {"who": 1, "place": 1, "text": "Tuesday get_user_id apple"}),
        ("carry_log", {"source": 0, "store": "versions", "per_mille": 487}),
        ("change", {"who": 1, "pick": 0, "text": "apple"}),
    ],
    "a copy is the file of a memory that loses its place to another one": [
        ("open", {"ahead_s": 0}),
        ("write_plain_note", {"who": 1, "place": 0, "text": "数据库 数据库 東京 数据库"}),
        ("write_plain_note", {"who": 0, "place": 0, "text": "apple"}),
        ("carry_whole_log", {"source": 0}),
        ("change", {"who": 1, "pick": 0, "text": "apple"}),
    ],
    "a copy of a note that two machines wrote apart is its file": [
        ("open", {"ahead_s": 40}),
        ("write_plain_note", {"who": 0, "place": 2, "text": "apple"}),
        ("crash_behind_the_commit", {"who": 0, "text": "発版 apple"}),
        ("crash_behind_the_commit", {"who": 1, "text": "apple"}),
        ("crash_behind_the_commit", {"who": 0, "text": "postgres banana"}),
        ("write_plain_note", {"who": 1, "place": 0, "text": "apple"}),
        ("write_plain_note", {"who": 1, "place": 2, "text": "get_user_id 発版"}),
        ("rename", {"who": 0, "pick": 25, "place": 0}),
        ("change", {"who": 1, "pick": 0, "text": "apple"}),
    ],
    "a copy that was its own memory is one of the file that came back": [
        ("open", {"ahead_s": 0}),
        ("write_plain_note", {"who": 0, "place": 1, "text": "apple"}),
        ("write_plain_note", {"who": 0, "place": 2, "text": "apple"}),
        ("carry_whole_log", {"source": 0}),
        ("write_plain_note", {"who": 0, "place": 0, "text": "apple"}),
        ("change", {"who": 1, "pick": 21, "text": "apple"}),
        ("rename", {"who": 1, "pick": 0, "place": 0}),
        ("edit_outside", {"who": 0, "pick": 30, "text": "apple"}),
        ("write_plain_note", {"who": 0, "place": 2, "text": "apple"}),
        ("carry_whole_log", {"source": 0}),
        ("reindex", {"who": 1}),
    ],
    "a file is behind while another one of its memory holds the current version": [
        ("open", {"ahead_s": -40}),
        ("crash_behind_the_commit", {"who": 1, "text": "apple"}),
        ("write_plain_note", {"who": 0, "place": 0, "text": "apple"}),
        ("write_plain_note", {"who": 1, "place": 2, "text": "apple"}),
        ("write_plain_note", {"who": 1, "place": 0, "text": "apple"}),
        ("rename", {"who": 0, "pick": 0, "place": 0}),
        ("say", {"who": 1, "turn": 4, "text": "apple"}),
        ("crash_behind_the_commit", {"who": 0, "text": "apple"}),
        ("look_around", {"who": 1}),
        ("crash_behind_the_commit", {"who": 1, "text": "apple"}),
        ("write_plain_note", {"who": 1, "place": 0, "text": "apple"}),
        ("change", {"who": 0, "pick": 27, "text": "発版"}),
        ("crash_behind_the_commit", {"who": 0, "text": "postgres"}),
    ],
}


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_that_once_ended_in_two_answers(name: str) -> None:
    state = AnyOrder()
    for rule_name, given in ORDERS[name]:
        getattr(state, rule_name)(**given)
    state.teardown()
