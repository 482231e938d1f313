"""What `status` counts as problems: what `doctor` finds above a note in the checks that need no file or log read anew.

The rule is held by a test over broken vaults: where `ANSWERED` tells all that `doctor` finds, both have one number;
else `status` has at least what they tell.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import Final

from onrecord.app.session import Degraded, Reply, Session
from onrecord.app.shut import FOLDER_SHUT
from onrecord.app.suspension import check_suspension
from onrecord.domain.errors import OnRecordError
from onrecord.domain.problem import Problem, Severity

# The checks of doctor that `status` answers, too.
ANSWERED: Final = frozenset(
    {
        *("vault.config", "vault.strays", "vault.writable", "settings.known", "state.installation", "sync.patterns"),
        *("index.usable", "files.missing", "files.links", "conflicts.open", "proposals.open", "backup.waiting"),
        "sources.readable",
        *("platform.exchange",),
    }
)
# Reasons that a finding of another code says, too.
NAMED_BY: Final = {"index_in_memory": "index_unusable", "installation_new": "state_set_aside"}
# Reasons of a reply that are no finding, or are counted by what they are about.
_COUNTED_APART: Final = frozenset(
    {"reconciling", "locked", "retirement_suspended", "pending_sync", "rows_waiting", "log_cut_back", FOLDER_SHUT}
)


def count_known(session: Session, reply: Reply) -> int:
    """Return how many things above a note are known to be wrong: with the installation, and by why a reply is degraded.

    What is counted by memories, files or logs (missing, pending, conflicts, proposals) is left to the caller.
    """
    problems = {*session.store.find_problems(), *session.problems, *session.refused.values()}
    problems.update(check_suspension(session))
    try:
        problems.update(session.store.inspect(with_key=False))
    except OnRecordError as error:
        problems.add(Problem("", 0, error.code, Severity.CRITICAL, error.reason, error.hint))
    problems.update(_check_settings(session))
    grave = [item for item in drop_repeats(problems) if item.severity is not Severity.INFO]
    return len(grave) + len(_list_untold(reply.degraded, problems))


def drop_repeats(problems: Collection[Problem]) -> set[Problem]:
    """Leave out what is said of the vault as a whole where the file at fault is named with the same words."""
    named = {item.message for item in problems if item.path or item.code.startswith("state_")}
    return {
        item for item in problems if item.path or item.code.startswith("state_") or item.message not in named
    }  # fmt: skip


def _check_settings(session: Session) -> Collection[Problem]:
    """Return what is wrong with the settings; what tells it is loaded where something is."""
    if not (session.policy.unknown_settings or session.policy.refused_settings):
        return ()
    return tuple(import_module("onrecord.app.doctor.parts").check_settings(session))


def _list_untold(degraded: Collection[Degraded], problems: Collection[Problem]) -> set[str]:
    """Return the reasons above a note that no problem says."""
    codes = {item.code for item in problems}
    left = {item.reason for item in degraded if NAMED_BY.get(item.reason) not in codes} - codes - _COUNTED_APART
    if not left:
        return left
    judge = import_module("onrecord.app.doctor.checks").find_severity
    return {reason for reason in left if judge(reason) is not Severity.INFO}
