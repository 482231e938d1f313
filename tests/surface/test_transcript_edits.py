"""What people write into transcripts is found, what they change in them is named, and what was captured stays."""

from __future__ import annotations

from pathlib import Path

import pytest

import onrecord as package
from onrecord.app.find import find
from onrecord.domain.transcript import Turn, render_block
from tests.surface.cli import CommandLine
from tests.vaults import open_reference

TURNS = ("The kumquat harvest is late.", "Please order quinces.", "Done.")


def capture(onrecord: CommandLine, turn: str, text: str, session: str = "s") -> str:
    words = ("--source", "chat", "--session", session, "--turn", turn, "--role", "user", "--speaker", "Mia")
    return str(onrecord("capture", text, *words).data["id"])


@pytest.fixture
def transcript(onrecord: CommandLine) -> Path:
    """A transcript of three turns."""
    for number, text in enumerate(TURNS):
        capture(onrecord, f"t{number}", text)
    (path,) = Path(onrecord.vault, "events/chat").iterdir()
    return path


def write_between(path: Path, remark: str) -> None:
    """Write a remark behind the first block."""
    text = path.read_text()
    place = text.index("\n\n", text.index("\n^t-")) + 2
    path.write_text(text[:place] + remark + text[place:])


REMARK = "Remark by hand: the medlars too.\n\n"


def test_text_between_turns_is_found_as_text_of_the_transcript(onrecord: CommandLine, transcript: Path) -> None:
    write_between(transcript, REMARK)
    for mode in ("preview", "hits", "full"):
        (hit,) = onrecord("find", "medlars", "--mode", mode).data["results"]
        assert hit["kind"] == "event"
        assert hit["origin"] == "file"
        assert "turn" not in hit
    (hit,) = onrecord("find", "medlars", "--mode", "hits").data["results"]
    start, end = map(int, hit["spans"][0]["span"].split(":"))
    text = onrecord("read", hit["id"]).data["text"]
    assert text[start:end] == hit["spans"][0]["text"] == "Remark by hand: the medlars too."
    (preview,) = onrecord("find", "medlars").data["results"]
    assert "medlars" in preview["snippet"]


def test_turns_around_a_remark_are_found_once_and_only_as_turns(onrecord: CommandLine, transcript: Path) -> None:
    write_between(transcript, REMARK)
    (hit,) = onrecord("find", "kumquat").data["results"]
    assert hit["turn"] == "t0"
    assert onrecord("history", hit["id"]).data["turns"] == 3


def test_a_remark_is_found_after_a_turn_was_captured_behind_it_and_after_a_rebuild(
    onrecord: CommandLine, transcript: Path
) -> None:
    with package.open(onrecord.vault) as vault:
        write_between(transcript, REMARK)
        vault.capture("More kumquats.", source="chat", session="s", turn="t9", role="user")
        before = [(hit.id, hit.score) for hit in vault.find("medlars")]
        assert len(before) == 1
        vault.reindex()
        assert [(hit.id, hit.score) for hit in vault.find("medlars")] == before
        reference = open_reference(vault._session)
        results = find(reference, {"query": "medlars"}).data["results"]
        assert isinstance(results, list)
        assert [(hit["id"], hit["score"]) for hit in results] == before
    assert onrecord("verify").status == 0
    assert transcript.read_text().count("^t-") == 4


def test_a_remark_that_is_taken_back_is_not_found_any_more(onrecord: CommandLine, transcript: Path) -> None:
    before = transcript.read_bytes()
    write_between(transcript, REMARK)
    assert onrecord("find", "medlars").data["results"]
    transcript.write_bytes(before)
    assert onrecord("find", "medlars").data["results"] == []
    assert onrecord("doctor").data["counts"]["warning"] == 0


def test_captures_alone_make_no_versions_of_a_transcript(onrecord: CommandLine, transcript: Path) -> None:
    record = capture(onrecord, "t7", "Seven.")
    onrecord("reindex")
    assert [item["version"] for item in onrecord("history", record).data["versions"]] == [1]


@pytest.mark.parametrize("change", ["text", "speaker", "origin", "lost", "forged"])
def test_a_turn_changed_by_hand_is_named_with_its_file_and_never_promoted(
    onrecord: CommandLine, transcript: Path, change: str
) -> None:
    text = transcript.read_text()
    match change:
        case "text":
            text = text.replace("kumquat harvest", "medlars harvest")
        case "speaker":
            text = text.replace('"speaker":"Mia"', '"speaker":"Eve"', 1)
        case "origin":
            text = text.replace('"origin":"agent"', '"origin":"user"', 1)
        case "lost":
            text = text[: text.index("> [!user]")] + text[text.index("> [!user]", text.index("\n^t-")) :]
        case _:
            text += render_block(Turn("chat", "s", "forged", "user", "medlars")).decode()
    transcript.write_text(text)
    assert onrecord("find", "medlars").data["results"] == []
    (hit,) = onrecord("find", "kumquat", "--mode", "full").data["results"]
    assert (hit["text"], hit["speaker"], hit["origin"]) == (TURNS[0], "Mia", "agent")
    findings = onrecord("doctor").data["findings"]
    named = [item for item in findings if item["code"] == "transcript_edited"]
    assert named
    assert {item["path"] for item in named} == {f"events/chat/{transcript.name}"}
    assert onrecord("doctor").status == 1


def test_a_remark_is_named_at_its_line(onrecord: CommandLine, transcript: Path) -> None:
    write_between(transcript, REMARK)
    lines = transcript.read_text().splitlines()
    (item,) = (item for item in onrecord("doctor").data["findings"] if item["code"] == "transcript_edited")
    assert item["path"] == f"events/chat/{transcript.name}"
    assert lines[item["line"] - 1].startswith("Remark by hand")


@pytest.mark.parametrize("session", ["v1.2", "2026.11.30", "x.99999"])
def test_the_parts_of_a_session_are_counted_whatever_its_name_ends_in(onrecord: CommandLine, session: str) -> None:
    for number in range(3):
        capture(onrecord, f"t{number}", f"{number} " + "x" * 200_000, session)
    parts = {}
    for path in Path(onrecord.vault, "events/chat").iterdir():
        (line,) = (line for line in path.read_text().splitlines() if line.startswith("part: "))
        parts[path.name] = int(line.removeprefix("part: "))
    assert parts == {f"{session}.md": 1, f"{session}.2.md": 2, f"{session}.3.md": 3}
