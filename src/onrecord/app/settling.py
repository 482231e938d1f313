"""Half-written saves: a changed file is taken in once two looks at it, 200 ms apart, agree (docs/format/vault.md).

What a look found is remembered, so that a file put off in one call needs no pause in the next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from onrecord.app.places import is_unchanged
from onrecord.ports.index import Index
from onrecord.ports.store import FileState, VaultStore
from onrecord.ports.system import Clock

SETTLE_US = 200_000
# FAT keeps every second second, older macOS and some network file systems whole ones.
_COARSE_US = 2_000_000
_SECOND_NS = 1_000_000_000


def count_rest_us(state: FileState, now_us: int, lag_us: int = 0) -> int:
    """Return how long a file must still stay as it is, by its own times, until it counts as saved.

    Args:
        state: The file. Its later time counts: a tool may set mtime back, nobody sets ctime.
        now_us: The wall clock.
        lag_us: How far the clock of the file system is behind the wall clock; less than 0 counts as 0.

    Returns:
        0 to `SETTLE_US`; all of it for a time to come, as the two clocks then tell nothing.
    """
    latest_ns = max(state.mtime_ns, state.ctime_ns)
    doubt_us = max(lag_us, 0) + (0 if latest_ns % _SECOND_NS else _COARSE_US)
    age_us = now_us - doubt_us - latest_ns // 1_000
    return min(max(SETTLE_US - age_us, 0), SETTLE_US)


class Settling:
    """Tells which changed files are saved whole, and waits once for those that changed just now.

    Args:
        store: The vault.
        index: Knows the stamps; a file that is as stamped is not waited for.
        clock: Pauses.

    Attributes:
        put_off: Paths that still changed at the last look; their old versions are served.
    """

    def __init__(self, store: VaultStore, index: Index, clock: Clock) -> None:
        self._store = store
        self._index = index
        self._clock = clock
        self._lag_us = 0
        self._seen: dict[str, tuple[FileState, int]] = {}
        self.put_off: set[str] = set()

    def stat_saved(self, paths: Iterable[str], *, may_pause: bool = True) -> dict[str, FileState]:
        """Return the states of files by path, those that are gone left out, after one pause if any changed just now.

        A file that still changes is among them; `puts_off` tells. `may_pause`: whether there was no pause for these
        files yet.
        """
        self._lag_us = self._store.measure_lag_us()
        states: dict[str, FileState] = {}
        for path in sorted(paths):
            state = self._store.stat_file(path)
            if state is None:
                self.clear(path)
            else:
                states[path] = state
        fresh = self._list_edited([state for state in states.values() if may_pause and self._count_rest_us(state)])
        if fresh:
            self._pause(fresh)
        for before in fresh:
            after = self._store.stat_file(before.path)
            if after is None:
                self.clear(before.path)
                del states[before.path]
            else:
                states[before.path] = after
        return states

    def puts_off(self, state: FileState) -> bool:
        """Tell whether a file that has just been read must be looked at again: it is, or was meanwhile, being saved."""
        if self._count_rest_us(state) or self._store.stat_file(state.path) != state:
            self.put_off.add(state.path)
            return True
        self.put_off.discard(state.path)
        return False

    def await_files(self, paths: Collection[str]) -> set[str]:
        """Return those of some files that are gone but may be back in a moment: an editor that saves renames them.

        One whose folder has stayed as it is for 200 ms is gone for good; all others are waited for, once.
        """
        if not paths:
            return set()
        self._lag_us = self._store.measure_lag_us()
        folders = {path: self._store.stat_folder(path) for path in paths}
        fresh = [folder for folder in folders.values() if folder is not None and self._count_rest_us(folder)]
        if fresh:
            self._pause(fresh)
        return {path for path in paths if self._store.stat_file(path) is None and self._is_going(path)}

    def _is_going(self, path: str) -> bool:
        folder = self._store.stat_folder(path)
        return folder is not None and self._count_rest_us(folder) > 0

    def clear(self, path: str) -> None:
        """Forget a file that is taken in, is as it was, or is gone."""
        self._seen.pop(path, None)
        self.put_off.discard(path)

    def _count_rest_us(self, state: FileState) -> int:
        """Return how long a file must still stay as it is, by its times or by what earlier looks found."""
        now = self._clock.read()
        rest_us = count_rest_us(state, now.wall_us, self._lag_us)
        if rest_us:
            seen, at_us = self._seen.setdefault(state.path, (state, now.boottime_us))
            if seen == state:
                return min(rest_us, max(at_us + SETTLE_US - now.boottime_us, 0))
            self._seen[state.path] = (state, now.boottime_us)
        return rest_us

    def _pause(self, states: Collection[FileState]) -> None:
        self._clock.pause(max(self._count_rest_us(state) for state in states) / 1_000_000)
        # The pause is believed, whatever a clock that jumps says of it.
        since_us = self._clock.read().boottime_us - SETTLE_US
        self._seen |= {state.path: (state, since_us) for state in states}

    def _list_edited(self, states: Collection[FileState]) -> list[FileState]:
        """Return the files that are not as stamped; the index is asked only if there are any to ask for."""
        if not states:
            return []
        with self._index.read() as reader:
            stamps = [reader.get_file(state.path) for state in states]
        pairs = zip(states, stamps, strict=True)
        return [state for state, stamp in pairs if stamp is None or not is_unchanged(state, stamp)]
