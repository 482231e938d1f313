"""Another machine's ledger comes before its versions: they are waited for, and only a gap in the middle is a fault."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.remember import remember
from onrecord.app.verify import verify
from tests.vaults import make_vault, open_session


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_rows_that_have_not_come_are_waiting_and_a_gap_is_a_fault(tmp_path: Path, kept: int) -> None:
    make_vault(tmp_path / "one")
    writer = open_session(tmp_path / "one", tmp_path / "state")
    for text in ("first", "second", "third"):
        remember(writer, {"text": text})
    writer.store.checkpoint()
    log = writer.store.log
    writer.close()
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    path = tmp_path / f"two/.onrecord/{log}/versions/00000000.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:kept]))
    session = open_session(tmp_path / "two", tmp_path / "other")
    data = verify(session, {}, Ed25519Verifier()).data
    found = {item["code"] for item in diagnose(session, {}).data["findings"]}  # type: ignore[attr-defined]
    assert data["verdict"] != "BROKEN"
    assert "rows_waiting" in found
    assert "version_altered" not in found
    path.write_bytes(b"".join([*lines[:kept], lines[-1]]) if kept < 2 else b"".join(lines))
    data = verify(session, {}, Ed25519Verifier()).data
    assert (data["verdict"] == "BROKEN") is (kept < 2)
    session.close()
