"""Show every version of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from onrecord.app.admission import admit
from onrecord.app.catalog import HISTORY
from onrecord.app.places import resolve
from onrecord.app.session import Reply, Session
from onrecord.ports.index import VersionHead


def list_history(session: Session, given: Mapping[str, object]) -> Reply:
    """List the versions of a record, oldest first, displaced outside edits included.

    Returns:
        data: id, versions[] with version, recorded_at, superseded_at, origin, status, by, mode, title.

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
    shown = [head for head in heads if not head.is_displaced]
    following = {head.ref: after.recorded_at for head, after in pairwise(shown)}
    versions = []
    for head in heads:
        item = _describe(head)
        if head.ref in following:
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
