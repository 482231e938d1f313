"""What replies say of memories whose file is gone, from the note of the last look; the look is `absences`."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.app.session import Reply, Session
from onrecord.domain.absences import Absences, Suspension
from onrecord.domain.problem import Problem, Severity

_REASONS = {
    Suspension.ALL: "every memory has lost its file",
    Suspension.MANY: "so many are not deleted by hand",
    Suspension.UNREAD: "a folder cannot be read",
}
_MEND = "Bring the files back, or see `onrecord repair missing`."


def is_suspended(absences: Absences) -> bool:
    """Tell whether memories are missing and none of them may be retired."""
    return bool(absences.missing) and absences.suspension is not Suspension.NONE


def tell_suspension(absences: Absences, reply: Reply) -> None:
    """Mark a reply while missing memories may not be retired."""
    if is_suspended(absences):
        reply.degrade("retirement_suspended", f"{_describe(absences)}. {_MEND}")


def describe_missing(session: Session, reply: Reply) -> dict[str, object]:
    """Return what `status` shows: how many memories have no file, and whether none may be retired."""
    absences = session.store.absences.read()
    tell_suspension(absences, reply)
    return {"records": len(absences.missing), "retirement_suspended": is_suspended(absences)}


def check_suspension(session: Session) -> Iterator[Problem]:
    """Yield what `doctor` says while missing memories may not be retired."""
    absences = session.store.absences.read()
    if is_suspended(absences):
        yield Problem("", 0, "retirement_suspended", Severity.WARNING, _describe(absences), _MEND)


def _describe(absences: Absences) -> str:
    counts = f"{len(absences.missing)} of {absences.records} memories have no file"
    return f"{counts}; none is retired: {_REASONS.get(absences.suspension, '')}"
