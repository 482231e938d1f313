"""Commands whose exit status tells what they found: `verify` and `doctor`."""

from __future__ import annotations

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.session import Reply
from onrecord.app.verify import verify
from onrecord.surfaces.cli.commands import Call


def check_ledger(call: Call) -> tuple[Reply, int]:
    """Run `verify`."""
    reply = call.use_vault(lambda session: verify(session, call.given, call.services.get_verifier()))
    is_broken = reply.data["verdict"] == "BROKEN"
    return reply, 2 if is_broken else 1 if reply.data["differences"] else 0


def check_vault(call: Call) -> tuple[Reply, int]:
    """Run `doctor`."""
    reply = call.use_vault(lambda session: diagnose(session, call.given, call.services.get_verifier()))
    counts = reply.data["counts"]
    assert isinstance(counts, dict)
    return reply, 2 if counts["critical"] else 1 if counts["warning"] else 0
