"""Power cuts behind every primitive of the write path, with every kind of loss: no acknowledged write is lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from onrecord.app.capture import capture
from onrecord.app.links import link
from onrecord.app.remember import remember
from onrecord.app.session import Channel
from onrecord.app.update import update
from onrecord.domain.errors import OnRecordError
from tests.fault.power import (
    Fate,
    Op,
    Recording,
    RecordingDisk,
    cut_power,
    draw_fates,
    keep_everything,
    keep_nothing,
    load_model,
    write_model,
)
from tests.fault.survival import check_acknowledged, check_whole
from tests.vaults import BootClock, make_vault, open_session

pytestmark = pytest.mark.usefixtures("no_syncs")

WRITES = 7
# The deep run cuts behind every PARTS-th operation in each of so many tests, so that no worker is left with all of it.
PARTS = 6


class Recorded:
    """A vault whose life was recorded, and what is needed to cut it anywhere.

    Args:
        base: Where it lies.
        writes: Memories that it gets.
        elsewhere: A folder outside of it to which `memories/default` is an allowed link; None for a folder of its own.
    """

    def __init__(self, base: Path, writes: int = WRITES, elsewhere: Path | None = None) -> None:
        self.base = base
        self.vault, state = base / "vault", base / "state"
        self.links = {("vault", "memories/default"): elsewhere} if elsewhere is not None else {}
        make_vault(self.vault)
        session = open_session(self.vault, state, channel=Channel.TERMINAL)
        if elsewhere is not None:
            link(session, {"path": "memories/default", "target": str(elsewhere)})
        session.close()
        (self.state,) = [path for path in (state / "vaults").iterdir() if path.is_dir()]
        self._remove_index(self.state)
        self.roots = {"vault": self.vault, "state": self.state}
        self.start = load_model(self.roots)
        self.recording = Recording()
        self._live(state, writes)

    @staticmethod
    def _remove_index(state: Path) -> None:
        for path in state.glob("index.sqlite3*"):
            path.unlink()

    def _live(self, state: Path, writes: int) -> None:
        def make_disk(root: str) -> RecordingDisk:
            name = "vault" if Path(root) == self.vault else "state"
            return RecordingDisk(root, name, self.recording)

        session = open_session(self.vault, state, clock=BootClock("first"), make_disk=make_disk, checkpoint_entries=4)
        for number in range(writes):
            text = f"memory {number} 記憶"
            kept = remember(session, {"text": text}).data
            self.recording.acknowledge({"op": "remember", "id": kept["id"], "version": 1, "text": text})
            if number % 2:
                update(session, {"id": kept["id"], "text": f"changed {number}", "expect": 1})
                self.recording.acknowledge(
                    {"op": "update", "id": kept["id"], "version": 2, "text": f"changed {number}"}
                )
            turn, spoken = f"t{number}", f"turn {number}"
            done = capture(session, {"source": "s", "session": "x", "turn": turn, "role": "user", "text": spoken}).data
            self.recording.acknowledge({"op": "capture", "id": done["id"], "turn": turn, "text": spoken})
        session.close()

    def cut(self, at: int, fate: Fate, number: int, ops: list[Op] | None = None, *, is_thorough: bool) -> None:
        """Cut power behind operation `at`, open what is left in another boot, and check it."""
        model = cut_power(self.start, (self.recording.ops if ops is None else ops)[:at], fate)
        place = self.base / "cut"
        shutil.rmtree(place, ignore_errors=True)
        write_model(model, {"vault": place / "vault", "state": place / "left"}, self.links)
        self._remove_index(place / "left")
        found = os.stat(place / "vault" / ".onrecord")
        vault_id = self.state.name.split("-")[0]
        (place / "state" / "vaults").mkdir(parents=True)
        os.rename(place / "left", place / "state" / "vaults" / f"{vault_id}-{found.st_dev:x}-{found.st_ino:x}")
        session = open_session(place / "vault", place / "state", clock=BootClock(f"boot-{number}"))
        try:
            writes = [what for after, what in self.recording.acknowledged if after <= at]
            (check_whole if is_thorough else check_acknowledged)(session, writes)  # type: ignore[arg-type]
            remember(session, {"text": "life goes on"})
        finally:
            session.close()

    def cut_everywhere(self, fates_a_step: int, first: int = 0, step: int = 1) -> None:
        """Cut behind each operation from `first` on, under both extremes and under fates drawn at random."""
        number = 0
        for at in range(first, len(self.recording.ops) + 1, step):
            drawn = [draw_fates(at * 100 + seed) for seed in range(fates_a_step)]
            for fate in (keep_nothing, keep_everything, *drawn):
                number += 1
                self.cut(at, fate, number, is_thorough=number % 5 == 0)

    def cut_in_turn(self, step: int = 1) -> None:
        """Cut behind each operation, losing all, and in turn losing nothing or what is drawn at random."""
        for number, at in enumerate(range(0, len(self.recording.ops) + 1, step)):
            self.cut(at, keep_nothing, 2 * number, is_thorough=number % 5 == 0)
            fate = (keep_everything, draw_fates(at * 100), draw_fates(at * 100 + 1))[number % 3]
            self.cut(at, fate, 2 * number + 1, is_thorough=number % 5 == 2)


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def test_a_power_cut_behind_any_primitive_loses_nothing_acknowledged(recorded: Recorded) -> None:
    recorded.cut_in_turn()


def test_a_power_cut_while_writing_through_an_allowed_link_loses_nothing_acknowledged(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    recorded = Recorded(tmp_path, 2, elsewhere)
    assert len(list(elsewhere.glob("*.md"))) == 2
    recorded.cut_in_turn(step=3)
    recorded.cut(len(recorded.recording.ops), keep_everything, -1, is_thorough=True)
    assert len(list(elsewhere.glob("*.md"))) == 3, "the last cut lost nothing, and life went on there"


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_power_cuts_of_every_kind_lose_nothing_acknowledged(recorded: Recorded, part: int) -> None:
    recorded.cut_everywhere(fates_a_step=40, first=part, step=PARTS)


def test_the_simulator_notices_a_journal_that_is_not_synced(recorded: Recorded) -> None:
    ops = [op for op in recorded.recording.ops if not (op.kind == "sync" and op.path.startswith("journal"))]

    def cut_everywhere() -> None:
        for at in range(len(ops) + 1):
            recorded.cut(at, keep_nothing, at, ops, is_thorough=False)

    with pytest.raises((OnRecordError, AssertionError)):
        cut_everywhere()
