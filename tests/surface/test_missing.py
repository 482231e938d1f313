"""`repair missing`: what is gone since when, and the user's word that ends the wait."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from onrecord.app.session import Caller, Channel
from onrecord.wiring import SERVICES
from tests.surface.cli import CommandLine, Done

TEXTS = ("apples grow", "bears sleep", "cats hunt", "dogs bark", "eels swim")


@pytest.fixture
def paths(onrecord: CommandLine) -> dict[str, Path]:
    ids = [onrecord("remember", text).data["id"] for text in TEXTS]
    return {record: Path(onrecord.vault) / onrecord("read", record).data["path"] for record in ids}


AT_TERMINAL = replace(SERVICES, name_caller=lambda *_: Caller(Channel.TERMINAL))


def retire(onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Done:
    """Retire what is missing as a person at a terminal does."""
    with monkeypatch.context() as patch:
        patch.setattr("tests.surface.cli.SERVICES", AT_TERMINAL)
        return onrecord("repair", "missing", "--retire")


def test_missing_memories_are_listed_with_what_is_left_of_the_wait(onrecord: CommandLine, paths) -> None:
    record, path = next(iter(paths.items()))
    path.unlink()
    data = onrecord("repair", "missing").data
    (item,) = data["missing"]
    assert (item["id"], item["title"]) == (record, "apples grow")
    assert 23 * 3_600 < item["left_s"] <= 24 * 3_600
    assert item["path"] == str(path.relative_to(onrecord.vault))
    assert (data["total"], data["records"], data["retired"], data["retirement_suspended"]) == (1, 5, 0, False)
    assert onrecord("status").data["missing"] == {"records": 1, "retirement_suspended": False}


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
    assert {onrecord("read", record).data["status"] for record in paths} == {"retired"}
    assert onrecord("status").data["missing"] == {"records": 0, "retirement_suspended": False}


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
        assert (shown.data["text"], shown.envelope["warnings"]) == ("apples grow", [])
        onrecord("reindex")
