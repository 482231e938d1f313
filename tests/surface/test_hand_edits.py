"""Whatever a person does to a file, it stays readable, findable and named by doctor, byte for byte as they left it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hand_edits import HAND_EDITS, HandEdit
from tests.surface.cli import CommandLine


@pytest.mark.parametrize("edit", HAND_EDITS, ids=[edit.name for edit in HAND_EDITS])
def test_a_hand_edited_file_is_readable_findable_and_named(onrecord: CommandLine, edit: HandEdit) -> None:
    path = Path(onrecord.vault) / "memories" / "default" / "edited.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(edit.data)
    results = onrecord("find", edit.word).data["results"]
    assert len(results) == 1, edit.name
    assert onrecord("read", results[0]["id"]).data["path"] == "memories/default/edited.md"
    findings = onrecord("doctor").data["findings"]
    codes = {item["code"] for item in findings if item["path"] == "memories/default/edited.md"}
    assert edit.code in codes
    assert onrecord("verify").data["verdict"] == "L2"
    assert path.read_bytes() == edit.data


def test_a_hand_edit_of_a_memory_is_the_next_version_and_an_update_keeps_its_other_bytes(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "first words", "--title", "T").data
    path = Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]
    edited = path.read_text().replace("title: T\n", "title: T\nmood:   'fine'  # mine\n").replace("first", "second")
    path.write_text(edited)
    assert onrecord("read", kept["id"]).data["version"] == 2
    assert (
        onrecord("update", kept["id"], "--old", "second", "--new", "third", "--expect", "1").error["code"]
        == "stale_version"
    )
    assert onrecord("update", kept["id"], "--old", "second", "--new", "third", "--expect", "2").data["version"] == 3
    after = path.read_text()
    assert "mood:   'fine'  # mine\n" in after
    assert after.endswith("third words\n")
    assert [item["origin"] for item in onrecord("history", kept["id"]).data["versions"]] == ["agent", "file", "agent"]


def test_a_moved_file_is_the_same_memory_and_a_copy_is_another(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "wandering words").data
    path = Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]
    moved = path.parent / "sub" / "elsewhere.md"
    moved.parent.mkdir()
    path.rename(moved)
    (hit,) = onrecord("find", "wandering").data["results"]
    assert hit["id"] == kept["id"]
    (moved.parent / "elsewhere 1.md").write_bytes(moved.read_bytes())
    hits = onrecord("find", "wandering").data["results"]
    assert len({hit["id"] for hit in hits}) == 2
    assert onrecord("read", kept["id"]).data["path"] == "memories/default/sub/elsewhere.md"
    assert "duplicate_id" in {item["code"] for item in onrecord("doctor").data["findings"]}


def test_a_deleted_file_is_not_shown_and_not_retired(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "vanishing words").data
    path = Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]
    data = path.read_bytes()
    path.unlink()
    assert onrecord("find", "vanishing").data["status"] == "no_match"
    assert onrecord("read", kept["id"]).data["text"] == "vanishing words"
    assert "missing_file" in {item["code"] for item in onrecord("doctor").data["findings"]}
    path.write_bytes(data)
    assert onrecord("find", "vanishing").data["results"][0]["id"] == kept["id"]


def test_a_file_grown_above_the_limit_is_called_too_large_and_nothing_else(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "growing words").data
    path = Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]
    grown = path.read_bytes() + b"more and more\n" * 700_000
    path.write_bytes(grown)
    (hit,) = onrecord("find", "growing").data["results"]
    assert (hit["id"], hit["version"]) == (kept["id"], 1)
    assert onrecord("read", kept["id"]).data["text"] == "growing words"
    codes = [item["code"] for item in onrecord("doctor").data["findings"] if item["path"].endswith(path.name)]
    assert codes == ["file_too_large"]
    assert [item["code"] for item in onrecord("verify").data["differences"]] == ["file_too_large"]
    refused = onrecord("update", kept["id"], "--old", "growing", "--new", "shrinking", "--expect", "1")
    assert refused.error["code"] == "conflict"
    assert path.read_bytes() == grown


def test_folders_too_deep_to_be_read_are_named(onrecord: CommandLine) -> None:
    folder = Path(onrecord.vault).joinpath("memories", *(["d"] * 39))
    folder.mkdir(parents=True)
    (folder / "last.md").write_text("reachable words")
    (folder / "d").mkdir()
    (folder / "d" / "deep.md").write_text("unreachable words")
    assert len(onrecord("find", "words").data["results"]) == 1
    (finding,) = [item for item in onrecord("doctor").data["findings"] if item["code"] == "too_deep"]
    assert finding["path"] == f"memories/{'d/' * 40}".rstrip("/")


def test_a_deleted_file_is_not_shown_after_a_rebuild_and_still_told(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "vanishing words").data
    other = onrecord("remember", "staying words").data
    (Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]).unlink()
    before = onrecord("find", "words").data["results"]
    onrecord("reindex")
    assert onrecord("find", "words").data["results"] == before
    assert [hit["id"] for hit in before] == [other["id"]]
    assert onrecord("read", kept["id"]).data["text"] == "vanishing words"
    assert len(onrecord("history", kept["id"]).data["versions"]) == 1
    assert [item["code"] for item in onrecord("verify").data["differences"]] == ["missing_file"]
    assert "missing_file" in {item["code"] for item in onrecord("doctor").data["findings"]}
    assert onrecord("remember", "vanishing words").data["duplicate"] is False


def test_a_plain_note_is_of_the_workspace_that_its_folder_names(onrecord: CommandLine) -> None:
    path = Path(onrecord.vault) / "memories" / "ops" / "plain.md"
    path.parent.mkdir(parents=True)
    path.write_text("plain words")
    assert len(onrecord("find", "plain", "--workspace", "ops").data["results"]) == 1


def test_nothing_outside_the_vault_is_read_through_a_link(onrecord: CommandLine, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("unreachable words")
    folder = Path(onrecord.vault) / "memories" / "default"
    folder.mkdir(exist_ok=True)
    (folder / "link.md").symlink_to(outside)
    (folder / "folder").symlink_to(tmp_path)
    assert onrecord("find", "unreachable").data["status"] == "no_match"
    assert "not_a_regular_file" in {item["code"] for item in onrecord("doctor").data["findings"]}


@pytest.mark.parametrize(
    "name", ["../escape", "..", "/etc/passwd", "a/b", "CON", "con.txt", "~", "-rf", "a\u202eb", "x" * 2000]
)
def test_no_name_leads_out_of_the_vault(onrecord: CommandLine, tmp_path: Path, name: str) -> None:
    before = set(tmp_path.parent.iterdir())
    kept = onrecord("remember", "words", f"--title={name}", f"--workspace={name}").data
    onrecord("capture", "said", f"--source={name}", f"--session={name}", f"--turn={name}", "--role", "user")
    files = [path for path in tmp_path.rglob("*.md") if path.name != "README.md"]
    assert files
    assert all(path.is_relative_to(Path(onrecord.vault)) for path in files)
    assert set(tmp_path.parent.iterdir()) == before
    assert onrecord("read", kept["id"]).data["title"] == name
