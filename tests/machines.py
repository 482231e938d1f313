"""Installations on copies of one vault folder, and what a sync program brings from one to the other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from onrecord.app.find import find
from onrecord.app.remember import remember
from onrecord.app.session import Channel, Session
from onrecord.app.update import update
from tests.vaults import FixedClock, make_vault, open_reference, open_session

_Answer = TypeVar("_Answer")
LINES = "".join(f"line {number}\n" for number in range(9))


class Machine:
    """One installation on its own copy of the vault folder, with a clock and a state folder of its own."""

    def __init__(self, root: Path, name: str) -> None:
        self.vault = root / name / "vault"
        self.state = root / name / "state"
        self.clock = FixedClock()

    def open(self) -> Session:
        return open_session(self.vault, self.state, clock=self.clock)

    def remember(self, text: str) -> dict[str, Any]:
        return self.call(lambda session: remember(session, {"text": text}).data)

    def call(self, act: Callable[[Session], _Answer]) -> _Answer:
        """Open the vault as a new process does, act, and close it."""
        session = self.open()
        try:
            return act(session)
        finally:
            session.close()

    @property
    def log(self) -> str:
        return self.call(lambda session: session.store.log)

    def find(self, query: str, as_of: str | None = None) -> list[tuple[str, int]]:
        """Return id and version of each hit; the reference index must give the same ids."""
        given = {"query": query} | ({"as_of": as_of} if as_of else {})

        def ask(session: Session) -> list[tuple[str, int]]:
            shown = find(session, given).data["results"]
            reference = find(open_reference(session), given).data["results"]
            assert [hit["id"] for hit in shown] == [hit["id"] for hit in reference]
            return [(hit["id"], hit["version"]) for hit in shown]

        return self.call(ask)

    def list_entries(self) -> list[dict[str, Any]]:
        def read_own(session: Session) -> list[dict[str, Any]]:
            return [json.loads(line) for _, line in session.store.read_entries(session.store.log)]

        return self.call(read_own)


def bring(source: Machine, target: Machine) -> None:
    """Bring files and logs of one copy to the other, as a sync program does; the target's own log stays as it is."""
    own = target.log if target.vault.exists() else ""
    ignore = shutil.ignore_patterns(own, "lock") if own else None
    shutil.copytree(source.vault, target.vault, dirs_exist_ok=True, ignore=ignore)


def bring_log(source: Machine, target: Machine) -> None:
    """Bring the source's own log and no file."""
    folder = f".onrecord/{source.log}"
    shutil.copytree(source.vault / folder, target.vault / folder, dirs_exist_ok=True)


def bring_file(source: Machine, target: Machine, path: str) -> None:
    """Bring one file as a sync program places it: under another name first, then renamed to its place."""
    place = target.vault / path
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".syncthing.{place.name}.tmp")
    shutil.copy2(source.vault / path, temporary)
    temporary.rename(place)


def make_two(root: Path) -> tuple[Machine, Machine]:
    """Return two installations; the second has begun on a copy of the first's vault, a minute later."""
    first, second = Machine(root, "first"), Machine(root, "second")
    first.vault.parent.mkdir()
    make_vault(first.vault)
    first.remember("the first memory")
    bring(first, second)
    second.clock.wall_us += 60_000_000
    second.remember("begun on a copy")
    return first, second


def make_branches(root: Path, user: str = "") -> tuple[Machine, Machine, str]:
    """Return two machines that changed one memory apart and then got each other's logs and files."""
    first, second = make_two(root)
    record = str(first.call(lambda session: remember(session, {"text": LINES, "title": "Plan"}).data["id"]))
    bring(first, second)
    for machine, line in ((first, 0), (second, 8)):
        given = {"id": record, "old": f"line {line}", "new": f"line {line} changed", "expect": 1}
        machine.clock.pass_s(60)
        channel = Channel.TERMINAL if machine.vault.parent.name == user else Channel.LIBRARY
        session = open_session(machine.vault, machine.state, clock=machine.clock, channel=channel)
        update(session, given)
        session.close()
    return first, second, record
