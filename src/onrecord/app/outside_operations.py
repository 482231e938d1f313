"""The part of the catalog about outside edits, conflicts and several installations (`onrecord.app.catalog`)."""

from __future__ import annotations

from typing import Final

from onrecord.app.operation import Argument, Kind, Operation

ADOPT: Final = Operation(
    "adopt",
    "Go on from an older vault that was put back: show what is given up, or accept it.",
    (Argument("yes", Kind.FLAG, "accept it and begin a new log; only at a terminal"),),
    (
        *(
            "adopted",
            "reason",
            "pinned",
            "pinned.log",
            "pinned.size",
            "pinned.root",
            "there",
            "there.size",
            "there.root",
        ),
        *("given_up", "given_up.entries", "given_up.versions", "log?", "set_aside?"),
    ),
)

MISSING: Final = Operation(
    "missing",
    "Show the memories whose file is gone, and how much of their wait is left.",
    (Argument("retire", Kind.FLAG, "retire them now; the user alone may, at a terminal"),),
    (
        "missing", *(f"missing[].{name}" for name in ("id", "title", "path", "since", "left_s")),
        "total", "records", "retirement_suspended", "retired", "truncated?",
    ),
    group="repair",
)  # fmt: skip

OUTSIDE_OPERATIONS: Final[tuple[Operation, ...]] = (ADOPT, MISSING)
