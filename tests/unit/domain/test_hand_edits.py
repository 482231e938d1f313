"""No edit by hand makes a record unreadable, unfindable or unnamed."""

from __future__ import annotations

import pytest

from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.domain.errors import ConflictError
from onrecord.domain.record import read_record, replace_keys, replace_text
from tests.hand_edits import HAND_EDITS, HandEdit

PATH = "memories/default/edited.md"
each_edit = pytest.mark.parametrize("edit", HAND_EDITS, ids=[edit.name for edit in HAND_EDITS])


def test_every_edit_of_the_list_has_its_own_name() -> None:
    assert len({edit.name for edit in HAND_EDITS}) == len(HAND_EDITS) == 23


@each_edit
def test_a_hand_edit_stays_findable_and_is_named_with_its_place(edit: HandEdit) -> None:
    record = read_record(edit.data, PATH, RuamelReader())
    assert edit.word.casefold() in record.searchable_text.casefold()
    assert edit.code in {problem.code for problem in record.problems}
    lines = len(edit.data.splitlines()) + 1
    assert all(problem.path == PATH and 0 <= problem.line <= lines for problem in record.problems)


@each_edit
def test_a_hand_edit_has_a_title_and_keeps_the_bytes_of_its_body(edit: HandEdit) -> None:
    record = read_record(edit.data, PATH, RuamelReader())
    assert record.title.strip()
    if record.parts.encoding == "utf-8":
        assert edit.data[record.parts.body_at :] == record.parts.body.encode()


@each_edit
def test_the_text_of_a_hand_edit_can_be_replaced_unless_it_is_not_utf8(edit: HandEdit) -> None:
    before = read_record(edit.data, PATH, RuamelReader())
    if before.parts.encoding != "utf-8":
        with pytest.raises(ConflictError):
            replace_text(edit.data, "new")
        return
    data = replace_text(edit.data, "new\nwords")
    after = read_record(data, PATH, RuamelReader())
    assert after.text == "new\nwords"
    assert data.startswith(edit.data[: before.parts.body_at])
    assert after.reading.values == before.reading.values


@each_edit
def test_a_key_of_a_hand_edit_is_set_or_the_file_is_left_alone(edit: HandEdit) -> None:
    before = read_record(edit.data, PATH, RuamelReader())
    data = replace_keys(edit.data, {"review_by": "2030-01-01T00:00:00.000000Z", "title": "Other"}, RuamelReader())
    after = read_record(data, PATH, RuamelReader())
    assert after.text == before.text
    if before.parts.encoding != "utf-8" or before.is_broken or not before.has_front_matter:
        assert data == edit.data
    else:
        assert after.title == "Other"
        assert after.keys.review_by == "2030-01-01T00:00:00.000000Z"


def test_what_a_hand_edit_says_in_sound_yaml_is_understood() -> None:
    read = {edit.name: read_record(edit.data, PATH, RuamelReader()) for edit in HAND_EDITS}
    assert read["list_at_the_parents_indent"].tags == ("tea", "kitchen")
    assert read["three_space_indent"].tags == ("tea", "kitchen")
    assert read["block_scalar"].title == "Brewing"
    assert read["block_scalar"].keys.source_ref == "the blue book, page nine"
    assert read["flow_map"].keys.meta == {"shelf": "two", "row": 3}
    assert read["empty_tags"].tags == ()
    assert read["numeric_title"].title == "1984"
    assert read["numeric_tag"].tags == ("1984", "tea")
    assert read["duplicate_key"].title == "Brewing"
    assert read["text_for_a_number"].keys.confidence is None
    assert read["plain_note"].title == "edited"
    assert read["integer_event_time"].event_time is None
    assert read["free_form_workspace"].workspace == "Tea & Sons (Zürich), back room!"
    assert read["line_separator_in_title"].title == "Brewing\u2028slowly"
    assert read["next_line_in_title"].title == "Brewing\u0085slowly"
    assert read["crlf"].text == "The samovar\r\nboils slowly."
    assert read["lone_cr_and_form_feed"].text == "The kettle\rand the samovar\x0cboil slowly."
    assert read["anchors_and_merge_keys"].reading.values["usual"] == {"type": "recipe"}
    assert read["anchors_and_merge_keys"].type == ""
