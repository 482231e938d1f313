"""What OnRecord writes over a record: display copies, number, and where the file goes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from onrecord.app.content import FilePlace, locate, read_version
from onrecord.app.current import choose_number
from onrecord.app.indexing import hash_text
from onrecord.app.origins import weigh_origin
from onrecord.app.places import choose_path
from onrecord.app.session import Session
from onrecord.domain.ids import EntryRef
from onrecord.domain.record import KeyValue, read_record, replace_keys
from onrecord.ports.index import VersionHead
from onrecord.ports.store import Change, Placement, Receipt, VersionDraft, VersionRow, WriteUnit

# Display copies that every version has anew.
_COPIES = ("id", "kind", "version", "by", "recorded_at", "status", "origin", "client", "agent")


def take_out_copies(session: Session, data: bytes) -> bytes:
    """Return a file without the display copies that differ from version to version, to compare what was written."""
    return replace_keys(data, dict.fromkeys(_COPIES), session.yaml)


def set_copies(
    session: Session, data: bytes, head: VersionHead, version: int, by: EntryRef, recorded_at: str, origin: str
) -> bytes:
    """Return a file with the display copies of a version that this caller makes of the record of `head`."""
    caller = session.caller
    copies: dict[str, KeyValue | None] = {
        "id": head.id,
        "kind": head.kind if head.kind != "note" else None,
        "version": version,
        "by": str(by),
        "recorded_at": recorded_at,
        "status": head.status if head.status != "current" else None,
        "origin": origin,
        "client": caller.client or None,
        "agent": caller.agent or None,
    }
    return replace_keys(data, copies, session.yaml)


def choose_target(session: Session, head: VersionHead, place: FilePlace, title: str) -> tuple[str, Placement]:
    """Return where the next version of a record goes: over its file; where that is missing, to a free place."""
    if place.stamp is not None and not place.is_missing:
        return place.stamp.path, "replace"
    with session.index.read() as reader:
        if session.store.stat_file(head.path) is None:
            return head.path, "create"
        return choose_path(head.kind, (head.workspace,), title, reader, session.store), "create"


def hash_pre_image(place: FilePlace, base: bytes) -> bytes:
    """Return the hash of what the file holds: the version that is changed, or another one that it is behind with."""
    if place.is_behind and place.stamp is not None and place.stamp.sha256:
        return place.stamp.sha256
    return hashlib.sha256(b"" if place.is_behind else base).digest()


def plan_next(
    session: Session, unit: WriteUnit, head: VersionHead, data: bytes, parents: Sequence[VersionRow], origin: str
) -> Change:
    """Return the change that makes the next version of a record.

    Args:
        session: The opened vault.
        unit: The right to write; the change must be the first of the next commit.
        head: The current version.
        data: The file as it is to be; display copies are set anew where the record's file has them.
        parents: What the version descends from.
        origin: Where its text comes from.

    Raises:
        DamagedError: the bytes of the current version are nowhere.
    """
    with session.index.read() as reader:
        number = choose_number(reader, head.id)
        place = locate(session, reader, head)
        record = read_record(data, head.path, session.yaml)
        origin = weigh_origin(reader, head.id, hash_text(record.text), origin)
    before = read_version(session, head, place)
    if read_record(before, head.path, session.yaml).server.is_marked:
        stamp = unit.stamp(0)
        data = set_copies(session, data, head, number, stamp.ref, stamp.recorded_at, origin)
    path, how = choose_target(session, head, place, record.title)
    draft = VersionDraft(
        head.id, number, head.kind, path, data, origin, record.workspace or head.workspace, status=head.status,
        parents=tuple(row.ref for row in parents),
        redacted=tuple(sorted({rule for row in parents for rule in row.draft.redacted})),
    )  # fmt: skip
    return Change("record.update", draft, place=how, pre_sha256=hash_pre_image(place, before))


def list_rows(receipt: Receipt) -> list[VersionRow]:
    """Return the rows that a receipt's own changes made, displaced outside edits excluded."""
    return [row for row in receipt.rows if row.draft.mode != "displaced"]
