"""What a comparison found is taken in some files at a time, with the same result as all of them at once.

A file is taken in by itself where what it holds does not depend on which files are looked at with it: an edit of a
memory's own file, a new text, a file moved with its inode. The others are told apart together, once they alone are
left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice

from onrecord.app.copies import may_be_copy
from onrecord.app.edits import is_edit_of
from onrecord.app.identity import Found
from onrecord.app.pending import find_awaited
from onrecord.app.refusals import read_bytes
from onrecord.app.session import Session
from onrecord.app.stamps import hash_data
from onrecord.domain.copy_names import is_named_copy
from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import RecordId
from onrecord.domain.merge_marks import has_marks
from onrecord.domain.record import read_record
from onrecord.ports.index import FileStamp, IndexReader
from onrecord.ports.store import FileState

Inode = tuple[int, int]

# What a piece of work takes in: so many files, or one for each so many bytes.
FILES_A_PIECE = 2
_BYTES_A_PIECE = 128 * 1024
# A file that holds a text and nothing else may have a byte order mark and the end of its last line beside it.
_AROUND_BYTES = 5
_SIZED_MAX_COUNT = 256


class Intake:
    """The files that a comparison found to differ, until all are taken in.

    Attributes:
        paths: All of them, from the beginning.

    Args:
        states: The files by path, as the comparison found them.
        more: Further files to be looked at.
        hurried: Inodes of files that are wanted now, emptied with each step: it looks at them whatever else it does.
    """

    def __init__(self, states: Mapping[str, FileState], more: Collection[str], hurried: set[Inode]) -> None:
        self._hurried = hurried
        self._states = states
        self._places = {_inode_of(state): path for path, state in states.items()}
        self.paths = frozenset({*states, *more})
        self._waiting = dict.fromkeys(sorted(self.paths))
        self._left: list[str] = []

    @property
    def is_done(self) -> bool:
        """Whether no file is left."""
        return not self._waiting and not self._left

    def list_next(self, pieces: int | None) -> list[str]:
        """Return the files to look at next: those that are hurried, then as many as the work allows; one at least.

        Args:
            pieces: How much may be done; None for all.
        """
        if pieces is None:
            return list(self._waiting)
        hurried = {path for inode in self._hurried if (path := self._places.get(inode)) in self._waiting}
        chosen, cost = sorted(hurried), 0
        for path in self._waiting:
            if path in hurried:
                continue
            state = self._states.get(path)
            cost += max(_BYTES_A_PIECE, FILES_A_PIECE * state.size_bytes if state is not None else 0)
            if chosen and cost > pieces * FILES_A_PIECE * _BYTES_A_PIECE:
                break
            chosen.append(path)
        return chosen

    def list_sized(self, size_bytes: int) -> list[FileState]:
        """Return the waiting files that may hold a text of so many bytes and nothing else, by path: 256 at most."""
        states = (state for path in self._waiting if (state := self._states.get(path)) is not None)
        sized = (state for state in states if size_bytes <= state.size_bytes <= size_bytes + _AROUND_BYTES)
        return list(islice(sized, _SIZED_MAX_COUNT))

    def take(self, session: Session, paths: Collection[str]) -> list[str]:
        """Return those files of the next ones that are taken in now; the others are put aside, or all are the last.

        Under the vault's lock, which the files stand for from now on.
        """
        self._hurried.clear()
        is_last = len(paths) == len(self._waiting)
        alone = [path for path in paths if is_last or self._stands_alone(session, path)]
        for path in paths:
            del self._waiting[path]
        if is_last:
            alone, self._left = sorted({*alone, *self._left}), []
        else:
            self._left += sorted(set(paths).difference(alone))
        return alone

    def _stands_alone(self, session: Session, path: str) -> bool:
        state = session.store.stat_file(path)
        data = read_bytes(session, state) if state is not None else None
        if state is None or not data or path.startswith("events/") or is_named_copy(path):
            return False
        sha256 = hash_data(data)
        with session.index.read() as reader:
            stamp = reader.get_file(path)
            if stamp is not None and stamp.sha256 == sha256 and stamp.ref is not None and not stamp.is_pending:
                return True
            found = Found(state, data, sha256, read_record(data, path, session.yaml))
            if find_awaited(session, reader, found, stamp) is not None:
                return False
            said = {head.id for head in reader.find_by_text(None, found.text_sha256, None)}
            if stamp is not None:
                return not said - {stamp.record} and self._is_own_edit(reader, found, stamp)
            if reader.find_files_at(fold_path(path)):
                return False
            claim = found.record.claimed_id
            named = said | ({claim} if claim is not None else set())
            if named:
                return len(named) == 1 and _is_moved(session, reader, found, *named)
            were = reader.find_files_by_inode(*_inode_of(state))
            if were:
                is_edit = len(were) == 1 and is_edit_of(session, reader, were[0].record, found.record.text, were[0].ref)
                return is_edit and _is_moved(session, reader, found, were[0].record)
            return not reader.find_by_path(path) and not may_be_copy(session, reader, found, None)

    def _is_own_edit(self, reader: IndexReader, found: Found, stamp: FileStamp) -> bool:
        """Tell whether a known place has a new text of its own memory, whatever the other files are."""
        if not _has_one_file(reader, stamp.record, stamp) or has_marks(found.data, in_code=True):
            return False
        claim = found.record.claimed_id
        if claim is not None:
            return claim == stamp.record
        if _inode_of(stamp) == _inode_of(found.state):
            return True
        others = reader.find_files_by_inode(*_inode_of(found.state))
        return not others and self._places.get(_inode_of(stamp), stamp.path) == stamp.path


def _is_moved(session: Session, reader: IndexReader, found: Found, record: RecordId) -> bool:
    """Tell whether a file at an unknown place is a record's only one, with its inode, and the old place is empty."""
    stamps = reader.find_files_of(record)
    if len(stamps) != 1 or not _has_one_file(reader, record, stamps[0]) or has_marks(found.data, in_code=True):
        return False
    is_same = _inode_of(stamps[0]) == _inode_of(found.state)
    return is_same and session.store.stat_file(stamps[0].path) is None


def _has_one_file(reader: IndexReader, record: RecordId, stamp: FileStamp) -> bool:
    """Tell whether a record stands, and its only known file is the stamped one."""
    head = reader.get_current(record)
    is_standing = head is not None and head.kind not in ("event", "conflict") and head.status != "retired"
    paths = [known.path for known in reader.find_files_of(record)]
    return is_standing and not stamp.is_pending and paths == [stamp.path]


def _inode_of(state: FileState | FileStamp) -> Inode:
    return state.device, state.inode
