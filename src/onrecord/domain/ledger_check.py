"""Verification of one log (docs/format/tree.md, Checks): entries, tree, counters, commitments, heads.

Pure and in one pass: lines, rows and leaf hashes stream in, a report comes out. Files of records, witnesses and outside
times are not judged here. The first contradiction, in the order that the format fixes, is the one reported.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import assert_never

from onrecord.domain.checkpoint import (
    Checkpoint,
    Note,
    Verify,
    format_origin,
    parse_checkpoint,
    parse_note,
    verify_note,
)
from onrecord.domain.entry import Entry, EntryFault, read_entry
from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import LogId, Seq
from onrecord.domain.key_chain import KeyChain
from onrecord.domain.ledger_report import CutBack, Fault, FaultCode, Head, LogReport, Verdict
from onrecord.domain.merkle import EMPTY_ROOT, FrontierBuilder, hash_leaf
from onrecord.domain.pseudonym import opens_commitment
from onrecord.domain.told_row import says_same

_NOTHING: Mapping[str, object] = MappingProxyType({})
_NO_LOGS: Mapping[LogId, range] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row with its bytes.

    Attributes:
        salt: 32 bytes.
        data: The exact bytes of the version or turn.
        says: The row's members by name, of which `told_row.says_same` compares some. Empty leaves them unjudged.
    """

    salt: bytes
    data: bytes
    says: Mapping[str, object] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row that cannot be opened here; `says` as in `StoredRow`."""

    says: Mapping[str, object] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class ErasedRow:
    """The form that an erasure leaves; `says` as in `StoredRow`."""

    says: Mapping[str, object] = field(default_factory=lambda: _NOTHING)


Row = StoredRow | SealedRow | ErasedRow | None


def _read_no_leaves(_: LogId) -> None:
    return None


@dataclass(frozen=True, slots=True)
class LogMaterial:
    """What there is of one log.

    Attributes:
        log: Its id.
        lines: The ledger's lines without LF, in order.
        read_row: Returns the row of an entry, None where there is none; called in ascending order, only for entries
            with `body`.
        key_pub: Line of `key.pub`; None where there is no such file, then the first entry's key counts.
        checkpoint: Bytes of the newest signed head; None for none.
        pinned: Earlier heads known from elsewhere, any order.
        read_leaves: Returns the leaf hashes of another log in order, None where it is not there.
        may_lack_end: Whether the last entries and rows may still be on their way, as another machine writes them.
        was_here: Whether the heads in `seen` were once computed here, as this installation writes the log; what they
            cover and is not there any more has gone then, else it has not come.
        given_up: The sizes at which a log was given up by its own writer, by log (`given_up.read_given_up`).
        erased_elsewhere: `<log id>:<seq>` of entries that `erase.execute` of other logs name (`list_erasures`).
    """

    log: LogId
    lines: Iterable[bytes]
    read_row: Callable[[Seq], Row]
    key_pub: str | None = None
    checkpoint: bytes | None = None
    pinned: Sequence[Head] = ()
    read_leaves: Callable[[LogId], Iterable[bytes] | None] = _read_no_leaves
    erased_elsewhere: AbstractSet[str] = frozenset()
    may_lack_end: bool = False
    was_here: bool = False
    given_up: Mapping[LogId, range] = field(default_factory=lambda: _NO_LOGS)


def list_erasures(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield `<log id>:<seq>` of every entry whose content an `erase.execute` among the lines says is gone."""
    for line in lines:
        if b'"type":"erase.execute"' in line:
            entry = read_entry(line)
            if isinstance(entry, Entry):
                yield from entry.members["to"]


def judge_row(row: Row, entry: Entry) -> FaultCode | None:
    """Return in what a row contradicts its entry, which has `body`; absence is not judged."""
    if row is not None and row.says and not says_same(row.says, entry):
        return FaultCode.ROW_MISMATCH
    if isinstance(row, StoredRow) and not opens_commitment(row.salt, row.data, entry.members["body"]["c"]):
        return FaultCode.COMMITMENT_MISMATCH
    return None


def check_log(material: LogMaterial, verify: Verify) -> LogReport:
    """Verify one log.

    Args:
        material: What there is of it; nothing of it is trusted.
        verify: Tells whether (public key, message, signature) holds; must not raise on malformed keys.

    Returns:
        The report, BROKEN at the first contradiction. L1 without a checkpoint, L2 where a trusted key signed it.
    """
    check = _LogCheck(material, verify)
    fault = check.run()
    return check.report(fault)


class _LogCheck:
    """State of one verification."""

    def __init__(self, material: LogMaterial, verify: Verify) -> None:
        self._material = material
        self._verify = verify
        self._keys = KeyChain(material.log, material.key_pub, verify)
        self._note, self._checkpoint = _read_head(material.checkpoint)
        self._tree = FrontierBuilder()
        sizes = {pin.size for pin in material.pinned}
        if self._checkpoint is not None:
            sizes.add(self._checkpoint.size)
        self._wanted_sizes = frozenset(sizes)
        self._roots: dict[int, bytes] = {0: EMPTY_ROOT}
        self._last_ts = ""
        self._credentials: dict[str, tuple[int, bytes]] = {}
        self._seen: dict[LogId, list[tuple[Seq, Head]]] = {}
        self._given_up: dict[LogId, list[tuple[Seq, Head]]] = {}
        self._absent: list[Seq] = []
        self._is_present = bytearray()
        self._erasures: set[str] = set(material.erased_elsewhere)
        self._signed: Head | None = None
        self._cut_back: list[CutBack] = []
        self._opened = self._sealed = self._erased = self._unerased = self._waiting = self._newer = 0

    def run(self) -> Fault | None:
        """Judge everything; return the first fault."""
        for number, line in enumerate(self._material.lines):
            code = self._take(Seq(number), line)
            if code is not None:
                return Fault(code, Seq(number))
        return self._judge_absence() or self._judge_seen() or self._judge_pinned() or self._judge_checkpoint()

    def report(self, fault: Fault | None) -> LogReport:
        """Return the report."""
        level = Verdict.BROKEN if fault is not None else Verdict.L1 if self._signed is None else Verdict.L2
        return LogReport(
            log=self._material.log,
            verdict=level,
            fault=fault,
            head=Head(self._tree.size, self._tree.root()),
            signed=self._signed,
            ts=self._last_ts,
            opened=self._opened,
            sealed=self._sealed,
            erased=self._erased,
            unerased=self._unerased,
            waiting=self._waiting,
            newer=self._newer,
            cut_back=tuple(self._cut_back),
        )

    def _take(self, seq: Seq, line: bytes) -> FaultCode | None:
        entry = read_entry(line)
        if isinstance(entry, EntryFault):
            if entry is not EntryFault.NEWER_FORMAT:
                return FaultCode(entry.value)
            self._newer += 1
            self._add_leaf(hash_leaf(line), is_present=False)
            return None
        leaf = hash_leaf(line)
        code = self._judge_place(seq, entry, leaf)
        if code is None and "key" in entry.members:
            code = self._judge_key(seq, entry)
        is_present = False
        if code is None and "body" in entry.members:
            is_present, code = self._judge_row(seq, entry)
        if code is None:
            self._note_references(seq, entry)
            self._add_leaf(leaf, is_present=is_present)
        return code

    def _add_leaf(self, leaf: bytes, *, is_present: bool) -> None:
        self._tree.append(leaf)
        self._is_present.append(is_present)
        if self._tree.size in self._wanted_sizes:
            self._roots[self._tree.size] = self._tree.root()

    def _judge_place(self, seq: Seq, entry: Entry, leaf: bytes) -> FaultCode | None:
        if entry.log != self._material.log:
            return FaultCode.LOG_MISMATCH
        if entry.seq != seq:
            return FaultCode.SEQ_MISMATCH
        if (seq == 0) != (entry.type == "log.start"):
            return FaultCode.START_MISPLACED
        if entry.ts < self._last_ts:
            return FaultCode.TIME_FELL
        self._last_ts = entry.ts
        # A newer entry may be of any credential, so that no counter is known after it.
        if not self._newer:
            count, prev = self._credentials.get(entry.cred, (0, None))
            if entry.cseq != count + 1:
                return FaultCode.COUNTER_GAP
            if entry.prev != prev:
                return FaultCode.PREV_MISMATCH
            self._credentials[entry.cred] = (entry.cseq, leaf)
        return None

    def _judge_key(self, seq: Seq, entry: Entry) -> FaultCode | None:
        vkey = entry.members["key"]
        if not self._keys.is_of_log(vkey):
            return FaultCode.KEY_MISMATCH
        match entry.type:
            case "log.start":
                return None if self._keys.start(vkey) else FaultCode.KEY_MISMATCH
            case "key.rotate":
                signature = b64decode(entry.members["sig"])
                return None if self._keys.rotate(seq, vkey, signature) else FaultCode.ROTATION_UNSIGNED
            case _:
                return None if self._keys.compromise(vkey, entry.members["n"]) else FaultCode.KEY_MISMATCH

    def _judge_row(self, seq: Seq, entry: Entry) -> tuple[bool, FaultCode | None]:
        """Return whether content is there, and what is wrong with it."""
        row = self._material.read_row(seq)
        code = judge_row(row, entry)
        if code is not None:
            return False, code
        match row:
            case None | ErasedRow():
                self._absent.append(seq)
                return False, None
            case SealedRow():
                self._sealed += 1
                return True, None
            case StoredRow():
                self._opened += 1
                return True, None
            case _:
                assert_never(row)

    def _note_references(self, seq: Seq, entry: Entry) -> None:
        if entry.type == "erase.execute":
            self._erasures.update(entry.members["to"])
        seen = self._given_up if entry.type == "log.adopt" else self._seen
        for item in entry.members.get("seen", ()):
            head = Head(item["size"], b64decode(item["root"]))
            seen.setdefault(LogId(item["log"]), []).append((seq, head))

    def _judge_absence(self) -> Fault | None:
        prefix = f"{self._material.log}:"
        named = {int(name[len(prefix) :]) for name in self._erasures if name.startswith(prefix)}
        self._unerased = sum(self._is_present[seq] for seq in named if seq < len(self._is_present))
        end = self._is_present.rfind(1)
        for seq in self._absent:
            if seq in named:
                self._erased += 1
            elif self._material.may_lack_end and seq > end:
                self._waiting += 1
            elif not self._newer:
                return Fault(FaultCode.UNEXPLAINED_ABSENCE, seq)
        return None

    def _judge_seen(self) -> Fault | None:
        faults: list[tuple[Seq, FaultCode, LogId]] = []
        for log in {**self._seen, **self._given_up}:
            heads, given_up = self._seen.get(log, []), self._given_up.get(log, [])
            sizes = {head.size for _, head in [*heads, *given_up]}
            roots, there = _compute_roots(self._material.read_leaves(log) or (), sizes)
            gone = [(seq, head.size) for seq, head in heads if head.size > there and self._was_here(log, head)]
            if gone:
                self._cut_back.append(CutBack(log, max(size for _, size in gone), there))
            self._waiting += sum(head.size > there for _, head in heads) - len(gone)
            self._waiting += sum(roots.get(head.size) != head.root for _, head in given_up)
            faults += [(seq, FaultCode.CUT_BACK, log) for seq, _ in gone]
            forked = [seq for seq, head in heads if roots.get(head.size, head.root) != head.root]
            faults += [(seq, FaultCode.FORK, log) for seq in forked]
        if not faults:
            return None
        seq, code, other = min(faults)
        return Fault(code, seq, other)

    def _was_here(self, log: LogId, head: Head) -> bool:
        return self._material.was_here and head.size not in self._material.given_up.get(log, ())

    def _judge_pinned(self) -> Fault | None:
        for pin in sorted(self._material.pinned, key=lambda head: head.size):
            root = self._roots.get(pin.size)
            if root is None:
                return Fault(FaultCode.ROLLED_BACK)
            if root != pin.root:
                return Fault(FaultCode.PINNED_MISMATCH)
        return None

    def _judge_checkpoint(self) -> Fault | None:
        if not self._tree.size and self._material.key_pub is not None and not self._keys.start():
            return Fault(FaultCode.KEY_MISMATCH)
        if self._material.checkpoint is None:
            return None
        note, head = self._note, self._checkpoint
        if note is None:
            return Fault(FaultCode.CHECKPOINT_MALFORMED)
        trusted = self._keys.list_trusted()
        signers = verify_note(note, trusted, self._verify)
        if signers.failed:
            return Fault(FaultCode.SIGNATURE_INVALID)
        is_early = head is not None and head.size > self._tree.size and self._material.may_lack_end
        if not signers.signed and not is_early:
            return Fault(FaultCode.SIGNATURE_MISSING)
        if head is None or head.origin != format_origin(self._material.log):
            return Fault(FaultCode.CHECKPOINT_MALFORMED)
        if is_early:
            # The entries up to it, which may name the key that signed it, have not come yet.
            self._waiting += 1
            return None
        limits = [trusted[key] for key in signers.signed]
        if not any(limit is None or head.size <= limit for limit in limits):
            return Fault(FaultCode.SIGNATURE_MISSING)
        root = self._roots.get(head.size)
        if root is None:
            return Fault(FaultCode.TRUNCATED)
        if root != head.root:
            return Fault(FaultCode.ROOT_MISMATCH)
        self._signed = Head(head.size, head.root)
        return None


def _read_head(data: bytes | None) -> tuple[Note | None, Checkpoint | None]:
    """Read a checkpoint as far as it can be read; nothing is verified."""
    if data is None:
        return None, None
    try:
        note = parse_note(data)
    except DamagedError:
        return None, None
    try:
        return note, parse_checkpoint(note.text)
    except DamagedError:
        return note, None


def _compute_roots(leaves: Iterable[bytes], sizes: AbstractSet[int]) -> tuple[dict[int, bytes], int]:
    """Return the root at each of the sizes that the leaves reach, and how many leaves were there up to the largest."""
    tree, roots, largest = FrontierBuilder(), {}, max(sizes, default=0)
    for leaf in leaves:
        tree.append(leaf)
        if tree.size in sizes:
            roots[tree.size] = tree.root()
        if tree.size == largest:
            break
    return roots, tree.size
