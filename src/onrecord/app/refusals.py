"""Files that are no memories as they lie, and why: too large, unreadable, a link, a special file, a name not in UTF-8.

A comparison tells what its scan refuses, a pass what it could not read; `Session.refused` keeps both, by path.
"""

from __future__ import annotations

from collections.abc import Iterable

from onrecord.app.session import Session
from onrecord.domain.errors import NotFoundError, StorageFailedError
from onrecord.domain.limits import ADOPTED_FILE_MAX_BYTES
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.store import FileState


def read_bytes(session: Session, state: FileState) -> bytes | None:
    """Return a file's bytes, None where it is gone, cannot be read or is larger than what is taken in."""
    if state.size_bytes > ADOPTED_FILE_MAX_BYTES:
        return None
    try:
        data = session.store.read_file(state.path)
    except StorageFailedError as error:
        session.refused[state.path] = name_unreadable(state.path, error)
        return None
    except NotFoundError:
        return None
    if len(data) > ADOPTED_FILE_MAX_BYTES:
        return None
    session.refused.pop(state.path, None)
    return data


def name_unreadable(path: str, error: NotFoundError | StorageFailedError) -> Problem:
    """Return the problem of a file that cannot be read."""
    return Problem(path, 0, "not_a_regular_file", Severity.WARNING, error.reason, error.hint)


def judge_again(session: Session, paths: Iterable[str]) -> None:
    """Look at some files by themselves: what lies there now may be no memory, or may be one again.

    Args:
        session: The opened vault.
        paths: What a pass has just looked at; of what it could not read nothing is said anew.
    """
    for path in paths:
        problem = session.store.links.name_refused(path)
        if problem is not None:
            session.refused[path] = problem
        elif path in session.refused and not _is_unread(session, path):
            del session.refused[path]


def _is_unread(session: Session, path: str) -> bool:
    """Tell whether a file is there and cannot be read."""
    try:
        session.store.read_file(path, 0, 1)
    except NotFoundError:
        return False
    except StorageFailedError:
        return True
    return False
