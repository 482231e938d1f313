"""Show every version of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from onrecord.app.admission import admit
from onrecord.app.catalog import HISTORY
from onrecord.app.known import find_known_since
from onrecord.app.places import resolve
from onrecord.app.session import Reply, Session
from onrecord.ports.index import VersionHead


def list_history(session: Session, given: Mapping[str, object]) -> Reply:
    """List the versions of a record, oldest first, displaced outside edits included.

    Returns:
        data: id, versions[] with version, recorded_at, superseded_at, origin, status, by, mode, title; of a version of
        another log also known_at (since when it counts here), or pending_sync while it does not yet.

    Raises:
        InvalidInputError, NotFoundError, AmbiguousIdError: as named.
    """
    arguments = admit(HISTORY, given)
    reply = Reply()
    session.refresh(reply)
    with session.index.read() as reader:
        record_id = resolve(str(arguments["id"]), reader)
        heads = list(reader.list_versions(record_id))
        turns = len(reader.list_turns(record_id))
    own, seen = session.store.log, session.store.list_seen()
    known = {head.ref: find_known_since(seen, own, head.ref, head.recorded_at) for head in heads}
    shown = [head for head in heads if not head.is_displaced]
    following = {head.ref: known[after.ref] for head, after in pairwise(shown)}
    versions = []
    for head in heads:
        item = _describe(head)
        if head.ref.log != own:
            since = known[head.ref]
            item |= {"known_at": since} if since is not None else {"pending_sync": True}
        if following.get(head.ref) is not None:
            item["superseded_at"] = following[head.ref]
        versions.append(item)
    reply.data = {"id": record_id, "versions": versions}
    if turns:
        reply.data["turns"] = turns
    return reply


def _describe(head: VersionHead) -> dict[str, object]:
    mode = "displaced" if head.is_displaced else "observed" if head.is_observed else "placed"
    return {
        "version": head.version,
        "recorded_at": head.recorded_at,
        "origin": head.origin,
        "status": head.status,
        "by": str(head.ref),
        "mode": mode,
        "title": head.title,
        "path": head.path,
    }
