"""Heads: what the catalogue says of a version or a turn, without its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, NewType

from onrecord.domain.ids import EntryRef, LogId, RecordId
from onrecord.domain.instants import Instant

Partition = NewType("Partition", str)
SHARED: Final = Partition("shared")

# Loose documents are searched but are no versions: the text of a file whose version has not arrived, and sections of
# files outside the vault. Their `ref` names one of these in the place of a log; their `id` is no record's, so that
# nothing asked by record id meets them, and they supersede nothing.
PENDING_LOG: Final = LogId("pending")
NATIVE_LOG: Final = LogId("native")
LOOSE_LOGS: Final = frozenset({PENDING_LOG, NATIVE_LOG})


@dataclass(frozen=True, slots=True)
class TurnName:
    """What names a turn: `n` is its ordinal in the session from 1, `block` its block id."""

    source: str
    session: str
    turn: str
    n: int
    block: str
    role: str
    speaker: str = ""
    time: Instant | None = None


class VersionHead(NamedTuple):
    """One version of a record, or one turn, without its text; a tuple, since they are made by the hundred thousand.

    `ref` names its ledger entry and is unique. `is_displaced` versions are never current. For a turn, `id` and
    `path` are the transcript's and `version` is 1; a turn is its own document and never superseded by another turn.
    `offset_bytes`/`size_bytes`: where the block stands in the transcript file (turns only). It is found in `workspace`,
    its home, and in each of `also_in`.
    """

    ref: EntryRef
    id: RecordId
    version: int
    kind: str
    status: str
    origin: str
    workspace: str
    partition: Partition
    path: str
    title: str
    recorded_at: Instant
    text_sha256: bytes
    also_in: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    event_time: Instant | None = None
    is_displaced: bool = False
    is_observed: bool = False
    key: str = ""  # idempotency key as stored in the versions row; several heads of a batch may share it
    turn: TurnName | None = None
    offset_bytes: int = 0
    size_bytes: int = 0
    redacted: tuple[str, ...] = ()


def order_of(head: VersionHead) -> tuple[int, Instant, str, int]:
    """Return the key by which the versions of one record are in order (docs/format/time.md, Several logs)."""
    return head.version, head.recorded_at, head.ref.log, head.ref.seq


def turn_order_of(head: VersionHead) -> tuple[int, Instant, str, int]:
    """Return the key by which turns are in order: ordinal, then as versions; 0 for what is no turn."""
    return head.turn.n if head.turn is not None else 0, head.recorded_at, head.ref.log, head.ref.seq
