"""Files and memories that have to do with one another: told apart together, as an index made anew would tell them.

What a session has seen says more of a file than its bytes and the logs do, so that an edit is judged by it. Where
several installations write, that must not decide for good whose file it is: a new index has not seen it. So once the
files that differ are taken in, all that have to do with one of them, or with a record of which a version came, are
told apart again without what was known of them (ADR 14).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from onrecord.app.arrivals import name_loose
from onrecord.app.passes import pass_over
from onrecord.app.places import is_unchanged
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import COPY_MARK, list_record_stamps, says_record
from onrecord.domain.copy_names import list_copied, list_originals
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexBatch, IndexReader, VersionHead
from onrecord.ports.store import FileState, WriteUnit

# Of more than so many files and records nothing is told again: many notes may say the same.
_GROUP_MAX_COUNT = 100
# So many of a record's last versions, and its first, connect it with others.
_VERSIONS_MAX_COUNT = 20
_NEIGHBOURS_MAX_COUNT = 50
_WORD = re.compile("[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Group:
    """Paths and records, each connected with another of them."""

    paths: frozenset[str]
    records: frozenset[RecordId]


@dataclass(frozen=True, slots=True)
class Telling:
    """What became of groups: records of those that wait for a file, whether any was told, how many versions it made."""

    waiting: frozenset[RecordId] = frozenset()
    has_told: bool = False
    made: int = 0


def tell_again(session: Session, unit: WriteUnit, paths: Collection[str], reply: Reply) -> Telling:
    """Tell apart again what is connected with some files and with the records that got versions since (`stirred`).

    Nothing is done where one installation alone writes. Groups with a file that is not as stamped wait for that file.
    Records that are connected with others are `touched`, as in a new index.

    Args:
        session: The opened vault.
        unit: The right to write.
        paths: Files that were taken in.
        reply: As of `Session.publish`.

    Raises:
        NotWritableError: nothing of the present batch was stored.
    """
    records, session.stirred = session.stirred, set()
    if not session.is_shared:
        return Telling()
    stamps: list[FileStamp] = []
    states: dict[str, FileState] = {}
    touched, waiting = set[RecordId](), set[RecordId]()
    with session.index.read() as reader:
        for group in find_groups(session, reader, paths, records):
            known = [stamp for path in sorted(group.paths) if (stamp := reader.get_file(path)) is not None]
            there = {stamp.path: state for stamp in known if (state := session.store.stat_file(stamp.path)) is not None}
            if not all(is_unchanged(there[stamp.path], stamp) for stamp in known if stamp.path in there):
                waiting |= group.records
                continue
            touched |= group.records if len(group.records) > 1 else frozenset()
            if there and not _is_plain(reader, group, known, there):
                stamps += known
                states |= there
    if not states and not touched:
        return Telling(frozenset(waiting))
    session.index.apply(IndexBatch(removed_files=[stamp.path for stamp in stamps], touched=touched))
    made = pass_over(session, unit, states, reply, is_settled=True).finish() if states else 0
    _keep_absent(session, stamps, states)
    return Telling(frozenset(waiting), has_told=True, made=made)


def _is_plain(reader: IndexReader, group: Group, known: Sequence[FileStamp], there: Collection[str]) -> bool:
    """Tell whether each living record of a group has one file, in its place, which holds what the record says."""
    living = {
        record
        for record in group.records
        if (head := reader.get_current(record)) is not None and head.status != "retired"
    }
    placed = [stamp for stamp in known if stamp.path in there]
    if len(placed) != len(living) or {stamp.record for stamp in placed} != living:
        return False
    heads = [reader.get_current(stamp.record) for stamp in placed]
    return all(
        head is not None and (stamp.ref, stamp.path) == (head.ref, head.path)
        for stamp, head in zip(placed, heads, strict=True)
    )


def _keep_absent(session: Session, stamps: Sequence[FileStamp], there: Collection[str]) -> None:
    """Put back what was known of absent files of records that have no other; note whose file is gone."""
    with session.index.read() as reader:
        homeless = {
            stamp.record for stamp in stamps if says_record(stamp) and not list_record_stamps(reader, stamp.record)
        }
        absent = [stamp for stamp in stamps if stamp.path not in there and stamp.record in homeless]
        left = [stamp for stamp in stamps if stamp.is_pending and not _is_pending(reader.get_file(stamp.path))]
    session.replaced |= homeless
    if absent or left:
        session.index.apply(IndexBatch(files=absent, dropped=[name_loose(stamp.path) for stamp in left]))


def _is_pending(stamp: FileStamp | None) -> bool:
    return stamp is not None and stamp.is_pending


def find_groups(
    session: Session, reader: IndexReader, paths: Iterable[str], records: Iterable[RecordId]
) -> Iterator[Group]:
    """Yield the groups of some paths and records, each once; one that is too large is left out."""
    search = _Search(session, reader)
    done_paths: set[str] = set()
    done_records: set[RecordId] = set()
    seeds = [*(({path}, set[RecordId]()) for path in paths), *((set[str](), {record}) for record in records)]
    for seed_paths, seed_records in seeds:
        if seed_paths <= done_paths and seed_records <= done_records:
            continue
        group = search.grow(seed_paths, seed_records)
        done_paths |= search.paths
        done_records |= search.records
        if group is not None:
            yield group


class _Search:
    """Follows connections. What they are is what `Identities` and `copies` ask of the files, both ways."""

    def __init__(self, session: Session, reader: IndexReader) -> None:
        self._session = session
        self._reader = reader
        self._copies: dict[EntryRef, list[str]] | None = None
        self.paths: set[str] = set()
        self.records: set[RecordId] = set()

    def grow(self, paths: set[str], records: set[RecordId]) -> Group | None:
        """Return the group of some paths and records; None where it is too large."""
        self.paths, self.records = set(), set()
        new_paths, new_records = set(paths), set(records)
        while new_paths or new_records:
            self.paths |= new_paths
            self.records |= new_records
            if len(self.paths) + len(self.records) > _GROUP_MAX_COUNT:
                return None
            next_paths: set[str] = set()
            next_records: set[RecordId] = set()
            for path in new_paths:
                self._follow_path(path, next_paths, next_records)
            for record in new_records:
                self._follow_record(record, next_paths, next_records)
            new_paths, new_records = next_paths - self.paths, next_records - self.records
        return Group(frozenset(self.paths), frozenset(self.records))

    def _follow_path(self, path: str, paths: set[str], records: set[RecordId]) -> None:
        if path.startswith("events/"):
            return
        reader = self._reader
        stamp = reader.get_file(path)
        if stamp is not None:
            paths.update(known.path for known in reader.find_files_by_inode(stamp.device, stamp.inode))
            records.update(self._list_held(stamp))
        paths.update(known.path for known in reader.find_files_at(fold_path(path)))
        records.update(head.id for head in (*reader.find_by_path(path), *reader.find_displaced(path)))
        paths.update(self._list_named(path))

    def _list_held(self, stamp: FileStamp) -> Iterator[RecordId]:
        """Yield the record that a stamped file holds; of a copy the one that it is of, in a group also what one names.

        An id that a file names connects nothing alone: the file has the bytes of its own record.
        """
        if stamp.record != COPY_MARK:
            yield stamp.record
            if len(self.paths) + len(self.records) <= 2:
                return
        try:
            row = self._session.store.read_row(stamp.ref) if stamp.ref is not None else None
        except (DamagedError, NewerFormatError):
            return
        if row is not None:
            yield row.draft.id
            claim = read_record(row.draft.data, stamp.path, self._session.yaml).claimed_id
            if claim is not None:
                yield claim

    def _list_named(self, path: str) -> Iterator[str]:
        """Yield the files of which a name tells a copy, and those whose name tells that they are copies of this one."""
        for original in (*(name.original for name in list_originals(path)), *list_copied(path)):
            if self._reader.get_file(original) is not None:
                yield original
        stem = path.rpartition(".")[0]
        near = self._reader.page_files(stem, _NEIGHBOURS_MAX_COUNT) if stem else ()
        for other in takewhile(lambda other: other.startswith(stem), (row[0] for row in near)):
            if _WORD.match(other, len(stem)):
                continue  # as `note 10` is no copy of `note 1`
            if any(name.original == path for name in list_originals(other)) or path in list_copied(other):
                yield other

    def _follow_record(self, record: RecordId, paths: set[str], records: set[RecordId]) -> None:
        reader = self._reader
        versions = reader.list_versions(record)
        if not versions or versions[-1].kind == "event":
            return
        paths.update(stamp.path for stamp in reader.find_files_of(record))
        texts: set[bytes] = set()
        for version in (*versions[:1], *versions[-_VERSIONS_MAX_COUNT:]):
            paths.update(self._list_copies(version))
            if version.path not in paths and reader.get_file(version.path) is not None:
                paths.add(version.path)
            if version.text_sha256 not in texts:
                texts.add(version.text_sha256)
                records.update(head.id for head in reader.find_by_text(None, version.text_sha256, None))

    def _list_copies(self, version: VersionHead) -> Sequence[str]:
        if self._copies is None:
            self._copies = {}
            for stamp in self._reader.find_files_of(COPY_MARK):
                if stamp.ref is not None:
                    self._copies.setdefault(stamp.ref, []).append(stamp.path)
        return self._copies.get(version.ref, ())
