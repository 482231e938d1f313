"""Replies say where versions have not come or are gone: the newest that is there is shown, never an error instead."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from onrecord.app.comparison import Comparison
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.status import describe_status
from onrecord.app.update import update
from onrecord.domain.errors import NotFoundError
from tests.fault.test_adopt import put_content
from tests.machines import Machine, make_two
from tests.vaults import make_vault, open_session


def list_reasons(reply: Reply) -> list[str]:
    return [item.reason for item in reply.degraded]


def carry_ledger(source: Machine, target: Machine) -> None:
    """Bring the ledger of the source's log without its last versions."""
    part = f".onrecord/{source.log}/ledger/00000000.jsonl"
    shutil.copy2(source.vault / part, target.vault / part)


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine, str]:
    first, second = make_two(tmp_path)
    kept = first.find("first memory")[0][0]
    assert second.find("first memory") == [(kept, 1)]
    first.call(lambda session: update(session, {"id": kept, "old": "first", "new": "second", "expect": 1}))
    return first, second, kept


def test_what_waits_for_its_versions_is_marked_where_it_is_shown(machines: tuple[Machine, Machine, str]) -> None:
    first, second, kept = machines
    carry_ledger(first, second)

    def ask(session: Session) -> list[Reply]:
        given = {"id": kept}
        return [
            read(session, given), list_history(session, given), find(session, {"query": "memory"}),
            describe_status(session, {}),
        ]  # fmt: skip

    replies = second.call(ask)
    assert [list_reasons(reply) for reply in replies] == [["rows_waiting"]] * 4
    assert replies[0].data["version"] == 1
    assert replies[3].data["problems"] == 1
    assert replies[3].data["index"] == {"behind": 0}, "no reindex brings what has not come"
    shutil.copytree(first.vault / f".onrecord/{first.log}", second.vault / f".onrecord/{first.log}", dirs_exist_ok=True)
    replies = second.call(ask)
    assert all("rows_waiting" not in list_reasons(reply) for reply in replies)
    assert replies[0].data["version"] == 2


def test_a_change_of_what_waits_for_its_versions_is_made_and_marked(machines: tuple[Machine, Machine, str]) -> None:
    first, second, kept = machines
    carry_ledger(first, second)
    change = {"id": kept, "old": "first", "new": "third", "expect": 1}
    made = second.call(lambda session: update(session, change))
    assert (made.data["version"], list_reasons(made)) == (2, ["rows_waiting"])


def test_what_does_not_wait_is_not_marked(machines: tuple[Machine, Machine, str]) -> None:
    first, second, _ = machines
    own = second.find("begun on a copy")[0][0]
    carry_ledger(first, second)
    assert list_reasons(second.call(lambda session: read(session, {"id": own}))) == []
    assert list_reasons(second.call(lambda session: find(session, {"query": "begun"}))) == []


def test_a_memory_of_which_no_version_has_come_is_said_to_be_on_its_way(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    made = str(first.remember("quite new")["id"])
    second.find("anything")
    carry_ledger(first, second)
    assert list_reasons(second.call(lambda session: find(session, {"query": "quite new"}))) == ["rows_waiting"]
    with pytest.raises(NotFoundError) as caught:
        second.call(lambda session: read(session, {"id": made}))
    assert "have not come yet" in caught.value.hint


class RolledBack:
    """A vault of one installation that was put back to before the second version of its memory."""

    def __init__(self, root: Path, *, only_logs: bool = False) -> None:
        self.vault, self.state, backup = root / "vault", root / "state", root / "backup"
        make_vault(self.vault)
        self.kept = str(self.call(lambda session: remember(session, {"text": "the capital is Bonn"}).data["id"]))
        self.call(lambda session: session.store.checkpoint())
        shutil.copytree(self.vault, backup)
        change = {"id": self.kept, "old": "Bonn", "new": "Berlin", "expect": 1}
        self.call(lambda session: update(session, change))
        self.lost = str(self.call(lambda session: remember(session, {"text": "quite lost"}).data["id"]))
        self.call(lambda session: session.store.checkpoint())
        if only_logs:
            put_content(backup / ".onrecord", self.vault / ".onrecord")
        else:
            put_content(backup, self.vault)

    def call(self, act: Any) -> Any:
        session = open_session(self.vault, self.state)
        try:
            return act(session)
        finally:
            session.close()


def test_of_a_vault_that_was_rolled_back_the_newest_version_there_is_shown(tmp_path: Path) -> None:
    place = RolledBack(tmp_path)
    shown = place.call(lambda session: read(session, {"id": place.kept}))
    assert (shown.data["version"], shown.data["text"]) == (1, "the capital is Bonn")
    assert list_reasons(shown) == ["ledger_rolled_back", "outside_edits_pending"]
    mends = {item.reason: item.mend for item in shown.degraded}
    assert mends["outside_edits_pending"].startswith("Edits made outside are not taken in")
    assert "adopt" not in mends["outside_edits_pending"]
    assert any("version 2" in warning for warning in shown.warnings)
    found = place.call(lambda session: find(session, {"query": "capital"}))
    assert [(hit["id"], hit["version"], hit["snippet"]) for hit in found.data["results"]] == [
        (place.kept, 1, "the capital is Bonn")
    ]
    assert "ledger_rolled_back" in list_reasons(found)
    assert "version_unreadable" not in list_reasons(found)


def test_of_files_of_an_older_vault_nobody_is_told_to_try_again(tmp_path: Path) -> None:
    place = RolledBack(tmp_path)
    (place.vault / "memories" / "new.md").write_text("put there by hand\n")

    def ask(session: Session) -> Reply:
        session.comparison = Comparison(session.store, session.index)
        return find(session, {"query": "capital"})

    for _ in range(2):
        assert sorted(list_reasons(place.call(ask))) == ["ledger_rolled_back", "outside_edits_pending"]
    findings = place.call(lambda session: diagnose(session, {}).data["findings"])
    told = {item["code"]: item for item in findings}
    assert told["ledger_rolled_back"]["severity"] == "critical"
    assert "came with the older vault" in told["edited_outside"]["message"]
    for code in ("edited_outside", "unknown_file"):
        assert told[code]["mend"].startswith("Nothing is taken in while an older vault lies here.")


def test_of_logs_that_were_rolled_back_the_newer_file_is_shown(tmp_path: Path) -> None:
    place = RolledBack(tmp_path, only_logs=True)
    shown = place.call(lambda session: read(session, {"id": place.kept}))
    assert (shown.data["version"], shown.data["text"]) == (2, "the capital is Berlin")
    assert list_reasons(shown) == ["ledger_rolled_back"]


def test_status_counts_what_doctor_would_name(tmp_path: Path) -> None:
    place = RolledBack(tmp_path)
    status = place.call(lambda session: describe_status(session, {}))
    assert list_reasons(status) == ["ledger_rolled_back"]
    assert status.data["problems"] >= 1


def test_status_marks_and_counts_a_log_that_was_cut_back(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    assert second.call(lambda session: describe_status(session, {})).data["problems"] == 0
    shutil.rmtree(second.vault / ".onrecord" / first.log)
    status = second.call(lambda session: describe_status(session, {}))
    assert (list_reasons(status), status.data["problems"]) == (["log_cut_back"], 1)


def test_status_counts_files_ahead_of_their_versions_and_files_that_are_gone(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    first.remember("only the file has come")
    (path,) = [item for item in first.vault.rglob("*.md") if "only the file" in item.read_text()]
    shutil.copy2(path, second.vault / path.relative_to(first.vault))
    assert second.call(lambda session: describe_status(session, {})).data["problems"] == 1
    (gone,) = [item for item in second.vault.rglob("*.md") if "begun on a copy" in item.read_text()]
    gone.unlink()
    assert second.call(lambda session: describe_status(session, {})).data["problems"] == 2


def test_doctor_says_of_a_missing_file_that_its_versions_are_kept_only_where_they_are(tmp_path: Path) -> None:
    place = RolledBack(tmp_path)
    for path in (place.vault / "memories").rglob("*.md"):
        path.unlink()

    def look(session: Session) -> list[Any]:
        data: Any = diagnose(session, {"checks": ["files.missing"]}).data
        return [item for item in data["findings"] if item["code"] == "missing_file"]

    found = {item["message"].split()[4]: item for item in place.call(look)}
    assert set(found) == {place.kept, place.lost}, "both lack their file"
    assert "1 of its 2 versions are not here either" in found[place.kept]["message"]
    assert "1 of its 1 versions are not here either" in found[place.lost]["message"]
    assert all("newest .onrecord" in item["mend"] for item in found.values())
    assert not any("are kept" in item["message"] for item in found.values())
