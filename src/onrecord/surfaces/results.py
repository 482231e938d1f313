"""What the Python API gives: typed values with the field names of the other surfaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What every call tells beside its own fields: warnings, and why the answer is less than it could be."""

    warnings: tuple[str, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered(Outcome):
    """A memory that was kept. `id` is empty and `backup_only` true while the vault cannot be written."""

    id: str = ""
    version: int = 0
    duplicate: bool = False
    backup_only: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search; `turn` and `block` are set for turns of a conversation.

    `source` and `path` are set for sections of other programs' files, whose `version` is 0: they have none.
    `conflict` is the id of an open conflict that the memory is in.
    `pending_sync`: of a file whose version has not arrived from another machine.
    """

    id: str
    title: str
    score: float
    kind: str
    status: str
    origin: str
    version: int = 0
    source: str | None = None
    path: str | None = None
    turn: str | None = None
    block: str | None = None
    speaker: str | None = None
    time: str | None = None
    pending_sync: bool = False
    total_chars: int = 0
    snippet: str | None = None
    spans: tuple[dict[str, str], ...] = ()
    text: str | None = None
    truncated: bool = False
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Found(Outcome):
    """A page of results, best first; `status` is `found` or `no_match`; `next_offset` is set where there are more."""

    status: str = "no_match"
    results: tuple[Hit, ...] = ()
    truncated: bool = False
    next_offset: int | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> Hit:
        return self.results[place]


@dataclass(frozen=True, slots=True)
class Memory(Outcome):
    """One version of a memory, or a section of a source (`source` is set, `version` 0), whole or a span.

    `pending_sync`: as of `Hit`.
    """

    id: str = ""
    version: int = 0
    title: str = ""
    text: str = ""
    origin: str = ""
    status: str = ""
    kind: str = ""
    workspace: str = ""
    path: str = ""
    recorded_at: str = ""
    by: str = ""
    span: str = ""
    total_chars: int = 0
    source: str | None = None
    tags: tuple[str, ...] = ()
    pending_sync: bool = False
    truncated: bool = False
    next_span: str | None = None
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one of several things asked for was not given: an error as a value."""

    id: str
    code: str
    reason: str
    field: str | None = None
    hint: str | None = None
    did_you_mean: str | None = None


@dataclass(frozen=True, slots=True)
class Batch(Outcome):
    """Several memories in the order asked for; `next_offset` is the place of the first one that did not fit."""

    results: tuple[Memory | Refusal, ...] = ()
    truncated: bool = False
    next_offset: int | None = None

    def __iter__(self) -> Iterator[Memory | Refusal]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> Memory | Refusal:
        return self.results[place]


@dataclass(frozen=True, slots=True)
class Updated(Outcome):
    """A version that was made.

    Where an edit was saved by hand while the file was written: `merged` is the version in which both are, `conflict`
    the record of their disagreement.
    """

    id: str = ""
    version: int = 0
    merged: int | None = None
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One version in a history; `superseded_at` is None for the newest.

    `known_at` and `pending_sync` are of versions that another installation recorded: since when they count here.
    """

    version: int
    recorded_at: str
    origin: str
    status: str
    by: str
    mode: str
    title: str
    path: str
    superseded_at: str | None = None
    known_at: str | None = None
    pending_sync: bool = False


@dataclass(frozen=True, slots=True)
class History(Outcome):
    """All versions of a memory, oldest first.

    `pending_sync`: its file, at `path`, came before its history, so that none is here yet.
    """

    id: str = ""
    versions: tuple[Version, ...] = ()
    turns: int = 0
    path: str = ""
    pending_sync: bool = False

    def __iter__(self) -> Iterator[Version]:
        return iter(self.versions)

    def __len__(self) -> int:
        return len(self.versions)

    def __getitem__(self, place: int) -> Version:
        return self.versions[place]


@dataclass(frozen=True, slots=True)
class CapturedTurn(Outcome):
    """A turn that was appended, or was there before."""

    id: str = ""
    turn: str = ""
    block: str = ""
    duplicate: bool = False
    backup_only: bool = False


@dataclass(frozen=True, slots=True)
class LeftOutFile:
    """What of a source is not read, and why; `path` is empty for the source as a whole."""

    source: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder of another program. `agent` is whose it is; `reason` tells why it is not `available`."""

    name: str
    path: str
    owner_only: bool
    files: int
    sections: int
    agent: str = ""
    format: str | None = None
    available: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Sources(Outcome):
    """Sources by name, and what of their files is not read, both as far as a page has room."""

    sources: tuple[Source, ...] = ()
    sources_total: int = 0
    left_out: tuple[LeftOutFile, ...] = ()
    left_out_total: int = 0
    truncated: bool = False

    def __iter__(self) -> Iterator[Source]:
        return iter(self.sources)

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, place: int) -> Source:
        return self.sources[place]


@dataclass(frozen=True, slots=True)
class Report(Outcome):
    """What a call reports beyond the typed ones; `data` as on the other surfaces."""

    data: Mapping[str, Any]
