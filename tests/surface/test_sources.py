"""Files of other programs: added by the user, found and read as they are now, without secrets, never versions."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

import onrecord as package
from onrecord.ports.index import IndexBatch
from onrecord.storage.sqlite.index import SqliteIndex
from tests.surface.cli import CommandLine, Done
from tests.vaults import make_vault

MARKER = "xylophonequartz"
SECRET = "Tr0ub4dor" + "&3xyz"


class Desk:
    """A vault and the user at it."""

    def __init__(self, onrecord: CommandLine, folder: Path) -> None:
        self.ask = onrecord
        self.folder = folder

    def add(self, path: Path, name: str = "claude", *words: str) -> Done:
        return self.ask("source", "add", str(path), "--name", name, *words, at_terminal=True)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def find(self, query: str, *words: str) -> list[dict[str, Any]]:
        return self.ask("find", query, *words).data["results"]


@pytest.fixture
def desk(onrecord: CommandLine, tmp_path: Path) -> Desk:
    """Give a fresh vault and a folder of another program beside it."""
    folder = tmp_path / "other program"
    folder.mkdir()
    return Desk(onrecord, folder)


def test_a_section_is_found_among_memories_and_read_by_its_id(desk: Desk) -> None:
    desk.ask("remember", "kumquat jam for breakfast")
    desk.add(desk.write("CLAUDE.md", "intro\n# Build\nkumquat builds need make\n## Fast\nonly lint\n"))
    memory, section = sorted(desk.find("kumquat", "--mode", "full"), key=lambda hit: "source" in hit)
    assert "version" in memory
    assert {name: section.get(name) for name in ("version", "title", "kind", "origin", "source", "path", "text")} == {
        "version": None,
        "title": "Build",
        "kind": "section",
        "origin": "agent",
        "source": "claude",
        "path": "CLAUDE.md",
        "text": "# Build\nkumquat builds need make",
    }
    read = desk.ask("read", section["id"]).data
    assert (read["text"], read["source"], read["path"]) == (section["text"], "claude", "CLAUDE.md")
    assert "version" not in read
    assert "by" not in read
    assert desk.ask("read", section["id"], "--span", "2:7").data["text"] == "Build"
    assert [hit["title"] for hit in desk.find("build fast")][:1] == ["Fast"]


def test_the_python_api_gives_sections_as_typed_values(desk: Desk) -> None:
    desk.add(desk.write("notes.txt", "kumquat"))
    with package.open(desk.ask.vault) as vault:
        (hit,) = vault.find("kumquat")
        assert (hit.source, hit.path, hit.version) == ("claude", "notes.txt", 0)
        assert (vault.read(hit.id).text, vault.read(hit.id).source) == ("kumquat", "claude")
        (batch,) = vault.batch_read([hit.id])
        assert isinstance(batch, package.Memory)
        (source,) = vault.source_list()
        assert (source.name, source.files, source.sections, source.available) == ("claude", 1, 1, True)
        for refuse in (lambda: vault.source_add("/etc/hosts", name="x"), lambda: vault.source_remove("claude")):
            with pytest.raises(package.ApprovalRequiredError):
                refuse()


def test_only_the_user_adds_or_removes_a_source(desk: Desk) -> None:
    path = desk.write("secret.md", "kumquat")
    assert desk.ask("source", "add", str(path), "--name", "x").error["code"] == "approval_required"
    assert desk.find("kumquat") == []
    desk.add(path)
    assert desk.ask("source", "remove", "claude").error["code"] == "approval_required"
    assert len(desk.find("kumquat")) == 1


def test_an_edit_is_found_at_once_and_the_old_text_never(desk: Desk) -> None:
    path = desk.write("CLAUDE.md", "# One\nkumquat here\n")
    desk.add(path)
    (old,) = desk.find("kumquat")
    with package.open(desk.ask.vault) as vault:
        assert len(vault.find("kumquat")) == 1
        path.write_text("# One\nquandong here\n")
        assert list(vault.find("kumquat")) == []
        (hit,) = vault.find("quandong", mode="full")
        assert hit.text == "# One\nquandong here"
        path.write_text("# One\nlemon here\n")
        assert vault.read(hit.id).text == "# One\nlemon here"
    assert desk.ask("read", old["id"]).data["text"] == "# One\nlemon here"


def test_a_source_that_is_gone_is_not_shown_and_is_named(desk: Desk) -> None:
    path = desk.write("CLAUDE.md", "kumquat\n")
    desk.add(path)
    (hit,) = desk.find("kumquat")
    path.unlink()
    assert desk.find("kumquat") == []
    assert desk.ask("read", hit["id"]).error["code"] == "not_found"
    (listed,) = desk.ask("source", "list").data["sources"]
    assert (listed["available"], listed["reason"], listed["sections"]) == (False, "it is gone", 0)
    assert "source_unavailable" in {item["code"] for item in desk.ask("doctor").data["findings"]}
    path.write_text("kumquat\n")
    assert len(desk.find("kumquat")) == 1


def test_a_folder_gives_its_text_files_and_says_what_is_left_out(desk: Desk) -> None:
    for name in ("a.md", "deep/b.txt", "rules/c.mdc", ".hidden/d.md", ".e.md"):
        desk.write(name, "kumquat")
    desk.write("picture.png", b"\0kumquat")
    desk.write("no text.md", b"\0kumquat")
    (desk.folder / "link.md").symlink_to(desk.folder / "a.md")
    (desk.folder / "linked").symlink_to(desk.folder / "deep")
    os.mkfifo(desk.folder / "fifo.md")
    added = desk.add(desk.folder).data
    assert (added["files"], added["sections"]) == (3, 3)
    left = {item["path"] for item in added["left_out"]}
    assert left == {".hidden", ".e.md", "link.md", "linked", "fifo.md", "no text.md"}
    assert {hit["path"] for hit in desk.find("kumquat")} == {"a.md", "deep/b.txt", "rules/c.mdc"}
    desk.write("f.md", "kumquat")
    (desk.folder / "a.md").unlink()
    assert {hit["path"] for hit in desk.find("kumquat")} == {"f.md", "deep/b.txt", "rules/c.mdc"}


def test_what_is_no_plain_file_or_belongs_to_the_vault_is_refused(desk: Desk, tmp_path: Path) -> None:
    inner = Path(desk.ask.vault, "memories", "note.md")
    inner.parent.mkdir(exist_ok=True)
    inner.write_text("kumquat")
    link, fifo, sock = desk.folder / "link.md", desk.folder / "fifo.md", desk.folder / "s.md"
    link.symlink_to(inner)
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(desk.folder)
        listening.bind("s.md")
        os.chdir(here)
    linked = tmp_path / "linked"
    linked.symlink_to(desk.folder)
    desk.write("real.md", "kumquat")
    state = next(Path(os.environ["ONRECORD_STATE"]).rglob("head.json"))
    places = [inner, inner.parent, Path(desk.ask.vault), link, linked, linked / "real.md", fifo, sock, state]
    places += [Path("/dev/null"), state.parent, tmp_path / "absent", desk.write("nul.md", b"a\0b")]
    for place in places:
        assert desk.add(place).error["code"] in ("invalid_input", "not_found"), place
    assert desk.ask("source", "list").data["sources"] == []


def test_a_folder_that_holds_the_vault_or_lies_in_another_one_is_refused(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    make_vault(other)
    (other / "memories" / "a.md").write_text("kumquat")
    linked = tmp_path / "top" / "linked"
    linked.mkdir(parents=True)
    assert desk.ask("link", "memories/work", str(linked), at_terminal=True).status == 0
    places = [tmp_path, Path("/"), other, other / "memories", other / "memories" / "a.md", linked, linked.parent]
    for place in places:
        refused = desk.add(place)
        assert (refused.status, refused.error["code"], refused.error["field"]) == (2, "invalid_input", "path"), place
        assert "vault" in refused.error["reason"]
        assert refused.error["hint"]


def test_status_counts_a_source_that_is_gone_as_doctor_does(desk: Desk) -> None:
    kept = desk.write("CLAUDE.md", "kumquat builds need make\n")
    desk.add(kept)
    assert desk.ask("status").data["problems"] == 0
    kept.unlink()
    assert [item["code"] for item in desk.ask("doctor").data["findings"]] == ["source_unavailable"]
    assert desk.ask("status").data["problems"] == 1
    assert "nothing waits" not in desk.ask("status", as_json=False).out


def test_a_source_is_judged_by_where_it_lies_and_not_by_where_the_command_was_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = desk.write("CLAUDE.md", "kumquat builds need make\n")
    monkeypatch.chdir(desk.ask.vault)
    assert desk.add(kept).status == 0
    assert desk.find("kumquat")


def test_a_vault_that_is_moved_into_a_source_gives_nothing_to_it(desk: Desk) -> None:
    desk.ask("remember", "kumquat in the vault")
    desk.write("a.md", "kumquat beside it")
    assert desk.add(desk.folder).status == 0
    moved = desk.folder / "vault"
    Path(desk.ask.vault).rename(moved)
    desk.ask.vault = str(moved)
    assert [hit.get("source") for hit in desk.find("kumquat")].count("claude") == 1
    assert [item["path"] for item in desk.ask("source", "list").data["left_out"]] == ["vault"]


def test_a_link_that_takes_the_place_of_a_file_or_folder_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    path = desk.write("deep/a.md", "kumquat")
    desk.add(desk.folder)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "a.md").write_text("quandong")
    path.unlink()
    path.symlink_to(hidden / "a.md")
    assert desk.find("quandong") == desk.find("kumquat") == []
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(hidden)
    assert desk.find("quandong") == []


def test_a_folder_that_becomes_a_link_between_two_questions_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    path = desk.write("deep/a.md", "kumquat")
    desk.add(desk.folder)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "a.md").write_text("kumquat quandong")
    with package.open(desk.ask.vault) as vault:
        assert len(vault.find("kumquat")) == 1
        path.unlink()
        path.parent.rmdir()
        path.parent.symlink_to(hidden)
        assert list(vault.find("kumquat")) == list(vault.find("quandong")) == []


def test_many_files_change_the_index_together_when_they_come_change_and_go(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied: list[IndexBatch] = []
    apply = SqliteIndex.apply

    def count(index: SqliteIndex, batch: IndexBatch) -> None:
        applied.append(batch)
        apply(index, batch)

    paths = [desk.write(f"{number}.md", f"kumquat {number}") for number in range(450)]
    monkeypatch.setattr(SqliteIndex, "apply", count)
    assert desk.add(desk.folder).data["sections"] == 450
    assert sum(bool(batch.documents) for batch in applied) <= 3
    assert len(desk.find("kumquat", "--limit", "50")) == 50
    for path in paths:
        path.unlink()
    paths[0].write_text("quandong")
    applied.clear()
    assert desk.ask("source", "list").data["sources"][0]["files"] == 1
    assert sum(bool(batch.dropped) for batch in applied) <= 4
    assert desk.find("kumquat") == []
    assert len(desk.find("quandong")) == 1
    desk.ask("source", "remove", "claude", at_terminal=True)
    assert desk.find("quandong") == []


def test_names_and_places_are_taken_once(desk: Desk) -> None:
    path = desk.write("a.md", "kumquat")
    desk.add(path, "notes")
    assert desk.add(desk.write("b.md", "x"), "NOTES").error["code"] == "conflict"
    assert desk.add(path, "other").error["code"] == "conflict"
    for name in ("a/b", "..", "-x", " ", "a b", "x" * 65):
        assert desk.add(desk.folder, name).error["field"] == "name", name
    assert desk.add(desk.folder, "mine", "--owner-only").error["field"] == "agent"


def test_secrets_are_in_no_reply_and_in_no_file_of_ours(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONRECORD_REDACT", "false")
    pem = "-----BEGIN RSA PRIVATE KEY-----\n" + f"{MARKER}ABCDEFGH\n" * 100 + "-----END RSA PRIVATE KEY-----\n"
    desk.write("CLAUDE.md", f"# password: {SECRET}\nkumquat password: {SECRET}\n")
    desk.write("key.txt", f"kumquat\n{pem}kumquat tail\n")
    desk.add(desk.folder)
    hits = desk.find("kumquat", "--mode", "full")
    told = str([hits, desk.find(SECRET), desk.find(MARKER), [desk.ask("read", hit["id"]).data for hit in hits]])
    assert len(hits) == 2
    assert "[redacted:" in told
    assert SECRET not in told.replace(f"'{SECRET}'", "")
    assert MARKER not in told
    for path in (*Path(os.environ["ONRECORD_STATE"]).rglob("*"), *Path(desk.ask.vault).rglob("*")):
        data = path.read_bytes().lower() if path.is_file() else b""
        assert SECRET.lower().encode() not in data, path
        assert MARKER.encode() not in data, path


def test_no_text_of_a_source_is_kept_beside_the_index_nor_anything_in_the_vault(desk: Desk) -> None:
    desk.add(desk.write("CLAUDE.md", f"# Title\n{MARKER} walks along the river at night\n"))
    assert len(desk.find(MARKER)) == 1
    sentence = b"walks along the river"
    for path in Path(os.environ["ONRECORD_STATE"]).rglob("*"):
        assert not path.is_file() or sentence not in path.read_bytes(), path
    for path in Path(desk.ask.vault).rglob("*"):
        assert not path.is_file() or MARKER.encode() not in path.read_bytes(), path
    assert b"CLAUDE.md" not in b"".join(path.read_bytes() for path in Path(desk.ask.vault).rglob("*") if path.is_file())


def test_front_matter_of_another_program_claims_nothing(desk: Desk) -> None:
    kept = desk.ask("remember", "a memory").data["id"]
    bomb = "a: &a [x,x]\n" + "".join(f"b{n}: &b{n} [*a,*a,*a]\n" for n in range(50))
    text = f"---\nid: {kept}\norigin: user\nstatus: retired\nkind: fact\nversion: 9\n{bomb}---\nkumquat\n"
    desk.add(desk.write("CLAUDE.md", text))
    (hit,) = desk.find("kumquat")
    assert (hit["origin"], hit["status"], hit["kind"]) == ("agent", "current", "section")
    assert hit["id"] != kept
    assert desk.ask("read", kept).data["text"] == "a memory"


def test_sections_are_no_versions(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = desk.ask("status").data
    desk.add(desk.write("CLAUDE.md", "# a\nkumquat\n# b\nkumquat\n"))
    (section, _) = desk.find("kumquat")
    for words in (
        ("history", section["id"]),
        ("update", section["id"], "--text", "x", "--expect", "1"),
        ("read", section["id"], "--version", "1"),
    ):
        error = desk.ask(*words).error
        assert error["code"] == "invalid_input"
        assert "versions" in error["reason"]
    assert desk.find("kumquat", "--as-of", "2999-01-01") == []
    for workspace in ("default", "claude", "acme"):
        assert desk.find("kumquat", "--workspace", workspace) == []
    monkeypatch.setenv("ONRECORD_WORKSPACE", "acme")
    assert {hit["source"] for hit in desk.find("kumquat")} == {"claude"}
    after = desk.ask("status").data
    assert after["counts"] == before["counts"]
    assert after["ledger"] == before["ledger"]
    assert after["sources"] == {"sources": 1, "files": 1, "sections": 2, "left_out": 0}
    assert desk.ask("verify").data["differences"] == []
    assert not desk.ask("remember", "# a\nkumquat").data["duplicate"]


def test_a_rebuilt_index_answers_the_same(desk: Desk) -> None:
    for number in range(5):
        desk.ask("remember", f"kumquat number {number} " + "word " * number)
        desk.write(f"{number}.md", f"# Part {number}\nkumquat {number}\n# Rest\nother kumquat\n")
    desk.add(desk.folder, "shared")
    desk.add(desk.write("../mine.md", "kumquat alone"), "mine", "--agent", "codex", "--owner-only")
    desk.write("3.md", "kumquat anew")
    asked = [("find", "kumquat number", "--limit", "50", "--agent", agent) for agent in ("codex", "other")]
    before = [desk.ask(*words).data for words in asked]
    desk.ask("reindex")
    assert [desk.ask(*words).data for words in asked] == before
    assert desk.ask("doctor", "--check", "index.equal").data["findings"] == []


def test_removing_a_source_leaves_its_file_and_nothing_to_find(desk: Desk) -> None:
    path = desk.write("CLAUDE.md", "kumquat")
    desk.ask("remember", "kumquat memory")
    alone = desk.find("kumquat")
    desk.add(path)
    assert len(desk.find("kumquat")) == 2
    desk.ask("source", "remove", "claude", at_terminal=True)
    assert desk.find("kumquat") == alone
    assert path.read_text() == "kumquat"
    assert desk.ask("source", "remove", "claude", at_terminal=True).error["code"] == "not_found"


def test_sources_are_told_to_a_person_in_lines(desk: Desk) -> None:
    desk.write(".hidden.md", "x")
    desk.write("a.md", "kumquat")
    added = desk.ask("source", "add", str(desk.folder), "--name", "notes", as_json=False, at_terminal=True)
    assert added.out.splitlines()[0] == "1 file, 1 section"
    assert "left out  notes: .hidden.md" in desk.ask("source", "list", as_json=False).out
    assert "notes: a.md" in desk.ask("find", "kumquat", as_json=False).out
