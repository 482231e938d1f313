"""Ledger, checkpoint, messages and index notes hold no content; transport of a text is the versions store's alone."""

from __future__ import annotations

from pathlib import Path

from tests.surface.cli import CommandLine

MARKER = "xylophonequartz"


def test_no_word_of_a_memory_is_in_the_ledger_or_in_an_error(onrecord: CommandLine) -> None:
    kept = onrecord(
        "remember", MARKER, f"--title={MARKER}", f"--workspace={MARKER}", f"--tag={MARKER}", f"--source-ref={MARKER}"
    ).data
    onrecord("capture", MARKER, f"--source={MARKER}", f"--session={MARKER}", f"--turn={MARKER}", "--role", "user")
    for done in (
        onrecord("update", kept["id"], "--old", f"{MARKER} not there", "--new", "x", "--expect", "1"),
        onrecord("remember", f"{MARKER}\0"),
        onrecord("remember", MARKER, f"--event-time={MARKER}"),
        onrecord(
            "capture", f"{MARKER}2", f"--source={MARKER}", f"--session={MARKER}", f"--turn={MARKER}", "--role", "user"
        ),
    ):
        assert MARKER not in str(done.error)
    for path in (Path(onrecord.vault) / ".onrecord").rglob("*"):
        if path.is_file() and "versions" not in path.parts:
            assert MARKER.encode() not in path.read_bytes(), path


def test_a_changed_copy_of_a_server_key_is_named_and_not_applied(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "plain words").data
    path = Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]
    path.write_text(path.read_text().replace("origin: agent", "origin: confirmed"))
    assert onrecord("read", kept["id"]).data["origin"] == "file"
    findings = onrecord("doctor").data["findings"]
    assert "server_key_changed" in {item["code"] for item in findings}


def test_a_secret_in_a_file_of_the_user_is_flagged_and_left(onrecord: CommandLine) -> None:
    folder = Path(onrecord.vault) / "memories"
    text = "password: " + "Tr0ub4dor" + "&3xyz\n"
    (folder / "mine.md").write_text(text)
    findings = onrecord("doctor").data["findings"]
    assert "secret_found" in {item["code"] for item in findings if item["path"] == "memories/mine.md"}
    assert (folder / "mine.md").read_text() == text
