"""Atomic exchange and no-replace rename where the system has them (renameat2 on Linux, renameatx_np on macOS)."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import lru_cache

_RENAME_NOREPLACE_LINUX = 1
_RENAME_EXCHANGE_LINUX = 2
_RENAME_SWAP_MACOS = 2
_RENAME_EXCL_MACOS = 4
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})

_Rename = Callable[[int, bytes, int, bytes, int], int]


@lru_cache(maxsize=1)
def _load_rename() -> tuple[_Rename, int, int] | None:
    """Return (function, flag for exchange, flag for no-replace), or None where the system has neither."""
    names = {"linux": "renameat2", "darwin": "renameatx_np"}
    name = names.get(sys.platform)
    if name is None:
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    if sys.platform == "darwin":
        return function, _RENAME_SWAP_MACOS, _RENAME_EXCL_MACOS
    return function, _RENAME_EXCHANGE_LINUX, _RENAME_NOREPLACE_LINUX


def _call(is_exchange: bool, folder_fd: int, source: str, target: str) -> bool:
    loaded = _load_rename()
    if loaded is None:
        return False
    rename, exchange_flag, noreplace_flag = loaded
    flag = exchange_flag if is_exchange else noreplace_flag
    if rename(folder_fd, os.fsencode(source), folder_fd, os.fsencode(target), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), target)


def exchange(folder_fd: int, one: str, other: str) -> bool:
    """Exchange two names of one folder in one step.

    Returns:
        False when the system or the file system cannot; nothing was changed then.

    Raises:
        OSError: as rename(2).
    """
    return _call(True, folder_fd, one, other)


def rename_noreplace(folder_fd: int, source: str, target: str) -> bool:
    """Rename within one folder unless `target` exists.

    Returns:
        False when the system or the file system cannot; nothing was changed then.

    Raises:
        FileExistsError: `target` exists.
        OSError: as rename(2).
    """
    return _call(False, folder_fd, source, target)
