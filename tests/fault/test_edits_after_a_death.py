"""A process dies between its commit and the index; what the user does to the file then follows on what it committed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.settle import list_conflicts
from onrecord.app.update import update
from tests.fault.test_retries import DiedError, DyingIndex
from tests.vaults import check_verifies, make_vault, open_session

LINE = "the kettle of the third floor is green and whistles at noon\n"


class Scene:
    """A vault whose writer dies behind its commit."""

    def __init__(self, base: Path) -> None:
        self.places = base / "vault", base / "state"
        make_vault(self.places[0])
        self.folder = self.places[0] / "memories" / "default"
        self.folder.mkdir(parents=True)

    def die(self, act: Callable[[Session], object]) -> None:
        """Do something in a process that dies before the index has it."""
        session = open_session(*self.places)
        plain = session.index
        session.index = DyingIndex(plain)  # type: ignore[assignment]
        with pytest.raises(DiedError):
            act(session)
        session.index = plain
        session.close()

    def check_line(self, record: str, texts: list[str], path: Path) -> None:
        """Fail unless the memory went from one text to the next, and none stands against another."""
        session = open_session(*self.places)
        reconcile(session, Reply(), wait_s=None)
        assert not list_conflicts(session, {}).data["conflicts"]
        data = read(session, {"id": record}).data
        assert (data["text"], data["path"]) == (texts[-1].rstrip(), str(path.relative_to(self.places[0])))
        rows = [row for row in session.store.read_rows(session.store.log) if row.draft.id == record]  # type: ignore[union-attr]
        parents = [row.draft.parents for row in rows]  # type: ignore[union-attr]
        assert parents == [(), *((row.ref,) for row in rows[:-1])]  # type: ignore[union-attr]
        assert len(list_history(session, {"id": record}).data["versions"]) == len(texts)  # type: ignore[arg-type]
        assert len({hit["id"] for hit in find(session, {"query": "kettle"}).data["results"]}) == 1  # type: ignore[attr-defined]
        rebuild(session)
        assert not list_conflicts(session, {}).data["conflicts"]
        check_verifies(session)
        session.close()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def save(path: Path, text: str, how: str) -> None:
    if how == "renaming":
        path.with_name(".swp").write_text(text)
        path.with_name(".swp").replace(path)
    else:
        path.write_text(text)


@pytest.mark.parametrize("how", ["in place", "renaming"])
@pytest.mark.parametrize("is_moved", [False, True])
def test_an_edit_follows_on_the_one_that_was_taken_in_before_the_death(scene: Scene, is_moved: bool, how: str) -> None:
    path = scene.folder / "note.md"
    texts = [LINE, f"{LINE}edited once\n", f"{LINE}edited twice\n"]
    path.write_text(texts[0])
    session = open_session(*scene.places)
    with session.index.read() as reader:
        (stamp,) = reader.list_files()
    session.close()
    if is_moved:
        path = path.rename(path.with_name("moved.md"))

    def take_in_first(session: Session) -> None:
        save(path, texts[1], "in place")
        reconcile(session, Reply(), wait_s=None)

    scene.die(take_in_first)
    save(path, texts[2], how)
    scene.check_line(str(stamp.record), texts, path)


def test_an_edit_follows_on_what_was_written_before_the_death(scene: Scene) -> None:
    session = open_session(*scene.places)
    record = str(remember(session, {"text": LINE, "title": "Kettle"}).data["id"])
    session.close()
    scene.die(lambda session: update(session, {"id": record, "text": f"{LINE}changed", "expect": 1}))
    path = scene.folder / "Kettle.md"
    path.write_text(path.read_text().rstrip("\n") + "\nedited\n")
    scene.check_line(record, [LINE, f"{LINE}changed", f"{LINE}changed\nedited"], path)
