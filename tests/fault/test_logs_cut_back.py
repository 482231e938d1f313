"""Another log that is shorter than it was here is a fault; one that has not come yet to a new place is waited for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.adapters.system import SystemIds
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.rebuild import rebuild
from onrecord.app.verify import verify
from onrecord.ports.store import Actor
from onrecord.storage.files import installation
from tests.machines import Machine, bring, bring_log, make_two
from tests.vaults import KEYS


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    first, second = make_two(tmp_path)
    first.remember("written later")
    first.call(lambda session: session.store.checkpoint())
    bring(first, second)
    second.remember("has seen it")
    return first, second


def judge(machine: Machine) -> dict[str, Any]:
    return machine.call(lambda session: verify(session, {}, Ed25519Verifier()).data)


def list_codes(machine: Machine) -> list[str]:
    found = machine.call(lambda session: diagnose(session, {"deep": True}, Ed25519Verifier()).data["findings"])
    return [item["code"] for item in found]  # type: ignore[attr-defined]


def cut_back(machine: Machine, log: str, kept: int) -> None:
    for part in ("ledger", "versions"):
        path = machine.vault / f".onrecord/{log}/{part}/00000000.jsonl"
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    (machine.vault / f".onrecord/{log}/checkpoint").unlink()


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_log_that_was_here_and_is_shorter_now_is_a_fault(machines: tuple[Machine, Machine], kept: int) -> None:
    first, second = machines
    log = first.log
    cut_back(second, log, kept)
    data = judge(second)
    assert data["verdict"] == "BROKEN"
    assert [item["fault"]["code"] for item in data["logs"] if "fault" in item] == ["cut_back"]
    (lost,) = [item for item in data["differences"] if item["code"] == "cut_back"]
    assert lost["path"] == f".onrecord/{log}/ledger"
    assert (lost["expected"], lost["found"]) == ("at least 3 entries", f"{kept} entries")
    assert "adopt" not in lost["mend"]
    assert "log_cut_back" in list_codes(second)
    bring_log(first, second)
    assert judge(second)["verdict"] == "L2"
    assert "log_cut_back" not in list_codes(second)


def test_a_log_that_was_here_and_is_gone_is_a_fault(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    shutil.rmtree(second.vault / ".onrecord" / first.log)
    assert judge(second)["verdict"] == "BROKEN"
    assert "log_cut_back" in list_codes(second)


def list_broken(machine: Machine) -> list[dict[str, Any]]:
    given = {"deep": True}
    found = machine.call(lambda session: diagnose(session, given, Ed25519Verifier()).data["findings"])
    return [item for item in found if item["code"] == "ledger_broken"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("kept", [0, None])
def test_the_log_that_is_cut_back_is_named_and_not_the_log_that_tells_of_it(
    machines: tuple[Machine, Machine], kept: int | None
) -> None:
    first, second = machines
    log = first.log
    if kept is None:
        shutil.rmtree(second.vault / ".onrecord" / log)
    else:
        cut_back(second, log, kept)
    (broken,) = list_broken(second)
    assert broken["path"] == f".onrecord/{log}"
    assert "from the machine that writes it" in broken["mend"]


def test_the_log_that_is_forked_is_named_and_not_the_log_that_tells_of_it(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    log = first.log
    cut_back(second, log, 2)
    other = second.vault / f".onrecord/{log}/ledger/00000000.jsonl"
    lines = other.read_bytes().splitlines(keepends=True)
    third = json.loads(lines[1]) | {"seq": 2, "cseq": 2}
    other.write_bytes(b"".join([*lines, json.dumps(third, sort_keys=True, separators=(",", ":")).encode() + b"\n"]))
    own = next(item for item in judge(second)["logs"] if item["log"] == second.log)
    assert own["fault"]["code"] == "fork"
    assert second.log not in {item["path"].split("/")[1] for item in judge(second)["differences"]}
    assert f".onrecord/{second.log}" not in {item["path"] for item in list_broken(second)}


def test_what_another_machine_saw_and_has_not_come_here_is_waited_for(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    first, second = machines
    third = Machine(tmp_path, "third")
    shutil.copytree(second.vault, third.vault, ignore=shutil.ignore_patterns("lock", first.log))
    third.remember("begun where one log of two has come")
    data = judge(third)
    assert data["verdict"] != "BROKEN"
    assert [item["waiting"] for item in data["logs"] if item["log"] == second.log] == [2]
    assert not {"log_cut_back", "ledger_broken"} & set(list_codes(third))


def test_what_its_own_machine_has_given_up_is_no_loss_here(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    first, second = machines
    log, older = first.log, tmp_path / "older"
    shutil.copytree(first.vault / ".onrecord" / log, older)
    first.remember("the last words of an old log")
    first.call(lambda session: session.store.checkpoint())
    bring(first, second)
    second.remember("has seen them")
    for machine in (first, second):
        shutil.rmtree(machine.vault / ".onrecord" / log)
        shutil.copytree(older, machine.vault / ".onrecord" / log)
    assert judge(second)["verdict"] == "BROKEN"
    installation.adopt_vault(str(first.vault), str(first.state), KEYS, SystemIds(), Actor("cli"))
    first.remember("goes on")
    bring(first, second)
    assert judge(second)["verdict"] != "BROKEN"
    assert "log_cut_back" not in list_codes(second)
    second.remember("has seen the new log")
    assert judge(second)["verdict"] != "BROKEN"
    cut_back(second, log, 1)
    assert judge(second)["verdict"] == "BROKEN", "what was kept is not given up"


@pytest.mark.parametrize("kept", [None, 0, 1, 3])
def test_a_signed_head_that_came_before_its_ledger_is_waited_for(tmp_path: Path, kept: int | None) -> None:
    first, second = make_two(tmp_path)
    for text in ("one", "two"):
        first.remember(text)
    first.call(lambda session: session.store.checkpoint())
    log = first.log
    shutil.rmtree(second.vault / ".onrecord" / log)
    third = Machine(tmp_path, "third")
    shutil.copytree(first.vault, third.vault, ignore=shutil.ignore_patterns("lock", "ledger", "versions", "key.pub"))
    if kept is not None:
        shutil.copy2(first.vault / f".onrecord/{log}/key.pub", third.vault / f".onrecord/{log}/key.pub")
        (third.vault / f".onrecord/{log}/ledger").mkdir()
        lines = (first.vault / f".onrecord/{log}/ledger/00000000.jsonl").read_bytes().splitlines(keepends=True)
        (third.vault / f".onrecord/{log}/ledger/00000000.jsonl").write_bytes(b"".join(lines[:kept]))
    third.remember("here already")
    data = judge(third)
    assert data["verdict"] != "BROKEN", data
    assert "truncated" not in [item["code"] for item in data["differences"]]
    assert [item["code"] for item in data["notes"] if log in item["path"]] == ["checkpoint_ahead"]
    assert "adopt" not in str(data)
    codes = list_codes(third)
    assert ("rows_waiting" in codes, "ledger_broken" in codes) == (True, False)
    bring_log(first, third)
    assert [item["verdict"] for item in judge(third)["logs"] if item["log"] == log] == ["L2"]


def test_the_own_log_below_its_signed_head_stays_a_fault(tmp_path: Path) -> None:
    first, _ = make_two(tmp_path)
    first.remember("one")
    first.call(lambda session: session.store.checkpoint())
    path = first.vault / f".onrecord/{first.log}/ledger/00000000.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    data = judge(first)
    assert data["verdict"] == "BROKEN"
    assert "truncated" in [item["code"] for item in data["differences"]]


@pytest.mark.parametrize("kept", [0, 1])
def test_versions_that_were_here_and_are_cut_off_are_told_from_those_that_never_came(
    machines: tuple[Machine, Machine], kept: int
) -> None:
    first, second = machines
    session = second.open()
    path = second.vault / f".onrecord/{first.log}/versions/00000000.jsonl"
    whole = path.read_bytes()

    def tell() -> list[str]:
        found = diagnose(session, {}).data["findings"]
        assert isinstance(found, list)
        return [item["message"] for item in found if item["code"] == "log_cut_back"]

    assert tell() == []
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:kept]))
    assert tell() == [f"another log: {2 - kept} of its last versions and turns were taken in here and are gone"]
    rebuild(session)  # an index made anew never had them
    assert tell() == []
    path.write_bytes(whole)
    assert tell() == []
    session.close()
