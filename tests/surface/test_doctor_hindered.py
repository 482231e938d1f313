"""Doctor where something hinders it: an index that another process holds or made, a disk that takes nothing more."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from onrecord.storage.sqlite import place
from tests.surface.cli import Done
from tests.surface.homes import Home

INDEX = "state/index.sqlite3"


def run_on_full_disk(vault: str, *words: str, as_json: bool = True) -> Done:
    """Run the command line where no file can be written to: every write fails with EFBIG."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    command = [sys.executable, "-m", "onrecord", "--vault", vault, *words, *(["--json"] if as_json else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    return Done(done.returncode, done.stdout, done.stderr)


@contextmanager
def locked_index(home: Home, how: str) -> Iterator[None]:
    with closing(sqlite3.connect(home.find(INDEX), isolation_level=None)) as other:
        if how == "exclusive":
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("PRAGMA journal_mode = DELETE")
        other.execute(f"BEGIN {how}")
        yield
        other.execute("ROLLBACK")


@pytest.mark.parametrize("how", ["immediate", "exclusive"])
@pytest.mark.parametrize("has_edit", [False, True])
def test_an_index_that_another_process_holds_is_told_and_the_rest_is_judged(
    home: Home, monkeypatch: pytest.MonkeyPatch, how: str, has_edit: bool
) -> None:
    if has_edit:
        (home.vault / "memories" / "by hand.md").write_text("written by hand")
    with monkeypatch.context() as patch, locked_index(home, how):
        patch.setattr(place, "_BUSY_WAIT_MS", 1)
        done = home.run("doctor")
        assert done.status == 2, done.out
        critical = [item for item in done.data["findings"] if item["severity"] == "critical"]
        assert {item["code"] for item in critical} <= {
            "index_in_memory", "index_behind", "outside_edits_pending", "storage_failed",
        }  # fmt: skip
        assert any("another program keeps the file index.sqlite3 open" in item["mend"] for item in critical), done.out
        assert not [item for item in critical if "permissions" in item["mend"]], done.out
        status = {check["id"]: check["status"] for check in done.data["checks"]}
        assert (status["ledger.lines"], status["versions.commitments"], status["files.readable"]) == ("ok", "ok", "ok")
    assert home.run("reindex").status == 0
    again = home.run("doctor")
    assert (again.status, again.data["counts"]["critical"]) == (0, 0), again.out
    assert home.run("find", "words").data["results"][1:]


@pytest.mark.parametrize("column", ["owner", "format"])
def test_an_index_of_another_owner_or_form_is_told_and_made_anew(home: Home, column: str) -> None:
    with closing(sqlite3.connect(home.find(INDEX))) as other, other:
        other.execute(f"UPDATE state SET {column} = 'of another'")
    done = home.run("doctor")
    assert done.status == 0, done.out
    (found,) = (item for item in done.data["findings"] if item["check"] == "index.usable")
    assert (found["code"], found["severity"]) == ("index_unusable", "info")
    assert "of another" not in done.out
    assert "index.usable" not in [item["check"] for item in home.run("doctor", "--deep").data["findings"]]
    assert home.run("find", "words").data["results"][1:]


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of file sizes stands for a full disk")
@pytest.mark.parametrize("has_edit", [False, True])
def test_doctor_goes_on_where_the_disk_takes_nothing_more(home: Home, has_edit: bool) -> None:
    if has_edit:
        (home.vault / "memories" / "by hand.md").write_text("written by hand")
    before = home.hash_vault()
    done = run_on_full_disk(os.fspath(home.vault), "doctor")
    assert done.status == 2, done.out + done.err
    assert {item["code"] for item in done.data["findings"] if item["severity"] == "critical"} == {"index_in_memory"}
    assert all(item["mend"] for item in done.data["findings"])
    status = {check["id"]: check["status"] for check in done.data["checks"]}
    assert (status["ledger.lines"], status["files.taken"]) == ("ok", "warning" if has_edit else "ok")
    assert home.hash_vault() == before
    again = home.run("doctor")
    assert again.status == 0, again.out
    assert bool(home.run("find", "hand").data["results"]) is has_edit
    assert home.run("remember", "once there is room").status == 0


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of file sizes stands for a full disk")
@pytest.mark.parametrize("where", ["in its place", "elsewhere"])
def test_an_edit_that_cannot_be_taken_in_is_an_edit_of_its_memory_and_says_what_it_waits_for(
    home: Home, where: str
) -> None:
    kept = home.run("remember", "to be edited", "--title", "Kept").data["id"]
    path = home.vault / home.run("read", kept).data["path"]
    path.write_text(path.read_text() + "words by hand\n")
    if where == "elsewhere":
        path = path.rename(path.with_name("another name.md"))
    vault = os.fspath(home.vault)
    done = run_on_full_disk(vault, "verify")
    (found,) = done.data["differences"]
    name = path.relative_to(home.vault).as_posix()
    assert (found["code"], found["path"], found["record"]) == ("edited_outside", name, kept), done.out
    assert "space" in found["mend"], done.out
    assert "Run any" not in found["mend"]
    doctor = run_on_full_disk(vault, "doctor")
    (told,) = (item for item in doctor.data["findings"] if item["path"] == name and item["check"] == "files.taken")
    assert (told["code"], told["mend"].split(";")[0]) == ("edited_outside", "Mend index_in_memory first")
    assert home.run("verify").data["differences"] == []
    assert home.run("read", kept).data["version"] == 2


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of file sizes stands for a full disk")
def test_a_new_text_that_cannot_be_taken_in_is_unknown_and_an_edited_transcript_is_one(home: Home) -> None:
    (path,) = (home.vault / "events" / "s").iterdir()
    text = path.read_text()
    assert "spoken words" in text
    path.write_text(text.replace("spoken words", "spoken swords"))
    (home.vault / "memories" / "new.md").write_text("a new text")
    found = run_on_full_disk(os.fspath(home.vault), "verify").data["differences"]
    codes = {item["path"].split("/")[0]: item["code"] for item in found}
    assert codes == {"events": "transcript_edited", "memories": "unknown_file"}, found


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of file sizes stands for a full disk")
def test_what_hinders_doctor_is_told_to_a_person_once(home: Home) -> None:
    done = run_on_full_disk(os.fspath(home.vault), "doctor", as_json=False)
    assert (done.out + done.err).count("index_in_memory") == 1, done.out + done.err
