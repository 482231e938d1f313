"""An older vault put back: nothing is written until the user accepts it at a terminal, then a new log says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.adapters.system import SystemIds
from onrecord.app.adopt import adopt
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.log_losses import list_given_up
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Caller, Channel, Session
from onrecord.app.status import describe_status
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.domain.errors import ApprovalRequiredError, ConflictError, LedgerRolledBackError
from onrecord.ports.store import Actor
from onrecord.storage.files import installation
from onrecord.surfaces.cli.entry import run
from onrecord.wiring import SERVICES
from tests.surface.cli import CommandLine
from tests.vaults import KEYS, check_verifies, make_vault, open_session


def put_content(source: Path, target: Path) -> None:
    """Put a backup's files in the place of a vault's, in the folders that are there (their device and inode stay)."""
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_file():
            path.unlink()
    shutil.copytree(source, target, dirs_exist_ok=True)


class Place:
    """A vault that was put back to a backup from before its last memories."""

    def __init__(self, root: Path) -> None:
        self.vault, self.state, self.backup = root / "vault", root / "state", root / "backup"
        self.newest = root / "newest"
        make_vault(self.vault)
        self.old = str(self.write("first"))
        shutil.copytree(self.vault, self.backup)
        self.lost = [self.write("second"), self.write("third")]
        shutil.copytree(self.vault, self.newest)
        self.put_back()

    def put_back(self) -> None:
        put_content(self.backup, self.vault)

    def open(self, channel: Channel = Channel.LIBRARY) -> Session:
        return open_session(self.vault, self.state, channel=channel)

    def write(self, text: str) -> object:
        session = self.open()
        kept = remember(session, {"text": text}).data["id"]
        session.store.checkpoint()
        session.close()
        return kept

    def accept(self) -> str:
        return installation.adopt_vault(str(self.vault), str(self.state), KEYS, SystemIds(), Actor("cli"))

    def list_own_entries(self) -> list[dict]:
        session = self.open()
        entries = [json.loads(line) for _, line in session.store.read_entries(session.store.log)]
        session.close()
        return entries

    def list_logs(self) -> list[str]:
        session = self.open()
        logs = [head.log for head in session.store.list_logs() if head.entries]
        session.close()
        return logs


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_would_be_given_up_is_shown_and_nothing_is_done(place: Place) -> None:
    session = place.open(Channel.TERMINAL)
    before = {path: path.read_bytes() for path in place.vault.rglob("*") if path.is_file() and path.name != "lock"}
    data = adopt(session, {}).data
    assert data["adopted"] is False
    assert (data["pinned"]["size"], data["there"]["size"]) == (4, 2)  # type: ignore[index]
    assert data["pinned"]["root"] != data["there"]["root"]  # type: ignore[index]
    assert data["given_up"]["entries"] == 2  # type: ignore[index]
    assert find(session, {"query": "first"}).data["status"] == "found"
    with pytest.raises(LedgerRolledBackError):
        remember(session, {"text": "on top of the past"})
    session.close()
    assert {path: path.read_bytes() for path in before} == before


def test_what_only_the_journal_holds_was_acknowledged_too(place: Place) -> None:
    shutil.copytree(place.newest, place.vault, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock"))
    session = place.open()
    remember(session, {"text": "fourth"})
    place.put_back()
    again = place.open()
    rollback = again.store.find_rollback()
    assert rollback is not None
    assert (rollback.pinned_size, rollback.there_size) == (5, 2)
    again.close()
    session.close()


@pytest.mark.parametrize("channel", [Channel.PIPE, Channel.LIBRARY])
def test_nobody_but_a_person_at_a_terminal_accepts(place: Place, channel: Channel) -> None:
    session = place.open(channel)
    with pytest.raises(ApprovalRequiredError) as caught:
        adopt(session, {"yes": True})
    assert caught.value.code == "approval_required"
    with pytest.raises(LedgerRolledBackError):
        remember(session, {"text": "on top of the past"})
    session.close()
    assert not list(place.state.glob("vaults/*.rolled-back-*"))


def test_a_vault_that_goes_on_has_nothing_to_adopt(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state", channel=Channel.TERMINAL)
    remember(session, {"text": "first"})
    with pytest.raises(ConflictError):
        adopt(session, {"yes": True})
    session.close()
    with pytest.raises(ConflictError):
        installation.adopt_vault(str(tmp_path / "vault"), str(tmp_path / "state"), KEYS, SystemIds(), Actor())


def test_the_new_log_says_what_was_given_up_and_on_whose_word(place: Place) -> None:
    pinned = adopt(place.open(), {}).data["pinned"]
    aside = place.accept()
    start, adopted, request, grant = place.list_own_entries()
    assert [item["type"] for item in (start, adopted, request, grant)] == [
        "log.start", "log.adopt", "approval.request", "approval.grant",
    ]  # fmt: skip
    (there,), (given_up,) = start["seen"], adopted["seen"]
    assert (there["log"], there["size"]) == (given_up["log"], 2)
    assert {name: given_up[name] for name in ("log", "size", "root")} == pinned
    assert adopted["appr"] == f"{grant['log']}:{grant['seq']}"
    assert adopted["level"] == grant["level"] == "tty"
    assert request["cause"] == "adopt"
    assert grant["to"] == [f"{request['log']}:{request['seq']}"]
    assert {item["actor"] for item in (adopted, request, grant)} == {start["actor"]}
    assert Path(aside).is_dir()
    assert aside.endswith(f".rolled-back-{given_up['log']}")


def test_afterwards_writes_go_on_and_verify_tells_of_the_old_head_without_calling_it_broken(place: Place) -> None:
    place.accept()
    session = place.open()
    assert read(session, {"id": place.old}).data["text"] == "first"
    remember(session, {"text": "goes on"})
    data = verify(session, {}, Ed25519Verifier()).data
    assert data["verdict"] in ("L1", "L2"), data
    own = next(log for log in data["logs"] if log["log"] == session.store.log)  # type: ignore[attr-defined]
    assert own["waiting"] == 1, "the head that was given up is not there"
    assert find(session, {"query": "second third"}).data["status"] == "no_match"
    session.close()


def test_a_ledger_of_other_entries_than_were_acknowledged_is_adopted_and_is_no_fork(tmp_path: Path) -> None:
    place = Place(tmp_path)
    session = place.open()
    log = session.store.log
    session.close()
    place.accept()
    place.write("goes on")
    ledger = place.vault / f".onrecord/{log}/ledger/00000000.jsonl"
    old = ledger.read_bytes().splitlines(keepends=True)
    line = json.loads(old[1])
    # What stands where entries were given up: entries of the old log that nobody acknowledged here.
    more = [json.dumps(line | {"seq": seq, "cseq": seq, "prev": line["prev"] if "prev" in line else "A" * 43 + "="},
                       sort_keys=True, separators=(",", ":")) for seq in (2, 3)]  # fmt: skip
    ledger.write_bytes(b"".join([*old, *(item.encode() + b"\n" for item in more)]))
    session = place.open()
    data = verify(session, {}, Ed25519Verifier()).data
    own = next(item for item in data["logs"] if item["log"] == session.store.log)  # type: ignore[attr-defined]
    assert "fault" not in own, own
    assert own["waiting"] == 1
    session.close()


def test_the_newest_vault_put_back_after_all_is_another_log_that_verifies(place: Place) -> None:
    place.accept()
    place.write("goes on")
    shutil.copytree(place.newest, place.vault, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock"))
    session = place.open()
    for record in place.lost:
        assert read(session, {"id": record}).data["origin"] == "agent"
    remember(session, {"text": "and on"})
    check_verifies(session)
    session.close()


class Cut(BaseException):
    """Stands for the death of the process."""


def die_at(monkeypatch: pytest.MonkeyPatch, step: int) -> Callable[[], int]:
    """Let the process die at the n-th change that adopting makes to a folder; return how many were made."""
    done = 0

    def wrap(module: object, name: str) -> None:
        plain = getattr(module, name)

        def call(*given: object, **more: object) -> object:
            nonlocal done
            if done == step:
                raise Cut
            done += 1
            return plain(*given, **more)

        monkeypatch.setattr(module, name, call)

    wrap(installation.os, "rename")
    for name in ("_make_state", "write_adoption", "_make_log_folder", "sync_absolute"):
        wrap(installation, name)
    return lambda: done


@pytest.mark.parametrize("step", range(6))
def test_cut_off_at_any_step_the_old_log_is_in_its_place_or_the_new_one_tells(
    place: Place, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    with monkeypatch.context() as patch:
        die_at(patch, step)
        with pytest.raises(Cut):
            place.accept()
    session = place.open()
    try:
        remember(session, {"text": "goes on"})
    except LedgerRolledBackError:
        session.close()
        place.accept()
        session = place.open()
        remember(session, {"text": "goes on"})
    session.close()
    assert [item["type"] for item in place.list_own_entries()][:4] == [
        "log.start", "log.adopt", "approval.request", "approval.grant",
    ]  # fmt: skip
    assert len(place.list_logs()) == 2
    session = place.open()
    check_verifies(session, may_differ=True)
    session.close()


def test_an_adoption_cut_off_is_forgotten_when_the_newest_vault_comes_back(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        die_at(patch, 3)
        with pytest.raises(Cut):
            place.accept()
    (state,) = (path for path in place.state.glob("vaults/*") if path.is_dir() and "." not in path.name)
    shutil.rmtree(state)
    session = place.open()
    remember(session, {"text": "goes on"})
    types = [json.loads(line)["type"] for _, line in session.store.read_entries(session.store.log)]
    assert "log.adopt" not in types
    session.close()


def test_two_processes_at_once_make_one_new_log(place: Place) -> None:
    code = (
        "import sys\n"
        "from onrecord.adapters.keys import Ed25519Verifier, KeyFileSigner, generate_key\n"
        "from onrecord.adapters.system import SystemIds\n"
        "from onrecord.domain.errors import ConflictError\n"
        "from onrecord.ports.store import Actor\n"
        "from onrecord.storage.files.installation import KeyMaker, adopt_vault\n"
        "try:\n"
        "    keys = KeyMaker(generate_key, KeyFileSigner, Ed25519Verifier().verify)\n"
        "    adopt_vault(sys.argv[1], sys.argv[2], keys, SystemIds(), Actor())\n"
        "except ConflictError:\n"
        "    sys.exit(3)\n"
    )
    command = [sys.executable, "-c", code, str(place.vault), str(place.state)]
    started = [subprocess.Popen(command) for _ in range(2)]
    assert sorted(process.wait() for process in started) == [0, 3]
    place.write("goes on")
    assert len(place.list_logs()) == 2


def test_the_command_shows_and_at_a_terminal_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onrecord = CommandLine(monkeypatch, str(tmp_path / "vault"))
    onrecord("init")
    first = onrecord("remember", "first").data["id"]
    shutil.copytree(tmp_path / "vault", tmp_path / "backup")
    onrecord("remember", "second")
    onrecord("remember", "third")
    put_content(tmp_path / "backup", tmp_path / "vault")
    assert onrecord("remember", "refused").error["code"] == "ledger_rolled_back"
    given_up = onrecord("adopt").data["given_up"]
    assert (given_up["entries"], given_up["versions"], given_up["more"]) == (2, 2, 0)
    assert [item["title"] for item in given_up["memories"]] == ["second", "third"]
    refused = onrecord("adopt", "--yes").error
    assert (refused["code"], refused["field"]) == ("approval_required", "yes")

    services = replace(SERVICES, name_caller=lambda _, settings: Caller(Channel.TERMINAL))
    assert run(["adopt", "--yes", "--json"], services, {**os.environ, "ONRECORD_VAULT": onrecord.vault}) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["adopted"] is True
    assert data["given_up"] == given_up
    assert Path(data["set_aside"]).is_dir()
    assert onrecord("status").data["log"] == data["log"]
    assert onrecord("read", first).data["text"] == "first"
    assert onrecord("remember", "goes on").data["id"]
    assert onrecord("adopt").error["code"] == "conflict"
    assert onrecord("verify").status == 0


def test_what_would_be_given_up_is_listed_by_path_on_a_bounded_page(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    session = open_session(vault, state)
    kept = str(remember(session, {"text": "the capital is Bonn"}).data["id"])
    session.store.checkpoint()
    session.close()
    shutil.copytree(vault, tmp_path / "backup")
    session = open_session(vault, state)
    update(session, {"id": kept, "old": "Bonn", "new": "Berlin", "expect": 1})
    for number in range(8):
        remember(session, {"text": f"lost {number}"})
    session.store.checkpoint()
    session.close()
    put_content(tmp_path / "backup", vault)
    session = open_session(vault, state)
    given_up: dict[str, Any] = adopt(session, {}).data["given_up"]  # type: ignore[assignment]
    assert (given_up["versions"], given_up["more"]) == (9, 0)
    assert [(item["id"], item["version"]) for item in given_up["memories"]][-1] == (kept, 2)
    assert [item["title"] for item in given_up["memories"]][:2] == ["lost 0", "lost 1"]
    session.policy = replace(session.policy, page_bytes=400)
    given_up = adopt(session, {}).data["given_up"]  # type: ignore[assignment]
    assert 0 < len(given_up["memories"]) < 9
    assert len(given_up["memories"]) + given_up["more"] == 9
    session.close()


def test_what_doctor_says_after_an_adoption_is_true(place: Place) -> None:
    """Files that are newer than what was accepted wait for nothing; what was set aside has a key, and stays."""
    for path in place.newest.glob("memories/**/*.md"):
        shutil.copy2(path, place.vault / path.relative_to(place.newest))
    aside = place.accept()
    place.write("goes on")
    session = place.open()
    reply = diagnose(session, {})
    session.close()
    found: list[dict[str, Any]] = reply.data["findings"]  # type: ignore[assignment]
    by_code = {item["code"]: item for item in found}
    # On a fast disk the files were put there less than 200 ms ago.
    assert set(by_code) <= {"pending_sync", "state_set_aside", "log_other", "cas_weak", "reconciling"}, found
    assert "given up" in by_code["pending_sync"]["message"]
    assert "other machine" not in by_code["pending_sync"]["mend"]
    assert "given up" in by_code["log_other"]["message"]
    assert "no machine of yours" not in by_code["log_other"]["mend"]
    assert aside in by_code["state_set_aside"]["mend"]
    assert not any("Remove " + aside in item["mend"] for item in found)


def test_status_calls_no_log_that_was_given_up_another_machine(place: Place) -> None:
    place.accept()
    place.write("goes on")
    session = place.open()
    data = describe_status(session, {}).data
    session.close()
    assert (data["machines"], data["logs_total"]) == (0, 2)


def test_a_log_given_up_first_stays_given_up_when_the_log_that_said_so_is_given_up_too(place: Place) -> None:
    given_up = set()
    for _ in range(3):
        session = place.open()
        own = session.store.log
        session.close()
        shutil.rmtree(place.vault / ".onrecord" / own)
        place.accept()
        place.write("goes on")
        given_up.add(own)
        session = place.open()
        check_verifies(session, may_differ=True)
        assert list_given_up(session).keys() == given_up
        assert describe_status(session, {}).data["machines"] == 0
        session.close()
