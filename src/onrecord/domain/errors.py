"""The one tree of errors a caller may see.

    OnRecordError
    ├── InvalidInputError          a value is refused before anything happens
    │   └── LimitExceededError     ... because it is larger than docs/format/limits.md allows
    ├── NotFoundError              no such record, version or file for this caller
    │   └── AmbiguousIdError       an id prefix fits more than one record
    ├── ConflictError              the vault is not as the caller expects
    │   ├── StaleVersionError      expected version is not the current one
    │   ├── TurnExistsError        the same turn id with another text
    │   ├── PendingSyncError       the file is ahead of its row
    │   └── IdempotencyMismatchError  the same key with another request
    ├── ApprovalRequiredError      the user alone may do this
    ├── NotWritableError           nothing was stored
    │   ├── LockTimeoutError       another process holds the vault
    │   ├── FileBusyError          the file to be written is being saved by another program
    │   ├── VaultOfflineError      onrecord.toml is absent, unreadable or another vault's
    │   ├── NewerFormatError       made by a newer program; open for reading only
    │   ├── LedgerRolledBackError  the ledger on disk is not the one acknowledged
    │   └── StorageFailedError     the disk refused (full, read-only, permission, I/O)
    ├── VaultError                 there is no usable vault here
    │   ├── NoVaultError           no vault at the place given
    │   │   └── VaultIncompleteError  its onrecord.toml is here, its .onrecord is not
    │   ├── VaultClosedError       this user may not look into it
    │   └── VaultExistsError       init where a vault is
    ├── DamagedError               bytes on disk contradict their checksum or form
    └── ConfigError                a setting cannot be used

Each class has a stable `code`, the exit status of the command line (0 is success, 1 the operation says
no, 2 the call or the vault is unusable) and the HTTP status. `hint` tells a person or a model how to
mend the call. Messages never hold the content of a record.
"""

from __future__ import annotations

from typing import ClassVar

_MESSAGE_MAX_CHARS = 200


class OnRecordError(Exception):
    """Root of all errors that OnRecord raises on purpose.

    Args:
        reason: What is wrong, one sentence without the caller's content; cut at 200 characters.
        field: Name of the argument or key at fault, or None.
        hint: What to do next; without one `own_hint` is empty and `hint` is the one of the class, which each has.
        did_you_mean: A near name, or None.
    """

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    default_hint: ClassVar[str] = "`onrecord doctor` names what needs attention."

    def __init__(
        self, reason: str, *, field: str | None = None, hint: str | None = None, did_you_mean: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason[:_MESSAGE_MAX_CHARS]
        self.field = field[:80] if field is not None else None
        self.own_hint = hint or ""
        self.hint = hint or self.default_hint
        self.did_you_mean = did_you_mean

    def describe(self) -> dict[str, str]:
        """Return the error's wire form: code, reason, hint, and field, did_you_mean where they are set."""
        shape = {
            "code": self.code,
            "field": self.field,
            "reason": self.reason,
            "hint": self.hint,
            "did_you_mean": self.did_you_mean,
        }
        return {name: value for name, value in shape.items() if value is not None}


class InvalidInputError(OnRecordError):
    """A value is refused; nothing was stored."""

    code = "invalid_input"
    exit_status = 2
    http_status = 422
    default_hint = "`onrecord help OPERATION` tells each argument and its form."


class LimitExceededError(InvalidInputError):
    """A value is larger than docs/format/limits.md allows."""

    code = "limit_exceeded"
    http_status = 413
    default_hint = "Give less at once."


class NotFoundError(OnRecordError):
    """No such thing for this caller."""

    code = "not_found"
    http_status = 404
    default_hint = "Use the id from find; at least 4 characters of it."


class AmbiguousIdError(NotFoundError):
    """An id prefix fits more than one record."""

    code = "ambiguous_id"
    http_status = 409
    default_hint = "Give more characters of the id."


class ConflictError(OnRecordError):
    """The vault is not as the caller expects; nothing was stored."""

    code = "conflict"
    http_status = 409
    default_hint = "Read the record again; `onrecord doctor` names what stands in the way."


class StaleVersionError(ConflictError):
    """The expected version is not the current one."""

    code = "stale_version"
    http_status = 412
    default_hint = "Read the record again and repeat the change on the version that is current."


class TurnExistsError(ConflictError):
    """A turn with this id is there with another text."""

    code = "turn_exists"
    default_hint = "A turn is captured once; give a changed turn an id of its own."


class PendingSyncError(ConflictError):
    """The file holds a version of another machine whose row has not arrived here; nothing was done."""

    code = "pending_sync"
    default_hint = (
        "Wait until the sync has brought .onrecord of the other machine. Only where that never comes, remove the "
        "file's `by` line: it is then an edit of yours."
    )


class IdempotencyMismatchError(ConflictError):
    """An idempotency key came back with another request."""

    code = "idempotency_mismatch"
    http_status = 422
    default_hint = "Use a new key for a new request."


class ApprovalRequiredError(OnRecordError):
    """The action needs the user's own word, which this caller cannot give; nothing was done."""

    code = "approval_required"
    http_status = 403
    default_hint = "Ask the user to run this at a terminal."


class NotWritableError(OnRecordError):
    """The write was refused and nothing was stored."""

    code = "not_writable"
    http_status = 503
    default_hint = "`onrecord doctor` names what stands in the way."


class LockTimeoutError(NotWritableError):
    """Another process holds the vault's lock."""

    code = "locked"
    default_hint = "Try again; if the named process hangs, end it."


class FileBusyError(NotWritableError):
    """Another program is saving the very file that was to be written."""

    code = "file_busy"
    default_hint = "Try again in a moment; if it stays so, see which program keeps writing the file."


class VaultOfflineError(NotWritableError):
    """`onrecord.toml` is absent, unreadable or names another vault."""

    code = "vault_offline"
    default_hint = "Bring the folder or its onrecord.toml back; nothing is written until then."


class NewerFormatError(NotWritableError):
    """A newer program made this vault; it is open for reading only."""

    code = "newer_format"
    default_hint = "Upgrade onrecord to write here."


class LedgerRolledBackError(NotWritableError):
    """The ledger on disk does not continue the head this installation acknowledged."""

    code = "ledger_rolled_back"
    default_hint = (
        "An older or altered vault lies here: put the newest one back. `onrecord verify` names the difference."
    )


class StorageFailedError(NotWritableError):
    """The disk refused: full, read-only, no permission, or an I/O error."""

    code = "storage_failed"
    http_status = 507
    default_hint = "Free space or mend permissions, then repeat the call."


class VaultError(OnRecordError):
    """There is no usable vault at this place."""

    code = "vault_unusable"
    exit_status = 2
    http_status = 503
    default_hint = "`onrecord doctor` names what is wrong with it; another vault is named with --vault."


class NoVaultError(VaultError):
    """No vault at the place given."""

    code = "no_vault"
    http_status = 404
    default_hint = "Make one with `onrecord init DIR`, or name one with --vault or ONRECORD_VAULT."


class VaultIncompleteError(NoVaultError):
    """A vault of which `onrecord.toml` is here and `.onrecord` is not: it has still to come, or is lost."""

    code = "vault_incomplete"
    default_hint = (
        "If a sync program brings this vault, wait until the hidden folder .onrecord is here, and see that it carries "
        "hidden folders. If .onrecord is lost for good, `onrecord init DIR` begins anew with the files that are here."
    )


class VaultClosedError(VaultError):
    """A folder that this user may not enter or read; whether it holds a vault is not known."""

    code = "vault_closed"
    http_status = 403
    default_hint = "Let the user who runs onrecord enter, read and write the folder, or run it as its owner."


class VaultExistsError(VaultError):
    """`init` was asked for a folder that already is a vault."""

    code = "vault_exists"
    http_status = 409
    default_hint = "Use it with --vault, or choose another folder."


class DamagedError(OnRecordError):
    """Bytes on disk contradict their checksum or form."""

    code = "damaged"
    exit_status = 2
    default_hint = "Run `onrecord doctor`; it names file and mend."


class ConfigError(OnRecordError):
    """A setting cannot be used."""

    code = "config_invalid"
    exit_status = 2
    default_hint = "`onrecord config` shows each setting and where its value comes from."
