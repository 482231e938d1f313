"""`parted.json` of the state folder: own files that had other names (hard links) and were given bytes of their own.

It is for a person's eye alone, told by doctor for a week; where it is lost or cannot be written, nothing else suffers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from onrecord.domain.instants import Instant, from_unix_us, is_instant, to_unix_us
from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.disk import Disk

_NAME: Final = "parted.json"
_TEMPORARY_NAME: Final = "parted.json.tmp"
_MOST_BYTES: Final = 1 << 16
_KEPT_MAX_COUNT: Final = 50
_TOLD_US: Final = 7 * 24 * 3_600 * 1_000_000
_SHOWN_COUNT: Final = 3


def keep_parted(vault: Disk, state: Disk, now_us: int) -> None:
    """Note the files that this opening has parted from their other names, the newest ones of a week.

    Args:
        vault: The vault; its files are noted by path.
        state: The state folder; its files are noted as `state/` and their name.
        now_us: The wall clock.
    """
    if not (vault.parted or state.parted):
        return
    now = from_unix_us(now_us)
    paths = [*vault.parted, *(f"state/{path}" for path in state.parted)]
    kept = {path: at for path, at in _read(state).items() if _is_told(at, now_us)} | dict.fromkeys(paths, now)
    newest = dict(sorted(kept.items(), key=lambda item: item[1])[-_KEPT_MAX_COUNT:])
    data = json.dumps({"v": 1, "files": newest}, separators=(",", ":")).encode()
    with suppress(OSError):
        if state.stat(_TEMPORARY_NAME) is not None:
            state.unlink(_TEMPORARY_NAME)
        state.write_new(_TEMPORARY_NAME, data)
        state.rename(_TEMPORARY_NAME, _NAME)


def find_parted(state: Disk, now_us: int) -> Iterator[Problem]:
    """Yield one note of the files that were parted within a week."""
    told = sorted(path for path, at in _read(state).items() if _is_told(at, now_us))
    if told:
        more = len(told) - _SHOWN_COUNT
        shown = ", ".join(told[:_SHOWN_COUNT]) + (f" and {more} more" if more > 0 else "")
        message = f"{shown}: had other names (hard links) and was copied before it was written; those stay as they are"
        yield Problem("", 0, "hard_link_parted", Severity.INFO, message)


def _is_told(at: Instant, now_us: int) -> bool:
    return now_us - to_unix_us(at) < _TOLD_US


def _read(state: Disk) -> Mapping[str, Instant]:
    try:
        shape = json.loads(state.read(_NAME, 0, _MOST_BYTES))
        return {path: Instant(at) for path, at in shape["files"].items() if isinstance(at, str) and is_instant(at)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
