"""What the watch tells: one event for each thing that happened to a memory or its file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from onrecord.app.content import locate
from onrecord.app.session import Session
from onrecord.app.stamps import COPY_MARK
from onrecord.domain.canonical import decode_strict
from onrecord.domain.conflict import OPEN, STATUS_OF_STATE
from onrecord.domain.ids import LogId, RecordId
from onrecord.domain.limits import ENTRY_MAX_BYTES
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexReader
from onrecord.ports.store import LogHead, VersionRow

Kind = Literal[
    "version",
    "moved",
    "missing",
    "back",
    "retired",
    "copy",
    "displaced",
    "conflict",
    "problem",
    "mended",
    "watching",
    "offline",
]
_MOVE = b'"type":"record.move"'


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that the loop tells.

    Attributes:
        kind: `version` (a version or turn that was taken in, made here or elsewhere), `moved` (a file was renamed),
            `missing` (the file of a memory is gone), `back` (it is there again), `retired` (its memory is retired),
            `copy` (a copy of a file lies beside it), `displaced` (the text of an edit was kept aside), `conflict`
            (one was opened or settled), `problem` (a file cannot be read as it was meant, or at all), `mended` (what
            could not be read at all can be, or is gone), `watching` (all files were compared and the vault is
            watched), `offline` (it cannot be used now; the loop tries again).
        path: The file, as it lies now.
        was: Where a file lay before it was moved.
        id, version, origin, log: Of the memory or its version.
        code: Of a problem.
        message: Why the vault is offline; what the problem is; the state of a conflict.
    """

    kind: Kind
    path: str = ""
    was: str = ""
    id: str = ""
    version: int = 0
    origin: str = ""
    log: str = ""
    code: str = ""
    message: str = ""


class Teller:
    """Finds out what there is to tell after each round of the watch.

    A file that is gone is told of in the round after the one that missed it: an editor that saves may have taken it
    away for a moment.

    Args:
        tell: Is given each event.
    """

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self.tell = tell
        self._marks: dict[LogId, int] | None = None
        self._vanished: set[RecordId] = set()
        self._gone: set[RecordId] = set()
        self._copies: set[str] = set()
        self._places: dict[RecordId, str] = {}
        self._refused: dict[str, Problem] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether something is to be looked at again soon."""
        return bool(self._vanished)

    def begin(self, session: Session) -> None:
        """Take what there is now as known, if this is the first time."""
        if self._marks is None:
            self._marks = {head.log: head.entries for head in session.store.list_logs()}
            self._gone = set(session.store.absences.read().missing)
            with session.index.read() as reader:
                self._copies = {stamp.path for stamp in reader.find_files_of(COPY_MARK)}

    def tell_rows(self, session: Session) -> int:
        """Tell what has come to the logs since the last call; return how many versions and turns that were."""
        marks = self._marks if self._marks is not None else {}
        told = 0
        for head in session.store.list_logs():
            with session.index.read() as reader:
                rows = [
                    row
                    for row in session.store.read_rows(head.log, marks.get(head.log, 0))
                    if not isinstance(row, Problem) and row.ref.seq < head.entries
                ]
                events = [(int(row.ref.seq), event) for row in rows for event in self._describe(session, reader, row)]
                if head.is_own:
                    events += self._list_moves(session, reader, head, marks.get(head.log, 0))
            marks[head.log] = head.entries
            told += len(rows)
            for _, event in sorted(events, key=lambda item: item[0]):
                self.tell(event)
        return told

    def tell_files(self, session: Session, paths: Collection[str] | None) -> None:
        """Tell which files are gone, back or copies.

        Args:
            session: The opened vault.
            paths: What was looked at; None after a comparison of all files.
        """
        with session.index.read() as reader:
            self._tell_copies(reader)
            if paths is None:
                asked = {*session.store.absences.read().missing, *self._gone}
            else:
                stamps = (reader.get_file(path) for path in paths)
                asked = {stamp.record for stamp in stamps if stamp is not None and not stamp.is_pending}
            waited = self._vanished
            self._vanished = set()
            for record in sorted({*asked, *waited} - {COPY_MARK}):
                self._tell_file(session, reader, record, has_waited=record in waited)

    def tell_refused(self, session: Session) -> None:
        """Tell which files are no memories as they lie, each once, and which of them no more are that."""
        now = dict(session.refused)
        for path, problem in sorted(now.items()):
            before = self._refused.get(path)
            if before is None or before.code != problem.code:
                self.tell(Event("problem", path, code=problem.code, message=problem.message))
        for path in sorted(self._refused.keys() - now.keys()):
            self.tell(Event("mended", path, code=self._refused[path].code))
        self._refused = now

    def _tell_file(self, session: Session, reader: IndexReader, record: RecordId, *, has_waited: bool) -> None:
        head = reader.get_current(record)
        if head is None or head.status == "retired":
            self._gone.discard(record)
            return
        place = locate(session, reader, head)
        path = place.stamp.path if place.stamp is not None else head.path
        if not place.is_missing:
            if record in self._gone and place.stamp is not None and not place.is_shut:
                self._gone.discard(record)
                self.tell(Event("back", path, id=record, version=head.version))
        elif record not in self._gone:
            if has_waited:
                self._gone.add(record)
                self.tell(Event("missing", path, id=record, version=head.version))
            else:
                self._vanished.add(record)

    def _tell_copies(self, reader: IndexReader) -> None:
        copies = {stamp.path for stamp in reader.find_files_of(COPY_MARK)}
        for path in sorted(copies - self._copies):
            self.tell(Event("copy", path))
        self._copies = copies

    def _describe(self, session: Session, reader: IndexReader, row: VersionRow) -> Iterator[Event]:
        draft = row.draft
        kind: Kind = "version"
        message = ""
        if draft.kind == "conflict":
            kind, message = "conflict", "open" if draft.status == STATUS_OF_STATE[OPEN] else "settled"
        elif draft.mode == "displaced":
            kind = "copy" if _lies_beside(reader, row) else "displaced"
            self._copies.add(draft.path)
        elif draft.status == "retired":
            kind = "retired"
        elif draft.turn is None and _was_retired(reader, row):
            kind = "back"
        yield Event(kind, draft.path, "", draft.id, draft.version, draft.origin, row.ref.log, message=message)
        if draft.origin == "file" and draft.kind != "conflict" and draft.turn is None and kind != "retired":
            for problem in read_record(draft.data, draft.path, session.yaml).problems:
                if problem.severity is not Severity.INFO:
                    told = f"line {problem.line}: {problem.message}" if problem.line else problem.message
                    yield Event("problem", draft.path, "", draft.id, code=problem.code, message=told)

    def _list_moves(
        self, session: Session, reader: IndexReader, head: LogHead, first: int
    ) -> Iterator[tuple[int, Event]]:
        for seq, line in session.store.read_entries(head.log, first):
            if seq >= head.entries or _MOVE not in line:
                continue
            record = RecordId(str(decode_strict(line, max_bytes=ENTRY_MAX_BYTES).get("rec")))
            current = reader.get_current(record)
            if current is None:
                continue
            stamps = [stamp.path for stamp in reader.find_files_of(record)]
            path = next((path for path in stamps if session.store.stat_file(path) is not None), current.path)
            versions = [version.path for version in reader.list_versions(record) if not version.is_displaced]
            before = [self._places.get(record, ""), *reversed(versions)]
            was = next((place for place in before if place not in ("", path)), "")
            self._places[record] = path
            yield seq, Event("moved", path, was, record, current.version)


def _lies_beside(reader: IndexReader, row: VersionRow) -> bool:
    current = reader.get_current(row.draft.id)
    return current is not None and current.path != row.draft.path


def _was_retired(reader: IndexReader, row: VersionRow) -> bool:
    before = [head for head in reader.list_versions(row.draft.id) if head.ref in row.draft.parents]
    return any(head.status == "retired" for head in before)
