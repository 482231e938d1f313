"""Where a new record's file goes, and where an existing record's file is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from onrecord.domain.errors import AmbiguousIdError, NotFoundError
from onrecord.domain.filenames import KIND_FOLDERS, MEMORIES, fold_path, make_file_stem, make_folder_name, number_stem
from onrecord.domain.ids import RECORD_ID_CHARS, RecordId
from onrecord.ports.index import FileStamp, IndexReader, VersionHead
from onrecord.ports.store import FileState, VaultStore

# So many characters of an id that somebody mistyped are believed.
_BEGUN_CHARS = 4


def choose_path(
    kind: str, folders: Sequence[str], title: str, reader: IndexReader, store: VaultStore, taken: Collection[str] = ()
) -> str:
    """Return a free path for a new record; a taken name gets ` (2)`, ` (3)` … by a search that gallops.

    Args:
        kind: Decides the top folder.
        folders: Names of the folders below it: workspace (or source of a transcript), then sub-folders.
        title: What the file name is made of.
        reader: Knows the indexed files.
        store: Knows what is on disk.
        taken: Folded paths that the same batch has chosen already.
    """
    above = "/".join([KIND_FOLDERS.get(kind, MEMORIES), *(make_folder_name(name) for name in folders)])
    base = f"{above}/{make_file_stem(title)}"

    def is_free(number: int) -> bool:
        path = _number_path(base, number)
        folded = fold_path(path)
        return folded not in taken and not reader.find_files_at(folded) and store.stat_file(path) is None

    if is_free(1):
        return _number_path(base, 1)
    high = 2
    while not is_free(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_free(middle) else (middle, high)
    return _number_path(base, high)


def _number_path(base: str, number: int) -> str:
    return f"{base if number == 1 else number_stem(base, number)}.md"


def resolve(prefix: str, reader: IndexReader) -> RecordId:
    """Return the one record whose id begins with `prefix`.

    Raises:
        NotFoundError: none.
        AmbiguousIdError: more than one.
    """
    found = reader.find_ids(prefix, 2)
    if not found:
        raise NotFoundError("no memory with this id", field="id", did_you_mean=_find_near_id(prefix, reader))
    if len(found) > 1:
        raise AmbiguousIdError("more than one id begins so", field="id")
    return found[0]


def _find_near_id(prefix: str, reader: IndexReader) -> str | None:
    """Return the one id that begins as a mistyped one does."""
    begun = reader.find_ids(prefix[:_BEGUN_CHARS], 2) if len(prefix) > _BEGUN_CHARS else ()
    return begun[0] if len(begun) == 1 else None


def resolve_current(prefix: str, reader: IndexReader) -> VersionHead:
    """Return the current version of the record that a prefix names.

    Raises:
        NotFoundError, AmbiguousIdError: as `resolve`.
    """
    head = reader.get_current(resolve(prefix, reader))
    if head is None:
        raise NotFoundError("no memory with this id", field="id")
    return head


def is_whole(prefix: str) -> bool:
    """Tell whether a checked prefix is a whole id."""
    return len(prefix) == RECORD_ID_CHARS


def is_unchanged(state: FileState | None, stamp: FileStamp) -> bool:
    """Tell whether a file still is as its stamp says (docs/format/vault.md)."""
    return state is not None and (
        state.size_bytes,
        state.mtime_ns,
        state.ctime_ns,
        state.inode,
        state.device,
    ) == (stamp.size_bytes, stamp.mtime_ns, stamp.ctime_ns, stamp.inode, stamp.device)
