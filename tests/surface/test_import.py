"""An import reads regular files only, keeps dates, and names each thing that it does not take in."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import onrecord as package
from onrecord.domain import limits
from onrecord.domain.errors import InvalidInputError
from tests.surface.cli import CommandLine


@contextmanager
def bound_socket(path: Path) -> Iterator[None]:
    """Let a socket be at a path."""
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
            yield
    finally:
        os.chdir(here)


@pytest.mark.parametrize("form", ["markdown", "turns"])
@pytest.mark.parametrize("kind", ["fifo", "device", "socket"])
def test_a_path_that_is_no_file_is_refused_by_its_kind(
    onrecord: CommandLine, tmp_path: Path, kind: str, form: str
) -> None:
    path = tmp_path / "odd.md"
    with bound_socket(tmp_path / "listens.md"):
        if kind == "fifo":
            os.mkfifo(path)
        named = {"fifo": path, "device": Path("/dev/zero"), "socket": tmp_path / "listens.md"}[kind]
        done = onrecord("import", str(named), "--format", form)
    assert (done.status, done.error["code"], done.error["field"]) == (2, "invalid_input", "path")


def test_what_is_no_file_in_a_tree_is_named_and_passed_over(onrecord: CommandLine, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "good.md").write_text("a good note")
    os.mkfifo(tree / "fifo.md")
    (tree / "link.md").symlink_to("/dev/zero")
    with bound_socket(tree / "socket.md"):
        data = onrecord("import", str(tree)).data
    assert data["imported"] == 1
    assert {item["path"] for item in data["skipped"]} == {"fifo.md", "link.md", "socket.md"}
    assert all(item["reason"] for item in data["skipped"])


def test_a_path_that_is_a_link_to_a_file_is_read(onrecord: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("the note behind a link")
    (tmp_path / "named.md").symlink_to(tmp_path / "note.md")
    assert onrecord("import", str(tmp_path / "named.md")).data["imported"] == 1


def test_a_file_that_grows_while_it_is_read_is_read_as_it_was(onrecord: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"

    def render(number: int) -> str:
        return json.dumps({"session": "s", "turn": str(number), "text": f"text {number}"}) + "\n"

    path.write_text("".join(map(render, range(600))))
    with package.open(onrecord.vault) as vault:
        services = vault._services
        lines = services.list_lines(str(path))

        def feed() -> Iterator[bytes]:
            for number, line in enumerate(lines):
                with path.open("a") as file:
                    file.write(render(1_000 + number))
                yield line

        assert sum(1 for _ in feed()) == 600


def test_a_vault_at_or_below_what_is_imported_is_left_out_and_named(onrecord: CommandLine, tmp_path: Path) -> None:
    onrecord("remember", "one", "--workspace", "a")
    home = Path(onrecord.vault).parent
    (home / "note.md").write_text("a note beside the vault")
    other = home / "elsewhere" / "other vault"
    (other / ".onrecord").mkdir(parents=True)
    (other / "README.md").write_text("what a person may edit here")
    for imported in (1, 0):
        done = onrecord("import", str(home))
        assert (done.status, done.data["imported"]) == (0, imported)
        named = {item["path"] for item in done.data["skipped"] if "vault" in item["reason"]}
        assert named == {Path(onrecord.vault).name, "elsewhere/other vault"}


@pytest.mark.parametrize("place", ["", "memories", "memories/default", "memories/default/one.md", "other", "link"])
def test_nothing_that_lies_in_a_vault_is_imported(onrecord: CommandLine, tmp_path: Path, place: str) -> None:
    onrecord("remember", "one")
    vault = Path(onrecord.vault)
    (vault / "other").mkdir()
    (vault / "other" / "note.md").write_text("no memory")
    (tmp_path / "link").symlink_to(vault / "memories")
    given = tmp_path / "link" if place == "link" else vault / place
    refused = onrecord("import", str(given), "--workspace", "copies")
    assert (refused.status, refused.error["code"], refused.error["field"]) == (2, "invalid_input", "path")
    assert "lies in a vault" in refused.error["reason"]
    assert "memories/" in refused.error["hint"]
    assert onrecord("status").data["counts"]["versions"] == 1


def test_what_a_link_of_the_vault_leads_to_is_not_imported(onrecord: CommandLine, tmp_path: Path) -> None:
    notes = tmp_path / "top" / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "deep" / "a.md").write_text("a note")
    (notes.parent / "b.md").write_text("another note")
    assert onrecord("link", "memories/work", str(notes), at_terminal=True).status == 0
    for place in (notes, notes / "deep", notes / "deep" / "a.md"):
        assert "has a link to" in onrecord("import", str(place)).error["reason"]
    done = onrecord("import", str(notes.parent))
    assert done.data["imported"] == 1
    assert [item["path"] for item in done.data["skipped"]] == ["notes"]


@pytest.mark.parametrize("name", ["absent", "absent.md", "absent.jsonl"])
def test_a_missing_path_has_a_hint_about_paths(onrecord: CommandLine, tmp_path: Path, name: str) -> None:
    done = onrecord("import", str(tmp_path / name))
    assert (done.status, done.error["code"], done.error["field"]) == (1, "not_found", "path")
    assert "id" not in done.error["hint"].split()
    assert "file" in done.error["hint"] or "folder" in done.error["hint"]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("head", [b"", b"---\ntitle: long\n---\n", b"---\nx: " + b"y" * 500_000 + b"\n---\n"])
def test_the_limit_of_an_imported_file_is_on_its_text(
    onrecord: CommandLine, tmp_path: Path, head: bytes, end: bytes
) -> None:
    text = ("kumquat 記憶 " * 150_000).encode()[: limits.TEXT_MAX_BYTES - 3].decode(errors="ignore")
    text += "x" * (limits.TEXT_MAX_BYTES - len(text.encode()))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "fits.md").write_bytes(head + text.encode() + end)
    (tmp_path / "a" / "one more.md").write_bytes(head + text.encode() + b"x" + end)
    data = onrecord("import", str(tmp_path / "a")).data
    assert data["imported"] == 1
    assert [item["path"] for item in data["skipped"]] == ["one more.md"]
    found = onrecord("find", "kumquat").data["results"][0]["id"]
    with package.open(onrecord.vault) as vault:
        assert vault.read(found).text == text


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("date: 2024-05-08", "2024-05-08"),
        ("created: 2024-05-08T10:00:00+02:00", "2024-05-08T10:00:00+02:00"),
        ("created: May 8, 2024", "2024-05-08T00:00:00.000000Z"),
        ("created_at: 1715155200", "2024-05-08T08:00:00.000000Z"),
        ("date: soon\ncreated: 2024-05-08", "2024-05-08"),
        ("updated: 2024-05-08", None),
        ("date: 05/08/2024", None),
        ("event_time: 2020-01-01\ndate: 2024-05-08", "2020-01-01"),
    ],
)
def test_dates_of_imported_notes_are_kept(onrecord: CommandLine, tmp_path: Path, line: str, time: str | None) -> None:
    (tmp_path / "note.md").write_text(f"---\n{line}\n---\nkumquat\n")
    assert onrecord("import", str(tmp_path / "note.md")).data["imported"] == 1
    shown = onrecord("read", onrecord("find", "kumquat").data["results"][0]["id"]).data
    lines = Path(onrecord.vault, shown["path"]).read_text().splitlines()
    assert set(line.splitlines()) <= set(lines)
    told = [item.removeprefix("event_time: ").strip('"') for item in lines if item.startswith("event_time: ")]
    assert told == ([time] if time is not None else [])


def test_each_line_that_is_refused_is_named_and_the_others_are_kept(onrecord: CommandLine) -> None:
    good = {"session": "s", "text": "kumquat"}
    lines = [
        good | {"turn": "1"},
        good | {"turn": "2", "time": "x" * 2_001},
        good | {"turn": "3", "speaker": "x" * 2_001},
        good | {"turn": "4", "role": "robot"},
        good | {"turn": "5", "speaker": "a\nb"},
        good | {"turn": "6", "text": "x" * (limits.TURN_TEXT_MAX_BYTES + 1)},
        good | {"turn": "7", "speaker": "password: hunter2geheim " + "x" * 1_976},
        good | {"turn": "8", "time": "x" * 2_000},
        good | {"turn": "1", "text": "another text"},
    ]
    raw = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n" + b"x" * 3_000_000 + b"\n"
    raw += json.dumps(good | {"turn": "9"}).encode()
    data = onrecord("import", "-", stdin=raw).data
    assert [item["line"] for item in data["skipped"]] == [2, 3, 4, 5, 6, 7, 10, 9]
    assert data["imported"] == 3


def test_members_that_a_turn_does_not_have_are_told(onrecord: CommandLine) -> None:
    line = {"session": "s", "turn": "1", "text": "x", "model": "m", "cost": 1}
    done = onrecord("import", "-", stdin=json.dumps(line).encode())
    assert done.data["imported"] == 1
    assert any("cost, model" in warning for warning in done.envelope["warnings"])


def test_what_was_skipped_fills_at_most_a_page(onrecord: CommandLine) -> None:
    done = onrecord("import", "-", stdin=b"not json\n" * 5_000)
    assert len(done.out.encode()) < 70_000
    assert done.data["truncated"] is True
    assert done.data["skipped_total"] == 5_000


def test_the_library_refuses_what_is_no_file_too(onrecord: CommandLine) -> None:
    with package.open(onrecord.vault) as vault:
        with pytest.raises(InvalidInputError):
            vault.import_markdown("/dev/null")
        with pytest.raises(InvalidInputError):
            vault.import_turns("/dev/null")
