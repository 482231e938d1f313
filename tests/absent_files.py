"""A vault whose files go away and come back, and a clock that the test turns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.domain.entry import Entry, read_entry
from onrecord.domain.ids import RecordId
from tests.vaults import FixedClock, make_vault, open_session

HOUR_S = 3_600
MINUTE_S = 60


class Home:
    """A vault with memories about numbered things, its files, and a clock that the test turns."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.vault = base / "vault"
        make_vault(self.vault)
        self.clock = FixedClock()
        self.session: Session = self.open()
        self.ids: list[str] = []

    def open(self) -> Session:
        return open_session(self.vault, self.base / "state", clock=self.clock)

    def open_again(self) -> None:
        self.session.close()
        self.session = self.open()

    def lose_index(self) -> None:
        """Delete the index and open again, which makes it anew."""
        self.session.close()
        for path in (self.base / "state").rglob("index.sqlite3*"):
            path.unlink()
        self.session = self.open()
        rebuild(self.session)

    def keep(self, count: int) -> list[Path]:
        """Remember so many things; return their files."""
        for number in range(len(self.ids), len(self.ids) + count):
            text = f"thing number{number} stands here"
            self.ids.append(str(remember(self.session, {"text": text, "title": f"thing {number}"}).data["id"]))
        self.clock.pass_s(MINUTE_S)
        self.look()
        return [self.path(number) for number in range(len(self.ids) - count, len(self.ids))]

    def path(self, number: int) -> Path:
        return self.vault / str(read(self.session, {"id": self.ids[number]}).data["path"])

    def look(self) -> Reply:
        reply = Reply()
        reconcile(self.session, reply, wait_s=None)
        return reply

    def pass_opened(self, hours: float, each_hour: Callable[[int], None] = lambda _: None) -> Reply:
        """Let hours pass with a look at the end of each."""
        reply = self.look()
        for hour in range(int(hours)):
            each_hour(hour)
            self.clock.pass_s(HOUR_S)
            reply = self.look()
        return reply

    def status(self, number: int) -> str:
        with self.session.index.read() as reader:
            head = reader.get_current(RecordId(self.ids[number]))
        assert head is not None
        return head.status

    def count_retired(self) -> int:
        return sum(self.status(number) == "retired" for number in range(len(self.ids)))

    def is_found(self, number: int) -> bool:
        results = find(self.session, {"query": f"number{number}"}).data["results"]
        assert isinstance(results, list)
        return any(hit["id"] == self.ids[number] for hit in results)

    def list_entries(self) -> list[Entry]:
        store = self.session.store
        entries = [read_entry(line) for _, line in store.read_entries(store.log)]
        return [entry for entry in entries if isinstance(entry, Entry)]

    def list_types(self) -> list[str]:
        return [entry.type for entry in self.list_entries()]

    def count_versions(self, number: int) -> int:
        versions = list_history(self.session, {"id": self.ids[number]}).data["versions"]
        assert isinstance(versions, list)
        return len(versions)


def is_suspended(reply: Reply) -> bool:
    return any(item.reason == "retirement_suspended" for item in reply.degraded)
