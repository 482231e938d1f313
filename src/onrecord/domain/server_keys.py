"""Server-owned keys that a hand changed in a file: which, from what to what, and what the user would have to allow.

The copies in a file have no effect (docs/format/record.md, Server-owned keys); a change is told, and one that asks for
something that needs the user is a wish.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final

from onrecord.domain.record_fields import ServerCopies

# What stands for a key that is not written.
_DEFAULTS: Final = {"kind": "note", "status": "current", "protection": "normal"}
# Keys of which a change may ask for something, in the order of the requests of one edit.
_ASKING: Final = ("status", "origin", "confirmed_by", "protection", "kb", "governance")
_FORMED: Final = frozenset(
    {"id", "kind", "version", "by", "recorded_at", "status", "origin", "confirmed_by", "protection", "kb"}
)
_PROTECTIONS: Final = ("normal", "protected", "locked")
_VALUE_MAX_CHARS: Final = 200
_KEYS: Final = tuple(item.name for item in fields(ServerCopies) if item.name != "id")
_GET: Final = attrgetter(*_KEYS)


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One changed key with its values as text; of an absent key the value that it stands for, or empty."""

    key: str
    was: str
    now: str

    @property
    def is_of_a_form(self) -> bool:
        """Whether the values are of a closed form, so that they hold nobody's words."""
        return self.key in _FORMED

    @property
    def cause(self) -> str:
        """The class of action that the user would have to allow (docs/format/ledger.md), empty for none."""
        match self.key:
            case "status":
                if self.now in ("retired", "superseded", "rejected"):
                    return "retire"
                return "confirm" if self.now == "current" else "edit"
            case "origin" | "confirmed_by":
                return "confirm" if self.now else ""
            case "protection":
                return "unlock" if _PROTECTIONS.index(self.now) < _PROTECTIONS.index(self.was) else "edit"
            case "kb" | "governance":
                return "edit"
            case _:
                return ""


def list_changes(written: ServerCopies | None, protection: str, found: ServerCopies) -> list[KeyChange]:
    """Return the changed keys but `id`, in the order of the format.

    Args:
        written: What OnRecord wrote into the file last; None for a file that it never wrote, which may name any value
            of the keys that ask for nothing.
        protection: What the versions store says of it.
        found: What the file says now. Keys of a file that bears no mark of OnRecord, and bore none when OnRecord wrote
            it last, are its owner's.
    """
    if not found.is_marked and (written is None or not written.is_marked):
        return []
    before = _spell(written or ServerCopies())
    # OnRecord writes none of these yet, so that any that stand there are a hand's.
    before |= {"protection": protection, "confirmed_by": "", "kb": "", "governance": ""}
    now = _spell(found)
    changes = [KeyChange(key, before[key], now[key]) for key in now if before[key] != now[key]]
    if written is not None:
        return changes
    return [change for change in changes if change.key in _ASKING and (change.key != "origin" or _claims_user(change))]


def _claims_user(change: KeyChange) -> bool:
    return change.now == "confirmed"


def list_wishes(changes: list[KeyChange]) -> list[KeyChange]:
    """Return the changes that ask for something that needs the user, in the order of their requests."""
    asking = [change for change in changes if change.key in _ASKING and change.cause]
    return sorted(asking, key=lambda change: _ASKING.index(change.key))


def _spell(copies: ServerCopies) -> dict[str, str]:
    return {key: _spell_value(value) or _DEFAULTS.get(key, "") for key, value in zip(_KEYS, _GET(copies), strict=True)}


def _spell_value(value: object) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "true"
    if isinstance(value, (Mapping, tuple, list)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=dict)[:_VALUE_MAX_CHARS] if value else ""
    return str(value)[:_VALUE_MAX_CHARS]
