"""What `find` shows of a hit, whatever its text holds: every mode, every kind of document."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import onrecord as package
from onrecord.domain.lines import split_lines
from tests.surface.cli import CommandLine

SAMPLES = Path(__file__).parents[2] / "samples"
MODES = ("preview", "hits", "full")
RULES = "| --- | :-: |\n" * 20
LONG_WORDS = "The dough rests for nine hours before it is shaped."


def find_one(onrecord: CommandLine, query: str, mode: str) -> dict[str, Any]:
    done = onrecord("find", query, "--mode", mode)
    assert done.status == 0, done.out
    (hit,) = done.data["results"]
    return hit


@pytest.mark.parametrize("mode", MODES)
def test_a_long_session_is_found_by_its_title_alone(onrecord: CommandLine, mode: str) -> None:
    for number in range(4):
        onrecord("capture", LONG_WORDS, "--source", "cli", "--session", "zymurgy evening", "--turn", str(number),
                 "--role", "user")  # fmt: skip
    hit = find_one(onrecord, "zymurgy", mode)
    assert hit["kind"] == "event"
    assert "turn" not in hit
    if mode == "full":
        assert hit["text"].count(LONG_WORDS) == 4
    else:
        assert hit.get("snippet", "") == ""
        assert hit.get("spans", []) == []


@pytest.mark.parametrize("mode", MODES)
def test_a_short_session_is_found_by_its_title_and_shows_no_blanks(onrecord: CommandLine, mode: str) -> None:
    onrecord("capture", "Hi", "--source", "cli", "--session", "zymurgy", "--turn", "1", "--role", "user")
    assert find_one(onrecord, "zymurgy", mode).get("snippet", "") == ""


@pytest.mark.parametrize("mode", MODES)
def test_a_memory_of_rules_alone_is_found_by_its_title(onrecord: CommandLine, mode: str) -> None:
    assert split_lines(RULES) == []
    kept = onrecord("remember", RULES, "--title", "zymurgy").data["id"]
    hit = find_one(onrecord, "zymurgy", mode)
    assert hit["id"] == kept
    assert hit.get("text", RULES) == RULES
    assert hit.get("snippet", "") == ""


@pytest.mark.parametrize("text", ["", "\n", "\n \t\n" * 100, "\u3000" * 200])
@pytest.mark.parametrize("mode", MODES)
def test_a_file_of_blanks_is_found_by_its_title(onrecord: CommandLine, mode: str, text: str) -> None:
    Path(onrecord.vault, "memories/blank.md").write_text(f"---\ntitle: zymurgy\n---\n{text}")
    hit = find_one(onrecord, "zymurgy", mode)
    assert not hit.get("snippet", "")
    assert not hit.get("spans", [])
    assert onrecord("find", "zymurgy", "--mode", mode, as_json=False).status == 0


@pytest.mark.parametrize("text", ["", " ", RULES, "\n" * 200])
@pytest.mark.parametrize("mode", MODES)
def test_a_turn_without_words_is_found_by_its_speaker(onrecord: CommandLine, mode: str, text: str) -> None:
    onrecord("capture", text, "--source", "cli", "--session", "s", "--turn", "1", "--role", "user",
             "--speaker", "Zymurgy")  # fmt: skip
    hit = find_one(onrecord, "zymurgy", mode)
    assert hit["turn"] == "1"
    assert hit.get("text", text) == text
    assert not hit.get("snippet", "")
    assert not hit.get("spans", [])


def test_every_word_of_the_samples_finds_in_every_mode(onrecord: CommandLine) -> None:
    words: set[str] = set()
    for path in (path for path in SAMPLES.rglob("*") if path.is_file()):
        words |= set(re.findall(r"\w+", path.read_text(encoding="utf-8", errors="replace") + path.stem))
    with package.open(onrecord.vault) as vault:
        for line in (SAMPLES / "facts.jsonl").read_text(encoding="utf-8").splitlines():
            vault.remember(**json.loads(line))
        vault.import_markdown(str(SAMPLES / "notes"))
        vault.import_turns(str(SAMPLES / "conversation.jsonl"))
        assert len(words) > 800
        for number, word in enumerate(sorted(words)):
            for hit in vault.find(word, mode=MODES[number % len(MODES)]):
                assert hit.id
        titled = [hit for mode in MODES for hit in vault.find("planning", mode=mode) if hit.turn is None]
        assert len({hit.id for hit in titled if hit.kind == "event"}) == 1
