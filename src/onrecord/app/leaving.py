"""Which places of a memory its file has left, and at which it is known to be."""

from __future__ import annotations

from onrecord.domain.copy_names import is_named_copy, list_originals
from onrecord.domain.filenames import is_respelled
from onrecord.domain.ids import RecordId
from onrecord.ports.index import FileStamp, IndexReader
from onrecord.ports.store import FileState, VaultStore


def has_left(store: VaultStore, path: str, state: FileState) -> bool:
    """Tell whether nothing is at a path any more but, where the file system folds names, the file itself respelled."""
    there = store.stat_file(path)
    is_itself = there is not None and (there.device, there.inode) == (state.device, state.inode)
    return there is None or (is_itself and is_respelled(path, state.path))


def has_vanished(store: VaultStore, path: str, record: RecordId | None) -> bool:
    """Tell whether a file that holds no known record is gone from where it was read: renamed in that moment.

    It may be back in the place of the record that says the same; a later comparison meets it where it is.
    """
    return record is None and store.stat_file(path) is None


def list_left_places(store: VaultStore, reader: IndexReader, record: RecordId, state: FileState) -> list[str]:
    """Return the known paths of a record that its file has left for where it is, another spelling of it included.

    A copy that was the file while there was none is among them.
    """
    known = [stamp for stamp in reader.find_files_of(record) if stamp.path != state.path]
    left = [stamp for stamp in known if has_left(store, stamp.path, state) or yields_to(reader, stamp, state.path)]
    return [stamp.path for stamp in left]


def yields_to(reader: IndexReader, stamp: FileStamp, path: str) -> bool:
    """Tell whether a file that holds a record is by its name a copy, so that the one at `path` may be the record's.

    A copy that holds the current version yields to none but the file of which its name tells.
    """
    head = reader.get_current(stamp.record) if is_named_copy(stamp.path) and not is_named_copy(path) else None
    if head is None or head.kind == "event":
        return False
    return stamp.ref != head.ref or any(name.original == path for name in list_originals(stamp.path))


def is_stray(reader: IndexReader, record: RecordId, path: str) -> bool:
    """Tell whether a path is one at which a record's file is neither known nor recorded by its current version."""
    head = reader.get_current(record)
    known = [stamp.path for stamp in reader.find_files_of(record)]
    return head is not None and path not in (head.path, *known)
