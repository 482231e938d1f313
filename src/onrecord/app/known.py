"""Since when this installation knows what other logs recorded (docs/format/time.md, Several logs)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onrecord.app.session import Session
from onrecord.domain.ids import EntryRef, LogId
from onrecord.domain.instants import Instant

SeenSizes = Mapping[LogId, Sequence[tuple[int, Instant]]]


def find_horizons(session: Session, as_of: Instant) -> dict[LogId, int]:
    """Return, for every log but the own, how many of its entries this installation had seen at an instant."""
    seen = session.store.list_seen()
    return {
        head.log: max((size for size, ts in seen.get(head.log, ()) if ts <= as_of), default=0)
        for head in session.store.list_logs()
        if not head.is_own
    }


def find_known_since(seen: SeenSizes, own: LogId, ref: EntryRef, recorded_at: Instant) -> Instant | None:
    """Return since when a version counts here: its record time, or that of the first own entry that covers it.

    Args:
        seen: As the store lists it.
        own: The own log.
        ref: The version's entry.
        recorded_at: When its own log recorded it.

    Returns:
        None while no own entry covers it.
    """
    if ref.log == own:
        return recorded_at
    return min((ts for size, ts in seen.get(ref.log, ()) if size > ref.seq), default=None)
