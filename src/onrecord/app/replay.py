"""Write to the vault what the backup holds, each line exactly once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from onrecord.app.admission import admit
from onrecord.app.capture import write_turn
from onrecord.app.catalog import CAPTURE, REMEMBER, REPLAY
from onrecord.app.remember import write_memory
from onrecord.app.scrub import scrub
from onrecord.app.session import Caller, Channel, Reply, Session
from onrecord.domain.canonical import decode_strict
from onrecord.domain.errors import InvalidInputError, NotWritableError, OnRecordError
from onrecord.domain.limits import IMPORT_LINE_MAX_BYTES, REPLAY_PAGE_COUNT, TEXT_MAX_BYTES

# JSON may write a character of one byte as six, and other arguments come on top of the text.
_STORED_KEY = re.compile("[A-Za-z0-9_-]{22}")
_LINE_MAX_BYTES = 6 * TEXT_MAX_BYTES + 6 * IMPORT_LINE_MAX_BYTES


def replay(session: Session, given: Mapping[str, object]) -> Reply:
    """Write the next page of backup lines to the vault; a bad line is named and passed over, the backup is kept.

    A line is bad, too, where this installation has not written it.

    Returns:
        data: replayed, duplicates, failed[] with line and reason, next_offset, remaining.

    Raises:
        InvalidInputError: the call is refused.
        NotWritableError: the vault still cannot be written; progress so far is kept.
    """
    is_dry = admit(REPLAY, given).get("dry_run") is True
    reply = Reply()
    done, total = session.store.backup.get_progress()
    lines = session.store.backup.read(done, REPLAY_PAGE_COUNT)
    replayed = duplicates = 0
    failed: list[dict[str, object]] = []
    for number, line in enumerate(lines, done + 1):
        try:
            operation, arguments, caller, key = _read_line(session.store.backup.unseal(line))
            if is_dry:
                replayed += 1
                continue
            data = _write(session, operation, arguments, caller, key)
        except NotWritableError:
            session.store.backup.set_progress(number - 1)
            raise
        except OnRecordError as error:
            failed.append({"line": number, "reason": error.reason})
            if not is_dry:
                session.store.backup.keep_failed(line)
            continue
        replayed += 1
        duplicates += data.get("duplicate") is True
    if not is_dry:
        session.store.backup.set_progress(done + len(lines))
    offset = done + len(lines)
    reply.data = {
        "replayed": replayed,
        "duplicates": duplicates,
        "failed": failed,
        "next_offset": offset,
        "remaining": total - offset,
    }
    return reply


def _read_line(line: bytes) -> tuple[str, dict[str, object], Caller, str]:
    shape = decode_strict(line, max_bytes=_LINE_MAX_BYTES, allow_floats=True)
    operation, arguments, key = shape.get("op"), shape.get("args"), shape.get("key")
    if operation not in ("remember", "capture") or not isinstance(arguments, dict) or not isinstance(key, str):
        raise InvalidInputError("not a line of the backup")
    if shape.get("v") != 1 or _STORED_KEY.fullmatch(key) is None:
        raise InvalidInputError("not a line of the backup")
    channel = shape.get("channel")
    if channel not in tuple(Channel):
        raise InvalidInputError("not a line of the backup")
    caller = Caller(Channel(str(channel)), str(shape.get("client", "")), str(shape.get("agent", "")))
    return str(operation), arguments, caller, key


def _write(
    session: Session, operation: str, arguments: dict[str, object], caller: Caller, key: str
) -> dict[str, object]:
    """Write one line as its caller, to the vault alone: the backup must not feed itself.

    Raises:
        NotWritableError: the vault cannot be written.
        OnRecordError: the line is refused.
    """
    acting = replace(session, caller=caller)
    reply = Reply()
    if operation == "remember":
        scrubbed = scrub(admit(REMEMBER, arguments), is_on=session.policy.redact)
        write_memory(acting, scrubbed, reply, stored_key=key)
    else:
        write_turn(acting, scrub(admit(CAPTURE, arguments), is_on=session.policy.redact), reply)
    return reply.data
