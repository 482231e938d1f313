"""What a caller sees of the files of other programs: which sources, whether a section still stands, and its text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from onrecord.app.comparison import CALL_PIECES, OPENING_PIECES
from onrecord.app.session import Caller, Channel, Reply, Session
from onrecord.app.source_scan import (
    NativeParts,
    SourceScan,
    Tally,
    choose_partition,
    hash_native,
    is_as_stamped,
    split_path,
    take_in_file,
)
from onrecord.domain.errors import DamagedError, LockTimeoutError, NotFoundError, StorageFailedError
from onrecord.domain.heads import NATIVE_LOG, SHARED, Partition, VersionHead
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.sections import Section
from onrecord.ports.native import LeftOut, NativeSource


class Standing(Enum):
    """How a section that was found is to be met."""

    SHOWN = auto()
    STALE = auto()  # its file is not as it was taken in, or cannot be read any more
    HIDDEN = auto()  # not for this caller, or of no source


@dataclass(slots=True)
class Natives:
    """The sources that one caller sees, by name; `standings` of their files hold for one call."""

    parts: NativeParts
    sources: Mapping[str, NativeSource]
    known: Collection[str]
    standings: dict[str, Standing] = field(default_factory=dict)


def see_sources(session: Session, *, is_needed: bool = False) -> Natives | None:
    """Return what the caller sees of the sources; None where this vault has none.

    Args:
        session: The opened vault.
        is_needed: Get ready for a first source.
    """
    parts = session.open_native(session, is_needed)
    if parts is None:
        return None
    known = parts.shelf.list_sources()
    seen = {source.name: source for source in known if _is_visible(source, session.caller)}
    return Natives(parts, seen, [source.name for source in known])


def _is_visible(source: NativeSource, caller: Caller) -> bool:
    is_user = caller.channel is Channel.TERMINAL
    return not source.is_owner_only or is_user or source.agent in (caller.agent, caller.client)


def is_native(head: VersionHead) -> bool:
    """Tell whether a document is a section of another program's file."""
    return head.ref.log == NATIVE_LOG


def list_partitions(natives: Natives | None) -> tuple[Partition, ...]:
    """Return the partitions whose documents the caller may find."""
    if natives is None:
        return (SHARED,)
    return tuple({SHARED: None} | dict.fromkeys(map(choose_partition, natives.sources.values())))


def compare_sources(session: Session, natives: Natives | None, reply: Reply) -> None:
    """Go on with the comparison of the sources' files, which the first call of an opening begins.

    Args:
        session: The opened vault.
        natives: What the caller sees.
        reply: Is marked `reconciling` while files have not been compared.
    """
    if natives is None:
        return
    if session.scan is not None and session.scan.sources == tuple(natives.sources.values()):
        _advance(natives, reply, session.scan, CALL_PIECES)
        return
    session.scan = _begin(natives)
    _advance(natives, reply, session.scan, OPENING_PIECES)


def scan_sources(session: Session, natives: Natives, reply: Reply) -> SourceScan:
    """Compare all files of the sources that the caller sees, from the beginning and to the end."""
    session.scan = _begin(natives)
    _advance(natives, reply, session.scan, None)
    return session.scan


def name_unavailable(natives: Natives, tallies: Mapping[str, Tally]) -> Iterator[Problem]:
    """Yield what is wrong with the list of sources, and what of them should be read and cannot be.

    Args:
        natives: The sources that the caller sees.
        tallies: What a scan of them found, by name.
    """
    yield from natives.parts.shelf.inspect()
    for name, tally in tallies.items():
        for item in tally.left_out:
            if not item.is_by_rule:
                where = f"{name}: {natives.parts.clean(item.path)}" if item.path else name
                yield Problem("", 0, "source_unavailable", Severity.WARNING, f"source {where}: {item.reason}")


def take_in_all(session: Session, reply: Reply) -> None:
    """Take in the files of all sources, those that the caller does not see included: the index is everybody's."""
    natives = see_sources(session)
    if natives is not None:
        everything = replace(natives, sources={source.name: source for source in natives.parts.shelf.list_sources()})
        _advance(everything, reply if natives.sources else Reply(), _begin(everything), None)


def _begin(natives: Natives) -> SourceScan:
    return SourceScan(natives.parts, tuple(natives.sources.values()), tuple(natives.known))


def _advance(natives: Natives, reply: Reply, scan: SourceScan, pieces: int | None) -> None:
    try:
        is_done = scan.advance(pieces)
    except LockTimeoutError:
        is_done = False
    except (StorageFailedError, DamagedError) as error:
        if natives.sources:
            reply.degrade("sources_behind", f"{error.reason}; {error.hint}")
        return
    if natives.sources and not is_done:
        reply.degrade("reconciling", "Sources are still being compared; ask again for what was changed meanwhile.")


def judge(natives: Natives | None, head: VersionHead) -> Standing:
    """Tell how a section is to be met, by one stat of its file a call."""
    source_name, path = split_path(head.path)
    source = natives.sources.get(source_name) if natives is not None else None
    if natives is None or source is None or head.partition != choose_partition(source):
        return Standing.HIDDEN
    found = natives.standings.get(head.path)
    if found is None:
        state = natives.parts.shelf.stat_file(source, path)
        is_same = not isinstance(state, LeftOut) and is_as_stamped(state, head.key)
        found = natives.standings[head.path] = Standing.SHOWN if is_same else Standing.STALE
    return found


def take_in_stale(natives: Natives | None, paths: Iterable[str], reply: Reply) -> bool:
    """Read files anew that are not as they were taken in; what cannot be read is forgotten.

    Args:
        natives: What the caller sees.
        paths: As documents have them.
        reply: Is marked `reconciling` where another process writes.

    Returns:
        Whether the index changed, so that what it said before may no longer hold.
    """
    changed = False
    for path in sorted(set(paths)):
        assert natives is not None
        source, inner = split_path(path)
        try:
            take_in_file(natives.parts, natives.sources[source], inner)
        except LockTimeoutError:
            reply.degrade("reconciling", "Another process writes; ask again for what was changed in a source.")
            return changed
        except (StorageFailedError, DamagedError) as error:
            reply.degrade("sources_behind", f"{error.reason}; {error.hint}")
            return changed
        natives.standings.pop(path, None)
        changed = True
    return changed


def read_section(natives: Natives | None, head: VersionHead) -> Section:
    """Return a section as its file has it now.

    Raises:
        NotFoundError: the file is not as it was taken in, or the caller does not see it.
    """
    source_name, path = split_path(head.path)
    source = natives.sources.get(source_name) if natives is not None else None
    if natives is not None and source is not None:
        read = natives.parts.shelf.read_file(source, path)
        if not isinstance(read, LeftOut) and hash_native(read[1]) == head.text_sha256:
            sections = natives.parts.cut(source, path, read[1])
            if sections is not None and 0 < head.offset_bytes <= len(sections):
                return sections[head.offset_bytes - 1]
    raise NotFoundError("the file of this section has changed", field="id", hint="Find it again.")


def name_place(natives: Natives | None, head: VersionHead) -> dict[str, object]:
    """Return where a section comes from: its source, and its file below that, secrets replaced."""
    source, path = split_path(head.path)
    return {"source": source, "path": natives.parts.clean(path) if natives is not None else ""}
