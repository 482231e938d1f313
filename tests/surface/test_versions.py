"""What is told of a memory's versions, the same by `history`, `read` and the Python API."""

from __future__ import annotations

from pathlib import Path

import pytest

import onrecord as package
from onrecord.app.history import tell_status
from onrecord.app.session import Reply
from onrecord.surfaces.services import Opened
from tests.surface.cli import CommandLine

TURN = ("--source", "codex", "--session", "s1", "--role", "user")


@pytest.mark.parametrize("write", ["command", "editor"])
def test_a_version_that_is_not_the_newest_is_superseded(onrecord: CommandLine, write: str) -> None:
    kept = onrecord("remember", "kumquats are ripe", "--title", "fruit").data["id"]
    if write == "command":
        onrecord("update", kept, "--text", "kumquats are gone", "--expect", "1")
    else:
        path = Path(onrecord.vault, onrecord("read", kept).data["path"])
        path.write_text(path.read_text().replace("ripe", "gone"))
    told = {item["version"]: item["status"] for item in onrecord("history", kept).data["versions"]}
    assert told == {1: "superseded", 2: "current"}
    for version, status in told.items():
        assert onrecord("read", kept, "--version", str(version)).data["status"] == status
    with package.open(onrecord.vault) as vault:
        assert [item.status for item in vault.history(kept)] == ["superseded", "current"]
        assert vault.read(kept, version=1).status == "superseded"
        assert vault.read(kept).status == "current"


def test_only_what_was_current_is_superseded(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "x").data["id"]
    onrecord("update", kept, "--text", "y", "--expect", "1")
    with package.open(onrecord.vault) as vault, vault._session.index.read() as reader:
        first, second = reader.list_versions(kept)
    assert tell_status(first, second) == "superseded"
    assert tell_status(first._replace(status="draft"), second) == "draft"
    assert tell_status(second, second) == "current"


def test_a_block_is_named_in_one_form_as_it_stands_in_the_file(onrecord: CommandLine) -> None:
    first = onrecord("capture", "kumquat jam", *TURN, "--turn", "1").data
    again = onrecord("capture", "kumquat jam", *TURN, "--turn", "1").data
    (hit,) = onrecord("find", "kumquat").data["results"]
    with package.open(onrecord.vault) as vault:
        taken = vault.capture("kumquat jam", source="codex", session="s1", turn="1", role="user")
        (found,) = vault.find("kumquat")
    assert {first["block"], again["block"], hit["block"], taken.block, found.block} == {hit["block"]}
    assert f"\n^{hit['block']}\n" in Path(onrecord.vault, onrecord("read", first["id"]).data["path"]).read_text()


@pytest.mark.parametrize(
    "words",
    [("import", "-"), ("reindex",), ("verify",), ("doctor",), ("status",), ("find", "x"), ("init", "{other}")],
)
def test_a_command_ends_what_opening_the_vault_began(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    ended: list[Reply] = []
    close = Opened.close

    def note(opened: Opened) -> None:
        ended.append(opened.opening)
        close(opened)

    monkeypatch.setattr(Opened, "close", note)
    assert onrecord(*(word.format(other=tmp_path / "other") for word in words)).status == 0
    assert len(ended) == (2 if words[0] == "doctor" else 1), "doctor looks at a vault before it opens it"
