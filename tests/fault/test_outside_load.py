"""Many files edited, renamed and deleted from outside while four processes write: nothing is lost or retired."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from tests.fault.survival import check_acknowledged
from tests.vaults import check_verifies, make_vault, open_session

WRITERS = 4


def write_some(vault: Path, state: Path, worker: int, count: int, results: multiprocessing.Queue) -> None:
    session = open_session(vault, state, lock_wait_s=120)
    for number in range(count):
        text = f"memory {number} of worker {worker}"
        data = remember(session, {"text": text}).data
        results.put({"op": "remember", "id": data["id"], "version": 1, "text": text})
    session.close()
    results.put(None)


def ask(session: Session) -> list[object]:
    answers: list[object] = []
    for question in ("note", "edited", "memory worker", "moved"):
        for offset in range(0, 500, 100):
            given = {"query": question, "limit": 100, "offset": offset}
            results = find(session, given, page_bytes=1 << 24).data["results"]
            assert isinstance(results, list)
            answers.append([(hit["id"], hit["version"], hit["score"]) for hit in results])
    return answers


def work_under_load(tmp_path: Path, count: int, writes: int) -> None:
    """Edit, rename and delete a third each of `count` notes while the writers make `writes` memories each."""
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    folder = vault / "memories" / "default"
    folder.mkdir()
    for number in range(count):
        (folder / f"note {number}.md").write_text(f"note number {number}\n")
    session = open_session(vault, state, lock_wait_s=120)
    with session.index.read() as reader:
        owners = {stamp.path.rpartition("/")[2]: stamp.record for stamp in reader.list_files()}
    assert len(owners) == count
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=write_some, args=(vault, state, n, writes, results)) for n in range(WRITERS)]
    for worker in workers:
        worker.start()
    moved = vault / "memories" / "moved"
    moved.mkdir()
    for number in range(count):
        path = folder / f"note {number}.md"
        match number % 3:
            case 0:
                path.write_text(f"note number {number}\nedited by hand\n")
            case 1:
                path.rename(moved / path.name)
            case _:
                path.unlink()
    written: list[dict] = []
    ended = 0
    while ended < WRITERS:
        item = results.get(timeout=300)
        ended += item is None
        written += [item] if item is not None else []
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    reconcile(session, Reply(), wait_s=None)
    check_acknowledged(session, written)
    assert len(written) == WRITERS * writes
    check_notes(session, owners, every=max(1, count // 300))
    before = ask(session)
    rebuild(session)
    assert ask(session) == before
    check_verifies(session, may_differ=True)
    session.close()


def check_notes(session: Session, owners: dict[str, str], every: int) -> None:
    """Fail unless each note is the memory that it was, with the text that it was left with, and none is retired."""
    for name, record in list(owners.items())[::every]:
        number = int(name.removeprefix("note ").removesuffix(".md"))
        data = read(session, {"id": record}).data
        edited = "\nedited by hand" if number % 3 == 0 else ""
        assert (data["text"], data["status"]) == (f"note number {number}{edited}", "current")
        versions = list_history(session, {"id": record}).data["versions"]
        assert isinstance(versions, list)
        assert number % 3 == 0 or {item["version"] for item in versions} <= {1, 2}
    store = session.store
    rows = [row for row in store.read_rows(store.log) if hasattr(row, "draft")]
    assert not [row for row in rows if row.draft.status == "retired"]
    assert len({row.draft.id for row in rows if row.draft.path.startswith("memories/default/note ")}) >= len(owners)


def test_files_changed_from_outside_under_load_are_neither_lost_nor_retired(tmp_path: Path) -> None:
    work_under_load(tmp_path, 300, 8)


@pytest.mark.soak
def test_ten_thousand_files_changed_from_outside_under_load_are_neither_lost_nor_retired(tmp_path: Path) -> None:
    work_under_load(tmp_path, 10_000, 100)
