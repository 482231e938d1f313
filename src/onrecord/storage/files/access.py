"""Whether a folder is open to this user; what is closed is no reason to say that there is nothing."""

from __future__ import annotations

import errno
import os

from onrecord.domain.errors import InvalidInputError, VaultClosedError

_CLOSED = frozenset({errno.EACCES, errno.EPERM})
# What making a folder fails with, so that another place has to be named or this one be mended.
_UNFIT = _CLOSED | {errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT}


def check_open(folder: str, part: str) -> None:
    """Check that this user may enter and list a vault's folder, and the part of it with the history if it is there.

    Args:
        folder: The vault, absolute.
        part: Name of the part.

    Raises:
        VaultClosedError: one of them, or a folder above them, is closed to this user.
    """
    for path in (folder, os.path.join(folder, part)):
        try:
            with os.scandir(path):
                os.stat(os.path.join(path, "."))
        except OSError as error:
            if error.errno in _CLOSED:
                closed = _find_closed(path)
                which = {path: f"{part} of the vault", folder: "the folder"}.get(closed, "a folder above it")
                hint = f"Let the user who runs onrecord enter, read and write {closed}, or run it as its owner."
                raise VaultClosedError(f"{which} is closed to this user", field="vault", hint=hint) from error


def name_unfit(folder: str, error: OSError) -> InvalidInputError | None:
    """Return why no vault can be made in a folder, if it is for the folder that was named; None for a failing disk."""
    if error.errno not in _UNFIT:
        return None
    reason = os.strerror(error.errno)
    if error.errno not in _CLOSED:
        return InvalidInputError(
            f"no vault can be made there: {reason}", field="dir", hint=f"{folder} cannot be used; name another folder."
        )
    hint = f"Let the user who runs onrecord enter, read and write {_find_closed(folder)}, or name another folder."
    return InvalidInputError("no vault can be made there: the folder is closed to this user", field="dir", hint=hint)


def _find_closed(path: str) -> str:
    """Return the folder that stands in the way: the outermost that may not be entered, or that has no such name."""
    parts = path.split(os.sep)
    for count in range(2, len(parts) + 1):
        above = os.sep.join(parts[: count - 1]) or os.sep
        try:
            os.stat(os.sep.join(parts[:count]))
        except OSError:
            return above
    return path
