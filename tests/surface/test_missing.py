"""`repair missing`: what is gone since when, and the user's word that ends the wait."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import onrecord as package
from onrecord.app.session import Caller, Channel
from onrecord.wiring import SERVICES
from tests.surface.cli import CommandLine, Done

TEXTS = ("apples grow", "bears sleep", "cats hunt", "dogs bark", "eels swim")


@pytest.fixture
def paths(onrecord: CommandLine) -> dict[str, Path]:
    ids = [onrecord("remember", text).data["id"] for text in TEXTS]
    return {record: Path(onrecord.vault) / onrecord("read", record).data["path"] for record in ids}


AT_TERMINAL = replace(SERVICES, name_caller=lambda *_: Caller(Channel.TERMINAL))


def retire(onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, *, as_json: bool = True) -> Done:
    """Retire what is missing as a person at a terminal does."""
    with monkeypatch.context() as patch:
        patch.setattr("tests.surface.cli.SERVICES", AT_TERMINAL)
        return onrecord("repair", "missing", "--retire", as_json=as_json)


def test_missing_memories_are_listed_with_what_is_left_of_the_wait(onrecord: CommandLine, paths) -> None:
    record, path = next(iter(paths.items()))
    path.unlink()
    data = onrecord("repair", "missing").data
    (item,) = data["missing"]
    assert (item["id"], item["title"]) == (record, "apples grow")
    assert 23 * 3_600 < item["left_s"] <= 24 * 3_600
    assert item["path"] == str(path.relative_to(onrecord.vault))
    assert (data["total"], data["records"], data["retired"], data["retirement_suspended"]) == (1, 5, 0, False)
    status = onrecord("status").data
    assert status["missing"] == {"records": 1, "retirement_suspended": False}
    assert (status["counts"]["records"], status["counts"]["files"]) == (5, 4)


def test_where_nothing_is_missing_that_is_said(onrecord: CommandLine, paths) -> None:
    assert len(paths) == 5
    assert onrecord("repair", "missing", as_json=False).out == "no memory has lost its file\n"


def test_nobody_but_the_user_at_a_terminal_retires_before_the_time(onrecord: CommandLine, paths) -> None:
    record, path = next(iter(paths.items()))
    path.unlink()
    refused = onrecord("repair", "missing", "--retire")
    assert (refused.status, refused.error["code"]) == (1, "approval_required")
    assert onrecord("read", record).data["status"] == "current"


def test_the_user_retires_at_once_though_retirement_is_suspended(
    onrecord: CommandLine, paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in paths.values():
        path.unlink()
    suspended = onrecord("status")
    assert suspended.data["missing"] == {"records": 5, "retirement_suspended": True}
    assert [item["reason"] for item in suspended.envelope["degraded"]] == ["retirement_suspended"]
    (finding,) = [item for item in onrecord("doctor").data["findings"] if item["code"] == "retirement_suspended"]
    assert "5 of 5 memories" in finding["message"]
    done = retire(onrecord, monkeypatch)
    assert (done.data["retired"], done.data["total"], done.data["missing"]) == (5, 0, [])
    named = {item["id"]: (item["title"], item["path"]) for item in done.data["retired_memories"]}
    places = {record: str(path.relative_to(onrecord.vault)) for record, path in paths.items()}
    assert named == {record: (text, places[record]) for record, text in zip(paths, TEXTS, strict=True)}
    assert {onrecord("read", record).data["status"] for record in paths} == {"retired"}
    assert onrecord("status").data["missing"] == {"records": 0, "retirement_suspended": False}


def test_what_was_retired_is_named_for_a_person_and_as_far_as_the_page_has_room(
    onrecord: CommandLine, paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = paths.values()
    first.unlink()
    shown = retire(onrecord, monkeypatch, as_json=False).out
    assert f"retired  {next(iter(paths))}  {first.relative_to(onrecord.vault)}  apples grow" in shown
    assert shown.endswith("\n1 memory retired now; no other has lost its file\n")
    for path in others:
        path.unlink()
    monkeypatch.setenv("ONRECORD_PAGE_BYTES", "4096")
    for number in range(60):
        text = f"{number} " + "many words " * 12
        record = onrecord("remember", text).data["id"]
        (Path(onrecord.vault) / onrecord("read", record).data["path"]).unlink()
    done = retire(onrecord, monkeypatch)
    assert (done.data["retired"], done.data["truncated"]) == (64, True)
    assert 0 < len(done.data["retired_memories"]) < 64


def test_a_retired_memory_without_a_file_is_in_order(
    onrecord: CommandLine, paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, path = next(iter(paths.items()))
    path.unlink()
    retire(onrecord, monkeypatch)
    for _ in range(2):
        assert onrecord("verify").data["differences"] == []
        assert "missing_file" not in {item["code"] for item in onrecord("doctor").data["findings"]}
        assert onrecord("find", "apples").data["status"] == "no_match"
        shown = onrecord("read", record)
        (warning,) = shown.envelope["warnings"]
        assert (shown.data["text"], "is retired" in warning) == ("apples grow", True)
        onrecord("reindex")


def test_a_memory_whose_place_another_ones_file_took_is_missing_at_once(onrecord: CommandLine, paths) -> None:
    (_, moved), (lost, place) = list(paths.items())[:2]
    moved.rename(place)
    assert onrecord("status").data["missing"]["records"] == 1
    assert [item["id"] for item in onrecord("repair", "missing").data["missing"]] == [lost]
    assert onrecord("reindex").status == 0
    assert [item["id"] for item in onrecord("repair", "missing").data["missing"]] == [lost]


def test_a_memory_that_lost_its_place_while_the_vault_is_open_is_missing_with_the_next_call(
    onrecord: CommandLine, paths
) -> None:
    (_, moved), (lost, place) = list(paths.items())[:2]
    with package.open(onrecord.vault) as vault:
        vault.status()
        moved.rename(place)
        vault.find("bears sleep")
        vault.find("bears sleep")
    assert lost in [item["id"] for item in onrecord("repair", "missing").data["missing"]]


def test_where_nothing_is_missing_the_memories_that_should_have_a_file_are_counted(
    onrecord: CommandLine, paths
) -> None:
    data = onrecord("repair", "missing").data
    assert (data["total"], data["records"]) == (0, len(paths))
