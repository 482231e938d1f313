"""Each call by which a process changes a disk is a step: a process dies at one of them, or the disk is full from it on.

The calls are those of `os`, of the atomic renames and of the index, so that nothing that writes goes around them.
A write of bytes is two steps: none of them are written, or half of them.
"""

from __future__ import annotations

import errno
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from onrecord.domain.errors import StorageFailedError
from onrecord.storage.files import syscalls
from onrecord.storage.sqlite.index import SqliteIndex

_CALLS = (
    "mkdir", "rmdir", "rename", "replace", "unlink", "remove", "link", "symlink", "ftruncate", "truncate", "fsync",
    "chmod",
)  # fmt: skip
_NEEDING_ROOM = frozenset({"mkdir", "noreplace", "link", "symlink", "open", "pwrite", "half", "index"})
_MAKING = os.O_CREAT | os.O_TRUNC

# Decides about a step before it is done: its number, from 1 on, and its name. What it raises is raised by the call.
OnStep = Callable[[int, str], None]


class Steps:
    """Counts steps and asks before each of them."""

    def __init__(self, ask: OnStep) -> None:
        self.count = 0
        self._ask = ask

    def take(self, name: str) -> None:
        """One step is about to be done."""
        self.count += 1
        self._ask(self.count, name)

    @contextmanager
    def watch(self) -> Iterator[Steps]:
        """Count what this process does to its disks in the block."""
        with (
            mock.patch.multiple(os, **self._wrap_calls()),
            mock.patch.object(syscalls, "_call", self._wrap_renames()),
            mock.patch.object(SqliteIndex, "apply", self._wrap_index()),
        ):
            yield self

    def _wrap_calls(self) -> dict[str, Callable[..., object]]:
        def wrap(name: str) -> Callable[..., object]:
            plain = getattr(os, name)

            def call(*given: object, **more: object) -> object:
                self.take(name)
                return plain(*given, **more)

            return call

        opened, written = os.open, os.pwrite

        def open_file(path: str, flags: int, *given: int, **more: int) -> int:
            if flags & _MAKING:
                self.take("open")
            return opened(path, flags, *given, **more)

        def write(fd: int, data: bytes, offset: int) -> int:
            self.take("pwrite")
            half = len(data) // 2
            if half:
                written(fd, bytes(data)[:half], offset)
                self.take("half")
            return written(fd, data, offset)

        return {name: wrap(name) for name in _CALLS} | {"open": open_file, "pwrite": write}

    def _wrap_renames(self) -> Callable[..., bool]:
        plain = syscalls._call

        def call(is_exchange: bool, folder_fd: int, source: str, target: str) -> bool:
            self.take("exchange" if is_exchange else "noreplace")
            return plain(is_exchange, folder_fd, source, target)

        return call

    def _wrap_index(self) -> Callable[..., None]:
        plain = SqliteIndex.apply

        def apply(index: SqliteIndex, *given: object) -> None:
            self.take("index")
            plain(index, *given)  # type: ignore[arg-type]

        return apply


def run_killed(act: Callable[[], object], at: int) -> int | None:
    """Act in a process of its own that is killed before step `at` (0: never).

    Returns:
        How many steps there were; None if it was killed.

    Raises:
        AssertionError: it failed otherwise; the text has its traceback.
    """
    out, into = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a thread of pytest-xdist waits for words of its parent
        pid = os.fork()
    if pid == 0:
        os.close(out)
        _act_and_end(act, at, into)
    os.close(into)
    with os.fdopen(out, "rb") as told:
        text = told.read().decode()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return None
    assert text.isdecimal(), text
    return int(text)


def _act_and_end(act: Callable[[], object], at: int, into: int) -> None:
    def die(number: int, name: str) -> None:
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)

    text = ""
    try:
        with Steps(die).watch() as steps:
            act()
        text = str(steps.count)
    except BaseException:  # noqa: BLE001 - the process ends here, whatever it was
        text = traceback.format_exc()
    finally:
        os.write(into, text.encode())
        os._exit(0)


@contextmanager
def fill_disk(at: int) -> Iterator[Steps]:
    """Let no call of the block find room on any disk from step `at` on; what needs none goes on."""

    def refuse(number: int, name: str) -> None:
        if number >= at and name in _NEEDING_ROOM:
            if name == "index":
                raise StorageFailedError("the index cannot be written: database or disk is full")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Steps(refuse).watch() as steps:
        yield steps
