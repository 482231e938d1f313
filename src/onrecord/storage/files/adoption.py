"""A vault that does not go on from what was acknowledged here, and what a new log says when the user accepts that.

The new state folder carries the accepted head in `adopted.json`, so that whoever writes first after a crash says it,
and the heads that were given up before: the log that said so may be gone by now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from onrecord.domain.canonical import decode_strict, encode_canonical
from onrecord.domain.errors import DamagedError, InvalidInputError, LedgerRolledBackError
from onrecord.domain.ids import LogId
from onrecord.domain.merkle import FrontierBuilder, hash_leaf
from onrecord.ports.store import Actor, Change, Rollback
from onrecord.storage.files.applier import Applier, advance_head
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.frames import decode_payload
from onrecord.storage.files.head import Head, SeenHead, decode_seen, encode_seen, read_head
from onrecord.storage.files.journal import Journal
from onrecord.storage.files.logs import LogFolders
from onrecord.storage.files.seen import SEEN_MAX_COUNT, list_seen_members

ADOPTED_NAME = "adopted.json"
_MAX_BYTES = 16_384
# Places of the entries in the new log, which are committed as one behind `log.start`.
_REQUEST_SEQ, _GRANT_SEQ = 2, 3


@dataclass(frozen=True, slots=True)
class Adoption:
    """What was given up and by whom: the old log, its head as it was acknowledged, and who acted.

    `earlier` are the heads that this installation gave up before, by log, oldest first.
    """

    log: LogId
    head: SeenHead
    actor: Actor
    earlier: Mapping[LogId, SeenHead] = field(default_factory=dict)


def find_rollback(state: Disk, vault: Disk) -> Rollback | None:
    """Return what was acknowledged and what is there; None where the vault goes on from it.

    Args:
        state: The state folder.
        vault: The vault.

    Raises:
        StorageFailedError, DamagedError, NewerFormatError: head, journal or ledger cannot be read.
    """
    head = read_head(state)
    with storage_errors("read the ledger"):
        try:
            Applier(vault, f".onrecord/{head.log}", head).check_continues(head)
        except LedgerRolledBackError as error:
            reason = error.reason
        else:
            return None
    pinned = _read_acknowledged(state, head)
    logs = LogFolders(vault)
    there = FrontierBuilder()
    for _, line in logs.read_entries(head.log) if head.log in logs.list_ids() else ():
        there.append(hash_leaf(line))
    return Rollback(head.log, reason, pinned.size, pinned.frontier.root(), pinned.ts, there.size, there.root())


def _read_acknowledged(state: Disk, head: Head) -> Head:
    """Return the head with what the journal holds beyond it."""
    with storage_errors("read the journal"):
        frames = Journal(state, head.generation).read_new()
    for frame in frames:
        changes, clock = decode_payload(frame.payload, head.log)
        head = advance_head(head, changes, clock)
    return head


def write_adoption(state: Disk, rollback: Rollback, actor: Actor, before: str) -> None:
    """Write `adopted.json`, in the place of one that an adoption which was cut off has left.

    Args:
        state: The new state folder.
        rollback: What is given up.
        actor: Who accepts it.
        before: The state folder whose place it takes.

    Raises:
        OSError: it cannot be written.
    """
    head = SeenHead(rollback.pinned_size, rollback.pinned_root, rollback.pinned_ts)
    earlier = [encode_seen(log, known) for log, known in _read_earlier(before).items() if log != rollback.log]
    shape = {
        "v": 1,
        "head": encode_seen(rollback.log, head),
        "earlier": earlier[1 - SEEN_MAX_COUNT :],
        "client": actor.client,
        "agent": actor.agent,
    }
    if state.stat(ADOPTED_NAME) is not None:
        state.unlink(ADOPTED_NAME)
    state.write_new(ADOPTED_NAME, encode_canonical(shape) + b"\n")
    state.sync(ADOPTED_NAME)


def _read_earlier(folder: str) -> Mapping[LogId, SeenHead]:
    """Return the heads that were given up for the log of a state folder to begin, and before that, oldest first.

    Where its `adopted.json` is damaged there are none: going on is not stopped by it.
    """
    state = Disk(folder)
    try:
        with suppress(DamagedError):
            adoption = read_adoption(state)
            if adoption is not None:
                return {**adoption.earlier, adoption.log: adoption.head}
    finally:
        state.close()
    return {}


def read_adoption(state: Disk) -> Adoption | None:
    """Return what the state folder says was given up when its log began, None for nothing.

    Raises:
        DamagedError: the file is not what `write_adoption` writes.
        StorageFailedError: it cannot be read.
    """
    with storage_errors("read the state folder"):
        data = state.read(ADOPTED_NAME, 0, _MAX_BYTES + 1) if state.stat(ADOPTED_NAME) is not None else b""
    if not data:
        return None
    try:
        shape = decode_strict(data, max_bytes=_MAX_BYTES)
        if shape.keys() != {"v", "head", "earlier", "client", "agent"} or shape["v"] != 1:
            raise ValueError("a member is unknown or missing")
        log, head = decode_seen(shape["head"])
        earlier = shape["earlier"]
        if not isinstance(earlier, list) or len(earlier) >= SEEN_MAX_COUNT:
            raise ValueError("not a list of heads")
        return Adoption(log, head, Actor(str(shape["client"]), str(shape["agent"])), dict(map(decode_seen, earlier)))
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInputError) as error:
        raise DamagedError(f"{ADOPTED_NAME} of the state folder is damaged") from error


def list_changes(adoption: Adoption, log: LogId) -> Sequence[Change]:
    """Return the entries that stand behind `log.start` of the new log (docs/format/ledger.md, Several logs)."""
    (seen,) = list_seen_members({**adoption.earlier, adoption.log: adoption.head})
    grant = f"{log}:{_GRANT_SEQ}"
    return (
        Change("log.adopt", None, {"seen": seen, "appr": grant, "level": "tty"}),
        Change("approval.request", None, {"n": 1, "cause": "adopt"}),
        Change("approval.grant", None, {"to": [f"{log}:{_REQUEST_SEQ}"], "level": "tty"}),
    )
