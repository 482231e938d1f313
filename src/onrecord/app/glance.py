"""One look at the files of a vault: whether anything differs from what is known. What it is tells `reconcile`."""

from __future__ import annotations

from onrecord.app.places import is_unchanged
from onrecord.app.session import Session
from onrecord.app.stamps import is_same_tick
from onrecord.domain.problem import Problem


def has_changed_files(session: Session) -> bool:
    """Tell whether a file came, went or may have changed since it was stamped; stops at the first one."""
    with session.index.read() as reader:
        stamps = {stamp.path: stamp for stamp in reader.list_files()}
    for item in session.store.scan_files():
        if isinstance(item, Problem):
            continue
        stamp = stamps.pop(item.path, None)
        if stamp is None or not is_unchanged(item, stamp) or is_same_tick(stamp):
            return True
    return bool(stamps)
