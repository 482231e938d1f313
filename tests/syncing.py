"""Machines that stay open while a sync program carries the files of one vault between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.ports.index import IndexBatch
from onrecord.ports.store import VersionRow
from onrecord.storage.sqlite.index import SqliteIndex
from tests.machines import Machine
from tests.vaults import FixedClock, open_session

RECORDS = ("memories", "events", "conflicts", "facts", "entities", "workspaces")
START_US = 1_780_000_000_000_000


class Crashed(BaseException):
    """Stands for the death of a process between commit and index."""


def die_behind_the_commit(session: Session, text: str) -> None:
    """Remember a text as a process does that dies before it is indexed; the session must be given up then."""
    plain = session.index

    class Dying:
        def __getattr__(self, name: str) -> object:
            return getattr(plain, name)

        def apply(self, batch: IndexBatch) -> None:
            if any(text in item.head.title for item in batch.documents):
                raise Crashed  # what has come is attended to before the new text is committed
            plain.apply(batch)

    session.index = Dying()  # type: ignore[assignment]
    with suppress(Crashed):
        remember(session, {"text": text})
    session.index = plain


class StayingMachine(Machine):
    """An installation that is opened once for many calls, each opening on the index of the one before."""

    def __init__(self, base: Path, name: str, ahead_s: int) -> None:
        super().__init__(base, name)
        self.clock = FixedClock(START_US + ahead_s * 1_000_000)
        self._index = base / name / "index.sqlite3"
        self.is_open = False

    def start(self) -> None:
        """Open the vault, on the index of the opening before."""
        self.clock.pass_s(1)
        has_index = self._index.exists()
        index = SqliteIndex(str(self._index)) if has_index else SqliteIndex.create(str(self._index))
        self.session = open_session(self.vault, self.state, clock=self.clock, checkpoint_entries=7, index=index)
        self.is_open = True

    def stop(self) -> None:
        """Close it."""
        self.is_open = False
        self.session.close()

    def list_files(self) -> list[str]:
        """Return the paths of the record files, sorted."""
        roots = [self.vault / name for name in RECORDS]
        found = [path for root in roots if root.exists() for path in root.rglob("*.md")]
        return sorted(str(path.relative_to(self.vault)) for path in found if path.is_file())

    def get_bytes(self, path: str) -> bytes | None:
        """Return a file's bytes, None where there is none."""
        full = self.vault / path
        return full.read_bytes() if full.is_file() else None

    def put(self, path: str, data: bytes | None) -> None:
        """Put or remove a file as a sync program does: whole and in one step."""
        full = self.vault / path
        if data is None:
            full.unlink(missing_ok=True)
            return
        full.parent.mkdir(parents=True, exist_ok=True)
        aside = full.parent / ".syncthing.aside.tmp"
        aside.write_bytes(data)
        aside.rename(full)

    def carry_log(self, other: StayingMachine) -> None:
        """Carry all of the own log to another machine."""
        for path in sorted((self.vault / self.own).rglob("*")):
            if path.is_file():
                other.put(str(path.relative_to(self.vault)), path.read_bytes())

    @property
    def own(self) -> str:
        """The folder of the own log, relative to the vault."""
        return f".onrecord/{self.session.store.log}"

    def list_rows(self) -> Iterator[VersionRow]:
        """Yield the rows of all logs that lie here."""
        for head in self.session.store.list_logs():
            for row in self.session.store.read_rows(head.log):
                assert isinstance(row, VersionRow), row
                yield row

    def list_records(self) -> list[str]:
        """Return the ids of all records but transcripts, in the order in which they were recorded."""
        rows = sorted(self.list_rows(), key=lambda row: (row.recorded_at, row.ref.seq, row.draft.path, row.ref.log))
        return list(dict.fromkeys(str(row.draft.id) for row in rows if row.draft.kind != "event"))

    def read_text(self, record: str) -> str:
        """Return what is shown of a record."""
        return str(read(self.session, {"id": record}).data["text"])
