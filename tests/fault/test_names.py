"""Names as systems and people make them: the memory stays the same one, and none is made twice."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.domain.filenames import fold_path
from onrecord.storage.files.disk import Disk
from tests.vaults import check_verifies, make_vault, open_session

NFC, NFD = (unicodedata.normalize(form, "Café Zoë") for form in ("NFC", "NFD"))


class FoldingDisk(Disk):
    """A disk that finds a file by any spelling of its name, as macOS and Windows do; listings show the one it has."""

    def stat(self, path: str) -> os.stat_result | None:
        return super().stat(self._spell(path))

    @contextmanager
    def _open(self, path: str, flags: int, mode: int = 0o600) -> Iterator[int]:
        with super()._open(self._spell(path), flags, mode) as fd:
            yield fd

    def _spell(self, path: str) -> str:
        parent, _, name = path.rpartition("/")
        try:
            names = os.listdir(os.path.join(self.root, parent))
        except OSError:
            return path
        spelled = next((known for known in names if fold_path(known) == fold_path(name)), name)
        return f"{parent}/{spelled}" if parent else spelled


DISKS = [Disk, FoldingDisk]


class Shelf:
    """A vault with one folder of notes."""

    def __init__(self, base: Path, make_disk: Callable[[str], Disk] = Disk) -> None:
        make_vault(base / "vault")
        self.folder = base / "vault" / "memories" / "default"
        self.folder.mkdir(parents=True)
        self.session: Session = open_session(base / "vault", base / "state", make_disk=make_disk)

    def put(self, name: str, text: str) -> str:
        (self.folder / name).write_text(f"{text}\n")
        self.take_in()
        return self.find(text)

    def take_in(self) -> int:
        return reconcile(self.session, Reply())

    def find(self, text: str) -> str:
        results = find(self.session, {"query": text}).data["results"]
        assert isinstance(results, list)
        return str(results[0]["id"])

    def count(self) -> tuple[int, int]:
        """Return how many memories and how many known files there are."""
        with self.session.index.read() as reader:
            counts = dict(reader.count())
        return counts["records"], counts["files"]

    def count_versions(self, record: str) -> int:
        versions = list_history(self.session, {"id": record}).data["versions"]
        assert isinstance(versions, list)
        return len(versions)

    def list_codes(self) -> list[tuple[str, str]]:
        findings = diagnose(self.session, {}).data["findings"]
        assert isinstance(findings, list)
        return [(item["code"], item["path"]) for item in findings if item["severity"] != "info"]


@pytest.fixture(params=DISKS)
def shelf(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shelf]:
    made = Shelf(tmp_path, request.param)
    yield made
    check_verifies(made.session)
    made.session.close()


RENAMES = [
    ("Kettle.md", "kettle.md"),
    (f"{NFC}.md", f"{NFD}.md"),
    (f"{NFD}.md", f"{NFC}.md"),
    ("Straße.md", "STRASSE.md"),
]


@pytest.mark.parametrize(("before", "after"), RENAMES)
def test_a_rename_in_case_or_composition_alone_keeps_the_memory(shelf: Shelf, before: str, after: str) -> None:
    record = shelf.put(before, "the kettle sings")
    (shelf.folder / before).rename(shelf.folder / after)
    shelf.take_in()
    assert shelf.take_in() == 0
    assert shelf.find("the kettle sings") == record
    assert shelf.count() == (1, 1)
    assert shelf.count_versions(record) == 1
    assert str(read(shelf.session, {"id": record}).data["path"]).endswith(after)
    assert update(shelf.session, {"id": record, "old": "sings", "new": "boils", "expect": 1}).data["version"] == 2
    assert os.listdir(shelf.folder) == [after]


@pytest.mark.parametrize(("before", "after"), RENAMES)
def test_a_sync_tool_that_writes_the_name_in_its_own_spelling_edits_the_same_memory(
    shelf: Shelf, before: str, after: str
) -> None:
    record = shelf.put(before, "the kettle sings")
    incoming = shelf.folder / "incoming.txt"
    incoming.write_text("quite another text without one common word\n")  # before the old file's inode is free
    (shelf.folder / before).unlink()
    incoming.rename(shelf.folder / after)
    shelf.take_in()
    assert shelf.find("another") == record
    assert shelf.count() == (1, 1)
    assert shelf.count_versions(record) == 2


def test_two_files_that_are_one_place_elsewhere_are_two_memories_and_named(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    one, other = shelf.put("Kettle.md", "the kettle sings"), shelf.put("kettle.md", "a pot is silent")
    assert one != other
    assert shelf.take_in() == 0
    assert [code for code, _ in shelf.list_codes()] == ["name_collision"]
    check_verifies(shelf.session)


ODD_NAMES = [
    "two\nlines.md", "tab\there.md", "con.md", "aux.tar.md", 'a<b>c:d"e|f?g*.md', "trailing blank .md",
    "trailing dot..md",     "back\\slash.md", "-rf.md", "#^[].md", " leading.md", "x" * 252 + ".md", "字" * 84 + ".md",
    "😀.MD", "a\u202eb.md", "\x7f\x01.md",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_file_of_any_name_is_a_memory_that_can_be_found_changed_and_moved(tmp_path: Path, name: str) -> None:
    shelf = Shelf(tmp_path)
    record = shelf.put(name, "the kettle sings")
    assert update(shelf.session, {"id": record, "old": "sings", "new": "boils", "expect": 1}).data["version"] == 2
    assert (shelf.folder / name).read_text() == "the kettle boils\n"
    assert [path.name for path in shelf.folder.iterdir()] == [name]
    (shelf.folder / name).rename(shelf.folder / "plain.md")
    shelf.take_in()
    assert shelf.find("boils") == record
    assert shelf.count() == (1, 1)
    assert shelf.list_codes() == []
    check_verifies(shelf.session)


def test_a_name_that_is_not_utf_8_is_named_and_the_memory_kept(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    record = shelf.put("kettle.md", "the kettle sings")
    odd = os.path.join(os.fsencode(shelf.folder), b"k\xe4ttle.md")
    os.rename(shelf.folder / "kettle.md", odd)
    shelf.take_in()
    codes = shelf.list_codes()
    assert ("not_utf8", "memories/default/k\ufffdttle.md") in codes
    assert read(shelf.session, {"id": record}).data["text"] == "the kettle sings"
    os.rename(odd, shelf.folder / "Kettle 2.md")
    shelf.take_in()
    assert shelf.find("sings") == record
    assert shelf.count() == (1, 1)


def test_a_title_as_another_one_in_another_case_gets_a_place_of_its_own(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for title in ("Kettle", "kettle", "KETTLE"):
        remember(shelf.session, {"text": f"about {title}", "title": title})
    places = {fold_path(name) for name in os.listdir(shelf.folder)}
    assert len(places) == 3
    assert shelf.list_codes() == []
