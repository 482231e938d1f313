"""A temporary file that a sync program brings from another installation: nobody's edit here, named, left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.update import update
from onrecord.storage.files.disk import Disk
from tests.machines import Machine, make_two
from tests.vaults import check_verifies, open_session


class Crash(BaseException):
    """The process ends here."""


class DyingDisk(Disk):
    """An editor saves while a file is being replaced, and the writer dies before it has looked at that."""

    def exchange(self, one: str, other: str) -> bool:
        with Path(self.root, other).open("ab") as file:
            file.write(b"saved on the other machine\n")
        super().exchange(one, other)
        raise Crash


def leave_a_displaced_edit(machine: Machine) -> tuple[int, Path]:
    """Return which entry of its log a machine dies behind, and the temporary file that it leaves."""
    session = open_session(machine.vault, machine.state, clock=machine.clock, make_disk=DyingDisk)
    record = str(remember(session, {"text": "of the other machine"}).data["id"])
    seq = session.store.entries
    with pytest.raises(Crash):
        update(session, {"id": record, "text": "changed there", "expect": 1})
    (left,) = machine.vault.glob("memories/default/.onrecord-*.tmp")
    return seq, left


@pytest.mark.parametrize("act", ["create", "replace"])
def test_a_temporary_file_of_another_installation_is_no_edit_of_this_one(tmp_path: Path, act: str) -> None:
    first, second = make_two(tmp_path)
    seq, left = leave_a_displaced_edit(second)
    session = first.open()
    record = str(remember(session, {"text": "of this machine"}).data["id"])
    count = 1
    while session.store.entries <= seq:
        if act == "create":
            record, count = str(remember(session, {"text": f"memory {session.store.entries}"}).data["id"]), 1
        else:
            count = int(str(update(session, {"id": record, "text": f"text {count}", "expect": count}).data["version"]))
    text = read(session, {"id": record}).data["text"]
    assert session.store.entries == seq + 1, "the last write has the number of the one that was cut off there"
    foreign = first.vault / left.relative_to(second.vault)
    foreign.write_bytes(left.read_bytes())
    first.clock.boot = "another boot"  # the writer died, and all that it wrote since the checkpoint is placed again
    later = first.open()
    remember(later, {"text": "life goes on"})
    assert read(later, {"id": record}).data["text"] == text
    assert len(list_history(later, {"id": record}).data["versions"]) == count
    assert foreign.read_bytes() == left.read_bytes()
    named = [item for item in diagnose(later, {}).data["findings"] if item["code"] == "temporary_left"]
    assert [item["path"] for item in named] == [str(foreign.relative_to(first.vault))]
    assert second.log in named[0]["message"]
    check_verifies(later)
    later.close()
