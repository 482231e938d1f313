"""Outside edits: what a person or another program did to the files becomes versions of origin `file`.

The files are never touched here. A changed file is a new version of its record, a new one is a new record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from onrecord.app.absences import look
from onrecord.app.comparison import Comparison
from onrecord.app.conflicts import attend
from onrecord.app.connected import tell_again
from onrecord.app.copies import add_orphans
from onrecord.app.intake import Intake
from onrecord.app.passes import Pass, pass_over
from onrecord.app.session import Reply, Session
from onrecord.domain.errors import DamagedError, LedgerRolledBackError, LockTimeoutError, NotWritableError
from onrecord.domain.ids import RecordId
from onrecord.ports.store import WriteUnit

_OLDER = "Edits made outside are not taken in while an older vault lies here; the files stay as they are."
# What was told apart again may make versions, and these connect others.
_TELLING_ROUNDS = 3


def reconcile(session: Session, reply: Reply, *, wait_s: float | None = 0) -> int:
    """Compare all files with what is known and take in what differs.

    Args:
        session: The opened vault.
        reply: Gets degradation if the vault is busy or cannot be written.
        wait_s: How long to wait for the lock.

    Returns:
        How many versions were made.
    """
    session.comparison = Comparison(session.store, session.index, session.refused)
    return continue_reconcile(session, reply, None, None, wait_s=wait_s)


def continue_reconcile(
    session: Session, reply: Reply, pieces: int | None, intake_pieces: int | None, *, wait_s: float | None = 0
) -> int:
    """Go on with the session's comparison, as `Session.compare_files` tells.

    Args:
        session: The opened vault.
        reply: Is marked `reconciling` while files have not been compared and taken in.
        pieces: How much to compare; None for all.
        intake_pieces: How much to take in; None for all.
        wait_s: How long to wait for the lock.
    """
    comparison = session.comparison
    if comparison is None:
        return reconcile_paths(session, sorted(session.settling.put_off), reply, wait_s=wait_s)
    session.comparison = None
    if not comparison.advance(pieces):
        session.comparison = comparison
        reply.degrade("reconciling", "The files are still being compared; ask again for what was edited meanwhile.")
        return 0
    intake = comparison.intake
    if intake is None:
        more = {*add_orphans(session, comparison), *session.settling.put_off}
        intake = comparison.intake = Intake(comparison.changed, more, comparison.hurried)
    made = 0 if intake.is_done else _take_in_some(session, intake, reply, intake_pieces, wait_s)
    if not intake.is_done and intake_pieces is not None:
        session.comparison = comparison
        if all(known.reason != "outside_edits_pending" for known in reply.degraded):
            reply.degrade("reconciling", "What was edited by hand is still being taken in; ask again for the rest.")
        return made
    with session.index.read() as reader:
        gone = (reader.get_file(path) for path in comparison.unmet)
        session.stir(head for stamp in gone if stamp is not None and (head := reader.get_current(stamp.record)))
    look(session, reply, comparison.unmet, has_unread=comparison.has_unread, wait_s=wait_s)
    back = sorted(session.settling.put_off.difference(intake.paths))
    return made + reconcile_paths(session, back, reply, wait_s=wait_s) if back or session.stirred else made


def _take_in_some(session: Session, intake: Intake, reply: Reply, pieces: int | None, wait_s: float | None) -> int:
    paths = intake.list_next(pieces)
    return reconcile_paths(session, paths, reply, wait_s=wait_s, choose=lambda: intake.take(session, paths))


def reconcile_paths(
    session: Session, paths: Sequence[str], reply: Reply, *, wait_s: float | None = 0,
    choose: Callable[[], Sequence[str]] | None = None,
) -> int:  # fmt: skip
    """Take in outside edits of some files, or of those that `choose` returns under the lock.

    Files that are being saved are waited for before the lock is taken, once for all and 200 ms at most.

    Returns:
        How many versions were made.
    """
    session.settling.stat_saved(paths)
    try:
        with session.write(wait_s) as unit:
            return observe_under_lock(session, unit, choose() if choose else paths, reply, may_pause=False)
    except LockTimeoutError:
        if paths:
            reply.degrade("reconciling", "Another process writes; ask again in a moment.")
    except (NotWritableError, DamagedError) as error:
        if paths:
            session.hindrance = _OLDER if isinstance(error, LedgerRolledBackError) else error.hint
            reply.degrade("outside_edits_pending", session.hindrance)
    return 0


def observe_under_lock(
    session: Session, unit: WriteUnit, paths: Iterable[str], reply: Reply, *, may_pause: bool = True
) -> int:
    """Take in outside edits of some files; `may_pause`: whether files being saved have not been waited for yet.

    Raises:
        NotWritableError: nothing of the present batch was stored.
    """
    asked = list(paths)
    passing = _pass_over(session, unit, asked, reply, may_pause=may_pause)
    if passing.has_lost_one:
        return observe_all_under_lock(session, unit, reply, asked)
    made = passing.finish()
    attend(session, unit, reply)
    return made + _tell_connected_apart(session, unit, asked, reply)


def _tell_connected_apart(session: Session, unit: WriteUnit, paths: Sequence[str], reply: Reply) -> int:
    """Let what is connected with the files of a pass be as an index made anew has it; versions so made count, too."""
    made, waiting = 0, set[RecordId]()
    for _ in range(_TELLING_ROUNDS):
        telling = tell_again(session, unit, paths, reply)
        waiting |= telling.waiting
        if telling.has_told:
            attend(session, unit, reply)
        made, paths = made + telling.made, ()
        if not session.stirred:
            break
    session.stirred |= waiting
    return made


def observe_all_under_lock(session: Session, unit: WriteUnit, reply: Reply, asked: Sequence[str] = ()) -> int:
    """Compare all files, look at those `asked` too, take in outside edits: for when a file may lie elsewhere.

    Raises:
        NotWritableError, DamagedError: as named.
    """
    comparison = Comparison(session.store, session.index, session.refused)
    comparison.advance()
    paths = sorted({*add_orphans(session, comparison), *asked})
    made = _pass_over(session, unit, paths, reply).finish()
    attend(session, unit, reply)
    return made + _tell_connected_apart(session, unit, paths, reply)


def _pass_over(
    session: Session, unit: WriteUnit, paths: Iterable[str], reply: Reply, *, may_pause: bool = True
) -> Pass:
    return pass_over(session, unit, session.settling.stat_saved(paths, may_pause=may_pause), reply)
