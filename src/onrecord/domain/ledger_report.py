"""What the verification of a log finds, as values (docs/format/tree.md, Verdict levels and Checks)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from onrecord.domain.ids import LogId, Seq


class Verdict(StrEnum):
    """How much a log shows of itself. L3 and L4 need outside parties and a policy, so they are not given here."""

    BROKEN = "BROKEN"
    L1 = "L1"
    L2 = "L2"


class FaultCode(StrEnum):
    """What contradicts."""

    ENTRY_TOO_LARGE = "entry_too_large"
    ENTRY_NOT_CANONICAL = "entry_not_canonical"
    ENTRY_UNKNOWN_TYPE = "entry_unknown_type"
    ENTRY_UNKNOWN_MEMBER = "entry_unknown_member"
    ENTRY_MISSING_MEMBER = "entry_missing_member"
    ENTRY_BAD_MEMBER = "entry_bad_member"
    LOG_MISMATCH = "log_mismatch"
    SEQ_MISMATCH = "seq_mismatch"
    START_MISPLACED = "start_misplaced"
    TIME_FELL = "time_fell"
    COUNTER_GAP = "counter_gap"
    PREV_MISMATCH = "prev_mismatch"
    KEY_MISMATCH = "key_mismatch"
    ROTATION_UNSIGNED = "rotation_unsigned"
    ROW_MISMATCH = "row_mismatch"
    COMMITMENT_MISMATCH = "commitment_mismatch"
    UNEXPLAINED_ABSENCE = "unexplained_absence"
    FORK = "fork"
    CUT_BACK = "cut_back"
    ROLLED_BACK = "rolled_back"
    PINNED_MISMATCH = "pinned_mismatch"
    CHECKPOINT_MALFORMED = "checkpoint_malformed"
    SIGNATURE_INVALID = "signature_invalid"
    SIGNATURE_MISSING = "signature_missing"
    TRUNCATED = "truncated"
    ROOT_MISMATCH = "root_mismatch"


# Faults of the signed head, and of the rows.
SIGNED: Final = frozenset(
    {
        FaultCode.CHECKPOINT_MALFORMED,
        FaultCode.SIGNATURE_INVALID,
        FaultCode.SIGNATURE_MISSING,
        FaultCode.TRUNCATED,
        FaultCode.ROOT_MISMATCH,
    }
)
ROWS: Final = frozenset({FaultCode.ROW_MISMATCH, FaultCode.COMMITMENT_MISMATCH, FaultCode.UNEXPLAINED_ABSENCE})
MESSAGES: Final[Mapping[FaultCode, str]] = MappingProxyType(
    {
        FaultCode.ENTRY_TOO_LARGE: "the entry is larger than an entry may be",
        FaultCode.ENTRY_NOT_CANONICAL: "the line is not the canonical form of a JSON object",
        FaultCode.ENTRY_UNKNOWN_TYPE: "the entry is of a type that this format does not have",
        FaultCode.ENTRY_UNKNOWN_MEMBER: "the entry has a member that its type does not have",
        FaultCode.ENTRY_MISSING_MEMBER: "the entry lacks a member that its type asks for",
        FaultCode.ENTRY_BAD_MEMBER: "a member of the entry has another form than the format gives it",
        FaultCode.LOG_MISMATCH: "the entry says that it belongs to another log",
        FaultCode.SEQ_MISMATCH: "the entry's number is not its place: entries were removed, added, repeated or swapped",
        FaultCode.START_MISPLACED: "a log begins with log.start, and only there",
        FaultCode.TIME_FELL: "the entry's record time is before that of the entry before",
        FaultCode.COUNTER_GAP: "the credential's counter does not go on by one: an entry of it is missing or repeated",
        FaultCode.PREV_MISMATCH: "the credential's entry before is not the one that this entry names: it was altered",
        FaultCode.KEY_MISMATCH: "a key is not the log's",
        FaultCode.ROTATION_UNSIGNED: "a further key was added without the word of an earlier one",
        FaultCode.ROW_MISMATCH: "the stored version says something else than the entry that commits to it",
        FaultCode.COMMITMENT_MISMATCH: "the stored bytes are not those that the entry commits to",
        FaultCode.UNEXPLAINED_ABSENCE: "the version that the entry commits to is gone, and no erasure says so",
        FaultCode.FORK: "another log is not the one that was seen here before",
        FaultCode.CUT_BACK: "another log is shorter than it was when it was seen here before",
        FaultCode.ROLLED_BACK: "the ledger is shorter than a head that was known before",
        FaultCode.PINNED_MISMATCH: "the ledger is not the one whose head was known before",
        FaultCode.CHECKPOINT_MALFORMED: "the checkpoint is not one of this log",
        FaultCode.SIGNATURE_INVALID: "a signature of the log's key on the checkpoint fails",
        FaultCode.SIGNATURE_MISSING: "no key that is trusted at this size signed the checkpoint",
        FaultCode.TRUNCATED: "the ledger is shorter than its signed head",
        FaultCode.ROOT_MISMATCH: "the ledger is not the one that was signed",
    }
)


@dataclass(frozen=True, slots=True)
class Fault:
    """The first place that contradicts.

    Attributes:
        code: What contradicts.
        seq: Number of the entry, None where it is a head.
        other: The log at fault where it is another one, which the entry had named otherwise.
    """

    code: FaultCode
    seq: Seq | None = None
    other: LogId | None = None

    @property
    def message(self) -> str:
        """What it means, one sentence."""
        return MESSAGES[self.code]


@dataclass(frozen=True, slots=True)
class Head:
    """Size of a log in entries and its root (32 bytes) at this size."""

    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class CutBack:
    """Another log of which more was here: entries up to `size` were seen, `there` is how many are left."""

    log: LogId
    size: int
    there: int


@dataclass(frozen=True, slots=True)
class LogReport:
    """What the verification of one log found. After a fault the numbers cover what was judged before it.

    Attributes:
        log: The log.
        verdict: The level.
        fault: What contradicts; None unless `verdict` is BROKEN.
        head: Entries judged and their root.
        signed: The checkpoint's head, when a trusted signature covers it.
        ts: Record time of the last entry, empty for none.
        opened: Commitments that stored bytes open.
        sealed: Rows that cannot be opened here.
        erased: Entries whose row is gone, as an `erase.execute` says.
        unerased: Rows still there though an `erase.execute` names them.
        waiting: Heads of other logs in `seen` that have not arrived, or not as far, and of another machine's log rows
            at its end that have not, and a signed head whose entries have not.
        newer: Entries of a newer format, counted as leaves only.
        cut_back: Other logs that are shorter than they were when they were seen here.
    """

    log: LogId
    verdict: Verdict
    fault: Fault | None
    head: Head
    signed: Head | None
    ts: str
    opened: int
    sealed: int
    erased: int
    unerased: int
    waiting: int
    newer: int
    cut_back: tuple[CutBack, ...] = ()

    @property
    def unsigned(self) -> int:
        """Entries beyond the newest checkpoint."""
        return self.head.size - (self.signed.size if self.signed is not None else 0)
