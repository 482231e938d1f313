"""What the bytes of a file say of its record: known ones of the current or another version, or an outside edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onrecord.app.current import choose_number
from onrecord.app.identity import Found, Identity
from onrecord.app.indexing import read_own_text
from onrecord.app.joining import plan_edit
from onrecord.app.origins import weigh_origin
from onrecord.app.session import Session
from onrecord.app.stamps import has_hash
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.filenames import KIND_FOLDERS, fold_path
from onrecord.domain.heads import order_of
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.record import Record, name_workspace, read_record
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import Change, FileState, VersionDraft, WriteUnit

# A transcript is what was captured; a file put beside one is a memory.
# Conflicts and workspaces are made by a decision, so that no file claims to be one.
_KINDS = {folder: kind for kind, folder in KIND_FOLDERS.items() if kind in ("fact", "entity")}
_MEMORY_KINDS = frozenset({"note", "experience", "observation", "belief", "reflection"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a file holds.

    Attributes:
        record: Its record.
        ref: The version whose bytes it holds, None where they are those of none; without meaning beside a change.
        change: The version that it asks for, None where its bytes are known.
        is_branch: Whether that version leaves another tip of the record beside it, or takes one in, or says what
            another record says at the same path.
    """

    record: RecordId
    ref: EntryRef | None = None
    change: Change | None = None
    is_branch: bool = False


def judge_file(
    session: Session, reader: IndexReader, unit: WriteUnit, found: Found, head: VersionHead | None, identity: Identity
) -> Judgement:
    """Judge one file, under the vault's lock.

    Args:
        session: The opened vault.
        reader: Reads the index.
        unit: Draws the id of a new record.
        found: The file.
        head: The current version of its record, None of a new one.
        identity: Which record that is.

    Raises:
        StorageFailedError: a versions store cannot be read.
    """
    if head is None:
        record_id = identity.fresh or identity.known or unit.draw_record_id()
        kind = name_kind(found.record, found.state.path)
        draft = _draft(found, record_id, 1, kind, _name_workspace(found, None))
        return Judgement(record_id, change=Change("record.observe", draft))
    if head.kind == "event":
        return _judge_transcript(session, reader, found, head)
    workspace = _name_workspace(found, head)
    stamps = [stamp for stamp in reader.find_files_of(head.id) if not stamp.is_pending]
    known = [other for other in reader.list_versions(head.id) if has_bytes(session, other, found, stamps)]
    if session.store.is_waiting(head.ref):
        return Judgement(head.id, known[-1].ref if known else None)
    is_current = any(other.ref == head.ref for other in known)
    if is_current and head.workspace == workspace:
        return Judgement(head.id, head.ref)
    # Of the current bytes in another workspace, those versions count that were in it: else the file was moved there.
    earlier = [other for other in known if not is_current or other.workspace == workspace]
    held = _find_held(reader, head, stamps, found.state)
    is_ended = head.kind == "conflict" or head.status == "retired"
    if earlier and (is_ended or not _is_revert(session, reader, head, earlier, held)):
        return Judgement(head.id, earlier[-1].ref)
    claimed = None if earlier else _find_version(reader, head.id, found.record.server.by)
    base = _choose_base(session, held, claimed) or head
    base = head if _has_same_bytes(session, base, head) else base
    draft = _draft(found, head.id, choose_number(reader, head.id), head.kind, workspace, status=head.status)
    parents, is_branch = plan_edit(session, reader, found, head, base, stamps)
    origin = weigh_origin(reader, head.id, found.text_sha256, draft.origin)
    draft = replace(draft, parents=parents, protection=find_protection(session, head), origin=origin)
    is_branch = is_branch or _is_said_by_another(reader, found, head)
    return Judgement(head.id, change=Change("record.observe", draft), is_branch=is_branch)


def _is_said_by_another(reader: IndexReader, found: Found, head: VersionHead) -> bool:
    others = (other for other in reader.find_by_path(found.state.path) if other.id != head.id)
    return any(other.text_sha256 == found.text_sha256 for other in others)


def _judge_transcript(session: Session, reader: IndexReader, found: Found, head: VersionHead) -> Judgement:
    row = session.store.read_row(head.ref) if not session.store.is_waiting(head.ref) else None
    is_same = row is not None and (row.draft.data == found.data or not _has_other_words(session, row.draft, found))
    if is_same or session.store.is_waiting(head.ref):
        return Judgement(head.id)
    number = choose_number(reader, head.id)
    draft = _draft(found, head.id, number, head.kind, head.workspace, status=head.status)
    return Judgement(head.id, change=Change("record.observe", replace(draft, parents=(head.ref,))))


def find_protection(session: Session, head: VersionHead) -> str:
    """Return what protects a record, which no edit of its file ends."""
    try:
        row = session.store.read_row(head.ref)
    except (DamagedError, NewerFormatError):
        return "normal"
    return row.draft.protection if row is not None else "normal"


def has_bytes(session: Session, head: VersionHead, found: Found, stamps: Sequence[FileStamp] = ()) -> bool:
    """Tell whether a version has exactly the file's bytes; `stamps`: those of its record, which may know."""
    if head.text_sha256 != found.text_sha256:
        return False
    is_same = has_hash(stamps, head.ref, found.sha256)
    if is_same is not None:
        return is_same
    try:
        row = session.store.read_row(head.ref)
    except (DamagedError, NewerFormatError):
        return False
    return row is not None and row.draft.data == found.data


def _find_held(
    reader: IndexReader, head: VersionHead, stamps: Sequence[FileStamp], state: FileState
) -> VersionHead | None:
    """Return the version that the file held when it was last seen here: at its path, else where it was moved from.

    What the memory's file held at another place on another inode says nothing of this one: it may have been a copy of
    an earlier version, and a fresh index knows only what its own `by` names.
    """
    own = [stamp for stamp in stamps if fold_path(stamp.path) == fold_path(state.path)]
    moved = [stamp for stamp in stamps if (stamp.device, stamp.inode) == (state.device, state.inode)]
    held = (_find_version(reader, head.id, stamp.ref) for stamp in (*own, *moved))
    return next((version for version in held if version is not None), None)


def _choose_base(session: Session, held: VersionHead | None, claimed: VersionHead | None) -> VersionHead | None:
    """Return the version that an edit was made from: the one held, or a later own one that the file names.

    What a writer that died put there had no time to be seen.
    """
    if held is None or claimed is None:
        return held or claimed
    is_own = held.ref.log == claimed.ref.log == session.store.log
    return claimed if is_own and claimed.ref.seq > held.ref.seq else held


def _has_same_bytes(session: Session, base: VersionHead, head: VersionHead) -> bool:
    """Tell whether the current version says again what an edit was made from, as one that was restored does."""
    if base.ref == head.ref or base.is_displaced or base.text_sha256 != head.text_sha256:
        return False
    rows = [session.store.read_row(version.ref) for version in (base, head)]
    return rows[0] is not None and rows[1] is not None and rows[0].draft.data == rows[1].draft.data


def _find_version(reader: IndexReader, record: RecordId, ref: EntryRef | None) -> VersionHead | None:
    if ref is None:
        return None
    return next((head for head in reader.list_versions(record) if head.ref == ref), None)


def _is_revert(
    session: Session, reader: IndexReader, head: VersionHead, known: Sequence[VersionHead], held: VersionHead | None
) -> bool:
    """Tell whether known bytes of an earlier version were put back here, and are no late or repeated delivery.

    Args:
        session: The opened vault.
        reader: Reads the index.
        head: The current version.
        known: The versions that have the bytes, in order.
        held: The version that the file held before.
    """
    own = session.store.log
    if any(other.ref.log != own for other in known):
        return False
    last = order_of(known[-1])
    if held is not None and order_of(held) > last:
        return True
    later = (other for other in reader.list_versions(head.id) if not other.is_displaced and order_of(other) > last)
    return all(other.ref.log == own for other in later)


def _name_workspace(found: Found, head: VersionHead | None) -> str:
    """Return the home that the file names; without one its folder decides, and a known record keeps its home in it."""
    if found.record.workspace:
        return found.record.workspace
    home = name_workspace(found.state.path)
    return head.workspace if head is not None and home == name_workspace(head.path) else home


def _has_other_words(session: Session, known: VersionDraft, found: Found) -> bool:
    """Tell whether a transcript says other things beside its turns than it did; turns that came or changed are not."""
    before = read_record(known.data, known.path, session.yaml)
    words = [
        (record.named_title, record.tags, record.aliases, read_own_text(draft, record).split())
        for draft, record in ((known, before), (replace(known, data=found.data), found.record))
    ]
    return words[0] != words[1]


def _draft(
    found: Found, record_id: RecordId, version: int, kind: str, workspace: str, status: str = "current"
) -> VersionDraft:
    return VersionDraft(
        record_id, version, kind, found.state.path, found.data, "file", workspace, status=status, mode="observed"
    )


def name_kind(record: Record, path: str) -> str:
    """Return the kind of a new record: by its folder, else what the file names, if that is a memory."""
    kind = _KINDS.get(path.split("/", 1)[0])
    if kind is not None:
        return kind
    return record.claimed_kind if record.claimed_kind in _MEMORY_KINDS else "note"
