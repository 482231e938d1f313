"""Before files are shown that are not as stamped: take them in, and look for those that are gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onrecord.app.comparison import CALL_PIECES, OPENING_PIECES, Comparison
from onrecord.app.reconcile import continue_reconcile, reconcile_paths
from onrecord.app.session import Reply, Session
from onrecord.domain.ids import RecordId


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a second look found.

    Attributes:
        is_changed: Whether anything was looked at, so that what the index said before may no longer hold.
        going: Records whose file is not there while its folder still changes: as an editor that saves by renaming
            leaves it for a moment. They are shown as they were.
        has_compared: Whether all files were compared just now, so that what is still gone need not be looked for.
    """

    is_changed: bool
    going: frozenset[RecordId] = frozenset()
    has_compared: bool = False


def look_again(session: Session, edited: Sequence[str], missing: Mapping[RecordId, str], reply: Reply) -> SecondLook:
    """Take in files that are not as stamped; look everywhere, once an opening, for a file that has left its place.

    That is no more work than opening the vault; of a large one the rest comes with the calls that follow.

    Args:
        session: The opened vault.
        edited: Paths of the files that are not as stamped.
        missing: Records whose file is not where it was, with that place. Where its folder changed just now, it is
            waited for, 200 ms at most.
        reply: As of `reconcile`.
    """
    awaited = session.settling.await_files(missing.values())
    going = frozenset(record for record, path in missing.items() if path in awaited)
    back = {record for record, path in missing.items() if session.store.stat_file(path) is not None}
    if going:
        reply.degrade("reconciling", "A file is being saved; ask again in a moment.")
    lost = missing.keys() - session.sought - going - back
    session.sought.difference_update(back)
    changed = [*edited, *(missing[record] for record in sorted(back))]
    if lost:
        _look_everywhere(session, {record: missing[record] for record in lost}, reply)
    elif changed:
        reconcile_paths(session, changed, reply)
    return SecondLook(bool(lost or changed or going), going, bool(lost) and not session.is_comparing)


def _look_everywhere(session: Session, lost: Mapping[RecordId, str], reply: Reply) -> None:
    """Take in first what lies elsewhere now with the inode of a lost file; compare all files anew, some with each call.

    A comparison under way is gone on with: it may still meet the files. So is one that ended without meeting any of
    them, while what it found is taken in: another one would find no more.
    """
    known = session.comparison
    is_new = known is None or (known.is_done and not known.has_missed(lost.values()))
    if is_new:
        session.comparison = Comparison(session.store, session.index, session.refused)
        session.sought.update(lost)
    session.hurry(lost)
    continue_reconcile(session, reply, *((OPENING_PIECES, CALL_PIECES) if is_new else (0, 0)))
