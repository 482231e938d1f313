"""The Python API: `vault = onrecord.open(path)`; what its methods give is in `results`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias, TypeVar

from onrecord.app.adopt import adopt
from onrecord.app.capture import capture
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.importing import import_markdown, import_turns
from onrecord.app.links import link, list_targets, unlink
from onrecord.app.missing import repair_missing
from onrecord.app.proposals import list_proposals
from onrecord.app.read import batch_read, read
from onrecord.app.rebuild import rebuild
from onrecord.app.remember import remember
from onrecord.app.replay import replay
from onrecord.app.session import Reply
from onrecord.app.settle import list_conflicts, settle
from onrecord.app.sources import add_source, list_sources, remove_source
from onrecord.app.status import describe_status
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.surfaces.results import (
    Batch,
    CapturedTurn,
    Found,
    History,
    Hit,
    LeftOutFile,
    Memory,
    Refusal,
    Remembered,
    Report,
    Source,
    Sources,
    Updated,
    Version,
)
from onrecord.surfaces.services import Opened, Services

_Value = TypeVar("_Value")
Names: TypeAlias = list[str] | tuple[str, ...]
Mode: TypeAlias = Literal["preview", "hits", "full"]
Keep: TypeAlias = Literal["A", "B", "C", "D", "E", "F", "G", "H", "merge", "current"]
Role: TypeAlias = Literal["user", "assistant", "tool", "system", "document"]


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

    The keyword arguments of a method are those of its operation; None stands for absent. Values that cannot be used are
    `OnRecordError` subclasses, each with `code`, `reason`, `field`, `hint`; a keyword that is none is a TypeError.
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

    def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        workspace: str | None = None,
        tags: Names | None = None,
        aliases: Names | None = None,
        type: str | None = None,
        source_ref: str | None = None,
        event_time: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        review_by: str | None = None,
        confidence: float | Decimal | None = None,
        meta: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Remembered:
        """Keep a memory in the words given; times as RFC 3339 or a date, confidence from 0 to 1."""
        given = {
            "text": text, "title": title, "workspace": workspace, "tags": tags, "aliases": aliases, "type": type,
            "source_ref": source_ref, "event_time": event_time, "valid_from": valid_from, "valid_to": valid_to,
            "review_by": review_by, "confidence": confidence, "meta": meta, "idempotency_key": idempotency_key,
        }  # fmt: skip
        reply = remember(self._session, given)
        return _pick(Remembered, reply.data, **self._tell(reply))

    def find(
        self,
        query: str,
        *,
        workspace: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        mode: Mode | None = None,
        as_of: str | None = None,
    ) -> Found:
        """Find memories and turns by their words, those of a workspace or as they were known at an instant."""
        given = {
            "query": query, "workspace": workspace, "limit": limit, "offset": offset, "mode": mode, "as_of": as_of,
        }  # fmt: skip
        reply = find(self._session, given)
        hits = reply.data.get("results")
        assert isinstance(hits, list)
        return _pick(Found, reply.data, results=tuple(_pick(Hit, hit) for hit in hits), **self._tell(reply))

    def read(
        self,
        id: str,
        *,
        version: int | None = None,
        entry: str | None = None,
        span: tuple[int, int] | str | None = None,
    ) -> Memory:
        """Read a memory whole, one version of it (by its number, or `by` in a history), or a span (code points)."""
        reply = read(self._session, {"id": id, "version": version, "entry": entry, "span": span}, page_bytes=0)
        return _pick(Memory, reply.data, **self._tell(reply))

    def batch_read(self, ids: Sequence[str], *, offset: int | None = None) -> Batch:
        """Read several memories, from `offset` on, under one page's budget; a bad id is a `Refusal`, not an error."""
        reply = batch_read(self._session, {"ids": ids, "offset": offset})
        results = reply.data["results"]
        assert isinstance(results, list)
        return _pick(Batch, reply.data, results=tuple(map(_pick_one, results)), **self._tell(reply))

    def update(
        self,
        id: str,
        *,
        expect: int,
        old: str | None = None,
        new: str | None = None,
        patches: list[dict[str, str]] | tuple[dict[str, str], ...] | None = None,
        text: str | None = None,
        tags: Names | None = None,
        idempotency_key: str | None = None,
    ) -> Updated:
        """Make the next version: `old` and `new`, `patches`, `text`, or `tags`; `expect` is the version to change."""
        given = {
            "id": id, "expect": expect, "old": old, "new": new, "patches": patches, "text": text, "tags": tags,
            "idempotency_key": idempotency_key,
        }  # fmt: skip
        reply = update(self._session, given)
        return _pick(Updated, reply.data, **self._tell(reply))

    def history(self, id: str, *, offset: int | None = None) -> History:
        """List the versions of a memory, oldest first, all of them (or from `offset` on)."""
        reply = list_history(self._session, {"id": id, "offset": offset}, page_bytes=0)
        versions = reply.data["versions"]
        assert isinstance(versions, list)
        return _pick(
            History, reply.data, versions=tuple(_pick(Version, item) for item in versions), **self._tell(reply)
        )

    def capture(
        self,
        text: str,
        *,
        source: str,
        session: str,
        turn: str,
        role: Role,
        speaker: str | None = None,
        time: str | None = None,
        workspace: str | None = None,
    ) -> CapturedTurn:
        """Append one turn of a conversation, once."""
        given = {
            "text": text, "source": source, "session": session, "turn": turn, "role": role, "speaker": speaker,
            "time": time, "workspace": workspace,
        }  # fmt: skip
        reply = capture(self._session, given)
        return _pick(CapturedTurn, reply.data, **self._tell(reply))

    def import_turns(self, path: str, *, workspace: str | None = None, source: str | None = None) -> Report:
        """Take in turns from a file of JSON lines {session, turn, speaker, text, time}."""
        given = {"path": path, "workspace": workspace, "source": source}
        reply = import_turns(self._session, given, self._services.list_lines(path))
        return Report(**self._tell(reply), data=reply.data)

    def import_markdown(self, path: str, *, workspace: str | None = None) -> Report:
        """Take in a tree of Markdown files."""
        given = {"path": path, "workspace": workspace}
        files = self._services.list_sources(path, list_targets(self._session))
        reply = import_markdown(self._session, given, files)
        return Report(**self._tell(reply), data=reply.data)

    def link(self, path: str | None = None, target: str | None = None, *, list: bool = False) -> Report:
        """List the links that are followed on this machine; allowing one is for a person at a terminal."""
        reply = link(self._session, {"path": path, "target": target, "list": list or None})
        return Report(**self._tell(reply), data=reply.data)

    def unlink(self, path: str) -> Report:
        """Follow a link no more; for a person at a terminal."""
        reply = unlink(self._session, {"path": path})
        return Report(**self._tell(reply), data=reply.data)

    def replay(self, *, dry_run: bool = False) -> Report:
        """Write the next page of the backup to the vault."""
        reply = replay(self._session, {"dry_run": dry_run})
        return Report(**self._tell(reply), data=reply.data)

    def missing(self, *, retire: bool = False) -> Report:
        """List the memories whose file is gone; retiring them before their time is the user's, at a terminal."""
        reply = repair_missing(self._session, {"retire": retire})
        return Report(**self._tell(reply), data=reply.data)

    def proposals(self, *, offset: int | None = None) -> Report:
        """List what edits by hand ask for that the user has to decide."""
        reply = list_proposals(self._session, {"offset": offset})
        return Report(**self._tell(reply), data=reply.data)

    def verify(self) -> Report:
        """Check tree, signatures, versions and files."""
        reply = verify(self._session, {}, self._services.get_verifier())
        return Report(**self._tell(reply), data=reply.data)

    def doctor(self, *, deep: bool = False, checks: Names | None = None, offset: int | None = None) -> Report:
        """Name every file and part that needs attention; `checks` are ids, all by default."""
        given = {"deep": deep, "checks": checks, "offset": offset}
        reply = diagnose(self._session, given, self._services.get_verifier())
        return Report(**self._tell(reply), data=reply.data)

    def conflicts(self, *, all: bool = False, offset: int | None = None) -> Report:
        """List texts that stand against each other; `all` lists settled ones too."""
        reply = list_conflicts(self._session, {"all": all, "offset": offset})
        return Report(**self._tell(reply), data=reply.data)

    def settle(self, id: str, *, keep: Keep, expect: int | None = None, remove_copies: bool = False) -> Report:
        """Keep a side (`A`, `B` …), a `merge` or the `current` text; `expect`: the version, if it has moved on."""
        given = {"id": id, "keep": keep, "expect": expect, "remove_copies": remove_copies}
        reply = settle(self._session, given)
        return Report(**self._tell(reply), data=reply.data)

    def adopt(self, *, yes: bool = False) -> Report:
        """Show what going on from an older vault would give up; only a person at a terminal can say `yes` to it."""
        reply = adopt(self._session, {"yes": yes})
        return Report(**self._tell(reply), data=reply.data)

    def status(self) -> Report:
        """Show what the vault holds and how it is."""
        reply = describe_status(self._session, {})
        return Report(**self._tell(reply), data=reply.data)

    def source_add(
        self,
        path: str,
        *,
        name: str,
        agent: str | None = None,
        owner_only: bool | None = None,
        format: Literal["markdown", "text"] | None = None,
    ) -> Sources:
        """Let a file or folder of another program be found; the user's alone, so that a program gets an error."""
        given = {"path": path, "name": name, "agent": agent, "owner_only": owner_only, "format": format}
        reply = add_source(self._session, given)
        return self._list_sources(reply, [reply.data])

    def source_list(self) -> Sources:
        """List the sources that this caller finds, and what of them is not read."""
        reply = list_sources(self._session, {})
        sources = reply.data["sources"]
        assert isinstance(sources, list)
        return self._list_sources(reply, sources)

    def _list_sources(self, reply: Reply, sources: list[dict[str, Any]]) -> Sources:
        left_out = reply.data["left_out"]
        assert isinstance(left_out, list)
        return _pick(
            Sources,
            {"sources_total": len(sources), **reply.data},
            sources=tuple(_pick(Source, item) for item in sources),
            left_out=tuple(_pick(LeftOutFile, item) for item in left_out),
            **self._tell(reply),
        )

    def source_remove(self, name: str) -> Report:
        """Find a source no more; the user's alone, as adding one is."""
        reply = remove_source(self._session, {"name": name})
        return Report(**self._tell(reply), data=reply.data)

    def reindex(self) -> Report:
        """Make the index anew."""
        reply = rebuild(self._session)
        return Report(**self._tell(reply), data=reply.data)

    def checkpoint(self) -> int:
        """Sync everything and sign the head; return the signed size."""
        return self._session.store.checkpoint()
