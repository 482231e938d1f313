"""Every operation once: name, arguments with their bounds, what it returns. Surfaces derive from it.

The command line, its help and the Python API's checks are made from this table; MCP schemas and OpenAPI will be.
"""

from __future__ import annotations

from typing import Final

from onrecord.app.native_operations import NATIVE_OPERATIONS
from onrecord.app.operation import Argument, Kind, Operation, name_argument
from onrecord.app.outside_operations import OUTSIDE_OPERATIONS
from onrecord.domain import limits

_WORKSPACE: Final = name_argument("workspace", "project the memory belongs to")
_KEY: Final = Argument(
    "idempotency_key",
    Kind.NAME,
    "repeat a call with the same key and nothing happens twice",
    maximum=limits.IDEMPOTENCY_KEY_MAX_CHARS,
)
_ID: Final = Argument("id", Kind.ID, "record id or a prefix of at least 4 characters", True, True)
_ANY_ID: Final = Argument(
    "id",
    Kind.ANY_ID,
    "record id or a prefix of at least 4 characters, or the whole id of a source's section",
    True,
    True,
)
_WHOLE_ID: Final = Argument("id", Kind.ID, "record id, all 12 characters", True, True)
_VERSION: Final = Argument("version", Kind.INTEGER, "version number, from 1", minimum=1, maximum=limits.INTEGER_MAX)
_TEXT: Final = Argument(
    "text", Kind.TEXT, "the words to keep, exactly; - reads standard input", True, True,
    minimum=1, maximum_bytes=limits.TEXT_MAX_BYTES,
)  # fmt: skip
_TAGS: Final = Argument(
    "tags", Kind.NAMES, "label; may be given several times", flag="tag",
    maximum=limits.TAGS_MAX_COUNT, item_maximum=limits.TAG_MAX_CHARS,
)  # fmt: skip
_MODE: Final = Argument(
    "mode",
    Kind.CHOICE,
    "preview: title and beginning; hits: the matching sentences; full: the text",
    choices=("preview", "hits", "full"),
)
_LIMIT: Final = Argument("limit", Kind.INTEGER, "results a page, default 10", minimum=1, maximum=limits.PAGE_MAX_COUNT)

_OFFSET: Final = Argument(
    "offset", Kind.INTEGER, "where the page begins, from next_offset", maximum=limits.OFFSET_MAX_COUNT
)

_PAGE: Final = ("truncated?", "next_offset?")
_MEMORY: Final = (
    *("id", "version?", "title", "text", "origin", "status", "kind", "workspace?", "path", "recorded_at?", "by?"),
    *("span", "total_chars", "tags?", "source?", "pending_sync?", "truncated?", "next_span?", "conflict?"),
)
_ERROR: Final = ("code", "reason", "field?", "hint?", "did_you_mean?")


def _below(prefix: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(prefix + name for name in names)


REMEMBER: Final = Operation(
    "remember",
    "Keep a memory in the words given.",
    (
        _TEXT,
        Argument("title", Kind.NAME, "shown name", maximum=limits.TITLE_MAX_CHARS),
        _WORKSPACE,
        _TAGS,
        Argument(
            "aliases", Kind.NAMES, "another name; may be given several times", flag="alias",
            maximum=limits.ALIASES_MAX_COUNT, item_maximum=limits.ALIAS_MAX_CHARS,
        ),
        name_argument("type", "preference, fact, project, todo, event, identity, procedure, other ..."),
        name_argument("source_ref", "where it comes from"),
        Argument("event_time", Kind.INSTANT, "when the thing told took place"),
        Argument("valid_from", Kind.INSTANT, "since when it holds"),
        Argument("valid_to", Kind.INSTANT, "until when it holds"),
        Argument("review_by", Kind.INSTANT, "when to look at it again"),
        Argument("confidence", Kind.DECIMAL, "0 to 1"),
        Argument("meta", Kind.MAP, "free JSON object", maximum_bytes=limits.META_MAX_BYTES),
        _KEY,
    ),
    ("id?", "version?", "duplicate?", "backup_only?"),
)  # fmt: skip
FIND: Final = Operation(
    "find",
    "Find memories and turns by their words.",
    (
        Argument("query", Kind.TEXT, "words or a question", True, True, minimum=1, maximum=limits.QUERY_MAX_CHARS),
        _WORKSPACE,
        _LIMIT,
        _OFFSET,
        _MODE,
        Argument("as_of", Kind.INSTANT, "what was known at this time"),
    ),
    (
        "status",
        "results",
        *_below(
            "results[].",
            (
                "id",
                "version?",
                "title",
                "score",
                "kind",
                "status",
                "origin",
                "turn?",
                "block?",
                "speaker?",
                "time?",
                "source?",
                "path?",
                "pending_sync?",
                "total_chars?",
                "snippet?",
                "spans?",
                "spans[].span",
                "spans[].text",
                "text?",
                "truncated?",
                "conflict?",
            ),
        ),
        *_PAGE,
    ),
)
READ: Final = Operation(
    "read",
    "Read one memory.",
    (
        _ANY_ID,
        _VERSION,
        Argument("entry", Kind.ENTRY, "the version of this entry: one number may be of several versions"),
        Argument("span", Kind.SPAN, "A:B, code points of the text"),
    ),
    _MEMORY,
)
BATCH_READ: Final = Operation(
    "batch_read",
    "Read several memories; each under its share of the page.",
    (
        Argument("ids", Kind.ANY_IDS, "record ids", True, True, minimum=1, maximum=limits.BATCH_READ_MAX_COUNT),
        _OFFSET,
    ),
    (
        "results",
        "results[].id",
        *_below("results[].", tuple(f"{name.rstrip('?')}?" for name in _MEMORY if name != "id")),
        "results[].warnings?",
        "results[].error?",
        *_below("results[].error.", _ERROR),
        *_PAGE,
    ),
    is_typed=False,
)
UPDATE: Final = Operation(
    "update",
    "Change a memory: exact old and new text, patches, a whole text, or tags.",
    (
        _WHOLE_ID,
        Argument("old", Kind.TEXT, "text that occurs exactly once", maximum=limits.PATCH_TEXT_MAX_CHARS),
        Argument("new", Kind.TEXT, "what takes its place", maximum=limits.PATCH_TEXT_MAX_CHARS),
        Argument("patches", Kind.PATCHES, "up to 8 pairs {old, new} as JSON", maximum=limits.PATCHES_MAX_COUNT),
        Argument("text", Kind.TEXT, "a whole new text; - reads standard input", maximum_bytes=limits.TEXT_MAX_BYTES),
        Argument(
            "tags", Kind.NAMES, "the new tags, all of them", flag="tag",
            maximum=limits.TAGS_MAX_COUNT, item_maximum=limits.TAG_MAX_CHARS,
        ),
        Argument("expect", Kind.INTEGER, "version that is to be changed", True, minimum=1, maximum=limits.INTEGER_MAX),
        _KEY,
    ),
    ("id", "version", "merged?", "conflict?"),
    exclusive=(("old", "new"), ("patches",), ("text",), ("tags",)),
)  # fmt: skip
HISTORY: Final = Operation(
    "history",
    "Show every version of a memory.",
    (_ID, _OFFSET),
    (
        "id", "versions",
        *_below("versions[].", (
            "version", "recorded_at", "superseded_at?", "origin", "status", "by", "mode", "title", "path",
            "known_at?", "pending_sync?",
        )),
        "turns?", "path?", "pending_sync?",
        *_PAGE,
    ),
)  # fmt: skip
CAPTURE: Final = Operation(
    "capture",
    "Append one turn of a conversation to its transcript.",
    (
        Argument(
            "text", Kind.TEXT, "what was said; - reads standard input", True, True,
            minimum=0, maximum_bytes=limits.TURN_TEXT_MAX_BYTES,
        ),
        name_argument("source", "program the turn comes from", is_required=True),
        name_argument("session", "conversation", is_required=True),
        name_argument("turn", "id of the turn in its session", is_required=True),
        Argument(
            "role", Kind.CHOICE, "who spoke", True, choices=("user", "assistant", "tool", "system", "document")
        ),
        name_argument("speaker", "name of who spoke"),
        Argument("time", Kind.INSTANT, "when it was said"),
        _WORKSPACE,
    ),
    ("id?", "turn?", "block?", "duplicate?", "backup_only?"),
)  # fmt: skip
IMPORT: Final = Operation(
    "import",
    "Take in a tree of Markdown, or turns as JSON lines {session, turn, speaker, text, time}.",
    (
        Argument("path", Kind.PATH, "file or folder; - reads turns from standard input", True, True),
        Argument("format", Kind.CHOICE, "default: by the path's ending", choices=("markdown", "turns")),
        _WORKSPACE,
        name_argument("source", "turns: program they come from, default import"),
    ),
    (
        "imported",
        "duplicates",
        "skipped",
        *_below("skipped[].", ("path?", "line?", "field?", "reason")),
        "truncated?",
        "skipped_total?",
    ),
)
REPLAY: Final = Operation(
    "replay",
    "Write what the backup holds to the vault, at most 200 lines a call.",
    (Argument("dry_run", Kind.FLAG, "only tell what would happen"),),
    ("replayed", "duplicates", "failed", "failed[].line", "failed[].reason", "next_offset", "remaining"),
    group="repair",
)
VERIFY: Final = Operation(
    "verify",
    "Check tree, signatures, versions and files. L1: all agrees with itself; L2: a signature covers it, too.",
    (),
    (
        "verdict", "logs",
        *_below("logs[].", ("log", "verdict", "entries", "root", "signed", "unsigned", "opened", "erased")),
        *_below("logs[].", ("waiting", "newer", "fault?")),
        *_below("logs[].fault.", ("seq?", "code", "message", "mend")),
        "differences", *_below("differences[].", ("code", "path", "message", "record?")),
        *_below("differences[].", ("version?", "expected?", "found?", "mend?")),
        "notes", *_below("notes[].", ("code", "path", "message", "record?")),
        *_below("notes[].", ("version?", "expected?", "found?", "mend?")),
        "logs_total", "differences_total", "notes_total",
        "not_shown",
    ),
)  # fmt: skip
DOCTOR: Final = Operation(
    "doctor",
    "Name every file and part that needs attention.",
    (
        Argument("checks", Kind.NAMES, "run this check alone, by its id; may be given several times", flag="check",
                 minimum=1, maximum=100, item_maximum=40),
        Argument("deep", Kind.FLAG, "run the checks that take long, too"),
        Argument("offset", Kind.INTEGER, "where the page begins, from next_offset", maximum=limits.OFFSET_MAX_COUNT),
    ),
    (
        "checks", *_below("checks[].", ("id", "title", "status", "findings", "reason?")),
        "findings", *_below("findings[].", ("check", "path", "line", "code", "severity", "message")),
        *_below("findings[].", ("evidence?", "mend?")),
        "counts", *_below("counts.", ("critical", "warning", "info")),
        "total", "truncated?", "next_offset?",
    ),
)  # fmt: skip
STATUS: Final = Operation(
    "status",
    "Show what the vault holds and how it is.",
    (),
    (
        "vault", "log",
        "counts", *_below("counts.", ("records", "versions", "turns", "files")),
        "ledger", "ledger.entries",
        "logs", *_below("logs[].", ("log", "entries", "own")), "logs_total", "machines",
        "backup", "backup.lines", "backup.waiting",
        "index", "index.behind",
        "missing", *_below("missing.", ("records", "retirement_suspended")), "conflicts", "proposals",
        "sources", *_below("sources.", ("sources", "files", "sections", "left_out")),
        "problems",
    ),
)  # fmt: skip
REINDEX: Final = Operation(
    "reindex",
    "Make the index anew from the files and the versions store; exit status 1 where it could be made in memory alone.",
    (),
    ("documents", "files"),
)
HELP: Final = Operation(
    "help", "Explain one operation.",
    (Argument("operation", Kind.NAME, "its name, or the command as it is typed", False, True, maximum=40),),
    (
        "operation?", "command?", "doc?",
        "arguments?",
        *_below("arguments[].", ("name", "kind", "doc", "required", "choices?")),
        *_below("arguments[].", ("minimum?", "maximum?", "maximum_bytes?")),
        "returns?",
        "operations?", *_below("operations[].", ("operation", "command?", "doc")),
    ),
)  # fmt: skip
INIT: Final = Operation(
    "init",
    "Make a vault; notes that lie in its memories/ are counted, and taken in untouched by the next command.",
    (Argument("dir", Kind.PATH, "folder, default: the configured vault", False, True),),
    ("vault", "path", "notes", "notes_elsewhere"),
)
CONFIG: Final = Operation(
    "config",
    "Show each setting, its value and where it comes from, and the folders that follow.",
    (),
    (
        *("settings", *_below("settings[].", ("name", "value", "source", "variable", "doc"))),
        *("folders", *_below("folders.", ("vault", "state"))),
    ),
)

OPERATIONS: Final = {
    operation.name: operation
    for operation in (
        INIT, REMEMBER, FIND, READ, BATCH_READ, UPDATE, HISTORY, CAPTURE, IMPORT, REPLAY, VERIFY, DOCTOR, STATUS,
        CONFIG, REINDEX, HELP, *NATIVE_OPERATIONS, *OUTSIDE_OPERATIONS,
    )
}  # fmt: skip
