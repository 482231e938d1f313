"""Tell what going on from an older vault would give up; the user alone decides it (docs/format/vault.md)."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from onrecord.app.admission import admit
from onrecord.app.callers import check_user
from onrecord.app.outside_operations import ADOPT
from onrecord.app.pages import take_page
from onrecord.app.session import Reply, Session
from onrecord.domain.errors import ConflictError
from onrecord.domain.problem import Problem
from onrecord.ports.index import VersionHead

_ALL = 2**31
_TITLE_CHARS = 80


def adopt(session: Session, given: Mapping[str, object]) -> Reply:
    """Compare what was acknowledged here with what the vault holds; with `yes`, check that the caller may accept it.

    A new log is begun by the composition root, since this session's state folder is then another one.

    Args:
        session: The opened vault.
        given: Arguments of the operation `adopt`.

    Returns:
        data: adopted (False), reason, pinned{log, size, root}, there{size, root}, given_up{entries, versions,
        memories[] {id, version, title, path}, more}: entries by the two sizes; versions and turns as far as the index
        still knows of them, each version by path, as many as the page has room for, and how many more there are; a
        transcript stands for its turns.

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
        hint = "Nothing needs to be done."
        raise ConflictError("the vault goes on from what was acknowledged here; there is nothing to adopt", hint=hint)
    if arguments.get("yes"):
        check_user(session.caller, "adopt an older vault", "yes")
    reply = Reply()
    session.refresh(reply)
    lost, versions = _list_lost(session)
    shown = take_page(map(_describe_lost, lost), session.policy.page_bytes // 2)
    reply.data = {
        "adopted": False,
        "reason": rollback.reason,
        "pinned": {"log": rollback.log, "size": rollback.pinned_size, "root": _show(rollback.pinned_root)},
        "there": {"size": rollback.there_size, "root": _show(rollback.there_root)},
        "given_up": {
            "entries": max(0, rollback.pinned_size - rollback.there_size),
            "versions": versions,
            "memories": shown,
            "more": len(lost) - len(shown),
        },
    }
    return reply


def _list_lost(session: Session) -> tuple[list[VersionHead], int]:
    """Return the versions that the index knows of and that no versions store in the vault has, and how many in all.

    Of the turns of a transcript, which are counted each, the transcript stands for all. By path, then by version.
    """
    there = {
        row.ref
        for head in session.store.list_logs()
        for row in session.store.read_rows(head.log)
        if not isinstance(row, Problem) and not row.is_erased and not row.is_sealed
    }
    lost: list[VersionHead] = []
    count = 0
    with session.index.read() as reader:
        for record in reader.find_ids("", _ALL):
            versions = [head for head in reader.list_versions(record) if head.ref not in there]
            turns = [turn for turn in reader.list_turns(record) if turn.ref not in there]
            count += len(versions) + len(turns)
            if turns and not versions:
                versions = [head for head in (reader.get_current(record),) if head is not None]
            lost += versions
    lost.sort(key=lambda head: (head.path, head.version, head.ref))
    return lost, count


def _describe_lost(head: VersionHead) -> dict[str, object]:
    return {"id": head.id, "version": head.version, "title": head.title[:_TITLE_CHARS], "path": head.path}


def _show(root: bytes) -> str:
    return base64.b64encode(root).decode()
