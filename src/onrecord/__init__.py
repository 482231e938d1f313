"""A memory for AI agents that stands up to inspection.

`vault = onrecord.open(path)` gives `remember`, `find`, `read`, `update`, `history`, `capture` and more; every value has
the field names of the command line's JSON. Errors are subclasses of `OnRecordError`, all of them named here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onrecord.domain.errors import (
        AmbiguousIdError,
        ApprovalRequiredError,
        ConfigError,
        ConflictError,
        DamagedError,
        FileBusyError,
        IdempotencyMismatchError,
        InvalidInputError,
        LedgerRolledBackError,
        LimitExceededError,
        LockTimeoutError,
        NewerFormatError,
        NotFoundError,
        NotWritableError,
        NoVaultError,
        OnRecordError,
        PendingSyncError,
        StaleVersionError,
        StorageFailedError,
        TurnExistsError,
        VaultClosedError,
        VaultError,
        VaultExistsError,
        VaultIncompleteError,
        VaultOfflineError,
    )
    from onrecord.surfaces.library import Vault
    from onrecord.surfaces.results import (
        Batch,
        CapturedTurn,
        Found,
        History,
        Hit,
        LeftOutFile,
        Memory,
        Outcome,
        Refusal,
        Remembered,
        Report,
        Source,
        Sources,
        Updated,
        Version,
    )
    from onrecord.wiring import open_library as open

    __version__: str

__all__ = [
    "AmbiguousIdError",
    "ApprovalRequiredError",
    "Batch",
    "CapturedTurn",
    "ConfigError",
    "ConflictError",
    "DamagedError",
    "FileBusyError",
    "Found",
    "History",
    "Hit",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "LedgerRolledBackError",
    "LeftOutFile",
    "LimitExceededError",
    "LockTimeoutError",
    "Memory",
    "NewerFormatError",
    "NoVaultError",
    "NotFoundError",
    "NotWritableError",
    "OnRecordError",
    "Outcome",
    "PendingSyncError",
    "Refusal",
    "Remembered",
    "Report",
    "Source",
    "Sources",
    "StaleVersionError",
    "StorageFailedError",
    "TurnExistsError",
    "Updated",
    "Vault",
    "VaultClosedError",
    "VaultError",
    "VaultExistsError",
    "VaultIncompleteError",
    "VaultOfflineError",
    "Version",
    "open",
]


def __getattr__(name: str) -> object:
    # Lazy, so that programs which need one small part of the package do not load all of it.
    if name == "__version__":
        return import_module("importlib.metadata").version("onrecord")
    if name not in __all__:
        raise AttributeError(f"module 'onrecord' has no attribute {name!r}")
    if name == "open":
        return import_module("onrecord.wiring").open_library
    if name == "Vault":
        return import_module("onrecord.surfaces.library").Vault
    module = "onrecord.domain.errors" if name.endswith("Error") else "onrecord.surfaces.results"
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
