"""The system's notices of changed files, by watchfiles (inotify, FSEvents, ReadDirectoryChangesW)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

from onrecord.ports.watching import Hints

_STEP_MS = 250
# The kernel's queue holds 16,384 events (inotify(7), max_queued_events), some of them for one file.
_LOSSY_COUNT = 4_000


class FileWatcher:
    """Waits for the system's notices; where it has none, polls."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._folders: tuple[str, ...] = ()
        self._changes: Generator[set[tuple[Any, str]], None, None] | None = None

    def watch(self, folders: Sequence[str]) -> None:
        """Watch these folders; the system begins to collect at once."""
        self._stop()
        self._folders = tuple(folder for folder in folders if os.path.isdir(folder))
        if self._folders:
            from watchfiles import watch

            self._changes = watch(
                *self._folders,
                watch_filter=None,
                debounce=_STEP_MS,
                step=50,
                stop_event=self._ended,
                rust_timeout=_STEP_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
                ignore_permission_denied=True,
            )
            with suppress(StopIteration):
                next(self._changes)  # begins to collect

    def wait(self, timeout_s: float) -> Hints:
        """Return the next changes; lossy where the system failed, or where there are as many as its queue may lose."""
        until_s = time.monotonic() + timeout_s
        while not self._ended.is_set():
            if self._changes is None:
                self._ended.wait(max(until_s - time.monotonic(), 0))
                return Hints(is_ended=self._ended.is_set())
            try:
                found = next(self._changes, None)
            except (OSError, RuntimeError):
                found = None
            if found is None:
                self._stop()
                return Hints(is_lossy=True, is_ended=self._ended.is_set())
            if found or time.monotonic() >= until_s:
                paths = frozenset(path for _, path in found)
                return Hints(paths, is_lossy=len(paths) >= _LOSSY_COUNT)
        return Hints(is_ended=True)

    def end(self) -> None:
        """End the waiting."""
        self._ended.set()

    def _stop(self) -> None:
        if self._changes is not None:
            self._changes.close()
            self._changes = None
