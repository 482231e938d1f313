"""The part of the catalog about outside edits, conflicts and several installations (`onrecord.app.catalog`)."""

from __future__ import annotations

from typing import Final

from onrecord.app.operation import Argument, Kind, Operation
from onrecord.domain import limits

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
        *("given_up", "given_up.entries", "given_up.versions", "given_up.memories", "given_up.more"),
        *(f"given_up.memories[].{name}" for name in ("id", "version", "title", "path")),
        *("log?", "set_aside?"),
    ),
)
_KEEP_HELP: Final = "the side to keep; or merge, or current: what the memory says now"
_LINKS: Final = ("links", "links[].path", "links[].target", "links[].state")

MISSING: Final = Operation(
    "missing",
    "Show the memories whose file is gone, and how much of their wait is left.",
    (Argument("retire", Kind.FLAG, "retire them now; the user alone may, at a terminal"),),
    (
        "missing", *(f"missing[].{name}" for name in ("id", "title", "path", "since", "left_s")),
        "total", "records", "retirement_suspended", "retired",
        "retired_memories", *(f"retired_memories[].{name}" for name in ("id", "title", "path")),
        "awaited", "truncated?",
    ),
    group="repair",
)  # fmt: skip
LINK: Final = Operation(
    "link",
    "Follow a folder link in the vault on this machine, made if a target is named; or list them. Yours alone to allow.",
    (
        Argument("path", Kind.PATH, "the link, such as memories/work; without it the links are listed", False, True),
        Argument("target", Kind.PATH, "folder that it leads to, to make the link", False, True),
        Argument("list", Kind.FLAG, "list the links that are allowed, as without a path"),
    ),
    _LINKS,
)
UNLINK: Final = Operation(
    "unlink",
    "Follow a link no more; no file is touched, and the memories behind it are kept but not found.",
    (Argument("path", Kind.PATH, "the link, as it was allowed", True, True),),
    _LINKS,
)

CONFLICTS: Final = Operation(
    "conflicts",
    "List texts that stand against each other.",
    (
        Argument("all", Kind.FLAG, "settled ones too"),
        Argument("offset", Kind.INTEGER, "where the page begins, from next_offset", maximum=limits.OFFSET_MAX_COUNT),
    ),
    (
        "conflicts",
        *("conflicts[].id", "conflicts[].title", "conflicts[].members", "conflicts[].state", "conflicts[].since"),
        *("conflicts[].sides", "conflicts[].sides[].side", "conflicts[].sides[].origin", "conflicts[].sides[].line"),
        # Whether a side was written on this machine; absent where that cannot be told.
        "conflicts[].sides[].written_here?",
        *("conflicts[].decision?", "truncated?", "next_offset?", "not_checked?"),
    ),
)
SETTLE: Final = Operation(
    "settle",
    "Settle a conflict: keep a side, a merge of both, or the memory as it is now.",
    (
        Argument("id", Kind.ID, "id of the conflict, all 12 characters", True, True),
        Argument("keep", Kind.CHOICE, _KEEP_HELP, True, choices=(*limits.CONFLICT_SIDES, "merge", "current")),
        Argument(
            "expect", Kind.INTEGER, "version of the memory, if it has moved on; current needs none",
            minimum=1, maximum=limits.INTEGER_MAX,
        ),
        Argument("remove_copies", Kind.FLAG, "delete the copies that hold a side"),
    ),
    ("id", "record", "version", "kept", "copies?", "removed?"),
)  # fmt: skip
WATCH: Final = Operation(
    "watch",
    "Take in outside edits as they are saved, until ended; one line an event, with --json one object.",
    (Argument("rescan", Kind.INTEGER, "seconds between two comparisons of all files, default 600", minimum=1,
              maximum=86_400),),
    ("versions", "comparisons"),
)  # fmt: skip

PROPOSALS: Final = Operation(
    "proposals",
    "List what edits by hand ask for that the user has to decide.",
    (Argument("offset", Kind.INTEGER, "where the page begins, from next_offset", maximum=limits.OFFSET_MAX_COUNT),),
    (
        "proposals",
        *(f"proposals[].{name}" for name in ("id", "record", "title", "path", "version", "key")),
        *(f"proposals[].{name}" for name in ("from", "to", "by", "since")),
        *("total", "truncated?", "next_offset?"),
    ),
)

OUTSIDE_OPERATIONS: Final[tuple[Operation, ...]] = (
    ADOPT,
    MISSING,
    CONFLICTS,
    SETTLE,
    LINK,
    UNLINK,
    PROPOSALS,
    WATCH,
)
