"""Commands whose exit status tells what they found: `verify` and `doctor`."""

from __future__ import annotations

from onrecord.app.doctor import diagnose
from onrecord.app.session import Reply
from onrecord.app.verify import verify
from onrecord.surfaces.cli.commands import Call


def check_ledger(call: Call) -> tuple[Reply, int]:
    """Run `verify`."""
    opened = call.services.open_vault(call.settings, call.caller, True)
    try:
        reply = verify(opened.session, call.given, call.services.get_verifier())
    finally:
        opened.session.close()
    reply.join(opened.opening)
    is_broken = reply.data["verdict"] == "BROKEN"
    return reply, 2 if is_broken else 1 if reply.data["differences"] else 0


def check_vault(call: Call) -> tuple[Reply, int]:
    """Run `doctor`."""
    opened = call.services.open_vault(call.settings, call.caller, True)
    try:
        reply = diagnose(opened.session, call.given)
    finally:
        opened.session.close()
    reply.join(opened.opening)
    counts = reply.data["counts"]
    assert isinstance(counts, dict)
    return reply, 2 if counts["critical"] else 1 if counts["warning"] else 0
