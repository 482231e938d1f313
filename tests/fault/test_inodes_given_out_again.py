"""A file system gives the inode number of a file that is gone to the next one: no memory gets another one's text."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply
from tests.vaults import check_verifies, make_vault, open_session

NAMES = ("one", "two", "three")


def save_onto(path: Path, inode_of: Path, text: str) -> None:
    """Save a file by renaming a temporary one that has the inode of a file which is kept aside."""
    inode_of.write_text(text)
    inode_of.rename(path)


@pytest.mark.parametrize("count", [2, 3])
def test_notes_saved_by_renaming_one_after_another_stay_the_memories_that_they_were(tmp_path: Path, count: int) -> None:
    vault, folder = tmp_path / "vault", tmp_path / "vault" / "memories"
    make_vault(vault)
    folder.mkdir(exist_ok=True)
    paths = {name: folder / f"{name}.md" for name in NAMES[:count]}
    for name, path in paths.items():
        path.write_text(f"the shopping list of day {name}\n")
    session = open_session(vault, tmp_path / "state")
    with session.index.read() as reader:
        owners = {Path(stamp.path).stem: stamp.record for stamp in reader.list_files()}
    free = folder / "aside"
    for number, (name, path) in enumerate(paths.items()):
        text = f"the shopping list of day {name}\n- milk\n"
        given_up = folder / f"given up {number}"
        path.rename(given_up)
        if number:
            save_onto(path, free, text)
        else:
            path.write_text(text)
        free = given_up
    reconcile(session, Reply(), wait_s=None)
    for name, record in owners.items():
        assert str(read(session, {"id": record}).data["text"]) == f"the shopping list of day {name}\n- milk"
    check_verifies(session)
    session.close()
