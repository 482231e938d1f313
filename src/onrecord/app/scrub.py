"""Takes secrets out of everything a caller hands in, before anything is written or compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onrecord.domain.redaction import redact

# Ids and paths are not content: an id is checked for its form, a path names a file of the user.
_EXEMPT = frozenset({"id", "ids", "path", "dir", "mode", "format", "role", "idempotency_key"})


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
            return {str(_scrub_value(name, rules)): _scrub_value(item, rules) for name, item in value.items()}
        case _:
            return value
