"""The lock that one writer holds: one file in the state folder, one in the vault (for containers that share it)."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from onrecord.domain.errors import LockTimeoutError, StorageFailedError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_POLL_FIRST_S = 0.002
_POLL_MAX_S = 0.05
_HOLDER_MAX_BYTES = 512


def _try_lock(fd: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


class VaultLock:
    """Both OS locks and a thread lock, taken in one order; not reentrant.

    Args:
        paths: Lock files, absolute, in the order in which they are taken. The first names the holder.
        wait_s: How long to wait before `LockTimeoutError`; 0 tries once.
    """

    def __init__(self, paths: tuple[str, ...], wait_s: float) -> None:
        self._paths = paths
        self.wait_s = wait_s
        self._thread_lock = threading.Lock()
        self._fds: list[int] = []

    @contextmanager
    def hold(self, wait_s: float | None = None) -> Iterator[None]:
        """Hold all locks for the length of a `with`; None waits as configured."""
        self.acquire(self.wait_s if wait_s is None else wait_s)
        try:
            yield
        finally:
            self.release()

    def acquire(self, wait_s: float) -> None:
        """Take all locks within `wait_s` seconds.

        Raises:
            LockTimeoutError: another holds one; the reason names it.
            StorageFailedError: a lock file cannot be made.
        """
        deadline = time.monotonic() + wait_s
        if not self._thread_lock.acquire(timeout=wait_s if wait_s > 0 else -1, blocking=wait_s > 0):
            raise LockTimeoutError(f"this process already writes; waited {wait_s:g} s")
        try:
            for path in self._paths:
                self._fds.append(self._acquire_file(path, deadline, wait_s))
            self._name_holder()
        except BaseException:
            self.release()
            raise

    def _acquire_file(self, path: str, deadline: float, wait_s: float) -> int:
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError as error:
            fd = self._open_read_only(path, error)
        pause_s = _POLL_FIRST_S
        try:
            while not _try_lock(fd):
                if time.monotonic() + pause_s > deadline:
                    raise LockTimeoutError(f"{self._describe_holder()}; waited {wait_s:g} s")
                time.sleep(pause_s)
                pause_s = min(pause_s * 1.5, _POLL_MAX_S)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _open_read_only(self, path: str, cause: OSError) -> int:
        """Open a lock file that cannot be written; a lock needs no write access."""
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            name = errno.errorcode.get(cause.errno or 0, "EIO")
            raise StorageFailedError(f"cannot open the lock file ({name})") from cause

    def _name_holder(self) -> None:
        # No command line: its words may be the text of a memory.
        holder = {"pid": os.getpid(), "since": int(time.time())}
        text = json.dumps(holder).encode()[:_HOLDER_MAX_BYTES]
        # Another name of the file may lie anywhere, and a lock is as good without a name in it.
        if os.fstat(self._fds[0]).st_nlink > 1:
            return
        with suppress(OSError):
            os.pwrite(self._fds[0], text.ljust(_HOLDER_MAX_BYTES), 0)

    def _describe_holder(self) -> str:
        try:
            with open(self._paths[0], "rb") as file:
                holder = json.loads(file.read(_HOLDER_MAX_BYTES))
            return f"process {int(holder['pid'])} has held the vault since {int(holder['since'])}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process holds the vault"

    def release(self) -> None:
        """Give all locks back."""
        while self._fds:
            os.close(self._fds.pop())
        if self._thread_lock.locked():
            self._thread_lock.release()
