"""A process that writes to a vault and is killed in the middle: at the n-th primitive of its disks, or from outside.

It prints one JSON line for each acknowledged write, at once, and kills itself before a primitive, naming it first.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

from onrecord.app.capture import capture
from onrecord.app.remember import remember
from onrecord.app.update import update
from onrecord.storage.files.disk import Disk
from tests.vaults import open_session

PRIMITIVES = (
    "make_folder", "write_new", "write_at", "overwrite", "truncate", "sync", "sync_folder", "unlink", "rename",
    "rename_noreplace", "exchange", "link", "open_for_append",
)  # fmt: skip
_count = 0


def tell(**what: object) -> None:
    """Print one line at once."""
    os.write(1, json.dumps(what).encode() + b"\n")


def make_killing_disk(kill_at: int) -> Callable[[str], Disk]:
    """Return a maker of disks that kill the process before the n-th primitive of all of them together."""

    class KillingDisk(Disk):
        pass

    def wrap(name: str) -> Callable[..., object]:
        plain = getattr(Disk, name)

        def step(self: Disk, path: str, *more: object) -> object:
            global _count
            _count += 1
            if _count == kill_at:
                tell(step=f"{name} {path}")
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(self, path, *more)

        return step

    for name in PRIMITIVES:
        setattr(KillingDisk, name, wrap(name))
    return KillingDisk


def main(vault: str, state: str, kill_at: str, count: str) -> None:
    """Write memories, changes and turns, with a checkpoint after every fifth entry, in a process of its own."""
    session = open_session(Path(vault), Path(state), make_disk=make_killing_disk(int(kill_at)), checkpoint_entries=5)
    run = os.getpid()
    for number in range(int(count)):
        text = f"memory {number} of run {run} 記憶"
        kept = remember(session, {"text": text, "idempotency_key": f"{run}-{number}"}).data
        tell(op="remember", id=kept["id"], version=1, text=text)
        if number % 3 == 1:
            changed = f"changed {number} of run {run}"
            update(session, {"id": kept["id"], "text": changed, "expect": 1})
            tell(op="update", id=kept["id"], version=2, text=changed)
        if number % 2 == 0:
            turn = f"t{run}-{number}"
            spoken = f"turn {number} of run {run}"
            done = capture(session, {"source": "s", "session": "x", "turn": turn, "role": "user", "text": spoken}).data
            tell(op="capture", id=done["id"], turn=turn, text=spoken)
    tell(op="end", steps=_count)
