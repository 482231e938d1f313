"""Two versions of a memory may have one number: each is told and read by its entry."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.session import Reply, Session
from onrecord.domain.errors import InvalidInputError, NotFoundError
from onrecord.surfaces.cli.output import print_reply
from tests.machines import Machine
from tests.surface.test_settle_recipe import COPY, make_copied


@pytest.fixture
def copied(tmp_path: Path) -> tuple[Machine, str]:
    return make_copied(tmp_path)


def list_versions(machine: Machine, record: str) -> list[dict[str, Any]]:
    return machine.call(lambda session: list_history(session, {"id": record}).data["versions"])  # type: ignore[return-value]


def read_data(machine: Machine, **given: object) -> Reply:
    return machine.call(lambda session: read(session, given))


def test_each_version_of_a_history_is_read_by_its_entry(copied: tuple[Machine, str]) -> None:
    machine, record = copied
    versions = list_versions(machine, record)
    assert [item["version"] for item in versions] == [1, 2, 2, 3, 3]
    for item in versions:
        shown = read_data(machine, id=record, entry=item["by"]).data
        assert {name: shown[name] for name in ("version", "by", "status", "recorded_at")} == {
            name: item[name] for name in ("version", "by", "status", "recorded_at")
        }
    texts = {str(read_data(machine, id=record, entry=item["by"]).data["text"]) for item in versions}
    assert len(texts) == 3


def test_a_number_of_several_versions_shows_the_current_one_and_names_the_others(copied: tuple[Machine, str]) -> None:
    machine, record = copied
    versions = list_versions(machine, record)
    shown = read_data(machine, id=record, version=3)
    assert shown.data["by"] == read_data(machine, id=record).data["by"]
    (other,) = (item["by"] for item in versions if item["version"] == 3 and item["by"] != shown.data["by"])
    assert any(f"onrecord read {record} --entry {other}" in warning for warning in shown.warnings)
    assert not any("--entry" in warning for warning in read_data(machine, id=record, version=1).warnings)
    second = read_data(machine, id=record, version=2)
    assert second.data["by"] == [item["by"] for item in versions if item["version"] == 2][-1]


def test_an_entry_that_is_no_version_of_the_memory_is_refused(copied: tuple[Machine, str]) -> None:
    machine, record = copied
    known = list_versions(machine, record)[0]["by"]
    with pytest.raises(NotFoundError) as caught:
        read_data(machine, id=record, entry=f"{machine.log}:900")
    assert caught.value.field == "entry"
    with pytest.raises(NotFoundError):
        read_data(machine, id=record, entry=known, version=2)
    for bad in ("3", "nonsense:1", f"{machine.log}:01", f"{machine.log}"):
        with pytest.raises(InvalidInputError) as refused:
            read_data(machine, id=record, entry=bad)
        assert refused.value.field == "entry"


def test_the_history_that_a_person_sees_tells_entry_and_status(
    copied: tuple[Machine, str], capsys: pytest.CaptureFixture[str]
) -> None:
    machine, record = copied
    reply = machine.call(lambda session: list_history(session, {"id": record}))
    print_reply("history", reply, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    versions = reply.data["versions"]
    assert isinstance(versions, list)
    assert all(item["by"] in line and item["status"] in line for item, line in zip(versions, lines, strict=True))


def test_doctor_names_a_copy_that_two_machines_kept_once_and_by_the_entry_that_has_its_text(
    copied: tuple[Machine, str],
) -> None:
    machine, record = copied

    def ask(session: Session) -> list[dict[str, Any]]:
        return diagnose(session, {}).data["findings"]  # type: ignore[return-value]

    findings = machine.call(ask)
    (named,) = (item for item in findings if item["code"] in ("conflict_copy", "sync_copy"))
    assert named["code"] == "conflict_copy"
    assert named["path"] == COPY
    assert "gone" not in named["message"]
    (entry,) = re.findall(rf"onrecord read {record} --entry ([0-9a-z]+:[0-9]+)`", named["mend"])
    shown = str(read_data(machine, id=record, entry=entry).data["text"])
    assert shown.strip() in (machine.vault / COPY).read_text()
