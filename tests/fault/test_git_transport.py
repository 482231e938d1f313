"""git carries a vault between two clones of one repository: exact bytes, no merge below .onrecord, nothing invented."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.session import Session
from onrecord.app.update import update
from onrecord.domain.errors import LedgerRolledBackError
from onrecord.domain.record import read_record
from onrecord.ports.store import VersionRow
from tests.machines import Machine
from tests.vaults import check_verifies, make_vault

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
}  # fmt: skip
MACHINE_ONLY = (
    ".onrecord/lock", ".onrecord.toml.tmp", ".onrecord/0123456789abcdef/.checkpoint.tmp",
    ".onrecord/0123456789abcdef/versions/.pack.tmp",
    "memories/default/.onrecord-12.tmp", "memories/default/.onrecord-12.tmp.old",
)  # fmt: skip


class Clone(Machine):
    """A machine whose vault is the working tree of a clone."""

    def git(self, *words: str, may_fail: bool = False) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.vault, env=os.environ | _ENVIRONMENT, capture_output=True, text=True, check=False
        )
        assert may_fail or done.returncode == 0, done.stderr
        return done.stdout

    def commit(self) -> None:
        """Commit all that is there."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "memories")

    def push(self) -> None:
        self.commit()
        self.git("push", "-q", "origin", "HEAD:main")

    def pull(self, *, may_fail: bool = False) -> None:
        self.commit()
        self.clock.pass_s(60)
        self.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main", may_fail=may_fail)

    def change(self, record: str, text: str) -> int:
        def write(session: Session) -> int:
            version = read(session, {"id": record}).data["version"]
            return int(str(update(session, {"id": record, "text": text, "expect": version}).data["version"]))

        return self.call(write)

    def read(self, record: str, member: str = "text") -> str:
        return str(self.call(lambda session: read(session, {"id": record}).data[member]))

    def list_versions(self, record: str) -> list[tuple[str, str]]:
        """Return origin and text of each version that has arrived."""

        def read_all(session: Session) -> list[tuple[str, str]]:
            rows = [row for head in session.store.list_logs() for row in session.store.read_rows(head.log)]
            return [
                (row.draft.origin, read_record(row.draft.data, row.draft.path, session.yaml).text)
                for row in rows
                if isinstance(row, VersionRow) and row.draft.id == record
            ]

        return self.call(read_all)


def clone(first: Clone, root: Path, name: str, *options: str) -> Clone:
    """Return a further clone, an hour later."""
    made = Clone(root, name)
    made.vault.parent.mkdir()
    words = ["git", "clone", "-q", *options, str(root / "hub.git"), str(made.vault)]
    subprocess.run(words, env=os.environ | _ENVIRONMENT, check=True)
    made.clock.wall_us = first.clock.wall_us + 3_600_000_000
    return made


@pytest.fixture
def first(tmp_path: Path) -> Clone:
    """A vault that lies in a bare repository."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git")], check=True)
    made = Clone(tmp_path, "first")
    made.vault.parent.mkdir()
    make_vault(made.vault)
    made.git("init", "-q", "-b", "main")
    made.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    made.remember("the first memory")
    made.push()
    return made


@pytest.fixture
def second(first: Clone, tmp_path: Path) -> Clone:
    return clone(first, tmp_path, "second")


def check(*clones: Clone) -> None:
    """Fail unless every log verifies and every file is as its version says."""
    for item in clones:
        item.call(check_verifies)


def test_what_is_this_machines_is_not_committed(first: Clone) -> None:
    for name in MACHINE_ONLY:
        assert first.git("check-ignore", name).strip() == name
    assert ".onrecord/lock" not in first.git("ls-files")
    assert first.git("check-ignore", "memories/default/note.md", may_fail=True) == ""


def test_memories_of_both_come_together_without_a_conflict(first: Clone, second: Clone) -> None:
    ids = [first.remember("of the first clone")["id"], second.remember("of the second clone")["id"]]
    first.push()
    second.pull()
    second.push()
    first.pull()
    for item in (first, second):
        assert [item.read(record) for record in ids] == ["of the first clone", "of the second clone"]
        assert [item.list_versions(record)[0][0] for record in ids] == ["agent", "agent"]
    check(first, second)


def test_changes_taken_in_turn_go_back_and_forth(first: Clone, second: Clone) -> None:
    record = first.remember("words 0")["id"]
    first.push()
    for number in range(1, 5):
        writer, reader = (second, first) if number % 2 else (first, second)
        writer.pull()
        assert writer.change(record, f"words {number}") == number + 1
        writer.push()
        reader.pull()
        assert reader.read(record) == f"words {number}"
    assert [origin for origin, _ in first.list_versions(record)] == ["agent"] * 5
    check(first, second)


def has_markers(text: str) -> bool:
    """Tell whether git has written into a text; the first marker often stands in the front matter."""
    return any(mark in text for mark in ("<<<<<<< ", "\n=======\n", ">>>>>>> "))


def test_markers_of_a_merge_are_nobodys_text_and_both_sides_are_kept(first: Clone, second: Clone) -> None:
    record = first.remember("the first words")["id"]
    first.push()
    second.pull()
    first.change(record, "words of the first clone")
    second.change(record, "words of the second clone")
    first.push()
    second.pull(may_fail=True)
    path = second.vault / second.read(record, "path")
    assert has_markers(path.read_text())
    assert not has_markers(second.read(record))
    texts = {text for _, text in second.list_versions(record)}
    assert {"words of the first clone", "words of the second clone"} <= texts
    second.push()
    first.pull()
    assert first.read(record) == second.read(record)
    assert not has_markers(first.read(record))


def test_an_older_commit_of_one_file_is_a_new_version_with_the_old_words(first: Clone) -> None:
    record = first.remember("the first words")["id"]
    first.commit()
    first.change(record, "the second words")
    first.commit()
    path = first.read(record, "path")
    first.clock.pass_s(60)
    first.git("checkout", "-q", "HEAD~1", "--", path)
    assert first.read(record) == "the first words"
    assert first.list_versions(record)[-1] == ("file", "the first words")
    assert first.read(record, "version") == "3"
    check(first)


def test_another_branch_with_an_older_ledger_is_read_and_not_written_and_the_way_back_changes_nothing(
    first: Clone,
) -> None:
    record = first.remember("the first words")["id"]
    first.commit()
    first.git("branch", "older")
    first.change(record, "the second words")
    first.commit()
    versions = first.list_versions(record)
    first.git("checkout", "-q", "older")
    with pytest.raises(LedgerRolledBackError):
        first.remember("on top of the past")
    # The index still knows the newer version, so that another index made of this vault alone answers otherwise.
    assert first.call(lambda session: find(session, {"query": "memory"}).data["status"]) == "found"
    first.git("checkout", "-q", "main")
    assert first.list_versions(record) == versions
    assert first.read(record) == "the second words"
    assert first.remember("goes on")["id"]
    check(first)


@pytest.mark.parametrize("setting", ["true", "input"])
def test_no_setting_of_line_ends_changes_a_byte(first: Clone, tmp_path: Path, setting: str) -> None:
    record = first.remember("one line\nand another")["id"]
    (first.vault / "memories" / "default" / "dos.md").write_bytes(b"a note\r\nwith line ends\r\nof another system\r\n")
    first.find("note")
    first.push()
    other = clone(first, tmp_path, "other", "-c", f"core.autocrlf={setting}")
    files = [path.relative_to(first.vault) for path in first.vault.rglob("*.*") if ".git" not in path.parts]
    assert len(files) > 6
    for path in files:
        if path.is_file() and path.name not in (".stignore", ".gitignore", ".gitattributes"):
            assert (other.vault / path).read_bytes() == (first.vault / path).read_bytes()
    assert other.change(record, "two lines\nand another") == 2
    other.push()
    first.pull()
    assert first.read(record) == "two lines\nand another"
    check(first, other)


def test_without_its_attributes_line_ends_are_changed(first: Clone, tmp_path: Path) -> None:
    """What the attributes are for: git really does it where they are not."""
    (first.vault / ".gitattributes").unlink()
    first.push()
    other = clone(first, tmp_path, "other", "-c", "core.autocrlf=true")
    ledger = next(other.vault.glob(".onrecord/*/ledger/00000000.jsonl"))
    assert b"\r\n" in ledger.read_bytes()


def test_a_file_below_the_machine_folder_is_never_merged(first: Clone, second: Clone) -> None:
    ledger = next(first.vault.glob(".onrecord/*/ledger/00000000.jsonl")).relative_to(first.vault)
    for item, line in ((first, b'{"one":1}\n'), (second, b'{"other":2}\n')):
        with (item.vault / ledger).open("ab") as file:
            file.write(line)
    first.push()
    second.pull(may_fail=True)
    assert b"<<<<<<<" not in (second.vault / ledger).read_bytes()
