"""What a user does at a terminal and a test cuts off: the vault that it begins with, and what must hold of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.settle import list_conflicts
from onrecord.ports.store import VersionRow
from tests.surface.cli import CommandLine, Done
from tests.vaults import check_verifies, make_vault, open_session

QUESTIONS = ("memory", "plan line", "note", "kettle", "edited")


@dataclass
class Scene:
    """A vault of its own, and a command at a terminal that is run on it.

    Attributes:
        base: Where it lies.
        words: The command.
        is_done: Tells whether it has been done; None of one that only reads.
        retired: How many memories the command retires.
        ids: The memories that were there before.
    """

    base: Path
    words: tuple[str, ...] = ()
    is_done: Callable[[Session], bool] | None = None
    retired: int = 0
    ids: list[str] = field(default_factory=list)

    @property
    def vault(self) -> Path:
        return self.base / "vault"

    @property
    def state(self) -> Path:
        return self.base / "state"

    @property
    def notes(self) -> Path:
        return self.vault / "memories" / "default"

    def open(self) -> Session:
        return open_session(self.vault, self.state)

    def call(self, *words: str) -> Done:
        """Run a command at a terminal."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ONRECORD_STATE", str(self.state))
            return CommandLine(patch, str(self.vault))(*words, at_terminal=True)

    def has_source(self) -> bool:
        """Tell whether the list of sources has one."""
        return any(b"notes" in path.read_bytes() for path in self.state.rglob("sources.json"))

    def act(self) -> Done:
        """Run the command of the scene."""
        return self.call(*self.words)

    def has_done(self) -> bool:
        """Tell whether the command has been done."""
        session = self.open()
        try:
            return self.is_done is None or self.is_done(session)
        finally:
            session.close()

    def list_answers(self, session: Session) -> list[object]:
        """Return what the questions give."""
        answers: list[object] = []
        for question in QUESTIONS:
            results = find(session, {"query": question, "limit": 100}, page_bytes=1 << 24).data["results"]
            assert isinstance(results, list)
            answers.append([(hit["id"], hit["version"], hit["score"], hit["status"]) for hit in results])
        return answers

    def check(self) -> None:
        """Fail unless the ledger verifies, the index equals a rebuilt one, and nothing else is retired or lost."""
        session = self.open()
        try:
            if session.store.find_rollback() is not None:
                return
            check_verifies(session, may_differ=True)
            before = self.list_answers(session)
            rebuild(session)
            reconcile(session, Reply(), wait_s=None)
            assert self.list_answers(session) == before
            with session.index.read() as reader:
                statuses = [head.status for record in self.ids if (head := reader.get_current(record)) is not None]  # type: ignore[arg-type]
            assert len(statuses) == len(self.ids)
            assert statuses.count("retired") in (0, self.retired)
            session.store.checkpoint()
            assert not [path for path in self.vault.rglob("*") if ".tmp" in path.name]
        finally:
            session.close()


def _keep(scene: Scene, count: int) -> None:
    session = scene.open()
    scene.ids += [
        str(remember(session, {"text": f"memory {number}", "title": f"memory {number}"}).data["id"])
        for number in range(count)
    ]
    session.store.checkpoint()
    session.close()


def _has_retired(session: Session) -> bool:
    with session.index.read() as reader:
        records = {row.draft.id for row in session.store.read_rows(session.store.log) if isinstance(row, VersionRow)}
        heads = [reader.get_current(record) for record in records]
    return any(head is not None and head.status == "retired" for head in heads)


def _has_links(session: Session) -> bool:
    return bool(session.store.links.list_links())


def _has_written(session: Session) -> bool:
    return bool(find(session, {"query": "behind"}).data["results"]) or bool(session.store.backup.get_progress()[1])


def roll_back(base: Path) -> Scene:
    """Return a vault in whose place an older one was put."""
    scene = Scene(base, ("adopt", "--yes"), lambda session: session.store.find_rollback() is None)
    make_vault(scene.vault)
    _keep(scene, 2)
    shutil.copytree(scene.vault, base / "backup")
    session = scene.open()
    remember(session, {"text": "memory given up"})
    session.store.checkpoint()
    session.close()
    for path in sorted(scene.vault.rglob("*"), reverse=True):
        if path.is_file():
            path.unlink()
    shutil.copytree(base / "backup", scene.vault, dirs_exist_ok=True)
    return scene


def oppose(base: Path) -> Scene:
    """Return a vault with a conflict between a memory and a sync program's copy of its file."""
    scene = Scene(base)
    make_vault(scene.vault)
    session = scene.open()
    text = "".join(f"line {number} of the plan\n" for number in range(9))
    scene.ids.append(str(remember(session, {"text": text, "title": "Plan"}).data["id"]))
    plan = scene.notes / "Plan.md"
    copy = plan.with_name("Plan.sync-conflict-20261130-173636-D4LGQYW.md")
    copy.write_text(plan.read_text().replace("line 8", "line 8 elsewhere"))
    plan.write_text(plan.read_text().replace("line 8", "line 8 here"))
    reconcile(session, Reply())
    (conflict,) = list_conflicts(session, {}).data["conflicts"]  # type: ignore[misc]
    session.close()
    scene.words = ("settle", str(conflict["id"]), "--keep", "B", "--remove-copies")
    scene.is_done = lambda session: not list_conflicts(session, {}).data["conflicts"]
    return scene


def lose(base: Path) -> Scene:
    """Return a vault whose memories have lost two files."""
    scene = Scene(base, ("repair", "missing", "--retire"), _has_retired, retired=2)
    make_vault(scene.vault)
    _keep(scene, 5)
    for number in (1, 3):
        (scene.notes / f"memory {number}.md").unlink()
    return scene


def allow(base: Path) -> Scene:
    """Return a vault beside a folder of notes that a link is to lead to."""
    scene = Scene(base, ("link", "memories/work", str(base / "elsewhere")), _has_links)
    make_vault(scene.vault)
    _keep(scene, 2)
    (base / "elsewhere").mkdir()
    for number in range(3):
        (base / "elsewhere" / f"note {number}.md").write_text(f"note {number}: the kettle sings\n")
    return scene


def forbid(base: Path) -> Scene:
    """Return a vault with an allowed link, that is to be forgotten."""
    scene = allow(base)
    assert scene.act().status == 0
    scene.words, scene.is_done = ("unlink", "memories/work"), lambda session: not _has_links(session)
    return scene


def add(base: Path) -> Scene:
    """Return a vault to which a source is to be added."""
    scene = allow(base)
    scene.words = ("source", "add", str(base / "elsewhere"), "--name", "notes")
    scene.is_done = lambda _: scene.has_source()
    return scene


def remove(base: Path) -> Scene:
    """Return a vault with a source that is to be removed."""
    scene = add(base)
    assert scene.act().status == 0
    scene.words, scene.is_done = ("source", "remove", "notes"), lambda _: not scene.has_source()
    return scene


def edit(base: Path) -> Scene:
    """Return a vault whose files were edited, renamed, copied, added and deleted, which a reading is to take in."""
    scene = Scene(base, ("find", "memory"))
    make_vault(scene.vault)
    _keep(scene, 6)
    notes = scene.notes
    for number in (0, 1):
        path = notes / f"memory {number}.md"
        path.write_text(path.read_text() + "edited by hand\n")
    (notes / "memory 1.md").rename(notes / "renamed and edited.md")
    (notes / "memory 2.md").rename(notes / "renamed.md")
    shutil.copy(notes / "memory 3.md", notes / "a copy.md")
    (notes / "memory 4.md").unlink()
    for number in range(3):
        (notes / f"new {number}.md").write_text(f"note {number} written by hand\n")
    shutil.copy(notes / "memory 5.md", notes / "memory 5.sync-conflict-20261130-173636-D4LGQYW.md")
    own = notes / "memory 5.md"
    own.write_text(own.read_text() + "edited here\n")
    copy = notes / "memory 5.sync-conflict-20261130-173636-D4LGQYW.md"
    copy.write_text(copy.read_text() + "edited there\n")
    return scene


def write_behind_link(base: Path) -> Scene:
    """Return a vault whose folder of memories is an allowed link, behind which a memory is to be written."""
    scene = Scene(base, ("remember", "a memory behind the link"), _has_written)
    make_vault(scene.vault)
    (base / "elsewhere").mkdir()
    assert scene.call("link", "memories/default", str(base / "elsewhere")).status == 0
    _keep(scene, 2)
    return scene


SCENES: dict[str, Callable[[Path], Scene]] = {
    "adopt": roll_back,
    "settle": oppose,
    "retire": lose,
    "link": allow,
    "unlink": forbid,
    "source add": add,
    "source remove": remove,
    "edit": edit,
    "write behind a link": write_behind_link,
}
