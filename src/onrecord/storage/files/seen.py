"""Heads of other logs: what own entries say of them in `seen` (docs/format/ledger.md, Several logs and `seen`)."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from onrecord.domain.checkpoint import Verify, parse_checkpoint, parse_note
from onrecord.domain.entry import Entry, read_entry
from onrecord.domain.errors import DamagedError, OnRecordError, StorageFailedError
from onrecord.domain.head_proof import HeadProof
from onrecord.domain.ids import LogId
from onrecord.domain.instants import Instant, to_unix_us
from onrecord.domain.merkle import FrontierBuilder, hash_leaf
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.record_time import SEEN_AHEAD_MAX_US
from onrecord.storage.files.head import Head, SeenHead
from onrecord.storage.files.logs import LogFolders
from onrecord.storage.files.vault_config import MACHINE_FOLDER

# One head takes about 140 bytes of the 4,096 of an entry; `log.start` has its key besides.
SEEN_MAX_COUNT = 20


@dataclass(frozen=True, slots=True)
class _Judged:
    entries: int
    known_size: int
    checkpoint: bytes | None
    head: SeenHead | None


class ForeignHeads:
    """Finds other logs that have grown since an own entry named their head last.

    Args:
        logs: The logs of the vault.
        verify: Tells whether (public key, message, signature) holds; asked of checkpoints of logs that have grown.

    Attributes:
        problems: What was found wrong with them, by log.
    """

    def __init__(self, logs: LogFolders, verify: Verify) -> None:
        self._logs = logs
        self._verify = verify
        self._judged: dict[LogId, _Judged] = {}
        self.problems: dict[LogId, Problem] = {}

    def find_advanced(self, own: LogId, seen: Mapping[LogId, SeenHead], now_us: int) -> dict[LogId, SeenHead]:
        """Return the heads that go on from those seen, by log, ascending.

        A head covers the entries up to the first that is not sound. A log that contradicts its checkpoint or the head
        seen before is a problem and gives none, nor does one whose checkpoint no key of it signed, nor one whose last
        entry is more than a day ahead of the clock.

        One that cannot be read at all is a problem, too.

        Raises:
            StorageFailedError, DamagedError: a checkpoint cannot be read, or a ledger that could be read before.
        """
        advanced: dict[LogId, SeenHead] = {}
        for log in self._logs.list_ids():
            if log == own:
                continue
            known = seen.get(log)
            known_size = known.size if known is not None else 0
            try:
                entries = self._logs.count_entries(log)
            except (DamagedError, StorageFailedError) as error:
                self._blame(log, "entry_unreadable", error.reason)
                continue
            if entries <= known_size:
                continue
            data = self._logs.read_file(log, "checkpoint")
            judged = self._judged.get(log)
            if judged is None or (judged.entries, judged.known_size, judged.checkpoint) != (entries, known_size, data):
                self.problems.pop(log, None)
                judged = self._judged[log] = _Judged(entries, known_size, data, self._judge(log, known, data))
            head = judged.head
            if head is None:
                continue
            if to_unix_us(Instant(head.ts)) > now_us + SEEN_AHEAD_MAX_US:
                self._blame(log, "clock_jump", "its record time is more than a day ahead of this machine's clock")
                continue
            advanced[log] = head
        return advanced

    def inspect(self, own: LogId, head: Head | None, now_us: int) -> Sequence[Problem]:
        """Judge what no own entry has named yet, as the next write would; return what is wrong with it."""
        if own and head is not None:
            with suppress(OnRecordError):
                self.find_advanced(own, head.seen, now_us)
        return tuple(self.problems.values())

    def _judge(self, log: LogId, known: SeenHead | None, data: bytes | None) -> SeenHead | None:
        """Return the head of the sound entries; None if it is no further than the one known, or contradicts."""
        signed, proof = self._read_checkpoint(log, data)
        tree, ts = FrontierBuilder(), ""
        known_size = known.size if known is not None else 0
        for seq, line in self._logs.read_entries(log):
            if seq >= known_size:
                entry = read_entry(line)
                if not isinstance(entry, Entry) or entry.log != log or entry.seq != seq or entry.ts < ts:
                    self._blame(log, "entry_unreadable", f"entry {seq} is not sound; nothing is seen from there on")
                    break
                ts = entry.ts
            tree.append(hash_leaf(line))
            if proof is not None:
                proof.take(seq, line)
            for head in (known, signed):
                if head is not None and head.size == tree.size and head.root != tree.root():
                    self._blame(log, "log_forked", f"entry {seq} is not the one that was there before")
                    return None
        fault = proof.find_fault(tree.size) if proof is not None else ""
        if fault:
            self._blame(log, "checkpoint_unproven", f"{fault}; nothing more of it is seen")
            return None
        return SeenHead(tree.size, tree.root(), ts) if tree.size > known_size else None

    def _read_checkpoint(self, log: LogId, data: bytes | None) -> tuple[SeenHead | None, HeadProof | None]:
        if data is None:
            return None, None
        try:
            note = parse_note(data)
            checkpoint = parse_checkpoint(note.text)
        except DamagedError:
            self._blame(log, "entry_unreadable", "its checkpoint is damaged")
            return None, None
        return SeenHead(checkpoint.size, checkpoint.root, ""), HeadProof(log, note, checkpoint, self._verify)

    def _blame(self, log: LogId, code: str, message: str) -> None:
        path = f"{MACHINE_FOLDER}/{log}"
        mend = "`onrecord verify` judges it; put the log's folder back from the machine that writes it."
        self.problems[log] = Problem(path, 0, code, Severity.WARNING, f"another log: {message}", mend)


def list_seen_members(heads: Mapping[LogId, SeenHead]) -> list[list[dict[str, object]]]:
    """Return the values of `seen` that name these heads, in as many parts as entries have room; none for none."""
    items: Sequence[dict[str, object]] = [
        {"log": log, "size": head.size, "root": base64.b64encode(head.root).decode(), "ts": head.ts}
        for log, head in sorted(heads.items())
    ]
    return [list(items[start : start + SEEN_MAX_COUNT]) for start in range(0, len(items), SEEN_MAX_COUNT)]
