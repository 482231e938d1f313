"""A name that was mistyped: the error says what there is, and the near name that may be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.cli import CommandLine
from tests.surface.test_conflicts import Case


def ask(onrecord: CommandLine, *words: str) -> dict[str, str]:
    done = onrecord(*words, at_terminal=True)
    assert done.status in (1, 2), done.out
    assert done.error["hint"], done.out
    return done.error


def test_a_task_of_a_group(onrecord: CommandLine) -> None:
    error = ask(onrecord, "repair", "mising")
    assert (error["field"], error["reason"], error["did_you_mean"]) == ("task", "repair has no such task", "missing")
    assert "replay" in error["hint"]
    assert ask(onrecord, "source", "lst")["did_you_mean"] == "list"


def test_a_path_that_is_imported_or_made_a_source(onrecord: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "chat.jsonl").write_text("")
    typed, meant = str(tmp_path / "ntoes"), "notes"
    assert ask(onrecord, "import", typed)["did_you_mean"] == meant
    assert ask(onrecord, "source", "add", typed, "--name", "x")["did_you_mean"] == meant
    assert ask(onrecord, "link", "memories/work", typed)["did_you_mean"] == meant
    assert ask(onrecord, "import", str(tmp_path / "caht.jsonl"))["did_you_mean"] == "chat.jsonl"
    assert "did_you_mean" not in ask(onrecord, "import", str(tmp_path / "absent"))


def test_a_source_and_a_link(onrecord: CommandLine, tmp_path: Path) -> None:
    for name in ("notes", "linked"):
        (tmp_path / name).mkdir()
    assert onrecord("source", "add", str(tmp_path / "notes"), "--name", "claude", at_terminal=True).status == 0
    assert onrecord("link", "memories/work", str(tmp_path / "linked"), at_terminal=True).status == 0
    assert ask(onrecord, "source", "remove", "cluade")["did_you_mean"] == "claude"
    assert ask(onrecord, "unlink", "memories/wrok")["did_you_mean"] == "memories/work"
    assert ask(onrecord, "link", "memoires/x", str(tmp_path / "linked"))["did_you_mean"] == "memories/x"


def test_the_id_of_a_memory(onrecord: CommandLine) -> None:
    made = onrecord("remember", "plain words").data["id"]
    typed = made[:-1] + ("a" if made[-1] != "a" else "b")
    for words in (("read", typed), ("history", typed[:6] + "zz"), ("update", typed, "--text", "x", "--expect", "1")):
        assert ask(onrecord, *words)["did_you_mean"] == made
    assert "did_you_mean" not in ask(onrecord, "read", "zzzz")


def test_the_id_of_a_conflict_and_its_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tmp_path)
    case.session.close()
    disputed = CommandLine(monkeypatch, str(case.vault))
    made = str(case.conflict)
    typed = ("a" if made[0] != "a" else "b") + made[1:]
    error = ask(disputed, "settle", typed, "--keep", "A")
    assert (error["reason"], error["did_you_mean"]) == ("no conflict with this id", made)
    assert "onrecord conflicts" in error["hint"]
    assert ask(disputed, "settle", made, "--keep", "a")["did_you_mean"] == "A"
    assert "onrecord conflicts" in ask(disputed, "settle", made[:6], "--keep", "A")["hint"]
    status = disputed("status", as_json=False).out
    assert "1 open conflict  (onrecord conflicts)" in status


def test_a_mark_behind_which_nothing_follows_is_no_option(onrecord: CommandLine) -> None:
    assert onrecord("remember", "plain words", "--title", "Plan", "--", as_json=False).status == 0
