"""Which record a file holds: by the known id in it, else its exact bytes, else its inode, else its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from onrecord.app.edits import is_edit_of, is_nearer
from onrecord.app.identicals import Identicals, Inode, Standing
from onrecord.app.indexing import hash_text
from onrecord.app.leaving import has_left, yields_to
from onrecord.app.moves import Told, ToldPlaces
from onrecord.app.places import is_unchanged
from onrecord.app.refusals import read_bytes
from onrecord.app.session import Session
from onrecord.app.stamps import has_hash, hash_data, list_record_stamps, says_record
from onrecord.domain.copy_names import is_named_copy
from onrecord.domain.filenames import fold_path, is_respelled
from onrecord.domain.heads import order_of
from onrecord.domain.ids import RecordId
from onrecord.domain.limits import BATCH_MAX_BYTES
from onrecord.domain.record import Record, read_record
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import FileState

# Versions and bytes of files that a pass commits at once.
BATCH_COUNT: Final = 500
BATCH_BYTES: Final = BATCH_MAX_BYTES // 2

_NOTHING: Final = Identicals(())


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it was read; `sha256` is empty for an empty file, as in its stamp; `text_sha256` is of its text."""

    state: FileState
    data: bytes
    sha256: bytes
    record: Record
    text_sha256: bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text_sha256", hash_text(self.record.text))

    def without_id(self) -> Found:
        """Return the same file as if it named no id."""
        return replace(self, record=replace(self.record, server=replace(self.record.server, id=None)))


@dataclass(frozen=True, slots=True)
class Identity:
    """The known record that a file holds, or else the id that a new record takes from it; both None: a new id."""

    known: RecordId | None = None
    fresh: RecordId | None = None


def read_found(session: Session, state: FileState) -> Found | None:
    """Read a file; None as of `read_bytes`."""
    data = read_bytes(session, state)
    if data is None:
        return None
    return Found(state, data, hash_data(data), read_record(data, state.path, session.yaml))


class Identities:
    """Tells the files of one pass apart, against the stamps from before it. Under the vault's lock.

    A record is given to one file of a pass at most; never to a file while another one still holds it.

    Args:
        session: The opened vault.
        states: The files of the pass, by path. Of more than a batch stamps are written before the pass ends, so that
            all stamps are loaded now; of fewer the index is asked.
    """

    def __init__(self, session: Session, states: Mapping[str, FileState]) -> None:
        self._session = session
        self._places_now = {_inode_of(state): path for path, state in states.items()}
        self._records: set[RecordId] = set()
        self._assigned: dict[str, RecordId] = {}
        self._paths = frozenset(states)
        self._same: dict[bytes, Identicals] = {}
        self._by_inode: dict[Inode, list[FileStamp]] = {}
        self._by_place: dict[str, list[FileStamp]] = {}
        self._told = ToldPlaces(session)
        self._late: set[str] = set()
        size_bytes = sum(state.size_bytes for state in states.values())
        self._is_large = len(states) >= BATCH_COUNT or size_bytes >= BATCH_BYTES
        if self._is_large:
            with session.index.read() as reader:
                self._load(reader)

    def assign(self, path: str, record: RecordId) -> None:
        """Note which record a file of the pass holds."""
        self._records.add(record)
        self._assigned[path] = record

    def is_free(self, record: RecordId) -> bool:
        """Tell whether no file of the pass has got the record yet."""
        return record not in self._records

    def rank(self, path: str) -> tuple[bool, bool]:
        """Return where a file stands among those that are asked last: copies behind others, by name and by place."""
        return is_named_copy(path), path in self._late

    def may_keep(self, reader: IndexReader, stamp: FileStamp) -> bool:
        """Tell whether a file as stamped needs no other look: its record says just that, and has no other file."""
        head = reader.get_current(stamp.record)
        return self.is_free(stamp.record) and head is not None and head.status != "retired" and head.ref == stamp.ref

    def identify(self, reader: IndexReader, found: Found, *, is_last: bool) -> Identity | None:
        """Return what a file holds.

        Args:
            reader: Reads the index.
            found: The file.
            is_last: Whether all files of the pass have been asked for that say more about themselves.

        Returns:
            None when the other files of the pass must be asked first.
        """
        claim = found.record.claimed_id
        new = Identity()
        told, record = self._find_told(reader, found)
        if told is Told.HERE or (is_last and record is not None):
            return Identity(record)
        if told is not None and not is_last:
            return None
        if claim is not None and self.is_free(claim):
            if reader.get_current(claim) is None:
                new = Identity(fresh=claim)
            elif not self._is_held_elsewhere(reader, claim, found):
                waits = is_named_copy(found.state.path) or self._has_moved_on(reader, claim, found)
                waits = waits or (not is_last and self._is_late(reader, claim, found))
                return Identity(claim) if is_last or not waits else None
        stamp = reader.get_file(found.state.path)
        stamp = stamp if stamp is not None and not stamp.is_pending else None
        is_in_place = stamp is not None and _inode_of(stamp) == _inode_of(found.state)
        twin = self._find_twin(reader, found, stamp)
        if twin is not None:
            waits = is_named_copy(found.state.path) or self._has_moved_on(reader, twin, found)
            return Identity(twin) if is_last or not waits else None
        if stamp is not None and is_in_place and self.is_free(stamp.record):
            return Identity(stamp.record)
        moved = self._find_by_inode(reader, found, stamp)
        if moved is not None:
            return Identity(moved)
        stamp = stamp or self._find_respelled(reader, found)
        if stamp is None:
            if claim is None:
                lost = self._find_by_place(reader, found) or self._find_by_bytes(reader, found)
            else:
                lost = self._find_relabelled(reader, found)
            return new if lost is None else Identity(lost) if is_last else None
        if not self.is_free(stamp.record) or self._is_held_elsewhere(reader, stamp.record, found):
            return new
        return Identity(stamp.record) if is_last else None

    def _find_told(self, reader: IndexReader, found: Found) -> tuple[Told | None, RecordId | None]:
        """Return which of the records without a known file whose bytes a file has is the one of its place, and by whom.

        Of several the one that the own log tells, then the one whose first version is first in order. Nobody tells of
        one that alone was recorded here; there is no record where all are told to be at other places.
        """
        stamp, path = reader.get_file(found.state.path), found.state.path
        if stamp is not None and not stamp.is_pending:
            return None, None
        same = self._list_same(reader, found).records
        lost = [record for record in same if self.is_free(record) and not list_record_stamps(reader, record)]
        heads = [head for record in lost if (head := reader.get_current(record)) is not None]
        claim = found.record.claimed_id
        if not heads or (len(heads) == 1 and heads[0].path == path and claim in (None, heads[0].id)):
            return None, None
        told = [(self._told.find(reader, head.id, path), head) for head in heads]
        ranked = [(by, order_of(reader.list_versions(head.id)[0]), head.id) for by, head in told if by is not None]
        return (min(ranked)[0], min(ranked)[2]) if ranked else (Told.ELSEWHERE, None)

    def _is_late(self, reader: IndexReader, record: RecordId, found: Found) -> bool:
        """Tell whether a file may be a copy: its record, without a known file, was elsewhere and in other bytes."""
        if list_record_stamps(reader, record) or record in self._list_same(reader, found).records:
            return False
        if not self._told.is_last(reader, record, found.state.path):
            self._late.add(found.state.path)
        return found.state.path in self._late

    def _has_moved_on(self, reader: IndexReader, record: RecordId, found: Found) -> bool:
        """Tell whether another file of the pass is the very one that held the record, so that this may be its copy."""
        for stamp in list_record_stamps(reader, record):
            if stamp.path == found.state.path:
                return False
            if self._places_now.get(_inode_of(stamp), found.state.path) != found.state.path:
                return True
        return False

    def _is_held_elsewhere(self, reader: IndexReader, record: RecordId, found: Found) -> bool:
        path, known = found.state.path, self._list_others(reader, record, found)
        if found.record.claimed_id == record and any(stamp.path == path for stamp in known):
            return False
        return any(stamp.path != path and self._holds(reader, stamp) for stamp in known)

    def _list_others(self, reader: IndexReader, record: RecordId, found: Found) -> list[FileStamp]:
        """Return the stamps of a record but those that the file has left by respelling, and copies that yield to it."""
        store, state = self._session.store, found.state
        return [
            stamp
            for stamp in list_record_stamps(reader, record)
            if not (is_respelled(stamp.path, state.path) and has_left(store, stamp.path, state))
            and not yields_to(reader, stamp, state.path)
        ]

    def _holds(self, reader: IndexReader, stamp: FileStamp) -> bool:
        """Tell whether the file at a stamp's place still holds the stamp's record."""
        path, record = stamp.path, stamp.record
        if path in self._assigned:
            return self._assigned[path] == record
        state = self._session.store.stat_file(path)
        if state is None:
            return False
        if is_unchanged(state, stamp):
            return True
        found = self._read(path)
        if found is None or (found.sha256 and found.sha256 == stamp.sha256):
            return True
        claim = found.record.claimed_id
        if claim == record:
            return True
        if claim is not None and reader.get_current(claim) is not None and not self._is_untouched(reader, claim, path):
            return False
        if any(other != record for other in self._list_same(reader, found).records):
            return False
        if _inode_of(state) == _inode_of(stamp):
            return True
        if self._places_now.get(_inode_of(stamp), path) != path:
            return False
        return all(other.path == path for other in self._list_by_inode(reader, _inode_of(state)))

    def _is_untouched(self, reader: IndexReader, record: RecordId, path: str) -> bool:
        """Tell whether a record has a file that is as stamped, at another place than `path`."""
        others = (stamp for stamp in list_record_stamps(reader, record) if stamp.path != path)
        return any(is_unchanged(self._session.store.stat_file(stamp.path), stamp) for stamp in others)

    def _find_by_inode(self, reader: IndexReader, found: Found, own: FileStamp | None) -> RecordId | None:
        own = own if own is not None and self.is_free(own.record) else None
        for stamp in self._list_by_inode(reader, _inode_of(found.state)):
            is_likely = self._is_lost(reader, stamp.record, found) and self._is_edit(reader, found, stamp)
            if is_likely and (own is None or self._has_come(reader, found, stamp, own)):
                return stamp.record
        return None

    def _has_come(self, reader: IndexReader, found: Found, stamp: FileStamp, own: FileStamp) -> bool:
        """Tell whether a file on another one's inode was moved over its place, and not saved there by renaming."""
        there = self._session.store.stat_file(stamp.path)
        if there is None:
            return True
        has_changed_places = any(other.path != stamp.path for other in self._list_by_inode(reader, _inode_of(there)))
        return has_changed_places and is_nearer(self._session, reader, found.record.text, stamp, own)

    def _find_respelled(self, reader: IndexReader, found: Found) -> FileStamp | None:
        """Return the stamp of the same place in another spelling: a sync tool writes names in its own."""
        place = fold_path(found.state.path)
        if self._is_large:
            stamps: Sequence[FileStamp] = self._by_place.get(place, ())
        else:
            stamps = [stamp for stamp in reader.find_files_at(place) if says_record(stamp)]
        return next((stamp for stamp in stamps if stamp.path != found.state.path), None)

    def _find_by_place(self, reader: IndexReader, found: Found) -> RecordId | None:
        """Return the record that was last recorded at this path and has no known file, as where its log came first.

        Of several one that had the file's bytes at some time, then the one that is first in order.
        """
        left: list[tuple[bool, tuple[object, ...], RecordId]] = []
        for head in reader.find_by_path(found.state.path):
            if head.kind != "event" and self.is_free(head.id) and not self._list_others(reader, head.id, found):
                versions = reader.list_versions(head.id)
                has_had = any(known.text_sha256 == found.text_sha256 for known in versions)
                left.append((not has_had, order_of(versions[0]), head.id))
        return min(left)[2] if left else None

    def _find_relabelled(self, reader: IndexReader, found: Found) -> RecordId | None:
        """Return the record whose text a file at its last place still has, though it was ahead of its row since.

        What the file named meanwhile, and names now, says nothing of what it held before.
        """
        stamp = reader.get_file(found.state.path)
        if stamp is None or not stamp.is_pending:
            return None
        near = [stamp.record, *(head.id for head in reader.find_by_path(found.state.path) if head.kind != "event")]
        for record in dict.fromkeys(near):
            is_lost = self.is_free(record) and not self._is_held_elsewhere(reader, record, found)
            if is_lost and is_edit_of(self._session, reader, record, found.record.text):
                return record
        return None

    def _find_by_bytes(self, reader: IndexReader, found: Found) -> RecordId | None:
        """Return the record without a file that had exactly these bytes, as when one that is behind has been renamed.

        Of several the one whose first version is first in order.
        """
        if self._list_same(reader, found).records:
            return None
        left: set[RecordId] = set()
        for head in reader.find_by_text(None, hash_text(found.record.text), None) if found.data else ():
            current = reader.get_current(head.id)
            if current is None or current.kind in ("event", "conflict") or current.status == "retired":
                continue
            if self._is_lost(reader, head.id, found):
                kept = self._session.store.read_row(head.ref)
                if kept is not None and kept.draft.data == found.data:
                    left.add(head.id)
        return min(left, key=lambda record: order_of(reader.list_versions(record)[0]), default=None)

    def _is_lost(self, reader: IndexReader, record: RecordId, found: Found) -> bool:
        """Tell whether no file holds a record."""
        stamps = self._list_others(reader, record, found)
        return self.is_free(record) and not any(self._holds(reader, stamp) for stamp in stamps)

    def _find_twin(self, reader: IndexReader, found: Found, own: FileStamp | None) -> RecordId | None:
        """Return a record that has lost its place and whose bytes the file has.

        Of several one that had the file's inode, then the one whose first version is first in order.
        """
        same = self._list_same(reader, found)
        if not same.records:
            return None

        def look(record: RecordId) -> tuple[Standing, Sequence[FileStamp]]:
            stamps = self._list_others(reader, record, found)
            holding = next((stamp for stamp in stamps if self._holds(reader, stamp)), None)
            return (Standing.LOST if holding is None else self._describe_holder(holding)), stamps

        return same.find_lost(
            reader, _inode_of(found.state), own.record if own is not None else None, self.is_free, look
        )

    def _describe_holder(self, stamp: FileStamp) -> Standing:
        """Tell whether a file that holds a record may lose it in this pass."""
        state = self._session.store.stat_file(stamp.path)
        is_outside = state is not None and _inode_of(state) not in self._places_now and stamp.path not in self._paths
        return Standing.KEPT if is_outside and is_unchanged(state, stamp) else Standing.OPEN

    def _list_same(self, reader: IndexReader, found: Found) -> Identicals:
        """Return the records whose version, current when this was first asked for, has exactly the file's bytes."""
        same = self._same.get(found.sha256) if found.data else _NOTHING
        if same is None:
            records = [
                head.id for head in reader.find_by_text(None, found.text_sha256) if self._is_same(reader, head, found)
            ]
            same = self._same[found.sha256] = Identicals(records) if records else _NOTHING
        return same

    def _is_same(self, reader: IndexReader, head: VersionHead, found: Found) -> bool:
        if head.kind == "event":
            return False
        is_same = has_hash(reader.find_files_of(head.id), head.ref, found.sha256)
        if is_same is not None:
            return is_same
        kept = self._session.store.read_row(head.ref)
        return kept is not None and kept.draft.data == found.data

    def _is_edit(self, reader: IndexReader, found: Found, stamp: FileStamp) -> bool:
        """Tell whether a file on another one's inode is that one; numbers of deleted files are given out again."""
        if found.sha256 and found.sha256 == stamp.sha256:
            return True
        return is_edit_of(self._session, reader, stamp.record, found.record.text, stamp.ref)

    def _read(self, path: str) -> Found | None:
        state = self._session.store.stat_file(path)
        return read_found(self._session, state) if state is not None else None

    def _list_by_inode(self, reader: IndexReader, inode: Inode) -> Sequence[FileStamp]:
        """Return the stamps of files that had an inode, from before the pass, by path."""
        if self._is_large:
            return self._by_inode.get(inode, ())
        return [stamp for stamp in reader.find_files_by_inode(*inode) if says_record(stamp)]

    def _load(self, reader: IndexReader) -> None:
        for stamp in reader.list_files():
            if says_record(stamp):
                self._by_inode.setdefault(_inode_of(stamp), []).append(stamp)
                self._by_place.setdefault(fold_path(stamp.path), []).append(stamp)


def _inode_of(state: FileState | FileStamp) -> Inode:
    return state.device, state.inode
