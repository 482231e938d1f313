"""The part of the catalog about outside edits, conflicts and several installations (`onrecord.app.catalog`)."""

from __future__ import annotations

from typing import Final

from onrecord.app.operation import Operation

OUTSIDE_OPERATIONS: Final[tuple[Operation, ...]] = ()
