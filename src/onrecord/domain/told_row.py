"""Whether a row of a versions store says what its ledger entry tells (docs/format/versions.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from onrecord.domain.entry import Entry

_DISPLACING: Final = "record.displace"


def says_same(says: Mapping[str, object], entry: Entry) -> bool:
    """Tell whether a row says the same as its entry, which has `body`; bytes are not looked at.

    Args:
        says: The row's members by name, as in its line; of `status`, `protection` and `mode` absent ones are the usual.
        entry: The entry of the row's sequence number.
    """
    members: Mapping[str, Any] = entry.members
    return (
        says.get("id") == members["rec"]
        and says.get("version") == members["ver"]
        and says.get("kind") == members["kind"]
        and says.get("origin") == members["origin"]
        and says.get("ts") == entry.ts
        and says.get("type") == entry.type
        and says.get("from") == members.get("from")
        and says.get("status", "current") == members.get("status", "current")
        and says.get("protection", "normal") == members.get("protection", "normal")
        and ("mode" not in says or is_mode_told(str(says["mode"]), entry.type))
    )


def is_mode_told(mode: str, of_type: str) -> bool:
    """Tell whether an entry of a type may commit to a row of a mode: what is never current has a type of its own."""
    return (mode == "displaced") == (of_type == _DISPLACING)
