"""The Python API: `vault = onrecord.open(path)`; typed values with the field names of the other surfaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any, Self, TypeVar

from onrecord.app.capture import capture
from onrecord.app.doctor import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.importing import import_markdown, import_turns
from onrecord.app.read import batch_read, read
from onrecord.app.rebuild import rebuild
from onrecord.app.remember import remember
from onrecord.app.replay import replay
from onrecord.app.session import Reply
from onrecord.app.status import describe_status
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.surfaces.services import Opened, Services

_Value = TypeVar("_Value")


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
    """One result of a search; `turn` and `block` are set for turns of a conversation."""

    id: str
    version: int
    title: str
    score: float
    kind: str
    status: str
    origin: str
    turn: str | None = None
    block: str | None = None
    speaker: str | None = None
    time: str | None = None
    total_chars: int = 0
    snippet: str | None = None
    spans: tuple[dict[str, str], ...] = ()
    text: str | None = None
    truncated: bool = False


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
    """One version of a memory, whole or a span."""

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
    tags: tuple[str, ...] = ()
    truncated: bool = False
    next_span: str | None = None


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
    """A version that was made."""

    id: str = ""
    version: int = 0


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
    """All versions of a memory, oldest first."""

    id: str = ""
    versions: tuple[Version, ...] = ()
    turns: int = 0

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
class Report(Outcome):
    """What a call reports beyond the typed ones; `data` as on the other surfaces."""

    data: Mapping[str, Any]


def _pick(kind: type[_Value], shape: Mapping[str, Any], **more: object) -> _Value:
    names = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    chosen = {
        name: tuple(value) if isinstance(value, list) else value for name, value in shape.items() if name in names
    }
    return kind(**(chosen | more))


def _pick_one(shape: Mapping[str, Any]) -> Memory | Refusal:
    if "error" in shape:
        return _pick(Refusal, shape["error"], id=shape["id"])
    return _pick(Memory, shape, warnings=tuple(shape.get("warnings", ())), degraded=())


class Vault:
    """An opened vault. Safe to use from several processes at once; one object serves one thread at a time.

    Every method raises `OnRecordError` subclasses only; each has `code`, `reason`, `field`, `hint`.
    """

    def __init__(self, opened: Opened, services: Services) -> None:
        self._opened = opened
        self._session = opened.session
        self._opening = opened.opening
        self._services = services
        self.settings = opened.settings

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tell(self, reply: Reply) -> dict[str, tuple[str, ...]]:
        """Return warnings and degradation of a call, that of opening the vault included."""
        reply.join(self._opening)
        return {
            "warnings": tuple(reply.warnings),
            "degraded": tuple(degraded.reason for degraded in reply.degraded),
        }

    def close(self) -> None:
        """Release files and locks; nothing acknowledged depends on it."""
        self._opened.close()

    def remember(self, text: str, **arguments: object) -> Remembered:
        """Keep a memory; arguments as of the operation `remember` (title, workspace, tags, event_time …)."""
        reply = remember(self._session, {"text": text, **arguments})
        return _pick(Remembered, reply.data, **self._tell(reply))

    def find(self, query: str, **arguments: object) -> Found:
        """Find memories and turns; arguments as of the operation `find` (workspace, limit, offset, mode, as_of)."""
        reply = find(self._session, {"query": query, **arguments})
        hits = reply.data.get("results")
        assert isinstance(hits, list)
        return _pick(Found, reply.data, results=tuple(_pick(Hit, hit) for hit in hits), **self._tell(reply))

    def read(self, id: str, **arguments: object) -> Memory:
        """Read a memory whole, one version of it (`version`), or a span (`span=(a, b)`)."""
        reply = read(self._session, {"id": id, **arguments}, page_bytes=0)
        return _pick(Memory, reply.data, **self._tell(reply))

    def batch_read(self, ids: Sequence[str], **arguments: object) -> Batch:
        """Read several memories under one page's budget (also offset); a bad id is a `Refusal`, not an error."""
        reply = batch_read(self._session, {"ids": list(ids), **arguments})
        results = reply.data["results"]
        assert isinstance(results, list)
        return _pick(Batch, reply.data, results=tuple(map(_pick_one, results)), **self._tell(reply))

    def update(self, id: str, *, expect: int, **arguments: object) -> Updated:
        """Make the next version: `old` and `new`, `patches`, `text`, or `tags`; `expect` is the version to change."""
        reply = update(self._session, {"id": id, "expect": expect, **arguments})
        return _pick(Updated, reply.data, **self._tell(reply))

    def history(self, id: str, **arguments: object) -> History:
        """List the versions of a memory, oldest first, all of them (or from `offset` on)."""
        reply = list_history(self._session, {"id": id, **arguments}, page_bytes=0)
        versions = reply.data["versions"]
        assert isinstance(versions, list)
        return _pick(
            History, reply.data, versions=tuple(_pick(Version, item) for item in versions), **self._tell(reply)
        )

    def capture(
        self, text: str, *, source: str, session: str, turn: str, role: str, **arguments: object
    ) -> CapturedTurn:
        """Append one turn of a conversation, once (also speaker, time, workspace)."""
        given = {"text": text, "source": source, "session": session, "turn": turn, "role": role, **arguments}
        reply = capture(self._session, given)
        return _pick(CapturedTurn, reply.data, **self._tell(reply))

    def import_turns(self, path: str, **arguments: object) -> Report:
        """Take in turns from a file of JSON lines {session, turn, speaker, text, time}."""
        reply = import_turns(
            self._session, {"path": path, **arguments}, self._services.list_lines(path), lambda _: None
        )
        return Report(**self._tell(reply), data=reply.data)

    def import_markdown(self, path: str, **arguments: object) -> Report:
        """Take in a tree of Markdown files."""
        reply = import_markdown(
            self._session, {"path": path, **arguments}, self._services.list_sources(path), lambda _: None
        )
        return Report(**self._tell(reply), data=reply.data)

    def replay(self, *, dry_run: bool = False) -> Report:
        """Write the next page of the backup to the vault."""
        reply = replay(self._session, {"dry_run": dry_run})
        return Report(**self._tell(reply), data=reply.data)

    def verify(self) -> Report:
        """Check tree, signatures, versions and files."""
        reply = verify(self._session, {}, self._services.get_verifier())
        return Report(**self._tell(reply), data=reply.data)

    def doctor(self) -> Report:
        """Name every file and part that needs attention."""
        reply = diagnose(self._session, {})
        return Report(**self._tell(reply), data=reply.data)

    def status(self) -> Report:
        """Show what the vault holds and how it is."""
        reply = describe_status(self._session, {})
        return Report(**self._tell(reply), data=reply.data)

    def reindex(self) -> Report:
        """Make the index anew."""
        reply = rebuild(self._session, lambda _: None)
        return Report(**self._tell(reply), data=reply.data)

    def checkpoint(self) -> int:
        """Sync everything and sign the head; return the signed size."""
        return self._session.store.checkpoint()
