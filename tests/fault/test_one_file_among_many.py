"""One file that a person adds, renames or writes anew costs a few questions, not a look at all stamps."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply
from onrecord.storage.sqlite.stamps import StampReader
from tests.vaults import make_vault, open_session


@pytest.mark.parametrize("change", ["added", "renamed", "written anew", "deleted"])
def test_one_changed_file_is_taken_in_without_loading_all_stamps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    vault = tmp_path / "vault"
    make_vault(vault)
    for number in range(5):
        (vault / "memories" / f"{number}.md").write_text(f"note number {number}\nof five\n")
    session = open_session(vault, tmp_path / "state")
    path = vault / "memories" / "2.md"
    match change:
        case "added":
            (vault / "memories" / "added.md").write_text("another one\n")
        case "renamed":
            path.rename(vault / "memories" / "renamed.md")
        case "written anew":
            (vault / "new").write_text(path.read_text() + "and more\n")
            (vault / "new").replace(path)
        case _:
            path.unlink()
    monkeypatch.delattr(StampReader, "list_files")
    made = reconcile(session, Reply(), wait_s=None)
    with session.index.read() as reader:
        counts = reader.count()
    records, versions = {"added": (6, 6), "renamed": (5, 5), "written anew": (5, 6), "deleted": (5, 5)}[change]
    assert (counts["records"], counts["versions"], made) == (records, versions, versions - 5)
    assert len(session.store.absences.read().missing) == (change == "deleted")
    assert session.store.absences.read().records == (5 if change in ("renamed", "deleted") else 0)  # 0: no need to look
    session.close()
