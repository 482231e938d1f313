"""A file stays the same memory wherever a person moves it, and no two memories cross their histories."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from tests.vaults import check_verifies, make_vault, open_session

TEXTS = {"a": "apples grow on trees", "b": "bears sleep in winter", "c": "cats hunt at night"}


class Home:
    """A vault with the memories of `TEXTS`, written by OnRecord (`has_ids`) or found as plain notes."""

    def __init__(self, base: Path, *, has_ids: bool) -> None:
        self.has_ids = has_ids
        make_vault(base / "vault")
        self.base = base
        self.folder = base / "vault" / "memories" / "default"
        self.folder.mkdir(parents=True)
        self.session = self.start()
        for name, text in TEXTS.items():
            if has_ids:
                remember(self.session, {"text": text, "title": name, "workspace": "default"})
            else:
                self.path(name).write_text(f"{text}\n")
        self.take_in()
        self.ids = {name: self.find(text) for name, text in TEXTS.items()}
        assert len(set(self.ids.values())) == len(TEXTS)

    def start(self) -> Session:
        return open_session(self.base / "vault", self.base / "state")

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.md"

    def take_in(self) -> None:
        reconcile(self.session, Reply(), wait_s=None)

    def find(self, text: str) -> str:
        results = find(self.session, {"query": text}).data["results"]
        assert isinstance(results, list)
        return str(results[0]["id"])

    def place_of(self, name: str) -> str:
        return str(read(self.session, {"id": self.ids[name]}).data["path"]).removeprefix("memories/")

    def count_versions(self, name: str) -> int:
        versions = list_history(self.session, {"id": self.ids[name]}).data["versions"]
        assert isinstance(versions, list)
        return len(versions)

    def count_records(self) -> int:
        with self.session.index.read() as reader:
            return dict(reader.count())["records"]

    def check(self, places: dict[str, str]) -> None:
        """Fail unless each memory is at its place with its text and one version, also after a rebuild."""
        for _ in range(2):
            for name, place in places.items():
                assert self.find(TEXTS[name]) == self.ids[name]
                assert self.place_of(name) == place
                assert self.count_versions(name) == 1
            assert self.count_records() == len(TEXTS)
            rebuild(self.session)
        check_verifies(self.session, may_differ=True)


@pytest.fixture(params=[True, False], ids=["ids", "plain"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, has_ids=request.param)
    yield made
    made.session.close()


def swap(one: Path, other: Path) -> None:
    aside = one.with_name("aside.txt")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def test_two_files_whose_names_were_swapped_keep_their_memories(home: Home) -> None:
    swap(home.path("a"), home.path("b"))
    home.take_in()
    home.check({"a": "default/b.md", "b": "default/a.md", "c": "default/c.md"})


def test_three_files_renamed_in_a_chain_keep_their_memories(home: Home) -> None:
    home.path("c").rename(home.path("d"))
    home.path("b").rename(home.path("c"))
    home.path("a").rename(home.path("b"))
    home.take_in()
    home.check({"a": "default/b.md", "b": "default/c.md", "c": "default/d.md"})


def test_three_files_renamed_in_a_circle_keep_their_memories(home: Home) -> None:
    home.path("c").rename(home.path("aside"))
    home.path("b").rename(home.path("c"))
    home.path("a").rename(home.path("b"))
    home.path("aside").rename(home.path("a"))
    home.take_in()
    home.check({"a": "default/b.md", "b": "default/c.md", "c": "default/a.md"})


def test_swapped_names_are_seen_by_a_find_without_a_scan(home: Home) -> None:
    swap(home.path("a"), home.path("b"))
    for name in ("a", "b"):
        assert home.find(TEXTS[name]) == home.ids[name]
    home.check({"a": "default/b.md", "b": "default/a.md", "c": "default/c.md"})


def test_files_swapped_by_copies_keep_their_memories(home: Home) -> None:
    first, second = home.path("a").read_bytes(), home.path("b").read_bytes()
    for name, data in (("a", second), ("b", first)):
        home.path(name).unlink()
        home.path(f"{name}-new").write_bytes(data)
        home.path(f"{name}-new").rename(home.path(name))
    home.take_in()
    home.check({"a": "default/b.md", "b": "default/a.md", "c": "default/c.md"})


@pytest.mark.parametrize("copy", ["0 scanned first", "z scanned last"])
def test_a_copy_gets_a_new_id_and_the_old_file_keeps_its_own(home: Home, copy: str) -> None:
    shutil.copyfile(home.path("b"), home.path(copy))
    home.take_in()
    assert home.place_of("b") == "default/b.md"
    assert home.count_versions("b") == 1
    assert home.count_records() == len(TEXTS) + 1


@pytest.mark.parametrize("copy", ["0 scanned first", "z scanned last"])
def test_of_a_moved_file_and_its_copy_the_moved_one_stays_the_memory(home: Home, copy: str) -> None:
    moved = home.path("moved")
    home.path("b").rename(moved)
    shutil.copyfile(moved, home.path(copy))
    home.take_in()
    assert home.place_of("b") == "default/moved.md"
    assert home.count_records() == len(TEXTS) + 1


def test_a_copy_of_a_file_that_is_edited_at_once_leaves_the_memory_where_it_was(home: Home) -> None:
    shutil.copyfile(home.path("b"), home.path("0"))
    home.path("b").write_text(home.path("b").read_text() + "and fish\n")
    home.take_in()
    assert home.place_of("b") == "default/b.md"
    assert home.count_versions("b") == 2
    # With an id in it the copy is a second file of the memory, whose bytes are known.
    assert home.count_records() == len(TEXTS) + (not home.has_ids)


def test_a_hard_link_is_a_copy(home: Home) -> None:
    os.link(home.path("b"), home.path("0"))
    home.take_in()
    assert home.place_of("b") == "default/b.md"
    assert home.count_records() == len(TEXTS) + 1


def test_a_file_renamed_and_edited_at_once_is_the_next_version(home: Home) -> None:
    home.path("b").write_text(home.path("b").read_text().replace("winter", "winter and in autumn"))
    home.path("b").rename(home.path("0"))
    home.take_in()
    assert home.place_of("b") == "default/0.md"
    assert home.count_versions("b") == 2
    assert home.count_records() == len(TEXTS)


def test_a_file_moved_across_workspaces_is_the_same_memory(home: Home) -> None:
    other = home.folder.parent / "ops" / "moved.md"
    other.parent.mkdir()
    home.path("b").rename(other)
    home.take_in()
    has_key = b"\nworkspace:" in other.read_bytes()
    assert home.place_of("b") == "ops/moved.md"
    assert read(home.session, {"id": home.ids["b"]}).data["workspace"] == ("default" if has_key else "ops")
    assert home.count_records() == len(TEXTS)
    rebuild(home.session)
    assert home.place_of("b") == "ops/moved.md"
    assert home.count_records() == len(TEXTS)


def test_a_save_that_replaces_the_file_is_the_next_version(home: Home) -> None:
    fresh = home.path("fresh")
    fresh.write_text(home.path("b").read_text().replace("bears sleep in winter", "something else altogether"))
    fresh.rename(home.path("b"))
    home.take_in()
    assert home.place_of("b") == "default/b.md"
    assert home.count_versions("b") == 2
    assert home.count_records() == len(TEXTS)


def test_a_new_note_beside_a_moved_one_does_not_take_its_memory(home: Home) -> None:
    home.path("b").rename(home.path("z"))
    home.path("b").write_text("nothing of all that\n")
    home.take_in()
    assert home.place_of("b") == "default/z.md"
    assert home.count_versions("b") == 1
    assert home.count_records() == len(TEXTS) + 1


def test_another_note_on_the_inode_of_a_deleted_one_is_another_memory(home: Home) -> None:
    home.path("b").write_text("nothing of all that\n")
    home.path("b").rename(home.path("z"))
    home.take_in()
    assert home.count_records() == len(TEXTS) + 1
    assert home.count_versions("b") == 1


def test_an_id_pasted_over_another_file_moves_its_memory(tmp_path: Path) -> None:
    home = Home(tmp_path, has_ids=True)
    first, second = home.path("a").read_bytes(), home.path("b").read_bytes()
    home.path("a").write_bytes(second)
    home.path("b").write_bytes(first)
    home.take_in()
    home.check({"a": "default/b.md", "b": "default/a.md", "c": "default/c.md"})
    home.session.close()


def test_an_update_of_a_moved_memory_goes_to_where_its_file_is(home: Home) -> None:
    swap(home.path("a"), home.path("b"))
    update(home.session, {"id": home.ids["a"], "expect": 1, "text": "apples are red"})
    assert home.path("b").read_text().endswith("apples are red\n")
    assert TEXTS["b"] in home.path("a").read_text()
    assert home.count_versions("b") == 1


def list_found(session: Session, text: str) -> list[str]:
    results = find(session, {"query": text}).data["results"]
    assert isinstance(results, list)
    return [result["id"] for result in results]


def test_a_copy_that_was_renamed_is_found_after_a_rebuild(home: Home) -> None:
    shutil.copy(home.path("a"), home.path("copy"))
    home.take_in()
    home.path("copy").rename(home.path("moved"))
    home.take_in()
    before = list_found(home.session, "apples")
    rebuild(home.session)
    assert len(before) == 2
    assert list_found(home.session, "apples") == before


def test_a_renamed_copy_of_a_whole_folder_is_found_after_a_rebuild(home: Home) -> None:
    shutil.copytree(home.folder, home.folder.parent / "copy")
    home.take_in()
    (home.folder.parent / "copy").rename(home.folder.parent / "backup")
    home.take_in()
    before = {text: list_found(home.session, text) for text in TEXTS.values()}
    rebuild(home.session)
    assert {len(found) for found in before.values()} == {2}
    assert {text: list_found(home.session, text) for text in TEXTS.values()} == before


def test_a_file_put_over_another_one_is_seen_by_the_first_find(home: Home) -> None:
    home.path("b").rename(home.path("a"))
    assert list_found(home.session, TEXTS["a"]) == []
    assert list_found(home.session, TEXTS["b"]) == [home.ids["b"]]


def test_a_find_of_what_was_put_over_another_file_needs_no_other_find_before(home: Home) -> None:
    home.path("b").rename(home.path("a"))
    assert list_found(home.session, TEXTS["b"]) == [home.ids["b"]]


def test_a_renamed_file_is_found_and_read_in_the_same_opening(home: Home) -> None:
    home.path("a").rename(home.path("elsewhere"))
    assert home.place_of("a") == "default/elsewhere.md"
    home.path("b").rename(home.path("beyond"))
    assert list_found(home.session, TEXTS["b"]) == [home.ids["b"]]


def test_a_deleted_file_is_looked_for_once_in_an_opening(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.path("a").unlink()
    assert list_found(home.session, TEXTS["a"]) == []
    monkeypatch.setattr("onrecord.app.reconcile.reconcile", lambda *_: pytest.fail("all files were compared again"))
    assert list_found(home.session, TEXTS["a"]) == []


def list_codes(home: Home) -> list[str]:
    findings = diagnose(home.session, {}).data["findings"]
    assert isinstance(findings, list)
    return [item["code"] for item in findings]


@pytest.mark.parametrize("saved", ["in place", "replaced", "with a new text"])
def test_an_id_line_that_was_changed_to_an_unknown_one_changes_nothing(tmp_path: Path, saved: str) -> None:
    home = Home(tmp_path, has_ids=True)
    path, given = home.path("a"), home.ids["a"]
    text = re.sub(r"(?m)^id: .*$", "id: zzzzzzzzzzzz", path.read_text())
    if saved == "replaced":
        path.unlink()
    path.write_text(text + "and on bushes\n" if saved == "with a new text" else text)
    for _ in range(2):
        home.take_in()
        assert (home.find(TEXTS["a"]), home.count_records(), home.count_versions("a")) == (given, len(TEXTS), 2)
        rebuild(home.session)
    assert "server_key_changed" in list_codes(home)
    update(home.session, {"id": given, "expect": 2, "text": "apples are red"})
    assert re.search(rf'(?m)^id: "?{given}"?$', path.read_text())
    assert "server_key_changed" not in list_codes(home)
    home.session.close()


def test_a_new_file_keeps_the_unknown_id_that_it_names(tmp_path: Path) -> None:
    home = Home(tmp_path, has_ids=True)
    front = "id: zzzzzzzzzzzz\nversion: 3\norigin: user\n"
    home.path("d").write_text(f"---\n{front}---\ndogs bark\n")
    home.take_in()
    assert home.find("dogs bark") == "zzzzzzzzzzzz"
    assert "server_key_changed" not in list_codes(home), "nothing was placed to compare with"
    home.session.close()
