"""Brings ledger, versions and files to what the journal says; used for a fresh commit and for replay alike."""

from __future__ import annotations

import base64
import errno
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from onrecord.domain.errors import LedgerRolledBackError
from onrecord.domain.ids import LogId, RecordId, Seq
from onrecord.domain.limits import LEDGER_SEGMENT_MAX_COUNT, VERSIONS_SEGMENT_MAX_BYTES
from onrecord.domain.merkle import hash_leaf
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.store import FileState, VersionRow
from onrecord.ports.system import ClockReading
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.frames import FrameChange, hash_bytes
from onrecord.storage.files.head import CredentialState, Head, SeenHead
from onrecord.storage.files.logs import read_seen
from onrecord.storage.files.placement import Placed, Placer, name_temporary
from onrecord.storage.files.scan import describe_file, scan_records
from onrecord.storage.files.segments import SegmentWriter, name_segment

_TAIL_BYTES = 4_096


@dataclass(slots=True)
class Outcome:
    """What applying changes did: places, displaced outside edits, what failed and why it lags behind, problems."""

    placed: list[tuple[VersionRow, FileState | None]] = field(default_factory=list)
    displaced: list[tuple[VersionRow, bytes]] = field(default_factory=list)
    failed: list[VersionRow] = field(default_factory=list)
    not_placed: str = ""
    problems: list[Problem] = field(default_factory=list)

    def add(self, more: Outcome) -> None:
        """Take in what another application did."""
        self.placed += more.placed
        self.displaced += more.displaced
        self.failed += more.failed
        self.not_placed = more.not_placed or self.not_placed
        self.problems += more.problems


def advance_head(head: Head, changes: Sequence[FrameChange], clock: ClockReading | None) -> Head:
    """Return the head after the changes; where the stores end stays."""
    credentials = dict(head.credentials)
    leaves = [hash_leaf(change.entry) for change in changes]
    seen: dict[LogId, SeenHead] = {}
    for change, leaf in zip(changes, leaves, strict=True):
        credentials[change.cred] = CredentialState(change.cseq, leaf)
        for item in read_seen(change.entry)[1]:
            size, root = int(str(item["size"])), base64.b64decode(str(item["root"]))
            seen[LogId(str(item["log"]))] = SeenHead(size, root, str(item["ts"]))
    return replace(
        head,
        frontier=head.frontier.extend(leaves),
        ts=changes[-1].ts if changes else head.ts,
        credentials=MappingProxyType(credentials),
        clock=clock or head.clock,
        seen=MappingProxyType({**head.seen, **seen}) if seen else head.seen,
    )


class Applier:
    """Writes to the vault what is committed.

    Args:
        vault: The vault's disk.
        folder: The log's folder, `.onrecord/<log id>`.
        head: Where the stores end.
    """

    def __init__(self, vault: Disk, folder: str, head: Head) -> None:
        self._vault = vault
        self.ledger = SegmentWriter(vault, f"{folder}/ledger", head.ledger)
        self.versions = SegmentWriter(vault, f"{folder}/versions", head.versions)
        self.placer = Placer(vault, head.log)

    def check_continues(self, head: Head) -> None:
        """Check that the stores on disk reach at least to where the pinned head says, with the same last bytes.

        Raises:
            LedgerRolledBackError: they do not.
            OSError: they cannot be read.
        """
        if not self.reaches_ends():
            raise LedgerRolledBackError("ledger or versions store is shorter than what was acknowledged here")
        if head.tail and self.read_tail() != head.tail:
            raise LedgerRolledBackError("the ledger's last acknowledged entries have been altered")

    def reaches_ends(self) -> bool:
        """Tell whether the stores on disk are as long as they were written.

        Raises:
            OSError: they cannot be read.
        """
        for writer in (self.ledger, self.versions):
            found = self._vault.stat(name_segment(writer.folder, writer.end.segment))
            if writer.end.size_bytes and (found is None or found.st_size < writer.end.size_bytes):
                return False
        return True

    def read_tail(self) -> bytes:
        """Return the hash of the last bytes of the ledger's newest segment, empty for an empty one."""
        end = self.ledger.end
        if not end.size_bytes:
            return b""
        start = max(0, end.size_bytes - _TAIL_BYTES)
        path = name_segment(self.ledger.folder, end.segment)
        return hash_bytes(self._vault.read(path, start, end.size_bytes - start))

    def check_writable(self) -> None:
        """Open the ledger segment for append, so that a commit is not acknowledged which has no place to go.

        Raises:
            OSError: it cannot be written.
        """
        path = name_segment(self.ledger.folder, self.ledger.end.segment)
        self._vault.open_for_append(path)

    def write_lines(self, first_seq: Seq, changes: Sequence[FrameChange], *, is_replay: bool) -> None:
        """Bring ledger and versions to hold the changes' lines at their ends and nothing after.

        Raises:
            OSError: not written; the ends tell how far it came.
        """
        ends = [seq > 0 and seq % LEDGER_SEGMENT_MAX_COUNT == 0 for seq in range(first_seq, first_seq + len(changes))]
        ledger = [(change.ledger_line, begins) for change, begins in zip(changes, ends, strict=True)]
        versions: list[tuple[bytes, bool]] = []
        end = self.versions.end.size_bytes
        for line in filter(None, (change.encode_versions_line() for change in changes)):
            begins = end > 0 and end + len(line) > VERSIONS_SEGMENT_MAX_BYTES
            versions.append((line, begins))
            end = len(line) if begins else end + len(line)
        for writer, lines in ((self.ledger, ledger), (self.versions, versions)):
            _put(writer, lines, is_replay=is_replay)

    def skip_lines(self, first_seq: Seq, changes: Sequence[FrameChange]) -> None:
        """Move the ends behind lines that are known to be written in this boot; they are synced at the checkpoint."""
        for number, change in enumerate(changes):
            seq = first_seq + number
            self.ledger.skip(len(change.ledger_line), seq > 0 and seq % LEDGER_SEGMENT_MAX_COUNT == 0)
            line = change.encode_versions_line()
            if line:
                end = self.versions.end.size_bytes
                self.versions.skip(len(line), end > 0 and end + len(line) > VERSIONS_SEGMENT_MAX_BYTES)
            if change.how is not None and change.row is not None:
                self.placer.unsynced.add(change.row.draft.path)

    def place_files(self, changes: Sequence[FrameChange], *, is_replay: bool) -> Outcome:
        """Place every file of the changes; one that cannot be placed is named and served from the versions store."""
        applied = Outcome()
        for change in changes:
            if change.how is None or change.row is None:
                continue
            row = change.row
            try:
                placed = self._settle(change, row) if is_replay else self._place(change, row)
            except OSError as error:
                code = errno.errorcode.get(error.errno or 0, "EIO")
                applied.not_placed = f"a file could not be placed ({code})"
                applied.placed.append((row, None))
                applied.failed.append(row)
                applied.problems.append(_name_not_placed(row, code))
                continue
            if placed is None:
                applied.placed.append((row, None))
                continue
            if placed.displaced is not None:
                applied.displaced.append((row, placed.displaced))
            state = describe_file(self._vault, placed.path)
            applied.placed.append((row, state))
        return applied

    def _place(self, change: FrameChange, row: VersionRow) -> Placed:
        draft = row.draft
        match change.how:
            case "create":
                return self.placer.create(draft.path, draft.data, row.ref.seq)
            case "append" if draft.turn is not None:
                return self.placer.append(draft.path, draft.data, draft.turn.offset_bytes, row.ref.seq)
            case _:
                return self.placer.replace(draft.path, draft.data, change.pre_sha256, row.ref.seq)

    def _settle(self, change: FrameChange, row: VersionRow) -> Placed | None:
        draft = row.draft
        if change.is_region():
            offset = draft.turn.offset_bytes if draft.turn is not None else 0
            return self.placer.settle_region(draft.path, draft.data, offset, row.ref.seq)
        pre = change.pre_sha256 if change.how == "replace" else None
        return self.placer.settle(draft.path, draft.data, pre, row.ref.seq, draft.id.encode())

    def find_moved(self, changes: Sequence[FrameChange]) -> dict[RecordId, int]:
        """Tell which records were placed and then renamed by the user: their last bytes lie at another place.

        A file that is only gone says nothing: a power cut takes what was not synced as well.

        Returns:
            Per record the sequence number behind its last placed entry.

        Raises:
            OSError: the vault cannot be read.
        """
        last = {
            change.row.draft.id: change.row
            for change in changes
            if change.row is not None and change.how in ("create", "replace") and not change.is_region()
        }
        gone = {row.draft.data: row for row in last.values() if self._is_gone(row)}
        sizes = {len(data) for data in gone}
        moved: dict[RecordId, int] = {}
        for item in scan_records(self._vault) if gone else ():
            if isinstance(item, FileState) and item.size_bytes in sizes:
                row = gone.get(self._vault.read(item.path))
                if row is not None:
                    moved[row.draft.id] = row.ref.seq + 1
        return moved

    def _is_gone(self, row: VersionRow) -> bool:
        """Tell whether a file that names its record is absent and was not about to be placed."""
        places = (row.draft.path, name_temporary(row.draft.path, row.ref.log, row.ref.seq))
        return row.draft.id.encode() in row.draft.data and all(self._vault.stat(path) is None for path in places)

    def has_lost_one(self) -> bool:
        """Tell whether a file placed since the last checkpoint is not where it was placed.

        Raises:
            OSError: the vault cannot be read.
        """
        return any(self._vault.stat(path) is None for path in self.placer.unsynced)

    def sync(self) -> None:
        """Make everything applied durable.

        Raises:
            OSError: not synced; the journal must stay.
        """
        self.placer.sync()
        self.versions.sync()
        self.ledger.sync()


def _name_not_placed(row: VersionRow, code: str) -> Problem:
    message = f"version {row.draft.version} of {row.draft.id} is committed but its file could not be written ({code})"
    return Problem(row.draft.path, 0, "not_placed", Severity.WARNING, message, "Free space or mend permissions.")


def _put(writer: SegmentWriter, lines: Sequence[tuple[bytes, bool]], *, is_replay: bool) -> None:
    """Write lines, each with whether it begins a segment: those of one segment at once, in a replay one by one."""
    for begins, group in _group(lines, is_replay=is_replay):
        if not (is_replay and writer.matches(group, begin_segment=begins)):
            writer.write(group, begin_segment=begins)


def _group(lines: Sequence[tuple[bytes, bool]], *, is_replay: bool) -> Iterator[tuple[bool, bytes]]:
    waiting: list[bytes] = []
    is_first = False
    for line, begins in lines:
        if waiting and (begins or is_replay):
            yield is_first, b"".join(waiting)
            waiting, is_first = [], False
        is_first = is_first or begins
        waiting.append(line)
    if waiting:
        yield is_first, b"".join(waiting)
