"""A memory for AI agents that stands up to inspection.

`vault = onrecord.open(path)` gives `remember`, `find`, `read`, `update`, `history`, `capture` and more; every value has
the field names of the command line's JSON. Errors are subclasses of `OnRecordError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onrecord.domain.errors import OnRecordError
    from onrecord.surfaces.library import (
        CapturedTurn,
        Found,
        History,
        Hit,
        Memory,
        Remembered,
        Report,
        Updated,
        Vault,
        Version,
    )
    from onrecord.wiring import open_library as open

__all__ = [
    "CapturedTurn",
    "Found",
    "History",
    "Hit",
    "Memory",
    "OnRecordError",
    "Remembered",
    "Report",
    "Updated",
    "Vault",
    "Version",
    "open",
]
_ELSEWHERE = {"open": ("onrecord.wiring", "open_library"), "OnRecordError": ("onrecord.domain.errors", "OnRecordError")}


def __getattr__(name: str) -> object:
    # Lazy, so that programs which need one small part of the package do not load all of it.
    if name not in __all__:
        raise AttributeError(f"module 'onrecord' has no attribute {name!r}")
    module, attribute = _ELSEWHERE.get(name, ("onrecord.surfaces.library", name))
    return getattr(import_module(module), attribute)
