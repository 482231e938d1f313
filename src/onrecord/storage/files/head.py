"""`head.json`: the pinned acknowledged head, and where ledger and versions end (docs/format/vault.md)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import LogId
from onrecord.domain.merkle import Frontier
from onrecord.ports.system import ClockReading
from onrecord.storage.files.disk import Disk, storage_errors

HEAD_NAME = "head.json"


@dataclass(frozen=True, slots=True)
class StoreEnd:
    """Where a segmented store ends: number of the newest segment and its size in bytes."""

    segment: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CredentialState:
    """Last counter of a credential and leaf hash of its last entry."""

    cseq: int
    prev: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """State as of the last checkpoint; everything after it is in the journal of `generation`.

    `ts` is the last record time, empty for a new log. `tail` is the hash of the last bytes (at most 4,096) of the
    ledger segment that `ledger` names. `clock` is the reading at the last commit. `jump_s` is the clock's offset
    that was last recorded, 0 for none.
    """

    log: LogId
    generation: int = 0
    frontier: Frontier = field(default_factory=Frontier)
    ts: str = ""
    ledger: StoreEnd = StoreEnd()
    versions: StoreEnd = StoreEnd()
    tail: bytes = b""
    credentials: Mapping[str, CredentialState] = field(default_factory=lambda: MappingProxyType({}))
    signed: int = 0
    clock: ClockReading | None = None
    jump_s: int = 0

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.frontier.size

    def encode(self) -> bytes:
        """Return the file's bytes."""
        shape: dict[str, object] = {
            "v": 1,
            "gen": self.generation,
            "log": self.log,
            "size": self.size,
            "root": _write(self.frontier.root()),
            "frontier": [_write(node) for node in self.frontier.nodes],
            "ts": self.ts,
            "ledger": {"segment": self.ledger.segment, "bytes": self.ledger.size_bytes},
            "versions": {"segment": self.versions.segment, "bytes": self.versions.size_bytes},
            "tail": _write(self.tail),
            "creds": {
                name: {"cseq": state.cseq, "prev": _write(state.prev)} for name, state in self.credentials.items()
            },
            "signed": self.signed,
            "jump": self.jump_s,
        }
        if self.clock is not None:
            shape["clock"] = encode_clock(self.clock)
        return encode_canonical(shape) + b"\n"


def encode_clock(reading: ClockReading) -> list[object]:
    """Return a clock reading as it stands in head.json and in journal frames."""
    return [reading.boot, reading.boottime_us, reading.wall_us]


def decode_clock(shape: object) -> ClockReading | None:
    """Read what `encode_clock` wrote; None for anything else."""
    match shape:
        case [str(boot), int(boottime_us), int(wall_us)]:
            return ClockReading(wall_us, boottime_us, boot)
        case _:
            return None


def decode_head(data: bytes) -> Head:
    """Read head.json.

    Raises:
        DamagedError: it is not what `encode` writes.
    """
    try:
        shape = json.loads(data)
        frontier = Frontier(shape["size"], tuple(_read(node) for node in shape["frontier"]))
        if _read(shape["root"]) != frontier.root():
            raise ValueError("root and frontier differ")
        return Head(
            log=LogId(shape["log"]),
            generation=int(shape["gen"]),
            frontier=frontier,
            ts=str(shape["ts"]),
            ledger=StoreEnd(int(shape["ledger"]["segment"]), int(shape["ledger"]["bytes"])),
            versions=StoreEnd(int(shape["versions"]["segment"]), int(shape["versions"]["bytes"])),
            tail=_read(shape["tail"]),
            credentials=MappingProxyType(
                {
                    name: CredentialState(int(state["cseq"]), _read(state["prev"]))
                    for name, state in shape["creds"].items()
                }
            ),
            signed=int(shape["signed"]),
            clock=decode_clock(shape.get("clock")),
            jump_s=int(shape["jump"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError("head.json of the state folder cannot be read") from error


def read_head(state: Disk) -> Head:
    """Read the state folder's head.

    Raises:
        DamagedError: it is absent or not readable.
    """
    with storage_errors("read head.json"):
        return decode_head(state.read(HEAD_NAME))


def write_head(state: Disk, head: Head) -> None:
    """Replace the head in one step and sync it: the switch of a checkpoint."""
    temporary = HEAD_NAME + ".tmp"
    with storage_errors("write head.json"):
        if state.stat(temporary) is not None:
            state.unlink(temporary)
        state.write_new(temporary, head.encode())
        state.sync(temporary)
        state.rename(temporary, HEAD_NAME)
        state.sync_folder("")


def _write(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _read(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
