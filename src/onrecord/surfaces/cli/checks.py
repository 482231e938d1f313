"""Commands whose exit status tells what they found: `verify` and `doctor`."""

from __future__ import annotations

from dataclasses import replace

from onrecord.app.doctor.diagnosis import Examination, choose_checks, diagnose, look
from onrecord.app.session import Reply
from onrecord.app.verify import verify
from onrecord.domain.errors import InvalidInputError, OnRecordError
from onrecord.surfaces.cli.commands import Call


def check_ledger(call: Call) -> tuple[Reply, int]:
    """Run `verify`."""
    reply = call.use_vault(lambda session: verify(session, call.given, call.services.get_verifier()))
    is_broken = reply.data["verdict"] == "BROKEN"
    return reply, 2 if is_broken else 1 if reply.data["differences"] else 0


def check_vault(call: Call) -> tuple[Reply, int]:
    """Run `doctor`: look first; only where nothing critical is found is the vault opened as by every command.

    What no check asks for is not done: a vault is not opened, or its outside edits are not taken in.
    """
    choice = choose_checks(call.given)
    try:
        try:
            looking = call.services.look_into_vault(call.settings, call.caller)
        except InvalidInputError as error:
            call = _without_names(call, f"{error.field}: {error.reason}")
            looking = call.services.look_into_vault(call.settings, call.caller)
    except OnRecordError as error:
        found = Examination()
        found.take_unusable(error, call.settings.refused)
        return Reply(data=found.report(choice, int(call.settings.number("page_bytes")))), 2
    call.closing.callback(looking.close)
    found = look(looking.session, looking.opening)
    session, opening = looking.session, looking.opening
    if choice.needs_opening and not found.is_critical and session.store.log:
        settings = call.settings if choice.needs_edits else call.settings.switch_off("reconcile")
        try:
            opened = call.services.open_vault(settings, call.caller, True)
        except OnRecordError as error:
            found.take_error(error)
        else:
            call.show_intake(opened.session)
            call.closing.callback(opened.close)
            session, opening = opened.session, opened.opening
    reply = diagnose(session, call.given, call.services.get_verifier(), found=found, opening=opening)
    counts = reply.data["counts"]
    assert isinstance(counts, dict)
    return reply, 2 if counts["critical"] else 1 if counts["warning"] else 0


def _without_names(call: Call, reason: str) -> Call:
    """Return the call with nobody named: a name that the settings give is none."""
    settings = call.settings.refuse(("client", "agent", "workspace"), reason)
    return replace(call, settings=settings, caller=replace(call.caller, client="", agent=""))
