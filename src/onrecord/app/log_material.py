"""What there is of each log, as its check takes it: lines, rows, keys, heads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onrecord.app.current import Current
from onrecord.app.session import Session
from onrecord.domain.ids import LogId, Seq
from onrecord.domain.ledger_check import ErasedRow, LogMaterial, Row, SealedRow, StoredRow, check_log, list_erasures
from onrecord.domain.ledger_report import Head, LogReport
from onrecord.domain.merkle import hash_leaf
from onrecord.domain.problem import Problem
from onrecord.ports.signing import Verifier
from onrecord.ports.store import VersionRow


def check_every_log(session: Session, verifier: Verifier, current: Current) -> list[LogReport]:
    """Check tree, signatures and commitments of every log.

    Args:
        session: The opened vault.
        verifier: Checks signatures.
        current: Takes in all rows that are passed.

    Returns:
        A report of each log, the own first.

    Raises:
        StorageFailedError, DamagedError: a log cannot be read.
    """
    heads = session.store.list_logs()
    erased = frozenset(
        name for head in heads for name in list_erasures(line for _, line in session.store.read_entries(head.log))
    )
    reports: list[LogReport] = []
    for head in heads:
        material, finish = gather_log(session, head.log, head.is_own, current, erased)
        reports.append(check_log(material, verifier.verify))
        finish()
    return reports


def gather_log(
    session: Session, log: LogId, is_own: bool, current: Current, erased: frozenset[str]
) -> tuple[LogMaterial, Callable[[], None]]:
    """Return what there is of a log, and what takes in the rows that its check did not ask for."""
    rows = session.store.read_rows(log)
    waiting: list[VersionRow] = []
    is_newer = False

    def take_next() -> bool:
        nonlocal is_newer
        row = next(rows, None)
        if isinstance(row, Problem):
            session.note(row)
            is_newer = is_newer or row.code == "newer_format"
        elif row is not None:
            current.take(row)
            waiting[:] = [row]
        return row is not None

    def finish() -> None:
        while take_next():
            pass

    def read_row(seq: Seq) -> Row:
        while not waiting or waiting[-1].ref.seq < seq:
            if not take_next():
                return SealedRow() if is_newer else None
        if waiting[-1].ref.seq == seq:
            return describe_row(waiting[-1])
        # Which entry a row of a newer format belongs to is not known; from there on absence is not judged.
        return SealedRow() if is_newer else None

    def read_leaves(other: LogId) -> Iterator[bytes] | None:
        if all(head.log != other for head in session.store.list_logs()):
            return None
        return (hash_leaf(line) for _, line in session.store.read_entries(other))

    key = session.store.read_log_file(log, "key.pub")
    material = LogMaterial(
        log=log,
        lines=(line for _, line in session.store.read_entries(log)),
        read_row=read_row,
        key_pub=key.decode(errors="replace").rstrip("\n") if key is not None else None,
        checkpoint=session.store.read_log_file(log, "checkpoint"),
        pinned=(Head(*session.store.get_pinned()),) if is_own else (),
        read_leaves=read_leaves,
        erased_elsewhere=erased,
    )
    return material, finish


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
    }
    if draft.parents:
        says["from"] = [str(parent) for parent in draft.parents]
    if row.is_sealed:
        return SealedRow(says)
    return ErasedRow(says) if row.is_erased else StoredRow(row.salt, draft.data, says)
