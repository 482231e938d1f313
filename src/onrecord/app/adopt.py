"""Tell what going on from an older vault would give up; the user alone decides it (docs/format/vault.md)."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from onrecord.app.admission import admit
from onrecord.app.callers import check_user
from onrecord.app.outside_operations import ADOPT
from onrecord.app.session import Reply, Session
from onrecord.domain.errors import ConflictError
from onrecord.domain.problem import Problem


def adopt(session: Session, given: Mapping[str, object]) -> Reply:
    """Compare what was acknowledged here with what the vault holds; with `yes`, check that the caller may accept it.

    A new log is begun by the composition root, since this session's state folder is then another one.

    Args:
        session: The opened vault.
        given: Arguments of the operation `adopt`.

    Returns:
        data: adopted (False), reason, pinned{log, size, root}, there{size, root}, given_up{entries, versions}: entries
        by the two sizes; versions and turns as far as the index still knows of them.

    Raises:
        InvalidInputError: the call is refused.
        ConflictError: the vault goes on from what was acknowledged here.
        ApprovalRequiredError: `yes` from anybody but a person at a terminal; nothing was done.
        StorageFailedError, DamagedError, NewerFormatError: the state folder or a log cannot be read.
    """
    arguments = admit(ADOPT, given)
    rollback = session.store.find_rollback()
    if rollback is None:
        session.store.check_writable()
        raise ConflictError("the vault goes on from what was acknowledged here; there is nothing to adopt")
    if arguments.get("yes"):
        check_user(session.caller, "adopt an older vault")
    reply = Reply()
    session.refresh(reply)
    reply.data = {
        "adopted": False,
        "reason": rollback.reason,
        "pinned": {"log": rollback.log, "size": rollback.pinned_size, "root": _show(rollback.pinned_root)},
        "there": {"size": rollback.there_size, "root": _show(rollback.there_root)},
        "given_up": {
            "entries": max(0, rollback.pinned_size - rollback.there_size),
            "versions": _count_lost_versions(session),
        },
    }
    return reply


def _count_lost_versions(session: Session) -> int:
    """Return how many versions and turns the index knows of that no versions store in the vault has."""
    with session.index.read() as reader:
        counts = reader.count()
    rows = (row for head in session.store.list_logs() for row in session.store.read_rows(head.log))
    there = sum(not isinstance(row, Problem) and not row.is_erased and not row.is_sealed for row in rows)
    return max(0, counts.get("versions", 0) + counts.get("turns", 0) - there)


def _show(root: bytes) -> str:
    return base64.b64encode(root).decode()
