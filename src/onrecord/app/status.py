"""Show what the vault holds and how it is."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from onrecord.app.admission import admit
from onrecord.app.catalog import STATUS
from onrecord.app.natives import scan_sources, see_sources
from onrecord.app.pages import take_page
from onrecord.app.session import Reply, Session
from onrecord.app.suspension import describe_missing
from onrecord.domain.errors import DamagedError


def describe_status(session: Session, given: Mapping[str, object]) -> Reply:
    """Describe the vault: ids, counts, ledger, backup, index; outside edits are taken in first.

    Returns:
        data: vault, log, counts{}, ledger{entries}, logs[] (own first, as far as the page has room) and logs_total,
        backup{waiting, lines}, index{behind}, missing{records, retirement_suspended}, proposals, sources{} that the
        caller may find, problems.

    Raises:
        InvalidInputError: the call is refused.
    """
    admit(STATUS, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply, pieces=None)
    with session.index.read() as reader:
        counts = dict(reader.count())
        marks = reader.get_watermarks()
    logs = session.store.list_logs()
    done, lines = session.store.backup.get_progress()
    behind = sum(max(0, head.entries - marks.get(head.log, 0)) for head in logs)
    size, _ = session.store.get_pinned()
    shown = [{"log": head.log, "entries": head.entries, "own": head.is_own} for head in logs]
    reply.data = {
        "vault": session.store.vault,
        "log": session.store.log,
        "counts": counts,
        "ledger": {"entries": size},
        "logs": take_page(shown, session.policy.page_bytes // 2),
        "logs_total": len(logs),
        "backup": {"lines": lines, "waiting": lines - done},
        "index": {"behind": behind},
        "missing": describe_missing(session, reply),
        "proposals": _count_proposals(session),
        "sources": _count_sources(session, reply),
        "problems": len({*session.store.find_problems(), *session.problems}),
    }
    if lines > done:
        reply.notices.append({"kind": "backup_waiting", "call": "onrecord repair replay"})
    return reply


def _count_proposals(session: Session) -> int:
    """Return how many edits wait for the user's decision; what tells them is loaded where there was one.

    None are counted where the own log is damaged, which doctor names.
    """
    try:
        entries = session.store.read_entries(session.store.log) if session.store.log else ()
        if not any(b'"type":"approval.request"' in line for _, line in entries):
            return 0
        return len(import_module("onrecord.app.proposals").find_open(session))
    except DamagedError:
        return 0


def _count_sources(session: Session, reply: Reply) -> dict[str, int]:
    natives = see_sources(session)
    tallies = scan_sources(session, natives, reply).tallies.values() if natives is not None else ()
    return {
        "sources": len(tallies),
        "files": sum(tally.files for tally in tallies),
        "sections": sum(tally.sections for tally in tallies),
        "left_out": sum(len(tally.left_out) for tally in tallies),
    }
