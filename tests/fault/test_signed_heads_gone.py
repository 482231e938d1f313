"""A signed head, or the key that judges it, that is gone is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.verify import verify
from tests.machines import Machine, bring, make_two


def find_damaged(machine: Machine, path: str, code: str = "damaged") -> list[dict[str, Any]]:
    found = machine.call(lambda session: diagnose(session, {}).data["findings"])
    return [item for item in found if (item["code"], item["path"]) == (code, path)]  # type: ignore[attr-defined]


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    first, second = make_two(tmp_path)
    for machine in (first, second):
        machine.call(lambda session: session.store.checkpoint())
    bring(first, second)
    return first, second


def test_a_signed_head_of_the_own_log_that_is_gone_is_named(machines: tuple[Machine, Machine]) -> None:
    _, second = machines
    path = f".onrecord/{second.log}/checkpoint"
    assert find_damaged(second, path, "head_gone") == []
    (second.vault / path).unlink()
    (found,) = find_damaged(second, path, "head_gone")
    assert "signed head of the own log is gone" in found["message"]
    assert "a later write signs a new one" in found["mend"]
    notes: Any = second.call(lambda session: verify(session, {}, Ed25519Verifier()).data["notes"])
    assert any(item["path"] == path and "there is none" in item["message"] for item in notes)


def test_a_public_key_of_another_log_that_is_gone_is_named(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    path = f".onrecord/{first.log}/key.pub"
    assert find_damaged(second, path) == []
    (second.vault / path).unlink()
    assert len(find_damaged(second, path)) == 1
