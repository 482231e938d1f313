"""The part of the catalog about the files of other programs (`onrecord.app.catalog`)."""

from __future__ import annotations

from typing import Final

from onrecord.app.operation import Argument, Kind, Operation, name_argument
from onrecord.domain import limits

_GROUP: Final = "source"
_NAME: Final = "short name of the source"
_SOURCE: Final = ("name", "path", "agent?", "format?", "owner_only", "files", "sections")
_LEFT_OUT: Final = (
    *("left_out", "left_out[].source", "left_out[].path", "left_out[].reason", "left_out_total", "truncated?"),
)

SOURCE_ADD: Final = Operation(
    "source_add",
    "Let a file of another program, or a folder of .md and .txt files, be read and found; for the user alone.",
    (
        Argument("path", Kind.PATH, "file or folder; it is never changed", True, True),
        Argument("name", Kind.NAME, _NAME, True, maximum=limits.SOURCE_NAME_MAX_CHARS),
        name_argument("agent", "agent or client whose notes they are"),
        Argument("owner_only", Kind.FLAG, "only that agent and you find and read them"),
        Argument("format", Kind.CHOICE, "default: by the file's ending", choices=("markdown", "text")),
    ),
    (*_SOURCE, *_LEFT_OUT),
    group=_GROUP,
)
SOURCE_LIST: Final = Operation(
    "source_list",
    "List the sources and what of them cannot be read.",
    (),
    (
        *("sources", *(f"sources[].{name}" for name in (*_SOURCE, "available", "reason?")), "sources_total"),
        *_LEFT_OUT,
    ),
    group=_GROUP,
)
SOURCE_REMOVE: Final = Operation(
    "source_remove",
    "Read a source no more; its files stay as they are. For the user alone.",
    (Argument("name", Kind.NAME, _NAME, True, True, maximum=limits.SOURCE_NAME_MAX_CHARS),),
    ("name",),
    group=_GROUP,
)
NATIVE_OPERATIONS: Final = (SOURCE_ADD, SOURCE_LIST, SOURCE_REMOVE)
