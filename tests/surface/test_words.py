"""How the command line reads its words: options in full, texts with a dash in front, help for what can be typed."""

from __future__ import annotations

import pytest

from onrecord.app.catalog import OPERATIONS
from tests.surface.cli import CommandLine

TURN = ("--source", "s", "--turn", "1", "--role", "user")


@pytest.mark.parametrize(
    ("words", "field", "near"),
    [
        (("find", "x", "--mod", "full"), "mod", "--mode"),
        (("find", "x", "--fo", "full"), "fo", None),
        (("find", "x", "--querry", "full"), "querry", None),
        (("find", "--mod=full", "x"), "mod", "--mode"),
        (("status", "--js"), "js", "--json"),
        (("--js", "status"), "js", "--json"),
        (("--vaul", "somewhere", "status"), "vaul", "--vault"),
        (("capture", "x", "--sess", "a", *TURN), "sess", "--session"),
        (("capture", "x", "--sesion", "a", *TURN), "sesion", "--session"),
        (("repair", "replay", "--dry"), "dry", "--dry-run"),
    ],
)
def test_an_option_is_written_in_full_and_a_near_one_is_told(
    onrecord: CommandLine, words: tuple[str, ...], field: str, near: str | None
) -> None:
    done = onrecord(*words)
    assert (done.status, done.error["reason"]) == (2, "there is no such option")
    assert (done.error["field"], done.error.get("did_you_mean")) == (field, near)


@pytest.mark.parametrize("text", ["-foo", "--foo", "-hello", "-—", "---", "-tags"])
def test_a_text_that_begins_with_a_dash_is_told_how_to_be_given(onrecord: CommandLine, text: str) -> None:
    for words in (("remember", text), ("remember", text, "--title", "t"), ("find", text), ("remember", "x", text)):
        done = onrecord(*words)
        assert done.status == 2
        assert "behind --" in done.error["hint"]
        assert "standard input" in done.error["hint"]
    kept = onrecord("--json", "remember", "--title", "t", "--", text, as_json=False).data["id"]
    assert onrecord("read", kept).data["text"] == text
    assert onrecord("remember", "-", stdin=text.encode()).data["id"] == kept


@pytest.mark.parametrize("text", ["-5", "-.5", "-5 degrees", "- [ ] water the plants"])
def test_a_text_that_no_option_can_be_needs_nothing(onrecord: CommandLine, text: str) -> None:
    assert onrecord("read", onrecord("remember", text).data["id"]).data["text"] == text


def test_a_value_that_begins_with_a_dash_is_told_how_to_be_given(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "minus one").data["id"]
    done = onrecord("update", kept, "--old", "minus one", "--new", "-1c", "--expect", "1")
    assert (done.status, done.error["field"]) == (2, "new")
    assert "--new=-" in done.error["hint"]
    assert onrecord("update", kept, "--old", "minus one", "--new=-1c", "--expect", "1").status == 0


def test_help_lists_what_can_be_typed_and_marks_what_cannot(onrecord: CommandLine) -> None:
    listed = onrecord("help").data["operations"]
    assert [item["operation"] for item in listed] == list(OPERATIONS)
    for item in listed:
        if "command" in item:
            assert onrecord(*item["command"].split(), "--nonsense").error["reason"] in (
                "there is no such option",
                "a required argument is missing",
            )
        else:
            assert onrecord(item["operation"]).error["field"] == "command"
    lines = onrecord("help", as_json=False).out.splitlines()
    assert next(line for line in lines if "replay" in line).startswith("repair replay ")
    assert [line.split()[0] for line in lines if "Python API only" in line] == ["batch_read"]
    assert "Python API only" in onrecord("help", "batch_read", as_json=False).out


@pytest.mark.parametrize("words", [("repair replay",), ("repair  replay",), ("replay",)])
def test_help_takes_a_command_as_it_is_typed(onrecord: CommandLine, words: tuple[str, ...]) -> None:
    data = onrecord("help", *words).data
    assert (data["operation"], data["command"]) == ("replay", "repair replay")
    assert OPERATIONS["replay"].doc in onrecord("help", *words, as_json=False).out


def test_help_of_a_group_lists_its_commands(onrecord: CommandLine) -> None:
    told = [item["command"] for item in onrecord("help", "repair").data["operations"]]
    assert told == ["repair replay", "repair missing"]
    assert onrecord("help", "repair", as_json=False).out.startswith("repair replay ")
