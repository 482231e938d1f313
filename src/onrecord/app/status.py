"""Show what the vault holds and how it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from onrecord.app.admission import admit
from onrecord.app.catalog import STATUS
from onrecord.app.known_problems import count_known
from onrecord.app.natives import name_unavailable, scan_sources, see_sources
from onrecord.app.pages import take_page
from onrecord.app.session import Reply, Session
from onrecord.app.shut import count_shut, tell_shut
from onrecord.app.suspension import describe_missing
from onrecord.app.waiting import list_waiting, mark_waiting
from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import LogId, RecordId
from onrecord.ports.index import IndexReader
from onrecord.ports.store import LogHead

_OPEN = ("pending",)  # status of an open conflict (docs/format/record.md)


def describe_status(session: Session, given: Mapping[str, object]) -> Reply:
    """Describe the vault: ids, counts, ledger, backup, index; outside edits are taken in first.

    Returns:
        data: vault, log, counts{}, ledger{entries}, logs[] (own first, as far as the page has room) and logs_total,
        machines: others that write into the vault (a log that was given up is none's),
        backup{waiting, lines}, index{behind}, missing{records, retirement_suspended}, conflicts, proposals,
        sources{} that the caller may find, problems (`known_problems`: findings of doctor above a note, as far as
        they are known without reading each file, log or key).

    Raises:
        InvalidInputError: the call is refused.
    """
    admit(STATUS, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply, pieces=None, intake_pieces=None)
    with session.index.read() as reader:
        counts = dict(reader.count())
        shut = count_shut(session, (stamp.path for stamp in reader.list_files())) if session.refused else 0
        counts["files"] -= _count_gone(session, reader) + shut
        marks = reader.get_watermarks()
        conflicts = len(reader.list_conflicts(_OPEN))
    tell_shut(shut, reply)
    logs = session.store.list_logs()
    done, lines = session.store.backup.get_progress()
    waiting = list_waiting(session)
    behind = sum(max(0, head.entries - marks.get(head.log, 0)) for head in logs if head.log not in waiting)
    size, _ = session.store.get_pinned()
    shown = [{"log": head.log, "entries": head.entries, "own": head.is_own} for head in logs]
    proposals = _count_proposals(session)
    sources, unavailable = _count_sources(session, reply)
    reply.data = {
        "vault": session.store.vault,
        "log": session.store.log,
        "counts": counts,
        "ledger": {"entries": size},
        "logs": take_page(shown, session.policy.page_bytes // 2),
        "logs_total": len(logs),
        "machines": _count_machines(session, logs),
        "backup": {"lines": lines, "waiting": lines - done},
        "index": {"behind": behind},
        "missing": describe_missing(session, reply),
        "conflicts": conflicts,
        "proposals": proposals,
        "sources": sources,
    }
    reply.data["problems"] = _count_problems(session, waiting, reply) + conflicts + proposals + unavailable
    if lines > done:
        reply.notices.append({"kind": "backup_waiting", "call": "onrecord repair replay"})
    return reply


def _count_gone(session: Session, reader: IndexReader) -> int:
    """Return how many known files of missing memories are not there."""
    missing = session.store.absences.read().missing
    stamps = (stamp for record in missing for stamp in reader.find_files_of(record))
    return sum(session.store.stat_file(stamp.path) is None for stamp in stamps)


def _count_machines(session: Session, logs: Sequence[LogHead]) -> int:
    """Return how many logs of other installations are written, as far as is known: none that was given up."""
    others = [head.log for head in logs if not head.is_own]
    given_up = import_module("onrecord.app.log_losses").list_given_up(session) if others else ()
    return sum(log not in given_up for log in others)


def _count_problems(session: Session, waiting: Mapping[LogId, Mapping[RecordId, int]], reply: Reply) -> int:
    """Return how many findings above a note are known, but for what waits for a decision.

    Logs that are shorter than they were here, and versions that have not come, are marked in the reply, too.
    """
    count = count_known(session, reply)
    with session.index.read() as reader:
        count += len(reader.list_pending())
    count += len(session.store.absences.read().missing)
    if waiting:
        mark_waiting(reply, sum(sum(lacking.values()) for lacking in waiting.values()))
    return count + len(waiting) + _count_cut_back(session, reply)


def _count_cut_back(session: Session, reply: Reply) -> int:
    """Return how many logs are shorter than they were here; what judges them is loaded where others were seen."""
    if not session.store.get_seen_sizes():
        return 0
    losses = import_module("onrecord.app.log_losses")
    found = losses.find_cut_back(session)
    if found:
        reply.degrade("log_cut_back", losses.MEND)
    return len(found)


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


def _count_sources(session: Session, reply: Reply) -> tuple[dict[str, int], int]:
    """Return how much there is of the sources, and how many things of them cannot be read."""
    natives = see_sources(session)
    found = scan_sources(session, natives, reply).tallies if natives is not None else {}
    tallies = found.values()
    unavailable = len(list(name_unavailable(natives, found))) if natives is not None else 0
    counts = {
        "sources": len(tallies),
        "files": sum(tally.files for tally in tallies),
        "sections": sum(tally.sections for tally in tallies),
        "left_out": sum(len(tally.left_out) for tally in tallies),
    }
    return counts, unavailable
