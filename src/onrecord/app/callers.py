"""Who calls, and what the settings say, in a form that may reach the vault: checked as names and without secrets."""

from __future__ import annotations

from dataclasses import replace

from onrecord.app.scrub import scrub
from onrecord.app.session import Caller, Channel, Policy
from onrecord.domain.errors import ApprovalRequiredError
from onrecord.domain.names import check_name


def admit_caller(caller: Caller, policy: Policy) -> tuple[Caller, Policy]:
    """Return the caller and the settings as they may be written.

    Client, agent and the default workspace come from flags, environment and files of settings, not from a call.

    Raises:
        InvalidInputError, LimitExceededError: one of them is no name; `field` tells which.
    """
    given = {
        "client": check_name(caller.client, "client", may_be_blank=True),
        "agent": check_name(caller.agent, "agent", may_be_blank=True),
        "workspace": check_name(policy.workspace, "workspace"),
    }
    clean = {name: str(value) for name, value in scrub(given, is_on=policy.redact).arguments.items()}
    acting = replace(caller, client=clean["client"], agent=clean["agent"])
    return acting, replace(policy, workspace=clean["workspace"])


def check_user(caller: Caller, action: str, field: str | None = None) -> None:
    """Refuse an action that is the user's to decide to everybody but a person at a terminal.

    Args:
        caller: Who asks, by the channel as it was seen.
        action: What is asked for, in the infinitive.
        field: The argument without which anybody may call; None where the whole operation is the user's.

    Raises:
        ApprovalRequiredError: the caller is not at a terminal.
    """
    if caller.channel is not Channel.TERMINAL:
        raise ApprovalRequiredError(f"only the user may {action}", field=field)
