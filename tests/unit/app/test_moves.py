"""Entries of moved files commit to their places by the salts of the versions at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app import moves
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply
from onrecord.ports.store import VersionRow
from tests.vaults import check_verifies, make_vault, open_session


@pytest.fixture(params=["home", "default/home"])
def folder(request: pytest.FixtureRequest) -> str:
    """Name the folder that files are moved to: another workspace, whose versions are new ones, or one within theirs."""
    return str(request.param)


def test_a_version_that_the_same_pass_wrote_is_not_read_for_its_salt(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    make_vault(vault)
    notes = vault / "memories" / "default"
    notes.mkdir(parents=True)
    for number in range(3):
        (notes / f"{number}.md").write_text(f"note number {number}\n")
    session = open_session(vault, tmp_path / "state")
    reconcile(session, Reply())
    (vault / "memories" / folder).mkdir()
    for path in sorted(notes.glob("*.md")):
        path.rename(vault / "memories" / folder / path.name)
    read: list[VersionRow | None] = []
    plain = moves._read_whole
    monkeypatch.setattr(moves, "_read_whole", lambda *asked: read.append(plain(*asked)) or read[-1])
    made = reconcile(session, Reply())
    assert len(read) == 3 - made == (0 if folder == "home" else 3)
    entries = [line for _, line in session.store.read_entries(session.store.log) if b'"type":"record.move"' in line]
    assert len(entries) == 3
    with session.index.read() as reader:
        told = moves.ToldPlaces(session)
        for stamp in reader.list_files():
            assert told.find(reader, stamp.record, stamp.path) is moves.Told.HERE
    check_verifies(session)
    session.close()
