"""Several processes on one vault: nothing is lost, no stale change is accepted, the ledger has no gap."""

from __future__ import annotations

import multiprocessing
import queue
from pathlib import Path

import pytest

from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.update import update
from onrecord.domain.errors import LockTimeoutError, StaleVersionError
from tests.fault.survival import check_whole
from tests.vaults import check_verifies, make_vault, open_session

PROCESSES = 8


def write_many(vault: Path, state: Path, worker: int, count: int, results: multiprocessing.Queue) -> None:
    session = open_session(vault, state, lock_wait_s=60)
    for number in range(count):
        text = f"memory {number} of worker {worker}"
        data = remember(session, {"text": text}).data
        results.put({"op": "remember", "id": data["id"], "version": 1, "text": text})
    session.close()
    results.put(None)


def update_one(vault: Path, state: Path, record: str, worker: int, count: int, results: multiprocessing.Queue) -> None:
    session = open_session(vault, state, lock_wait_s=60)
    done = 0
    while done < count:
        now = read(session, {"id": record}).data
        try:
            update(session, {"id": record, "text": f"{now['text']}\n{worker}.{done}", "expect": now["version"]})
        except (StaleVersionError, LockTimeoutError):
            continue
        done += 1
    session.close()
    results.put(None)


def run_all(target, arguments: list[tuple]) -> list[dict]:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=target, args=(*each, results)) for each in arguments]
    for worker in workers:
        worker.start()
    got: list[dict] = []
    ended = 0
    while ended < len(workers):
        try:
            item = results.get(timeout=5)
        except queue.Empty:
            assert not any(worker.exitcode for worker in workers), "a process died"
            continue
        if item is None:
            ended += 1
        else:
            got.append(item)
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    return got


def write_from_all(tmp_path: Path, count: int) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    writes = run_all(write_many, [(vault, state, worker, count) for worker in range(PROCESSES)])
    assert len({write["id"] for write in writes}) == PROCESSES * count
    session = open_session(vault, state)
    check_whole(session, writes)
    entries = list(session.store.read_entries(session.store.log))
    assert [seq for seq, _ in entries] == list(range(PROCESSES * count + 1))
    session.close()


def test_eight_processes_lose_none_of_their_writes(tmp_path: Path) -> None:
    write_from_all(tmp_path, 25)


@pytest.mark.soak
def test_eight_processes_lose_none_of_two_hundred_writes_each(tmp_path: Path) -> None:
    write_from_all(tmp_path, 200)


def test_eight_processes_that_change_one_record_accept_no_stale_version(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    session = open_session(vault, state)
    record = str(remember(session, {"text": "begin"}).data["id"])
    session.close()
    count = 6
    run_all(update_one, [(vault, state, record, worker, count) for worker in range(PROCESSES)])
    session = open_session(vault, state)
    lines = str(read(session, {"id": record}).data["text"]).split("\n")
    assert lines[0] == "begin"
    assert sorted(lines[1:]) == sorted(f"{worker}.{done}" for worker in range(PROCESSES) for done in range(count))
    versions = [item["version"] for item in list_history(session, {"id": record}).data["versions"]]
    assert versions == list(range(1, PROCESSES * count + 2))
    check_verifies(session)
    session.close()
