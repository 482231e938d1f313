"""Commands at a terminal, each a process of its own that is killed while it works: nothing is lost, the next one mends.

The moments are drawn from the time that the command took when nobody killed it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pty
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from onrecord.app.capture import capture
from onrecord.app.find import find
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexReader
from onrecord.ports.store import VersionRow
from onrecord.storage.files.disk import Disk
from tests.fault.interrupting import Scene, oppose
from tests.vaults import check_verifies, make_vault, open_session

ROOT = Path(__file__).resolve().parents[2]
KILLS = 2
SOAK_KILLS = 22
WAIT_S = 300
# A commit of an import has 200 notes or 500 turns.
NOTES = 250
TURNS = 700

kills = pytest.mark.parametrize("kills", [KILLS, pytest.param(SOAK_KILLS, marks=pytest.mark.soak)])


def start(scene: Scene, *words: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command at a terminal; return its process and the terminal's other end."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "onrecord", "--vault", str(scene.vault), "--json", *words]
    environment = os.environ | {"ONRECORD_STATE": str(scene.state)}
    with open(scene.base / "told", "ab") as told:
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=told, cwd=ROOT, env=environment)
    os.close(theirs)
    return process, ours


def run_whole(scene: Scene, *words: str) -> dict:
    """Run a command to its end; return its data."""
    process, terminal = start(scene, *words)
    told = b""
    with contextlib.suppress(OSError), open(terminal, "rb", buffering=0) as stream:  # ends with EIO
        while piece := stream.read(1 << 16):
            told += piece
    assert process.wait(WAIT_S) == 0, (told, (scene.base / "told").read_text())
    return json.loads(told)["data"]


def run_killed(scene: Scene, after_s: float, *words: str) -> None:
    """Run a command and kill it after so long, if it still runs."""
    process, terminal = start(scene, *words)
    time.sleep(after_s)
    process.kill()
    process.wait(WAIT_S)
    os.close(terminal)


def measure_s(scene: Scene, *words: str) -> float:
    begun = time.monotonic()
    run_whole(scene, *words)
    return time.monotonic() - begun


def count_texts(session: Session) -> Counter[str]:
    """Return how many records say each text, by its first line; a turn's line is its own."""
    texts: Counter[str] = Counter()
    with session.index.read() as reader:
        for row in session.store.read_rows(session.store.log):
            assert isinstance(row, VersionRow)
            if row.draft.turn is not None:
                texts["turn " + row.draft.turn.turn] += 1
            elif row.draft.kind != "event" and _is_current(reader, row):
                texts[read_record(row.draft.data, row.draft.path, session.yaml).text.split("\n")[0]] += 1
    return texts


def _is_current(reader: IndexReader, row: VersionRow) -> bool:
    head = reader.get_current(row.draft.id)
    return head is not None and head.ref == row.ref


def check_vault(session: Session, questions: tuple[str, ...]) -> None:
    """Fail unless the vault verifies, the index equals a rebuilt one and nothing half made lies there."""

    def ask() -> list[object]:
        answers: list[object] = []
        for question in questions:
            results = find(session, {"query": question, "limit": 100}, page_bytes=1 << 24).data["results"]
            assert isinstance(results, list)
            answers.append([(hit["id"], hit["version"], hit["score"], hit.get("turn")) for hit in results])
        return answers

    check_verifies(session)
    before = ask()
    assert all(before)
    rebuild(session)
    reconcile(session, Reply(), wait_s=None)
    assert ask() == before
    session.store.checkpoint()
    assert not [path for path in Path(session.store.folder).rglob("*") if ".tmp" in path.name]


def check_again_and_again(scene: Scene, whole: Scene, kills: int, words: tuple[str, ...], expected: set[str]) -> None:
    """Kill the command at that many moments, each over what the one before left, then let it end."""
    whole_s = measure_s(whole, *words)
    source = random.Random(kills)
    for _ in range(kills):
        run_killed(scene, source.random() * whole_s, *words)
        session = scene.open()
        assert set(texts := count_texts(session)) <= expected
        assert not {text for text, count in texts.items() if count != 1}
        check_verifies(session)
        session.close()
    run_whole(scene, *words)
    session = scene.open()
    assert count_texts(session) == Counter(expected)
    check_vault(session, ("kept", "said"))
    session.close()


class RefusingDisk(Disk):
    """A disk of a vault that takes nothing more."""

    def open_for_append(self, path: str) -> None:
        if self.root.endswith("/vault"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        super().open_for_append(path)

    def write_at(self, path: str, offset: int, data: bytes) -> None:
        if self.root.endswith("/vault"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        super().write_at(path, offset, data)


def keep_aside(base: Path, count: int) -> set[str]:
    """Make a vault whose backup holds that many memories and turns, and a line of nobody; return their texts."""
    make_vault(base / "vault")
    session = open_session(base / "vault", base / "state", make_disk=RefusingDisk)
    expected = set()
    for number in range(count):
        assert remember(session, {"text": f"memory {number} kept aside"}).data == {"backup_only": True}
        spoken = {"source": "s", "session": "x", "turn": str(number), "role": "user", "text": f"said aside {number}"}
        assert capture(session, spoken).data == {"backup_only": True}
        expected |= {f"memory {number} kept aside", f"turn {number}"}
    session.close()
    (backup,) = (base / "state").rglob("backup.jsonl")
    lines = backup.read_bytes().splitlines(keepends=True)
    backup.write_bytes(b"".join([*lines[:count], b'{"v":1}\n', *lines[count:]]))
    return expected


@kills
def test_a_replay_that_is_killed_writes_each_line_of_the_backup_once(tmp_path: Path, kills: int) -> None:
    whole, scene = Scene(tmp_path / "whole"), Scene(tmp_path / "scene")
    for place in (whole, scene):
        expected = keep_aside(place.base, 20 if kills == KILLS else 60)
    check_again_and_again(scene, whole, kills, ("repair", "replay"), expected)
    (failed,) = scene.state.rglob("backup.failed.jsonl")
    assert failed.read_bytes() == b'{"v":1}\n'


@kills
def test_an_import_of_notes_that_is_killed_takes_each_in_once(tmp_path: Path, kills: int) -> None:
    whole, scene, tree = Scene(tmp_path / "whole"), Scene(tmp_path / "scene"), tmp_path / "tree"
    tree.mkdir()
    for number in range(NOTES):
        (tree / f"note {number}.md").write_text(f"note {number} is kept and was said\n")
    for place in (whole, scene):
        make_vault(place.vault)
    expected = {f"note {number} is kept and was said" for number in range(NOTES)}
    check_again_and_again(scene, whole, kills, ("import", str(tree)), expected)


@kills
def test_an_import_of_turns_that_is_killed_takes_each_in_once(tmp_path: Path, kills: int) -> None:
    whole, scene, turns = Scene(tmp_path / "whole"), Scene(tmp_path / "scene"), tmp_path / "turns.jsonl"
    texts = [
        {"session": f"s{number % 7}", "turn": str(number), "text": f"said and kept {number}"} for number in range(TURNS)
    ]
    turns.write_text("".join(json.dumps(text) + "\n" for text in texts))
    for place in (whole, scene):
        make_vault(place.vault)
    check_again_and_again(scene, whole, kills, ("import", str(turns)), {f"turn {number}" for number in range(TURNS)})


@kills
def test_files_that_a_killed_command_was_taking_in_are_each_one_memory(tmp_path: Path, kills: int) -> None:
    whole, scene = Scene(tmp_path / "whole"), Scene(tmp_path / "scene")
    for place in (whole, scene):
        make_vault(place.vault)
        place.notes.mkdir()
        for number in range(NOTES):
            (place.notes / f"note {number}.md").write_text(f"note {number} is kept and was said\n")
    expected = {f"note {number} is kept and was said" for number in range(NOTES)}
    check_again_and_again(scene, whole, kills, ("find", "kept"), expected)


@kills
def test_a_conflict_whose_settling_is_killed_is_open_or_settled_and_can_be_settled(tmp_path: Path, kills: int) -> None:
    whole = oppose(tmp_path / "whole")
    whole_s = measure_s(whole, *whole.words)
    source = random.Random(kills)
    for number in range(kills):
        scene = oppose(tmp_path / str(number))
        plan = scene.notes / "Plan.md"
        (copy,) = scene.notes.glob("Plan.sync-conflict-*")
        texts = {plan.read_bytes(), copy.read_bytes()}
        run_killed(scene, source.random() * whole_s, *scene.words)
        assert copy.exists() or scene.has_done(), "a copy goes when what it holds is settled"
        conflicts = run_whole(scene, "conflicts")["conflicts"]
        assert len(conflicts) == (0 if scene.has_done() else 1)
        if conflicts:
            run_whole(scene, *scene.words)
        assert scene.has_done()
        assert "line 8 elsewhere" in plan.read_text()
        session = scene.open()
        rows = [row for row in session.store.read_rows(session.store.log) if isinstance(row, VersionRow)]
        assert texts <= {row.draft.data for row in rows}
        session.close()
        scene.check()
        shutil.rmtree(scene.base)
