"""`head.json`: the pinned acknowledged head, and where ledger and versions end (docs/format/vault.md)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from onrecord.domain.canonical import decode_strict, encode_canonical
from onrecord.domain.errors import DamagedError, InvalidInputError, NewerFormatError
from onrecord.domain.ids import LogId, is_log_id
from onrecord.domain.instants import is_instant
from onrecord.domain.merkle import Frontier
from onrecord.ports.system import ClockReading
from onrecord.storage.files.disk import Disk, storage_errors

HEAD_NAME = "head.json"
_MAX_BYTES = 64 << 20
_HASH_BYTES = 32
_MEMBERS = frozenset(
    ("v", "gen", "log", "size", "root", "frontier", "ts", "ledger", "versions", "tail", "creds", "signed", "jump")
)
_OPTIONAL = frozenset({"clock", "seen"})


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
class SeenHead:
    """Head of another log as an own entry named it last: entries, root, record time of its last entry."""

    size: int
    root: bytes
    ts: str


@dataclass(frozen=True, slots=True)
class Head:
    """State as of the last checkpoint; everything after it is in the journal of `generation`.

    `ts` is the last record time, empty for a new log. `tail` is the hash of the last bytes (at most 4,096) of the
    ledger segment that `ledger` names. `clock` is the reading at the last commit. `jump_s` is the clock's offset
    that was last recorded, 0 for none. `seen` holds the heads of other logs that own entries have named.
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
    seen: Mapping[LogId, SeenHead] = field(default_factory=lambda: MappingProxyType({}))

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
        if self.seen:
            shape["seen"] = [encode_seen(log, seen) for log, seen in sorted(self.seen.items())]
        return encode_canonical(shape) + b"\n"


def encode_seen(log: LogId, seen: SeenHead) -> dict[str, object]:
    """Return the head of another log as it stands in files of the state folder."""
    return {"log": log, "size": seen.size, "root": _write(seen.root), "ts": seen.ts}


def encode_clock(reading: ClockReading) -> list[object]:
    """Return a clock reading as it stands in head.json and in journal frames."""
    return [reading.boot, reading.boottime_us, reading.wall_us]


def decode_clock(shape: object) -> ClockReading | None:
    """Read what `encode_clock` wrote; None for None.

    Raises:
        ValueError: anything else.
    """
    match shape:
        case None:
            return None
        case [str(boot), boottime_us, wall_us]:
            return ClockReading(read_count(wall_us), read_count(boottime_us), boot)
        case _:
            raise ValueError("not a reading of the clock")


def decode_head(data: bytes) -> Head:
    """Read head.json, strictly: an unknown or missing member, or one of another form, is damage.

    Raises:
        DamagedError: it is not what `encode` writes.
        NewerFormatError: a newer program wrote it.
    """
    try:
        shape: dict[str, Any] = decode_strict(data, max_bytes=_MAX_BYTES)
        check_version(shape, "head.json")
        if not shape.keys() - _OPTIONAL == _MEMBERS:
            raise ValueError("a member is unknown or missing")
        frontier = Frontier(read_count(shape["size"]), tuple(_read(node) for node in shape["frontier"]))
        if _read(shape["root"]) != frontier.root():
            raise ValueError("root and frontier differ")
        return Head(
            log=_read_log(shape["log"]),
            generation=read_count(shape["gen"]),
            frontier=frontier,
            ts=_read_ts(shape["ts"]) if shape["ts"] != "" else "",
            ledger=_read_end(shape["ledger"]),
            versions=_read_end(shape["versions"]),
            tail=_read(shape["tail"]) if shape["tail"] != "" else b"",
            credentials=MappingProxyType({name: _read_credential(item) for name, item in shape["creds"].items()}),
            signed=read_count(shape["signed"]),
            clock=decode_clock(shape.get("clock")),
            jump_s=_read_integer(shape["jump"]),
            seen=MappingProxyType(dict(decode_seen(item) for item in shape.get("seen", ()))),
        )
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInputError) as error:
        raise DamagedError("head.json of the state folder is damaged") from error


def check_version(shape: Mapping[str, object], what: str) -> None:
    """Check the member `v` of something on disk.

    Raises:
        NewerFormatError: above 1.
        ValueError: absent, or no version at all.
    """
    version = _read_integer(shape["v"]) if "v" in shape else 0
    if version > 1:
        raise NewerFormatError(f"{what} was written by a newer program")
    if version != 1:
        raise ValueError("not a version of the format")


def read_count(value: object) -> int:
    """Return an integer from 0.

    Raises:
        ValueError: anything else; a boolean is no number.
    """
    number = _read_integer(value)
    if number < 0:
        raise ValueError("a count is not negative")
    return number


def _read_integer(value: object) -> int:
    if type(value) is not int:
        raise ValueError("an integer is expected")
    return value


def _read_end(shape: object) -> StoreEnd:
    if not isinstance(shape, dict) or shape.keys() != {"segment", "bytes"}:
        raise ValueError("not the end of a store")
    return StoreEnd(read_count(shape["segment"]), read_count(shape["bytes"]))


def _read_credential(shape: object) -> CredentialState:
    if not isinstance(shape, dict) or shape.keys() != {"cseq", "prev"}:
        raise ValueError("not the state of a credential")
    return CredentialState(read_count(shape["cseq"]), _read(shape["prev"]))


def decode_seen(shape: object) -> tuple[LogId, SeenHead]:
    """Read what `encode_seen` wrote.

    Raises:
        ValueError: anything else.
    """
    if not isinstance(shape, dict) or shape.keys() != {"log", "size", "root", "ts"}:
        raise ValueError("not a head that was seen")
    return _read_log(shape["log"]), SeenHead(read_count(shape["size"]), _read(shape["root"]), _read_ts(shape["ts"]))


def _read_log(value: object) -> LogId:
    if not isinstance(value, str) or not is_log_id(value):
        raise ValueError("not a log id")
    return LogId(value)


def _read_ts(value: object) -> str:
    if not isinstance(value, str) or not is_instant(value):
        raise ValueError("not an instant")
    return value


def read_head(state: Disk) -> Head:
    """Read the state folder's head.

    Raises:
        DamagedError: it is damaged.
        NewerFormatError: a newer program wrote it.
        StorageFailedError: it is absent or cannot be read.
    """
    with storage_errors("read head.json"):
        data = state.read(HEAD_NAME)
    return decode_head(data)


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


def _read(text: object) -> bytes:
    data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    if len(data) != _HASH_BYTES:
        raise ValueError("not a hash")
    return data
