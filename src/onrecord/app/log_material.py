"""What there is of each log, as its check takes it: lines, rows, keys, heads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from onrecord.app.current import Current
from onrecord.app.log_losses import list_given_up
from onrecord.app.session import Session
from onrecord.domain.ids import LogId, Seq
from onrecord.domain.ledger_check import ErasedRow, LogMaterial, Row, SealedRow, StoredRow, check_log, list_erasures
from onrecord.domain.ledger_report import Head, LogReport
from onrecord.domain.merkle import hash_leaf
from onrecord.domain.problem import Problem
from onrecord.ports.signing import Verifier
from onrecord.ports.store import LogHead, VersionRow


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """What the check of one log found, and whether its versions store has rows that no entry speaks of."""

    report: LogReport
    has_strays: bool


def list_erased(session: Session) -> frozenset[str]:
    """Return `<log id>:<seq>` of every entry whose content an erasure of any log says is gone."""
    heads = session.store.list_logs()
    return frozenset(
        name for head in heads for name in list_erasures(line for _, line in session.store.read_entries(head.log))
    )


def check_every_log(session: Session, verifier: Verifier, current: Current) -> list[CheckedLog]:
    """Check tree, signatures and commitments of every log.

    Args:
        session: The opened vault.
        verifier: Checks signatures.
        current: Takes in all rows that are passed, but those of which it is clear that no entry speaks of them.

    Returns:
        What was found of each log, the own first.

    Raises:
        StorageFailedError, DamagedError: a log cannot be read.
    """
    erased, given_up = list_erased(session), list_given_up(session)
    checked: list[CheckedLog] = []
    for head in session.store.list_logs():
        material, finish = gather_log(session, head, current, erased, given_up)
        report = check_log(material, verifier.verify)
        checked.append(CheckedLog(report, finish(report)))
    return checked


def gather_log(
    session: Session, head: LogHead, current: Current, erased: frozenset[str], given_up: Mapping[LogId, range]
) -> tuple[LogMaterial, Callable[[LogReport], bool]]:
    """Return what there is of a log, and what deals with the rows that its check did not ask for.

    In a log without a fault and of this format they are strays, and the function says whether there are any; in
    another one they may be versions, and are taken in.
    """
    log = head.log
    feed = _RowFeed(session, log, current)

    def read_leaves(other: LogId) -> Iterator[bytes] | None:
        if all(item.log != other for item in session.store.list_logs()):
            return None
        return (hash_leaf(line) for _, line in session.store.read_entries(other))

    key = session.store.read_log_file(log, "key.pub")
    material = LogMaterial(
        log=log,
        lines=(line for _, line in session.store.read_entries(log)),
        read_row=feed.read,
        key_pub=key.decode(errors="replace").rstrip("\n") if key is not None else None,
        checkpoint=session.store.read_log_file(log, "checkpoint"),
        pinned=(Head(*session.store.get_pinned()),) if head.is_own else (),
        read_leaves=read_leaves,
        erased_elsewhere=erased,
        may_lack_end=not head.is_own,
        was_here=head.is_own,
        given_up=given_up,
    )
    return material, feed.finish


class _RowFeed:
    """Gives the rows of one log to its check as they are asked for, and to `current`."""

    def __init__(self, session: Session, log: LogId, current: Current) -> None:
        self._session = session
        self._rows = session.store.read_rows(log)
        self._current = current
        self._waiting: VersionRow | None = None
        self._unasked: list[VersionRow] = []
        self._is_newer = False

    def read(self, seq: Seq) -> Row:
        """Return the row of an entry; called in ascending order."""
        while self._waiting is None or self._waiting.ref.seq < seq:
            if not self._take_next():
                return SealedRow() if self._is_newer else None
        row = self._waiting
        if row.ref.seq == seq:
            self._waiting = None
            self._current.take(row)
            return describe_row(row)
        # Which entry a row of a newer format belongs to is not known; from there on absence is not judged.
        return SealedRow() if self._is_newer else None

    def finish(self, report: LogReport) -> bool:
        """Deal with the rows that were not asked for; tell whether they are of nobody.

        One that waits in the journal is committed: its entry waits there, too.
        """
        is_sound = report.fault is None and not report.newer and not self._is_newer
        has_strays, has_more = False, True
        while has_more:
            has_more = self._take_next()
            if not has_more and self._waiting is not None:
                self._unasked.append(self._waiting)
                self._waiting = None
            for row in self._unasked:
                is_waiting = self._session.store.is_waiting(row.ref)
                has_strays = has_strays or not is_waiting
                if is_waiting or not is_sound:
                    self._current.take(row)
            self._unasked.clear()
        return is_sound and has_strays

    def _take_next(self) -> bool:
        row = next(self._rows, None)
        if isinstance(row, Problem):
            self._session.note(row)
            self._is_newer = self._is_newer or row.code == "newer_format"
        elif row is not None:
            if self._waiting is not None:
                self._unasked.append(self._waiting)
            self._waiting = row
        return row is not None


def describe_row(row: VersionRow) -> Row:
    """Return a row as the check of a log takes it."""
    draft = row.draft
    says: dict[str, object] = {
        "id": draft.id,
        "version": draft.version,
        "kind": draft.kind,
        "origin": draft.origin,
        "ts": row.recorded_at,
        "type": row.type,
        "status": draft.status,
        "protection": draft.protection,
    }
    if draft.turn is None:
        says["mode"] = draft.mode
    if draft.parents:
        says["from"] = [str(parent) for parent in draft.parents]
    if row.is_sealed:
        return SealedRow(says)
    return ErasedRow(says) if row.is_erased else StoredRow(row.salt, draft.data, says)
