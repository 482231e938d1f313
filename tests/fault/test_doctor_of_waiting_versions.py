"""Doctor and `verify` while versions wait in the journal, as the vault's disk is full: nothing is called altered."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.adapters.system import SystemClock, SystemIds
from onrecord.app.capture import capture
from onrecord.app.doctor.diagnosis import Examination, diagnose, look
from onrecord.app.find import find
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.storage.files.store import FileVaultStore, StoreOptions
from tests.fault.test_disk_refuses import Trouble, make_troubled
from tests.vaults import KEYS, check_verifies, make_vault, open_session


@pytest.mark.parametrize("is_update", [False, True])
@pytest.mark.parametrize("refused", [(), ("write_new",)])
@pytest.mark.parametrize("short_bytes", [0, 40, 600])
def test_a_version_that_waits_in_the_journal_is_not_placed_and_never_altered(
    tmp_path: Path, short_bytes: int, refused: tuple[str, ...], is_update: bool
) -> None:
    trouble, (vault, state) = Trouble(), (tmp_path / "vault", tmp_path / "state")
    make_vault(vault)
    opened = open_session(vault, state, make_disk=make_troubled(trouble))
    made = remember(opened, {"text": "before the trouble", "title": "Before"})
    trouble.where, trouble.refused = "vault", set(refused)
    trouble.short_bytes = None if refused else short_bytes
    path = "memories/default/Before.md"
    if is_update:
        reply = update(opened, {"id": made.data["id"], "text": "committed while full", "expect": 1})
    else:
        path = "memories/default/Full.md"
        reply = remember(opened, {"text": "committed while full", "title": "Full"})
    assert [item.reason for item in reply.degraded] == ["not_placed"]

    found = look_only(opened, vault, state)
    assert not found.is_critical, found.problems
    findings = diagnose(opened, {}, found=found).data["findings"]
    assert isinstance(findings, list)
    told = {(item["code"], item["path"]) for item in findings if item["severity"] != "info"}
    assert told - {("storage_failed", ""), ("outside_edits_pending", "")} == {("not_placed", path)}, findings
    data = verify(opened, {}, Ed25519Verifier()).data
    differences = data["differences"]
    assert isinstance(differences, list)
    assert (data["verdict"], {(item["code"], item["path"]) for item in differences}) == ("L2", {("not_placed", path)})

    trouble.refused, trouble.short_bytes = set(), None
    assert find(opened, {"query": "full"}).data["status"] == "found"
    assert look_only(opened, vault, state).problems == set()
    assert diagnose(opened, {}).data["total"] == 0
    check_verifies(opened)
    opened.close()


def test_a_turn_that_waits_in_the_journal_alters_no_transcript(tmp_path: Path) -> None:
    trouble, (vault, state) = Trouble(), (tmp_path / "vault", tmp_path / "state")
    make_vault(vault)
    opened = open_session(vault, state, make_disk=make_troubled(trouble))
    turn = {"source": "codex", "session": "s1", "role": "user", "speaker": "Ann"}
    capture(opened, {**turn, "turn": "t1", "text": "before the trouble"})
    trouble.where, trouble.short_bytes = "vault", 0
    reply = capture(opened, {**turn, "turn": "t2", "text": "captured while full"})
    assert "not_placed" in [item.reason for item in reply.degraded]

    findings = diagnose(opened, {}, found=look_only(opened, vault, state)).data["findings"]
    assert isinstance(findings, list)
    told = {item["code"] for item in findings if item["severity"] != "info"}
    assert "not_placed" in told
    assert told <= {"not_placed", "storage_failed", "outside_edits_pending"}, findings
    data = verify(opened, {}, Ed25519Verifier()).data
    differences = data["differences"]
    assert isinstance(differences, list)
    assert (data["verdict"], {item["code"] for item in differences}) == ("L2", {"not_placed"})

    trouble.short_bytes = None
    assert find(opened, {"query": "full"}).data["status"] == "found"
    assert diagnose(opened, {}).data["total"] == 0
    check_verifies(opened)
    opened.close()


def look_only(session: Session, vault: Path, state: Path) -> Examination:
    """Return what doctor finds before anything is taken in, from what lies on the disks alone."""
    options = StoreOptions(str(vault), str(state), 10.0, 256, is_looking=True)
    store = FileVaultStore(options, KEYS, SystemClock(), SystemIds())
    with closing(store):
        return look(replace(session, store=store), Reply())
