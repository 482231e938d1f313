"""The record side of the format against its test vectors, which a second implementation made (docs/format/vectors)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.domain.errors import InvalidInputError
from onrecord.domain.filenames import make_file_stem
from onrecord.domain.front_matter import read_flat, write_value
from onrecord.domain.instants import Instant, format_periods, parse_instant, parse_periods
from onrecord.domain.markdown import split_file
from onrecord.domain.record import read_record, render_record, replace_keys, replace_text
from onrecord.domain.transcript import Turn, parse_transcript, render_block, render_head
from tests.vectors import load_vectors

# What is said beside the vectors' own problems: infos about characters and forms, not about parts.
ASIDE = {"control_character", "field_normalised"}


def is_same(left: object, right: object) -> bool:
    """Compare as JSON does, which has one kind of number but keeps true apart from 1."""
    return left == right and json.dumps(left, sort_keys=True).replace(".0", "") == json.dumps(
        right, sort_keys=True
    ).replace(".0", "")


def test_titles_give_the_file_names_of_the_vectors() -> None:
    names = load_vectors("names.json")["names"]
    assert names
    assert [make_file_stem(item["title"]) for item in names] == [item["name"] for item in names]


@pytest.mark.parametrize("group", ["strings", "values"])
def test_values_are_written_and_read_as_in_the_vectors(group: str) -> None:
    for item in load_vectors("front_matter.json")[group]:
        assert write_value(item["value"]) == item["written"]
        block = f"value: {item['written']}\n"
        for reading in (read_flat(block), RuamelReader().read(block)):
            assert reading is not None
            assert is_same(reading.values["value"], item["value"]), item


def test_flat_blocks_are_read_by_both_readers_as_in_the_vectors() -> None:
    for item in load_vectors("front_matter.json")["flat"]:
        block = item["block"].removeprefix("---\n").removesuffix("---\n")
        for reading in (read_flat(block), RuamelReader().read(block)):
            assert reading is not None
            assert is_same(dict(reading.values), item["values"]), item


def test_foreign_blocks_have_the_values_and_problems_of_the_vectors() -> None:
    for item in load_vectors("front_matter.json")["foreign"]:
        record = read_record(f"{item['block']}".encode(), "memories/default/x.md", RuamelReader())
        assert item["problem"] in {problem.code for problem in record.problems}, item
        assert record.is_broken == (item["values"] is None)
        assert is_same(dict(record.reading.values), item["values"] or {}), item


def _bytes_of(item: dict[str, Any]) -> bytes:
    if "text" in item:
        return str(item["text"]).encode()
    return base64.b64decode(item["b64"])


def test_files_have_the_parts_keys_titles_and_problems_of_the_vectors() -> None:
    for item in load_vectors("record.json")["files"]:
        data = _bytes_of(item)
        record = read_record(data, item["path"], RuamelReader())
        parts = record.parts
        assert (parts.has_bom, parts.head, parts.body, record.text) == (
            item["mark"],
            item["block"],
            item["body"],
            item["record_text"],
        ), item
        assert is_same(dict(record.reading.values), item["keys"]), item
        assert record.title == item["title"], item
        codes = {problem.code for problem in record.problems}
        assert codes - ASIDE == set(item["problems"]) - ASIDE, item


def test_new_records_are_the_bytes_of_the_vectors() -> None:
    vectors = load_vectors("record.json")
    for item in vectors["new"]:
        data = render_record(item["keys"], item["text"])
        assert data.decode() == item["bytes"]
        assert split_file(data).text == item["text"]
    for item in vectors["block_order"]:
        assert split_file(render_record(item["keys"], "")).head == item["block"]


def test_updates_of_the_text_are_the_bytes_of_the_vectors() -> None:
    for item in load_vectors("record.json")["text_updates"]:
        data = replace_text(item["before"].encode(), item["text"])
        assert data.decode() == item["after"], item
        assert split_file(data).text == item["text"]


def test_updates_of_keys_are_the_bytes_of_the_vectors() -> None:
    for item in load_vectors("record.json")["key_updates"]:
        data = replace_keys(item["before"].encode(), item["changes"], RuamelReader())
        assert data.decode() == item["after"], item


def _make_turn(vectors: dict[str, Any], members: dict[str, str]) -> Turn:
    given = dict(members)
    time = given.pop("time", None)
    return Turn(
        source=vectors["source"], session=vectors["session"], time=Instant(time) if time is not None else None, **given
    )


def test_turns_are_the_blocks_of_the_vectors_and_are_read_back() -> None:
    vectors = load_vectors("transcript.json")
    blocks = [render_block(_make_turn(vectors, item["turn"])) for item in vectors["blocks"]]
    assert [block.decode() for block in blocks] == [item["block"] for item in vectors["blocks"]]
    keys = vectors["file"]["keys"]
    head = render_head(
        record_id=keys["id"],
        source=keys["source"],
        session=keys["session"],
        part=keys["part"],
        workspace=keys["workspace"],
        by=keys["by"],
        recorded_at=Instant(keys["recorded_at"]),
        origin=keys["origin"],
        title=keys["title"],
    )
    assert head.decode() == vectors["file"]["head"]
    data = head + b"".join(blocks)
    assert data.decode() == vectors["file"]["bytes"]
    parsed = parse_transcript(data)
    assert [block.turn for block in parsed.turns] == [_make_turn(vectors, item["turn"]) for item in vectors["blocks"]]
    assert [block.block for block in parsed.turns] == [item["block_id"] for item in vectors["blocks"]]
    assert (parsed.foreign, parsed.problems) == ((), ())


def test_edited_transcripts_have_the_turns_and_other_text_of_the_vectors() -> None:
    vectors = load_vectors("transcript.json")
    head = vectors["file"]["head"]
    for item in vectors["edited"]:
        parsed = parse_transcript((head + item["body"]).encode())
        assert [block.turn.turn for block in parsed.turns] == item["turns"], item["name"]
        # The body of a whole file begins with the empty line behind the front matter.
        assert [block.start - 1 for block in parsed.turns] == item["at"], item["name"]
        other = [line for span in parsed.foreign for line in span.text.split("\n") if line]
        assert other == item["other"], item["name"]


def test_instants_and_refusals_are_those_of_the_vectors() -> None:
    vectors = load_vectors("instants.json")
    for item in vectors["instants"]:
        assert parse_instant(item["input"]) == (item["instant"], item["precision"]), item
    for item in vectors["refused"]:
        with pytest.raises(InvalidInputError):
            parse_instant(item["input"])


def test_periods_and_refusals_are_those_of_the_vectors() -> None:
    vectors = load_vectors("instants.json")
    for periods in vectors["periods"]:
        assert format_periods(parse_periods(periods)) == periods
    for item in vectors["refused_periods"]:
        with pytest.raises(InvalidInputError):
            parse_periods(item["periods"])
