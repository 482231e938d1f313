"""Takes secrets out of everything a caller hands in, before anything is written or compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onrecord.domain.redaction import find_secrets, redact
from onrecord.domain.redaction_finding import format_marker

# Ids and paths are not content: an id is checked for its form, a path names a file of the user.
_EXEMPT = frozenset({"id", "ids", "path", "dir", "mode", "format", "role", "idempotency_key"})
_LINES_AROUND = 3


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """Arguments without secrets, and the rules that hit, sorted."""

    arguments: dict[str, object]
    rules: tuple[str, ...]


def scrub(arguments: Mapping[str, object], *, is_on: bool = True) -> Scrubbed:
    """Redact every text in the arguments of a write, at any depth.

    Args:
        arguments: As `onrecord.app.admission.admit` gives them.
        is_on: The setting `redact`.
    """
    if not is_on:
        return Scrubbed(dict(arguments), ())
    rules: set[str] = set()
    clean = {name: value if name in _EXEMPT else _scrub_value(value, rules) for name, value in arguments.items()}
    return Scrubbed(clean, tuple(sorted(rules)))


def _scrub_value(value: object, rules: set[str]) -> object:
    match value:
        case str():
            done = redact(value)
            rules.update(finding.rule for finding in done.findings)
            return done.text
        case tuple():
            return tuple(_scrub_value(item, rules) for item in value)
        case list():
            return [_scrub_value(item, rules) for item in value]
        case dict():
            return {
                str(_scrub_value(name, rules)): _scrub_member(str(name), item, rules) for name, item in value.items()
            }
        case _:
            return value


def _scrub_member(name: str, value: object, rules: set[str]) -> object:
    """Redact a member of a map; its name may tell what the value alone does not (`password`)."""
    if not isinstance(value, str):
        return _scrub_value(value, rules)
    opening = f"{name}: "
    found = [finding for finding in find_secrets(opening + value) if finding.start >= len(opening)]
    if not found:
        return _scrub_value(value, rules)
    for finding in reversed(found):
        rules.add(finding.rule)
        start, end = finding.start - len(opening), finding.end - len(opening)
        value = f"{value[:start]}{format_marker(finding.rule)}{value[end:]}"
    return _scrub_value(value, rules)


def scrub_change(before: str, after: str) -> tuple[str, tuple[str, ...]]:
    """Redact what a change makes a secret of by what stands around it; what the file held before stays as it is.

    Args:
        before: The text as it was.
        after: The text as it is to be, its new words redacted by themselves.

    Returns:
        The text to write, and the rules that hit, sorted. Lines far from the change are not looked at.
    """
    start = _count_common(before, after)
    tail = _count_common(before[start:][::-1], after[start:][::-1])
    opening = _find_line(after, start)
    closing = _find_line_end(after, len(after) - tail)
    changed = after[opening:closing]
    kept = before[opening : len(before) - (len(after) - closing)]
    known = {kept[finding.start : finding.end] for finding in find_secrets(kept)}
    fresh = [finding for finding in find_secrets(changed) if changed[finding.start : finding.end] not in known]
    for finding in reversed(fresh):
        changed = f"{changed[: finding.start]}{format_marker(finding.rule)}{changed[finding.end :]}"
    return after[:opening] + changed + after[closing:], tuple(sorted({finding.rule for finding in fresh}))


def _count_common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _find_line(text: str, place: int) -> int:
    """Return where the text around a change begins: some lines before it."""
    for _ in range(_LINES_AROUND):
        place = max(0, text.rfind("\n", 0, place))
    return place


def _find_line_end(text: str, place: int) -> int:
    for _ in range(_LINES_AROUND):
        found = text.find("\n", place + 1)
        place = found if found >= 0 else len(text)
    return place
