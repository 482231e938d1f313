"""The reply of doctor: checks with their status, and findings under them, gravest first, on one bounded page."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from onrecord.app.doctor.checks import BY_ID, CHECKS, MENDS, OWNERS, Check
from onrecord.app.pages import take_page
from onrecord.domain.problem import Problem, Severity

RANK = {Severity.CRITICAL: 0, Severity.WARNING: 1, Severity.INFO: 2}


def name_check(code: str) -> str:
    """Return the id of the check that owns a code; one of nobody is a defect and shown all the same."""
    owner = OWNERS.get(code)
    return owner.id if owner is not None else "vault.parts"


def drop_repeats(problems: Collection[Problem]) -> set[Problem]:
    """Leave out what is said of the vault as a whole where the file at fault is named with the same words."""
    named = {item.message for item in problems if item.path or item.code.startswith("state_")}
    return {
        item for item in problems if item.path or item.code.startswith("state_") or item.message not in named
    }  # fmt: skip


def build_report(
    problems: Collection[Problem], chosen: Collection[str], skipped: Mapping[str, str], page_bytes: int
) -> dict[str, object]:
    """Return the data of the reply.

    Args:
        problems: What was found.
        chosen: Ids of the checks that are reported.
        skipped: Why a check was not, or not wholly, run, by id.
        page_bytes: Budget of the findings.
    """
    under: dict[str, list[Problem]] = {}
    for problem in drop_repeats(problems):
        under.setdefault(name_check(problem.code), []).append(problem)
    ordered = sorted(
        (item for check in chosen for item in under.get(check, ())),
        key=lambda item: (RANK[item.severity], item.path, item.line, item.code, item.message),
    )
    shown = take_page((describe_problem(item) for item in ordered), page_bytes)
    data: dict[str, object] = {
        "checks": [
            _describe_check(BY_ID[check.id], under.get(check.id, ()), skipped.get(check.id))
            for check in CHECKS
            if check.id in chosen
        ],
        "findings": shown,
        "counts": {level.value: sum(item.severity is level for item in ordered) for level in Severity},
        "total": len(ordered),
    }
    if len(shown) < len(ordered):
        data["truncated"] = True
    return data


def _describe_check(check: Check, found: Collection[Problem], reason: str | None) -> dict[str, object]:
    status = "skipped" if reason is not None else "ok"
    if found:
        status = min((item.severity for item in found), key=lambda severity: RANK[severity]).value
    shape: dict[str, object] = {"id": check.id, "title": check.title, "status": status, "findings": len(found)}
    if reason is not None:
        shape["reason"] = reason
    return shape


def describe_problem(problem: Problem) -> dict[str, object]:
    """Return a finding's wire form."""
    shape: dict[str, object] = {
        "check": name_check(problem.code),
        "path": problem.path,
        "line": problem.line,
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem.message,
    }
    if problem.evidence:
        shape["evidence"] = problem.evidence
    mend = problem.mend or MENDS.get(problem.code, "")
    if mend:
        shape["mend"] = mend
    return shape
