"""An attacker who can write any file in the vault, `.onrecord` included: nothing outside is touched, nothing hangs.

What cannot be told apart from the user's own doing (docs/THREATS.md) is at least named.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply
from onrecord.storage.files.disk import Disk
from tests.fault.forging import ForgedLog
from tests.fault.hostile import get_log, get_record, run_all
from tests.surface.cli import CommandLine
from tests.vaults import make_vault, open_session

pytestmark = pytest.mark.usefixtures("guarded")

HUGE_BYTES = 64 << 30


def plant_special(path: Path, kind: str, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "socket":
            here = os.getcwd()
            os.chdir(path.parent)  # a socket's path is short
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
            os.chdir(here)
        case "folder":
            path.mkdir()
        case "huge":
            with path.open("wb") as file:
                file.truncate(HUGE_BYTES)
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "loop":
            path.symlink_to(path.name)
        case "etc":
            path.symlink_to("/etc/passwd")
        case "endless":
            path.symlink_to("/dev/zero")
        case "outside":
            path.symlink_to(tmp_path / "outside" / "secret.md")
        case _:
            raise AssertionError(kind)


KINDS = ("fifo", "socket", "folder", "huge", "dangling", "loop", "etc", "endless", "outside")


def list_pairs(places: tuple[str, ...]) -> list:
    """Return every place with one kind in the normal run, with all of them in the deep one."""
    pairs = [(place, kind, n, m) for n, place in enumerate(places) for m, kind in enumerate(KINDS)]
    return [
        pytest.param(place, kind, marks=() if m == n % len(KINDS) else pytest.mark.soak) for place, kind, n, m in pairs
    ]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the vault that nothing may touch or read."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("zanzibar, the outside secret")
    return folder


def check_untouched(onrecord: CommandLine, outside: Path) -> None:
    assert [path.name for path in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_text() == "zanzibar, the outside secret"
    assert onrecord("find", "zanzibar").data["status"] == "no_match"
    for folder in (Path(onrecord.vault), Path(os.environ["ONRECORD_STATE"])):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 24:
                assert b"zanzibar" not in path.read_bytes(), path


RECORD_PLACES = ("memories/x.md", "events/s/x.md", "memories/.onrecord-9.tmp", "facts", "x.md")


@pytest.mark.parametrize(("place", "kind"), list_pairs(RECORD_PLACES))
def test_special_files_among_the_records_hold_nothing_up_and_lead_nowhere(
    onrecord: CommandLine, tmp_path: Path, outside: Path, place: str, kind: str
) -> None:
    record = get_record(onrecord)
    path = Path(onrecord.vault) / place
    if path.exists():
        path.unlink()
    plant_special(path, kind, tmp_path)
    done = run_all(onrecord, record)
    assert done["read"].data["text"] == "the true words"
    assert done["remember"].data["id"]
    turn = ("--source", "s", "--session", "x", "--turn", "t2", "--role", "user")
    assert onrecord("capture", "spoken later", *turn).status in (0, 2, 3, 4, 5)
    check_untouched(onrecord, outside)


MACHINE_PLACES = (
        "onrecord.toml", ".onrecord/lock", ".onrecord/{log}/key.pub", ".onrecord/{log}/checkpoint",
        ".onrecord/{log}/ledger/00000000.jsonl", ".onrecord/{log}/versions/00000000.jsonl", ".onrecord/{log}/versions",
        ".onrecord/{log}/.checkpoint.tmp", ".onrecord/{log}/ledger/00000001.jsonl.gz", ".onrecord/{log}", ".onrecord",
        ".onrecord/{other}", ".onrecord/{other}/key.pub", ".onrecord/{other}/checkpoint",
        ".onrecord/{other}/ledger/00000000.jsonl", ".onrecord/{other}/versions/00000000.jsonl", "README.md",
        ".onrecord/{other}/versions/00000001.jsonl.gz", ".onrecord/.exchange-one.tmp", ".onrecord.toml.tmp",
    )  # fmt: skip


@pytest.mark.parametrize(("place", "kind"), list_pairs(MACHINE_PLACES))
def test_special_files_among_the_machines_files_hold_nothing_up_and_lead_nowhere(
    onrecord: CommandLine, tmp_path: Path, outside: Path, place: str, kind: str
) -> None:
    record = get_record(onrecord)
    forged = ForgedLog()
    forged.add("0000000000zz", 1, "a memory of another log", "agent")
    forged.plant(Path(onrecord.vault))
    path = Path(onrecord.vault) / place.format(log=get_log(onrecord), other=forged.log)
    if path.is_dir():
        path.rename(tmp_path / "away")  # still there, so that no other folder gets its inode
    elif path.exists():
        path.unlink()
    plant_special(path, kind, tmp_path)
    done = run_all(onrecord, record)
    if place == ".onrecord" and kind != "folder":
        assert done["find"].error["code"] == "no_vault"
        return
    if "{log}" not in place:
        assert done["read"].data["text"] == "the true words"
    if "{other}" in place:
        assert done["remember"].data["id"], "another log stops no write"
    check_untouched(onrecord, outside)


def test_nothing_is_written_through_a_hard_link_to_a_file_outside(onrecord: CommandLine, tmp_path: Path) -> None:
    record = get_record(onrecord)
    memory = Path(onrecord.vault) / onrecord("read", record).data["path"]
    (transcript,) = Path(onrecord.vault, "events").rglob("*.md")
    outside = [tmp_path / "memory.md", tmp_path / "transcript.md"]
    before = [memory.read_bytes(), transcript.read_bytes()]
    for name, path in zip(outside, (memory, transcript), strict=True):
        os.link(path, name)
    onrecord("update", record, "--old", "true", "--new", "later", "--expect", "1")
    turn = ("--source", "s", "--session", "x", "--turn", "t2", "--role", "user")
    assert onrecord("capture", "spoken later", *turn).status == 0
    assert [name.read_bytes() for name in outside] == before
    assert memory.read_text().endswith("the later words\n")
    assert transcript.read_bytes().startswith(before[1])
    assert b"spoken later" in transcript.read_bytes()
    assert onrecord("verify").data["verdict"] == "L2"


def test_a_transcript_that_is_a_hard_link_to_another_file_is_not_written_into_it(
    onrecord: CommandLine, tmp_path: Path
) -> None:
    outside = tmp_path / "profile"
    outside.write_text("export PATH\n")
    (transcript,) = Path(onrecord.vault, "events").rglob("*.md")
    transcript.unlink()
    os.link(outside, transcript)
    turn = ("--source", "s", "--session", "x", "--turn", "t2", "--role", "user")
    onrecord("capture", "spoken later", *turn)
    assert outside.read_text() == "export PATH\n"
    assert onrecord("find", "spoken later").data["status"] == "found"


def test_no_name_in_the_vault_reaches_the_terminal_as_a_command(onrecord: CommandLine) -> None:
    folder = Path(onrecord.vault) / "memories" / "\x1b[2Jfolder\x9b31m"
    folder.mkdir()
    (folder / "\x1b]0;owned\x07 \u202e.md").write_text("---\nid: [\x1b[31m\n---\nhostile name\n")
    (folder / "link\x1b[5m.md").symlink_to("/etc/passwd")
    (Path(onrecord.vault) / ".onrecord" / "\x1b[2Jstray").write_text("x")
    for words in (("find", "hostile name"), ("doctor",), ("verify",), ("status",), ("history", get_record(onrecord))):
        done = onrecord(*words, as_json=False)
        shown = done.out + done.err
        assert shown
        assert not [char for char in shown if char in "\x1b\x07\x9b\u202e"], words


@pytest.mark.parametrize("kind", ["fifo", "folder", "huge", "etc", "gone"])
def test_a_file_that_is_replaced_between_its_stat_and_its_reading_leads_nowhere(tmp_path: Path, kind: str) -> None:
    vault = tmp_path / "vault"
    make_vault(vault)
    target = vault / "memories" / "swapped.md"

    class Swapping(Disk):
        def read(self, path: str, offset: int = 0, size_bytes: int = -1) -> bytes:
            if path == "memories/swapped.md" and target.is_file() and target.stat().st_size < 100:
                target.unlink()
                if kind != "gone":
                    plant_special(target, kind, tmp_path)
            return super().read(path, offset, size_bytes)

    session = open_session(vault, tmp_path / "state", make_disk=Swapping)
    kept = str(remember(session, {"text": "the true words"}).data["id"])
    target.write_text("swapped words\n")
    reconcile(session, Reply(), wait_s=None)
    assert not target.is_file() or target.stat().st_size > 100 or target.is_symlink(), "nothing was swapped"
    assert [hit["id"] for hit in find(session, {"query": "words root"}).data["results"]] == [kept]
    assert remember(session, {"text": "later words"}).data["id"]
    session.close()
