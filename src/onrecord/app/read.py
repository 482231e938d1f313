"""Read one memory or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onrecord.app.admission import admit
from onrecord.app.catalog import BATCH_READ, READ
from onrecord.app.content import (
    FilePlace,
    find_newest_there,
    locate,
    read_transcript,
    read_version,
    tell_behind,
    tell_lost_transcript,
    tell_older,
)
from onrecord.app.history import tell_status
from onrecord.app.native_read import describe_section
from onrecord.app.pages import cut_text, fill_page
from onrecord.app.pending import describe_pending, explain_version, find_unknown
from onrecord.app.places import resolve
from onrecord.app.second_look import look_again
from onrecord.app.session import Reply, Session
from onrecord.app.waiting import explain_unknown, tell_waiting
from onrecord.domain.errors import DamagedError, InvalidInputError, NotFoundError, OnRecordError
from onrecord.domain.ids import SECTION_MARK, RecordId
from onrecord.domain.problem import name_reading
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexReader, VersionHead

_SHARE_MIN_BYTES = 256
_NAMED_COUNT = 3


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which version is asked for: of a number, of an entry, of both; the newest where neither is given."""

    version: object = None
    entry: object = None

    @property
    def is_newest(self) -> bool:
        return self.version is None and self.entry is None

    @property
    def field(self) -> str:
        return "version" if self.entry is None else "entry"

    def is_met(self, head: VersionHead) -> bool:
        return self.version in (None, head.version) and self.entry in (None, head.ref)


def read(session: Session, given: Mapping[str, object], *, page_bytes: int | None = None) -> Reply:
    """Read a record's text, current or as of one version, or that of a section of a source; whole or a span.

    Args:
        session: The opened vault.
        given: Arguments of the operation `read`.
        page_bytes: Budget of the text in UTF-8; 0 for none; None as configured. What does not fit is said by
            `truncated` and `next_span`.

    Returns:
        data: id, version, title, text, origin, status, kind, workspace, path, recorded_at, by, span, total_chars; of a
        section source, and neither version nor workspace, recorded_at, by. pending_sync where the file of a record that
        is not known here is shown.
        conflict where an open one has the record as a member. The newest version that is there where the current one is
        not in the vault any more.

    Raises:
        InvalidInputError, NotFoundError, AmbiguousIdError: as named.
        DamagedError: the version's bytes are nowhere.
    """
    arguments = admit(READ, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply)
    budget = session.policy.page_bytes if page_bytes is None else page_bytes
    span = arguments.get("span")
    prefix, asked = str(arguments["id"]), _Asked(arguments.get("version"), arguments.get("entry"))
    if prefix.startswith(SECTION_MARK):
        if not asked.is_newest:
            raise InvalidInputError("a section of a source has no versions", field=asked.field)
        describe_section(session, RecordId(prefix), span if isinstance(span, tuple) else None, budget, reply)
        return reply
    with session.index.read() as reader:
        unknown = find_unknown(reader, prefix) if asked.is_newest else None
    if unknown is not None:
        describe_pending(session, unknown, span if isinstance(span, tuple) else None, budget, reply)
        return reply
    try:
        with session.index.read() as reader:
            head, place, status = _find(session, reader, prefix, asked)
    except NotFoundError as error:
        with session.index.read() as reader:
            told = explain_version(reader, prefix, explain_unknown(session, prefix, error))
        raise told from error
    edited = place.edited_path if place is not None else None
    missing = {head.id: edited} if edited is not None and place is not None and place.is_missing else {}
    if look_again(session, [edited] if edited is not None and not missing else [], missing, reply).is_changed:
        with session.index.read() as reader:
            head, place, status = _find(session, reader, prefix, asked)
    where = span if isinstance(span, tuple) else None
    reply.data = _describe_or_older(session, head, place, where, budget, reply, may_be_older=asked.is_newest)
    reply.data["status"] = status
    _tell_namesakes(session, head, asked, reply)
    tell_waiting(session, (head.id,), reply)
    with session.index.read() as reader:
        conflicts = reader.find_conflicts((head.id,))
    if conflicts:
        reply.data["conflict"] = conflicts[head.id][0]
        reply.warnings.append(f"another text stands against this memory: `onrecord read {conflicts[head.id][0]}`")
    return reply


def batch_read(session: Session, given: Mapping[str, object]) -> Reply:
    """Read several records; the texts share half of the page, a bad id fails alone.

    Returns:
        data: results[] in the order of the ids, each as of `read`, or id and error; where the page ended before the
        last id truncated, and next_offset, the place of the first id that is left.

    Raises:
        InvalidInputError, LimitExceededError: the call itself is refused.
    """
    arguments = admit(BATCH_READ, given)
    ids, offset = arguments["ids"], arguments.get("offset", 0)
    assert isinstance(ids, tuple)
    assert isinstance(offset, int)
    reply = Reply()
    wanted = ids[offset:]
    share = max(_SHARE_MIN_BYTES, session.policy.page_bytes // max(1, 2 * len(wanted)))
    page = fill_page((_read_one(session, record_id, share, reply) for record_id in wanted), session.policy.page_bytes)
    reply.data = {"results": page.items}
    if page.is_full:
        reply.data |= {"truncated": True, "next_offset": offset + len(page.items)}
    return reply


def _read_one(session: Session, record_id: str, share_bytes: int, reply: Reply) -> dict[str, object]:
    try:
        one = read(session, {"id": record_id}, page_bytes=share_bytes)
    except OnRecordError as error:
        return {"id": record_id, "error": error.describe()}
    for degraded in one.degraded:
        reply.degrade(degraded.reason, degraded.mend)
    return one.data | ({"warnings": one.warnings} if one.warnings else {})


def _find(
    session: Session, reader: IndexReader, prefix: str, asked: _Asked
) -> tuple[VersionHead, FilePlace | None, str]:
    """Return the version asked for, the file's place if it is the current one, and its status today.

    Of several with one number it is the current one; else the last in order, those that stand aside behind all others.
    """
    record_id = resolve(prefix, reader)
    current = reader.get_current(record_id)
    if asked.is_newest and current is not None:
        return current, locate(session, reader, current), current.status
    found = [head for head in reader.list_versions(record_id) if asked.is_met(head)]
    if not found:
        raise NotFoundError("this memory has no such version", field=asked.field, hint="`onrecord history` lists them.")
    if current is not None and any(head.ref == current.ref for head in found):
        return current, locate(session, reader, current), current.status
    head = next((head for head in reversed(found) if not head.is_displaced), found[-1])
    return head, None, tell_status(head, current)


def _tell_namesakes(session: Session, head: VersionHead, asked: _Asked, reply: Reply) -> None:
    """Say that other versions have the number that was asked for, and how each is read."""
    if asked.version is None or asked.entry is not None:
        return
    with session.index.read() as reader:
        others = [item for item in reader.list_versions(head.id) if item.version == head.version]
    ways = [name_reading(item.id, item.ref) for item in others if item.ref != head.ref]
    if ways:
        more = f" and {len(ways) - _NAMED_COUNT} more" if len(ways) > _NAMED_COUNT else ""
        told = f"{len(others)} versions have the number {head.version}; this is {head.ref}"
        reply.warnings.append(f"{told}; the others: {', '.join(ways[:_NAMED_COUNT])}{more}")


def _describe_or_older(
    session: Session,
    head: VersionHead,
    place: FilePlace | None,
    span: tuple[int, int] | None,
    budget_bytes: int,
    reply: Reply,
    *,
    may_be_older: bool,
) -> dict[str, object]:
    """Describe a version, or the newest that is there where it is not in the vault any more."""
    try:
        return _describe(session, head, place, span, budget_bytes, reply)
    except DamagedError:
        with session.index.read() as reader:
            older = find_newest_there(session, reader, head) if may_be_older else None
        if older is None:
            raise
    tell_older(head, older, reply)
    return _describe(session, older, None, span, budget_bytes, reply)


def _describe(
    session: Session,
    head: VersionHead,
    place: FilePlace | None,
    span: tuple[int, int] | None,
    budget_bytes: int,
    reply: Reply,
) -> dict[str, object]:
    path = place.stamp.path if place is not None and place.stamp is not None else head.path
    is_missing = place is not None and place.is_missing and head.status != "retired"
    if is_missing and head.kind == "event":
        with session.index.read() as reader:
            record = read_record(read_transcript(session, reader, head), path, session.yaml)
    else:
        record = read_record(read_version(session, head, place), path, session.yaml)
    cut, warning = cut_text(record.text, span, budget_bytes)
    data: dict[str, object] = {
        "id": head.id,
        "version": head.version,
        "title": record.title,
        "origin": head.origin,
        "status": head.status,
        "kind": head.kind,
        "workspace": head.workspace,
        "path": path,
        "recorded_at": head.recorded_at,
        "by": str(head.ref),
        **cut,
    }
    if record.tags:
        data["tags"] = list(record.tags)
    if warning:
        reply.warnings.append(warning)
    if place is not None and head.status == "retired" and head.kind != "conflict":
        reply.warnings.append("this memory is retired: `find` does not show it; its last version is shown")
    if place is not None:
        tell_behind(session, place, reply)
        tell_lost_transcript(head, place, reply)
    if is_missing and head.kind != "event":
        reply.warnings.append("the file of this memory is missing; its last version is shown")
    if place is not None and place.is_shut:
        reply.warnings.append(
            "the file of this memory is behind a link that is not followed; its last version is shown"
        )
    reply.warnings.extend(problem.message for problem in record.problems if problem.severity != "info")
    for name, copy, value in (("status", record.server.status, head.status), ("kind", record.server.kind, head.kind)):
        if copy and copy != value:
            reply.warnings.append(f"the file says {name} {copy}; that is a copy without effect, the {name} is {value}")
    return data
