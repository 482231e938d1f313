"""Creates and captures while the vault cannot be written: kept in the backup, replayed exactly once later."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from decimal import Decimal

from onrecord.app.session import Reply, Session
from onrecord.domain.errors import StorageFailedError
from onrecord.domain.instants import from_unix_us

_KEY_BYTES = 16


def keep_in_backup(
    session: Session, operation: str, arguments: Mapping[str, object], reply: Reply, cause: StorageFailedError
) -> None:
    """Append one write to the backup and say so in the reply.

    Args:
        session: The opened vault.
        operation: `remember` or `capture`.
        arguments: Checked and without secrets.
        reply: Becomes `backup_only`, without an id.
        cause: Why the vault could not be written.

    Raises:
        StorageFailedError: the backup cannot be written either; nothing was stored.
    """
    given = arguments.get("idempotency_key")
    # Without a key of the caller's a random one makes the replay exact; either has the form of a stored key.
    drawn = base64.urlsafe_b64encode(session.ids.draw(_KEY_BYTES)).decode().rstrip("=")
    key = session.store.hash_key(str(given)) if given else drawn
    shape = {
        "v": 1,
        "op": operation,
        "key": key,
        "at": from_unix_us(session.clock.read().wall_us),
        "channel": session.caller.channel.value,
        "client": session.caller.client,
        "agent": session.caller.agent,
        "args": {name: _to_json(value) for name, value in arguments.items() if name != "idempotency_key"},
    }
    try:
        session.store.backup.append(json.dumps(shape, ensure_ascii=False, separators=(",", ":")).encode())
    except StorageFailedError as error:
        raise StorageFailedError(f"{cause.reason}; the backup failed too: {error.reason}") from cause
    reply.data = {"backup_only": True}
    reply.degrade("backup_only", "Mend the disk or its permissions, then run `onrecord repair replay`.")
    reply.warnings.append(f"not in the vault yet and not findable: {cause.reason}")


def _to_json(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return list(value) if isinstance(value, tuple) else value
