"""The exact bytes of a version: from its file while that still holds them, else from the versions store."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from onrecord.app.indexing import hash_text
from onrecord.app.places import is_unchanged
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import hash_data
from onrecord.app.standing import find_between, is_marked, list_joined, name_marked
from onrecord.app.workspaces import list_spellings
from onrecord.domain.errors import (
    DamagedError,
    LedgerRolledBackError,
    NewerFormatError,
    NotFoundError,
    StorageFailedError,
)
from onrecord.domain.transcript import parse_transcript
from onrecord.ports.index import FileStamp, IndexReader, VersionHead

_LOST_MEND = "Put the versions folder of the log back from a copy; `onrecord doctor` names what is wrong with it."


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where the file of a record is: its stamp, None where it has no file; and how it stands.

    `is_unchanged`: it still is as stamped. `is_behind`: it holds other bytes than the current version, though nobody
    has edited it: those of another version, or of one that has not arrived (the stamp tells). `is_shut`: the user does
    not allow a link above it, so that nobody looks; it is not missing then, and its memory is not found. `between`: the
    file of another memory, between whose marks of git it stands; it has none of its own, and is not missing.
    """

    stamp: FileStamp | None
    is_unchanged: bool
    is_missing: bool
    is_behind: bool = False
    is_shut: bool = False
    between: FileStamp | None = None

    @property
    def edited_path(self) -> str | None:
        """The path of a file that is not as stamped (edited outside, or gone); None of any other."""
        return None if self.stamp is None or self.is_unchanged else self.stamp.path


def locate(session: Session, reader: IndexReader, head: VersionHead) -> FilePlace:
    """Find the file of a record: at its last path, else any known one."""
    known = reader.find_files_of(head.id)
    stamps = [stamp for stamp in known if head.kind != "event" or stamp.path == head.path]
    if not stamps:
        is_shut = not known and session.store.links.is_shut(head.path)
        between = find_between(session, reader, head) if not known else None
        is_missing = not known and not is_shut and between is None and _is_gone(session, reader, head)
        return FilePlace(None, is_unchanged=False, is_missing=is_missing, is_shut=is_shut, between=between)
    ordered = sorted(stamps, key=lambda stamp: (stamp.is_pending, stamp.path != head.path))
    for stamp in ordered:
        state = session.store.stat_file(stamp.path)
        if state is not None:
            is_same = is_unchanged(state, stamp)
            is_behind = is_same and not session.store.is_waiting(head.ref) and not holds_version(session, head, stamp)
            return FilePlace(stamp, is_same, is_missing=False, is_behind=is_behind)
    # Of what lies on a disk that is away nobody knows that it is gone.
    is_away = any(session.store.links.is_away(stamp.path) for stamp in ordered)
    is_shut = not is_away and any(session.store.links.is_shut(stamp.path) for stamp in ordered)
    return FilePlace(ordered[0], is_unchanged=False, is_missing=not is_away and not is_shut, is_shut=is_shut)


def find_path(session: Session, reader: IndexReader, head: VersionHead) -> str | None:
    """Return where the file of a record lies now, None where it has none."""
    place = locate(session, reader, head)
    if place.is_missing:
        return None
    return head.path if place.stamp is None else place.stamp.path


def holds_version(session: Session, head: VersionHead, stamp: FileStamp) -> bool:
    """Tell whether a file that is as stamped holds this version's bytes; of a transcript nothing else is known."""
    if head.kind == "event" or stamp.ref == head.ref:
        return True
    row = session.store.read_row(head.ref)
    return row is None or hash_data(row.draft.data) == stamp.sha256


def tell_lost_transcript(head: VersionHead, place: FilePlace, reply: Reply) -> None:
    """Say in a reply, once, that the file of a transcript shown is not there."""
    if head.kind == "event" and place.is_missing:
        mend = f"{head.path} is missing; its turns are shown as they were captured. Put the file back, or let it sync."
        reply.degrade("transcript_missing", mend)


def read_transcript(session: Session, reader: IndexReader, head: VersionHead) -> bytes:
    """Return the bytes that the file of a transcript should hold: its version, then the turns captured since.

    Args:
        session: The opened vault.
        reader: Reads the index.
        head: The transcript's current version.

    Raises:
        DamagedError: the versions store lacks that version.
    """
    data = read_version(session, head, None)
    later = [turn for turn in reader.list_turns(head.id) if turn.offset_bytes >= len(data)]
    rows = (session.store.read_row(turn.ref) for turn in sorted(later, key=lambda turn: (turn.offset_bytes, turn.ref)))
    return data + b"".join(row.draft.data for row in rows if row is not None)


def tell_behind(session: Session, place: FilePlace, reply: Reply) -> None:
    """Say in a reply, once, that the file of a memory shown does not hold its current version."""
    if place.is_behind and place.stamp is not None and place.stamp.is_pending:
        mend = (
            f"{place.stamp.path} holds a newer version that has not arrived; the last known one is shown. Sync the "
            ".onrecord folder of the other machine."
        )
        reply.degrade("pending_sync", mend)
    elif place.between is not None:
        _tell_marked(session, place.between, reply)
    elif place.is_behind and place.stamp is not None and is_marked(session, place.stamp):
        _tell_marked(session, place.stamp, reply)
    elif place.is_behind and place.stamp is not None:
        mend = (
            f"{place.stamp.path} holds another version than the current one, which is shown; it comes with the sync, "
            "or with the next update."
        )
        reply.degrade("file_behind", mend)
    elif place.stamp is not None and not (place.is_unchanged or place.is_missing or place.is_shut):
        _tell_away(session, place.stamp.path, reply)


def _tell_marked(session: Session, stamp: FileStamp, reply: Reply) -> None:
    with session.index.read() as reader:
        found = name_marked(stamp.path, list_joined(session, reader, stamp))
    reply.degrade(found.code, f"{found.path}: {found.message}. {found.mend}")


def _tell_away(session: Session, path: str, reply: Reply) -> None:
    """Say in a reply, once, that a file lies where nobody can look now: its memory is shown from its history."""
    if session.store.links.is_away(path):
        mend = f"{path} cannot be reached now; its last version is shown. Connect the disk or share: `onrecord link`."
        reply.degrade("link_away", mend)


def _is_gone(session: Session, reader: IndexReader, head: VersionHead) -> bool:
    """Tell whether a version without a known file has lost it: neither waits it for its place nor is a file there.

    A rebuilt index knows no file that was deleted before; one that another record holds is not this one's.
    """
    if session.store.is_waiting(head.ref) or session.store.links.is_away(head.path):
        return False
    return reader.get_file(head.path) is not None or session.store.stat_file(head.path) is None


def read_version(session: Session, head: VersionHead, place: FilePlace | None) -> bytes:
    """Return the exact bytes of a version.

    Args:
        session: The opened vault.
        head: The version.
        place: Where the record's file is, if this is the current version; None reads the versions store.

    Raises:
        DamagedError: neither file nor versions store has them.
    """
    is_held = place is not None and place.is_unchanged and not place.is_behind
    is_in_place = is_held and not session.store.is_waiting(head.ref)
    if is_in_place and place is not None and place.stamp is not None:
        with suppress(NotFoundError, StorageFailedError):
            data = session.store.read_file(place.stamp.path)
            if head.kind == "event" or hash_data(data) == place.stamp.sha256:  # else it was changed since the look
                return data
    row = session.store.read_row(head.ref)
    if row is None:
        raise DamagedError("this version is not in the versions store", hint=_LOST_MEND)
    return row.draft.data


def find_newest_there(session: Session, reader: IndexReader, lost: VersionHead) -> VersionHead | None:
    """Return the newest version of a record whose bytes the versions store still has, where those of one are gone.

    Args:
        session: The opened vault.
        reader: Reads the index, which may know of more than lies in the vault: an older one was put back.
        lost: The version whose bytes are nowhere.
    """
    for head in reversed(reader.list_versions(lost.id)):
        if not head.is_displaced and head.ref != lost.ref:
            with suppress(DamagedError, NewerFormatError):
                row = session.store.read_row(head.ref)
                if row is not None and not row.is_erased and not row.is_sealed:
                    return head
    return None


def tell_older(lost: VersionHead, shown: VersionHead, reply: Reply) -> None:
    """Say in a reply that an older version is shown, as the current one is not in the vault any more."""
    if all(known.reason != LedgerRolledBackError.code for known in reply.degraded):
        reply.degrade(
            "version_unreadable", "Put the versions folder of the log back from a copy; see `onrecord doctor`."
        )
    reply.warnings.append(
        f"version {lost.version} of {lost.id} is not in the vault any more; version {shown.version} is shown"
    )


def find_kept(session: Session, reader: IndexReader, workspace: str, text_sha256: bytes) -> list[VersionHead]:
    """Return the current records of a workspace with exactly this text, those without a file left out, by id."""
    spellings = list_spellings(reader, workspace)
    heads = sorted(
        (head for name in spellings for head in reader.find_by_text(name, text_sha256)), key=lambda head: head.id
    )
    places = ((head, locate(session, reader, head)) for head in heads)
    return [head for head, place in places if not place.is_missing and not place.is_shut]


def read_turn_text(session: Session, head: VersionHead) -> str:
    """Return the text of one turn as it was captured: from its block in the file while that still holds it.

    Raises:
        DamagedError: its bytes are nowhere.
    """
    try:
        block = session.store.read_file(head.path, head.offset_bytes, head.size_bytes)
    except (NotFoundError, StorageFailedError):
        block = b""
    turns = parse_transcript(block).turns
    if len(turns) == 1 and hash_text(turns[0].text) == head.text_sha256:
        return turns[0].text
    row = session.store.read_row(head.ref)
    if row is None:
        raise DamagedError("this turn is not in the versions store")
    turns = parse_transcript(row.draft.data).turns
    return turns[0].text if turns else row.draft.data.decode(errors="replace")
