"""The reply of doctor: checks with their status, and findings under them, gravest first, on one bounded page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from onrecord.app.doctor.check_values import Check
from onrecord.app.doctor.checks import BY_ID, CHECKS, MENDS, OWNERS
from onrecord.app.known_problems import drop_repeats
from onrecord.app.pages import fill_page
from onrecord.domain.alike import ALIKE_MAX_COUNT, order_text, split_number, tell_range
from onrecord.domain.problem import Problem, Severity

_PLURALS: Final = {"entry": "entries", "row": "rows"}
_EXAMPLES_COUNT: Final = 3
_PATH_MAX_CHARS: Final = 120
RANK = {Severity.CRITICAL: 0, Severity.WARNING: 1, Severity.INFO: 2}


def name_check(code: str) -> str:
    """Return the id of the check that owns a code; one of nobody is a defect and shown all the same."""
    owner = OWNERS.get(code)
    return owner.id if owner is not None else "vault.parts"


def fold_notes(problems: Collection[Problem]) -> list[Problem]:
    """Tell many notes that say the same of many files as one, with their count and the first paths as examples."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for item in problems:
        if item.severity is Severity.INFO and item.path:
            alike.setdefault((item.code, item.message), []).append(item)
    many = {key: sorted(items) for key, items in alike.items() if len(items) > ALIKE_MAX_COUNT}
    kept = [item for item in problems if (item.code, item.message) not in many or item.severity is not Severity.INFO]
    for (_, message), items in many.items():
        examples = ", ".join(item.path[-_PATH_MAX_CHARS:] for item in items[:_EXAMPLES_COUNT])
        told = f"{message} ({len(items)} files, such as {examples})"
        kept.append(replace(items[0], path="", line=0, message=told, evidence=""))
    return kept


def fold_entries(problems: Collection[Problem]) -> list[Problem]:
    """Tell many findings that say the same of the entries or rows of one log as one, with the first and the last."""
    alike: dict[tuple[str, str, str, str], dict[Problem, int]] = {}
    for item in problems:
        split = split_number(item.message, tuple(_PLURALS))
        if split is not None:
            word, number, rest = split
            alike.setdefault((item.path, item.code, word, rest), {})[item] = number
    many = {key: found for key, found in alike.items() if len(found) > ALIKE_MAX_COUNT}
    folded = {item for found in many.values() for item in found}
    kept = [item for item in problems if item not in folded]
    for (_, _, word, rest), found in many.items():
        message = f"{tell_range(_PLURALS[word], found.values())}: {rest}"
        kept.append(replace(min(found), line=0, message=message, evidence=""))
    return kept


def build_report(
    problems: Collection[Problem],
    chosen: Collection[str],
    skipped: Mapping[str, str],
    page_bytes: int,
    offset: int = 0,
) -> dict[str, object]:
    """Return the data of the reply.

    Args:
        problems: What was found.
        chosen: Ids of the checks that are reported.
        skipped: Why a check was not, or not wholly, run, by id.
        page_bytes: Budget of the findings.
        offset: How many findings are before the page.
    """
    under: dict[str, list[Problem]] = {}
    for problem in fold_entries(fold_notes(drop_repeats(problems))):
        under.setdefault(name_check(problem.code), []).append(problem)
    ordered = sorted(
        (item for check in chosen for item in under.get(check, ())),
        key=lambda item: (RANK[item.severity], item.path, item.line, item.code, order_text(item.message)),
    )
    page = fill_page((describe_problem(item) for item in ordered[offset:]), page_bytes)
    data: dict[str, object] = {
        "checks": [
            _describe_check(BY_ID[check.id], under.get(check.id, ()), skipped.get(check.id))
            for check in CHECKS
            if check.id in chosen
        ],
        "findings": page.items,
        "counts": {level.value: sum(item.severity is level for item in ordered) for level in Severity},
        "total": len(ordered),
    }
    if page.is_full:
        data |= {"truncated": True, "next_offset": offset + len(page.items)}
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
