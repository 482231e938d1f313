"""Each part of an installation, broken in each way: doctor names it under its check, and its mend works."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fault.test_installation_damaged import run_without_override
from tests.surface.cli import Done
from tests.surface.homes import Home


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def absent(path: Path) -> None:
    clear(path)


def folder(path: Path) -> None:
    clear(path)
    path.mkdir()


def file(path: Path) -> None:
    clear(path)
    path.write_bytes(b"no folder")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00nothing of use\n")


def link(path: Path) -> None:
    clear(path)
    path.symlink_to("/dev/null")


def packed_badly(path: Path) -> None:
    data = gzip.compress(path.read_bytes())
    path.unlink()
    path.with_name(path.name + ".gz").write_bytes(data[: len(data) // 2])


def another_row(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"origin":"agent"', b'"origin":"user" ', 1))


def false_origin(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"origin":"agent"', b'"origin":false  ', 1))


def newer(path: Path) -> None:
    path.write_text(path.read_text().replace("format = 1", "format = 99"))


def another_vault(path: Path) -> None:
    path.write_text(re.sub(r'vault = "\w+"', f'vault = "{"0" * 24}"', path.read_text()))


def restore(home: Home, path: Path, _: dict[str, Any]) -> None:
    """Put the part back from the copy."""
    for found in (path, path.with_name(path.name + ".gz")):
        clear(found)
    copy = home.find_copy(path)
    if copy.is_dir():
        shutil.copytree(copy, path)
    else:
        shutil.copy2(copy, path)


def move_away(home: Home, path: Path, finding: dict[str, Any]) -> None:
    """Do as the mend says: move the thing named away."""
    assert path.name in finding["mend"], finding
    path.rename(home.copies / "away")


def write_line(_: Home, path: Path, finding: dict[str, Any]) -> None:
    """Do as the mend says: write the line named into the file."""
    (line,) = re.findall(r"Write the line (.+) into it", finding["mend"])
    clear(path)
    path.write_text(f"{line}\n")


def reindex(home: Home, path: Path, finding: dict[str, Any]) -> None:
    """Do as the mend says: run `onrecord reindex`."""
    if path.is_dir():
        move_away(home, path, finding)
    assert home.run("reindex").status == 0


def nothing(home: Home, _: Path, __: dict[str, Any]) -> None:
    """The first command that writes mends it."""
    assert home.run("remember", "third words").status == 0


def restore_and_write(home: Home, path: Path, finding: dict[str, Any]) -> None:
    """Put the folder back: it is another folder now, so that a new log begins, whose first write names the old one."""
    restore(home, path, finding)
    nothing(home, path, finding)


Mend = Callable[[Home, Path, dict[str, Any]], None]
CONFIG, LOCK, INDEX = "vault/onrecord.toml", "vault/.onrecord/lock", "state/index.sqlite3"
LEDGER, VERSIONS = "LOG/ledger/00000000.jsonl", "LOG/versions/00000000.jsonl"
CASES: list[tuple[str, Callable[[Path], None], int, str, Mend]] = [
    *((CONFIG, way, 2, "vault.config", restore) for way in (absent, folder, empty, garbage, another_vault, link)),
    (CONFIG, newer, 2, "vault.format", restore),
    *(("vault/.onrecord", way, 2, "vault.folder", restore_and_write) for way in (absent, file)),
    ("vault", absent, 2, "vault.folder", restore_and_write),
    *((LOCK, way, 2, "vault.parts", move_away) for way in (folder, link)),
    *(("LOG/key.pub", way, 2, "vault.parts", restore) for way in (folder, link)),
    *(("LOG/key.pub", way, 2, "vault.parts", write_line) for way in (absent, empty, garbage)),
    *(("LOG/checkpoint", way, 2, "vault.parts", move_away) for way in (folder, link, truncated, garbage)),
    *((f"LOG/{name}", file, 2, "vault.parts", restore) for name in ("ledger", "versions")),
    *((LEDGER, way, 2, "vault.parts", restore) for way in (folder, packed_badly)),
    *((LEDGER, way, 2, "ledger.heads", restore) for way in (absent, empty, truncated)),
    *((LEDGER, way, 2, "ledger.lines", restore) for way in (garbage, false_origin)),
    *((VERSIONS, way, 2, "versions.commitments", restore) for way in (absent, empty, truncated, another_row)),
    *((VERSIONS, way, 2, "versions.rows", restore) for way in (garbage, false_origin, folder, packed_badly)),
    ("state", absent, 1, "state.installation", nothing),
    *(("state", way, 2, "state.installation", restore) for way in (file,)),
    *(("state/key", way, 2, "state.key", restore) for way in (absent, folder, empty, truncated, garbage)),
    *((f"state/{name}", way, 2, "state.installation", restore)
      for name in ("pseudonyms", "head.json") for way in (absent, folder, empty, truncated, garbage)),
    *(("state/log", way, 2, "state.installation", write_line) for way in (absent, folder, empty, truncated, garbage)),
    *(("state/journal.*", way, 2, "state.installation", restore) for way in (absent, folder)),
    *((f"state/{name}", folder, 2, "state.installation", move_away)
      for name in ("applied", "backup.jsonl", "backup.done", "backup.failed.jsonl", "lock")),
    *((INDEX, way, 0, "index.usable", reindex) for way in (absent, empty, garbage)),
    (INDEX, folder, 2, "index.usable", reindex),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "spoil", "status", "check", "mend"),
    CASES,
    ids=[f"{case[0].replace('/', '.')}-{case[1].__name__}" for case in CASES],
)
def test_doctor_names_each_part_that_is_broken_and_its_mend_works(
    home: Home, name: str, spoil: Callable[[Path], None], status: int, check: str, mend: Mend
) -> None:
    path = home.find(name)
    spoil(path)
    before = home.hash_vault()
    done = home.run("doctor")
    assert done.status == status, done.out
    found = [item for item in done.data["findings"] if item["check"] == check]
    assert found, done.out
    assert found[0]["mend"]
    assert any(item["id"] == check for item in done.data["checks"])
    if status == 2:
        assert home.hash_vault() == before, "doctor wrote to a vault in which something is critical"
        assert home.run("doctor").data["counts"] == done.data["counts"]
    assert home.run("doctor", as_json=False).out
    mend(home, path, found[0])
    again = home.run("doctor")
    assert again.status == 0, again.out
    assert not [item for item in again.data["findings"] if item["check"] == check], again.out
    assert home.run("find", "words").data["results"][1:]
    assert home.run("remember", "after the mend").status == 0


def break_settings(home: Home, text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home.copies / "config.toml"
    path.mkdir() if text is None else path.write_text(text)
    monkeypatch.setenv("ONRECORD_CONFIG", str(path))


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("nonsense = [", 2, "config_invalid"), (None, 2, "config_invalid"),
        ('page_bytes = "many"', 2, "config_invalid"), ("lock_wait_s = true", 2, "config_invalid"),
        ("colour = 1", 1, "unknown_setting"),
    ],
)  # fmt: skip
def test_doctor_goes_on_where_the_settings_of_the_user_are_broken(
    home: Home, monkeypatch: pytest.MonkeyPatch, text: str | None, status: int, code: str
) -> None:
    break_settings(home, text, monkeypatch)
    done = home.run("doctor")
    assert done.status == status, done.out
    found = [item for item in done.data["findings"] if item["code"] != "reconciling"]  # files of just now may wait
    assert [(item["check"], item["code"]) for item in found] == [("settings.known", code)]
    assert {check["status"] for check in done.data["checks"] if check["id"].startswith("files.")} <= {"ok", "info"}
    monkeypatch.delenv("ONRECORD_CONFIG")
    assert home.run("doctor").status == 0


@pytest.mark.parametrize(
    ("variable", "value", "status", "code"),
    [
        ("ONRECORD_PAGE_BYTES", "many", 2, "config_invalid"), ("ONRECORD_REDACT", "perhaps", 2, "config_invalid"),
        ("ONRECORD_WORKSPACE", "two\nlines", 2, "config_invalid"), ("ONRECORD_CLIENT", "a\x07b", 2, "config_invalid"),
        ("ONRECORD_PAGEBYTES", "5", 0, "unknown_setting"),
    ],
)  # fmt: skip
def test_doctor_goes_on_where_a_variable_cannot_be_used(
    home: Home, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, status: int, code: str
) -> None:
    monkeypatch.setenv(variable, value)
    done = home.run("doctor")
    assert done.status == status, done.out
    found = [item for item in done.data["findings"] if item["code"] != "reconciling"]  # files of just now may wait
    assert [(item["check"], item["code"]) for item in found] == [("settings.known", code)]
    assert value not in found[0]["message"]
    monkeypatch.delenv(variable)
    assert home.run("doctor").status == 0


def lock(path: Path, mode: int) -> Callable[[], None]:
    """Change the permissions of everything below a path; return what changes them back."""
    kept = {found: found.stat().st_mode for found in [*path.rglob("*"), path]}
    for found in kept:
        found.chmod(mode | (0o400 if mode else 0) if found.is_file() else mode)

    def give_back() -> None:
        for found, was in sorted(kept.items()):
            found.chmod(was)

    return give_back


@pytest.mark.skipif(sys.platform != "linux", reason="root is bound by permissions on Linux alone")
@pytest.mark.parametrize(
    ("name", "mode", "status", "check"),
    [
        ("vault", 0o500, 2, "vault.writable"), ("vault/memories", 0o500, 1, "vault.writable"),
        ("vault/memories/default", 0, 1, "files.readable"), ("vault/.onrecord", 0o500, 2, "vault.writable"),
        ("vault/.onrecord", 0, 2, "vault.folder"), ("state", 0o500, 2, "state.installation"),
        ("state", 0, 2, "state.installation"),
    ],
)  # fmt: skip
def test_doctor_names_what_permissions_forbid(home: Home, name: str, mode: int, status: int, check: str) -> None:
    path = home.find(name)
    before = home.hash_vault()
    give_back = lock(path, mode)
    try:
        done: Done = run_without_override(os.fspath(home.vault), "doctor")
        assert done.status == status, done.out + done.err
        found = [item for item in done.data["findings"] if item["check"] == check]
        assert found, done.out
        assert found[0]["mend"]
    finally:
        give_back()
    assert home.hash_vault() == before
    assert home.run("doctor").status == 0


@pytest.mark.skipif(sys.platform != "linux", reason="root is bound by permissions on Linux alone")
def test_reindex_says_that_a_file_could_not_be_taken_in(home: Home) -> None:
    (home.vault / "memories" / "by hand.md").write_text("written by hand")
    give_back = lock(home.vault, 0o500)
    try:
        done = run_without_override(os.fspath(home.vault), "reindex")
        assert done.status == 0, done.out
        assert "outside_edits_pending" in [item["reason"] for item in done.envelope["degraded"]], done.out
    finally:
        give_back()
    assert home.run("find", "hand").data["results"]


def test_a_lock_that_another_holds_is_told_and_nothing_waits(home: Home) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (home.state / "lock").open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = home.run("doctor")
    assert done.status == 0, done.out
    codes = {item["code"] for item in done.data["findings"]}
    assert "locked" in codes <= {"locked", "reconciling"}
