"""Show every version of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from onrecord.app.admission import admit
from onrecord.app.catalog import HISTORY
from onrecord.app.content import locate, tell_behind
from onrecord.app.known import find_known_since
from onrecord.app.pages import fill_page
from onrecord.app.pending import describe_unknown, find_unknown
from onrecord.app.places import resolve
from onrecord.app.session import Reply, Session
from onrecord.app.waiting import explain_unknown, tell_waiting
from onrecord.domain.errors import NotFoundError
from onrecord.domain.instants import Instant
from onrecord.ports.index import VersionHead


def list_history(session: Session, given: Mapping[str, object], *, page_bytes: int | None = None) -> Reply:
    """List the versions of a record, oldest first, displaced outside edits included.

    Args:
        session: The opened vault.
        given: Arguments of the operation `history`.
        page_bytes: Budget of the versions as JSON; 0 for none; None as configured.

    Returns:
        data: id, versions[] with version, recorded_at, superseded_at, origin, status, by, mode, title, path; of one of
        another log also known_at (since when it counts here), or pending_sync while it does not; turns of
        a transcript; where the page ended early truncated and next_offset. Of a file that came before its history:
        its id, path, no versions, and pending_sync.

    Raises:
        InvalidInputError, NotFoundError, AmbiguousIdError: as named.
    """
    arguments = admit(HISTORY, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply)
    wanted = str(arguments["id"])
    with session.index.read() as reader:
        unknown = find_unknown(reader, wanted)
        if unknown is not None:
            describe_unknown(unknown, reply)
            return reply
        try:
            record_id = resolve(wanted, reader)
        except NotFoundError as error:
            raise explain_unknown(session, wanted, error) from error
        heads = list(reader.list_versions(record_id))
        current = reader.get_current(record_id)
        turns = len(reader.list_turns(record_id))
        if current is not None:
            tell_behind(session, locate(session, reader, current), reply)
    tell_waiting(session, (record_id,), reply)
    own, seen = session.store.log, session.store.list_seen()
    known = {head.ref: find_known_since(seen, own, head.ref, head.recorded_at) for head in heads}
    shown = [head for head in heads if not head.is_displaced]
    following = {head.ref: known[after.ref] for head, after in pairwise(shown)}
    offset = arguments.get("offset", 0)
    assert isinstance(offset, int)

    def describe(head: VersionHead) -> dict[str, object]:
        item = _describe(head, tell_status(head, current), following.get(head.ref))
        if head.ref.log != own:
            since = known[head.ref]
            item |= {"known_at": since} if since is not None else {"pending_sync": True}
        return item

    budget = session.policy.page_bytes if page_bytes is None else page_bytes
    page = fill_page(map(describe, heads[offset:]), budget)
    reply.data = {"id": record_id, "versions": page.items}
    if page.is_full:
        reply.data |= {"truncated": True, "next_offset": offset + len(page.items)}
    if turns:
        reply.data["turns"] = turns
    return reply


def tell_status(head: VersionHead, current: VersionHead | None) -> str:
    """Return the status of a version today: `superseded` where it was recorded as `current` and another one is so now.

    Args:
        head: The version.
        current: The shown version of its record.
    """
    is_superseded = head.status == "current" and current is not None and head.ref != current.ref
    return "superseded" if is_superseded else head.status


def _describe(head: VersionHead, status: str, superseded_at: Instant | None) -> dict[str, object]:
    mode = "displaced" if head.is_displaced else "observed" if head.is_observed else "placed"
    item: dict[str, object] = {
        "version": head.version,
        "recorded_at": head.recorded_at,
        "origin": head.origin,
        "status": status,
        "by": str(head.ref),
        "mode": mode,
        "title": head.title,
        "path": head.path,
    }
    if superseded_at is not None:
        item["superseded_at"] = superseded_at
    return item
