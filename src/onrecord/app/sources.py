"""Which files of other programs are read and searched: the user adds, lists and removes sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from onrecord.app.admission import admit
from onrecord.app.callers import check_user
from onrecord.app.native_operations import SOURCE_ADD, SOURCE_LIST, SOURCE_REMOVE
from onrecord.app.natives import Natives, scan_sources, see_sources
from onrecord.app.pages import take_page
from onrecord.app.session import Reply, Session
from onrecord.app.source_scan import Tally
from onrecord.domain.errors import ConflictError, InvalidInputError, LimitExceededError, NotFoundError
from onrecord.domain.limits import SOURCES_MAX_COUNT
from onrecord.domain.names import fold_name
from onrecord.domain.near_names import find_near
from onrecord.domain.sections import Format
from onrecord.ports.native import LeftOut, NativeSource

_NAME = re.compile(r"\w[\w.-]*")
_FORMATS: Final[dict[str, Format]] = {"markdown": "markdown", "text": "text"}


def add_source(session: Session, given: Mapping[str, object]) -> Reply:
    """Add a file, or a folder of files, and take in what it says.

    Args:
        session: The opened vault.
        given: Arguments of the operation `source_add`.

    Returns:
        data: name, path, agent, owner_only, files, sections, left_out[] as far as the page has room, left_out_total.

    Raises:
        ApprovalRequiredError: the caller is not the user.
        InvalidInputError, NotFoundError: name or path cannot be used.
        ConflictError: a source has this name or path already.
        NotWritableError, DamagedError: the list of sources cannot be written.
    """
    arguments = admit(SOURCE_ADD, given)
    check_user(session.caller, "let files of other programs be read")
    name, agent = str(arguments["name"]), str(arguments.get("agent", ""))
    if not _NAME.fullmatch(name):
        hint = "Letters, digits, dots, dashes and underscores; it begins with a letter or digit."
        raise InvalidInputError("not a name for a source", field="name", hint=hint)
    if arguments.get("owner_only") and not agent:
        raise InvalidInputError("whose alone it is, is not said", field="agent", hint="Name the agent with --agent.")
    natives = see_sources(session, is_needed=True)
    assert natives is not None
    path, is_folder = natives.parts.shelf.locate(str(arguments["path"]))
    kind = _FORMATS.get(str(arguments.get("format")))
    source = NativeSource(name, path, is_folder, kind, agent, arguments.get("owner_only") is True)
    if not is_folder:
        _check_file(natives, source)
    with session.store.hold():
        known = natives.parts.shelf.list_sources()
        _check_fresh(source, known)
        natives.parts.shelf.save_sources([*known, source])
    reply = Reply()
    tally = _scan(session, reply).get(name, Tally())
    reply.data = {**_describe(source), **_count(tally), **_list_left_out(session, _name_left_out(natives, name, tally))}
    return reply


def _check_file(natives: Natives, source: NativeSource) -> None:
    """Refuse a file that could not be read as it is now.

    Raises:
        InvalidInputError: it is too large, unreadable or no text.
    """
    path = source.path.rpartition("/")[2]
    read = natives.parts.shelf.read_file(source, path)
    if isinstance(read, LeftOut):
        raise InvalidInputError(read.reason, field="path")
    if natives.parts.cut(source, path, read[1]) is None:
        raise InvalidInputError("the file is no text", field="path")


def _check_fresh(source: NativeSource, known: Iterable[NativeSource]) -> None:
    others = list(known)
    if len(others) >= SOURCES_MAX_COUNT:
        raise LimitExceededError(f"at most {SOURCES_MAX_COUNT} sources", field="name")
    for other in others:
        if fold_name(other.name) == fold_name(source.name):
            raise ConflictError(
                "a source has this name", field="name", hint="Choose another, or remove that one first."
            )
        if other.path == source.path:
            raise ConflictError("this is a source already", field="path", hint="`onrecord source list` names it.")


def list_sources(session: Session, given: Mapping[str, object]) -> Reply:
    """List the sources that the caller may find, after a look at all their files.

    Returns:
        data: sources[] by name as far as the page has room, sources_total; left_out[] and left_out_total.

    Raises:
        InvalidInputError: the call is refused.
    """
    admit(SOURCE_LIST, given)
    reply = Reply()
    natives = see_sources(session)
    tallies = _scan(session, reply)
    sources = list(natives.sources.values()) if natives is not None else []
    items = [
        {**_describe(source), **_count(tally), "available": not _find_whole(tally), **_explain(tally)}
        for source in sources
        for tally in [tallies.get(source.name, Tally())]
    ]
    left = [item for source in sources for item in _name_left_out(natives, source.name, tallies.get(source.name))]
    shown = take_page(items, session.policy.page_bytes // 2)
    reply.data = {"sources": shown, "sources_total": len(items), **_list_left_out(session, left)}
    if len(shown) < len(items):
        reply.data["truncated"] = True
    return reply


def remove_source(session: Session, given: Mapping[str, object]) -> Reply:
    """Remove a source; its files stay, nothing of them is found any more.

    Returns:
        data: name.

    Raises:
        ApprovalRequiredError: the caller is not the user.
        NotFoundError: no source has this name.
        NotWritableError, DamagedError: the list of sources cannot be written.
    """
    name = str(admit(SOURCE_REMOVE, given)["name"])
    check_user(session.caller, "remove a source")
    natives = see_sources(session)
    if natives is None or not _forget_name(session, natives, name):
        near = find_near(name, natives.sources) if natives is not None else None
        hint = "`onrecord source list` names them."
        raise NotFoundError("no source has this name", field="name", hint=hint, did_you_mean=near)
    reply = Reply(data={"name": name})
    _scan(session, reply)
    return reply


def _forget_name(session: Session, natives: Natives, name: str) -> bool:
    with session.store.hold():
        known = natives.parts.shelf.list_sources()
        left = [source for source in known if source.name != name]
        if len(left) == len(known):
            return False
        natives.parts.shelf.save_sources(left)
        return True


def _scan(session: Session, reply: Reply) -> dict[str, Tally]:
    natives = see_sources(session)
    return scan_sources(session, natives, reply).tallies if natives is not None else {}


def _describe(source: NativeSource) -> dict[str, object]:
    shape: dict[str, object] = {"name": source.name, "path": source.path}
    if source.agent:
        shape["agent"] = source.agent
    if source.format is not None:
        shape["format"] = source.format
    return shape | {"owner_only": source.is_owner_only}


def _count(tally: Tally) -> dict[str, object]:
    return {"files": tally.files, "sections": tally.sections}


def _find_whole(tally: Tally) -> list[LeftOut]:
    """Return why a source as a whole cannot be read."""
    return [item for item in tally.left_out if not item.path and not item.is_by_rule]


def _explain(tally: Tally) -> dict[str, object]:
    found = _find_whole(tally)
    return {"reason": found[0].reason} if found else {}


def _name_left_out(natives: Natives | None, name: str, tally: Tally | None) -> list[dict[str, object]]:
    if natives is None or tally is None:
        return []
    return [{"source": name, "path": natives.parts.clean(item.path), "reason": item.reason} for item in tally.left_out]


def _list_left_out(session: Session, items: list[dict[str, object]]) -> dict[str, object]:
    shown = take_page(items, session.policy.page_bytes // 2)
    data: dict[str, object] = {"left_out": shown, "left_out_total": len(items)}
    return data | {"truncated": True} if len(shown) < len(items) else data
