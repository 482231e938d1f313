"""A writer, a reader that takes in edits, one that makes the index anew: at once, each killed again and again."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.domain.errors import OnRecordError
from tests.fault.killing import tell
from tests.fault.survival import check_acknowledged
from tests.fault.test_outside_load import ask
from tests.vaults import check_verifies, make_vault, open_session

pytestmark = pytest.mark.usefixtures("no_syncs")

NOTES = 30
LOCK_WAIT_S = 120


def write_on(session: Session) -> None:
    """Write memories and change each."""
    for number in range(1_000_000):
        text = f"memory {number} of {os.getpid()}"
        kept = remember(session, {"text": text}).data["id"]
        tell(op="remember", id=kept, version=1, text=text)
        update(session, {"id": kept, "text": f"{text} changed", "expect": 1})
        tell(op="update", id=kept, version=2, text=f"{text} changed")


def read_on(session: Session) -> None:
    """Take in what was edited, and ask."""
    while True:
        reconcile(session, Reply(), wait_s=LOCK_WAIT_S)
        find(session, {"query": "note edited"})
        tell(op="read")


def rebuild_on(session: Session) -> None:
    """Make the index anew."""
    while True:
        rebuild(session)
        tell(op="rebuild")


ROLES = (write_on, read_on, rebuild_on)


def name_note(number: int) -> str:
    """Return the first line of a note, which no other one is like."""
    return f"note number{number} " + hashlib.sha256(str(number).encode()).hexdigest()


class Child:
    """A process that plays a role on the vault until it is killed; what it told goes to a file."""

    def __init__(self, vault: Path, role: Callable[[Session], None], told: Path) -> None:
        self.told = told
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a thread of pytest-xdist waits for its parent
            self.pid = os.fork()
        if self.pid == 0:
            try:
                os.dup2(os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
                role(open_session(vault, vault.parent / "state", lock_wait_s=LOCK_WAIT_S, checkpoint_entries=9))
            except OnRecordError as error:
                tell(op="failed", code=error.code, reason=error.reason)
            finally:
                os._exit(1)

    def kill(self) -> list[dict]:
        """Kill it; return what it told."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return [json.loads(line) for line in self.told.read_bytes().splitlines() if line.endswith(b"}")]


def edit(folder: Path, number: int, turn: int) -> None:
    """Change a note as a person does: rename it to and fro, or edit it in place, or save it by renaming.

    Of a note without an id that is both renamed and edited before an index is made anew nobody knows which it was.
    """
    here, there = folder / f"note {number}.md", folder / f"renamed {number}.md"
    if number % 2:
        here.rename(there) if here.exists() else there.rename(here)
    elif turn % 2:
        here.write_text(f"{name_note(number)}\nedited {turn}\n")
    else:
        (folder / f".{number}.swp").write_text(f"{name_note(number)}\nedited {turn} and swapped\n")
        (folder / f".{number}.swp").rename(here)


def work_and_kill(tmp_path: Path, kills: int) -> None:
    vault, folder = tmp_path / "vault", tmp_path / "vault" / "memories" / "notes"
    make_vault(vault)
    folder.mkdir(parents=True)
    for number in range(NOTES):
        (folder / f"note {number}.md").write_text(f"{name_note(number)}\n")
    session = open_session(vault, tmp_path / "state")
    with session.index.read() as reader:
        owners = {int(stamp.path.rpartition(" ")[2].removesuffix(".md")): stamp.record for stamp in reader.list_files()}
    session.close()
    source = random.Random(kills)
    children = [Child(vault, role, tmp_path / role.__name__) for role in ROLES]
    told: list[dict] = []
    for turn in range(kills):
        for _ in range(4):
            edit(folder, source.randrange(NOTES), source.randrange(1_000))
            time.sleep(source.random() * 0.05)
        place = turn % len(children)
        told += children[place].kill()
        children[place] = Child(vault, ROLES[place], children[place].told)
    for child in children:
        told += child.kill()
    check_all(vault, tmp_path / "state", told, owners)


def check_all(vault: Path, state: Path, told: list[dict], owners: dict[int, str]) -> None:
    assert not [line for line in told if line["op"] == "failed"]
    session = open_session(vault, state)
    reconcile(session, Reply(), wait_s=None)
    check_acknowledged(session, [line for line in told if line["op"] in ("remember", "update")])
    assert len(owners) == NOTES
    for number, record in owners.items():
        data = read(session, {"id": record}).data
        assert (data["status"], str(data["text"]).split("\n")[0]) == ("current", name_note(number))
        assert data["text"] == (vault / str(data["path"])).read_text().rstrip("\n")
    rows = [row for row in session.store.read_rows(session.store.log) if hasattr(row, "draft")]
    assert not [row for row in rows if row.draft.status == "retired"]
    assert {row.draft.id for row in rows if row.draft.path.startswith("memories/notes/")} == set(owners.values())
    before = ask(session)
    rebuild(session)
    assert ask(session) == before
    check_verifies(session)
    session.close()


def test_processes_that_are_killed_beside_each_other_lose_and_retire_nothing(tmp_path: Path) -> None:
    work_and_kill(tmp_path, 12)


@pytest.mark.soak
def test_processes_that_are_killed_two_hundred_times_lose_and_retire_nothing(tmp_path: Path) -> None:
    work_and_kill(tmp_path, 200)
