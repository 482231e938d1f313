"""Redaction: secrets in a text are found and replaced before anything of it is written or shown.

Four searches, the surest first: forms (`redaction_formats`), the public rules (`redaction_rules`), names
(`redaction_names`), and of the public rules the generic one. What overlaps is one finding, named by the
surest.

Only the value goes; the words that named it stay: `password: [redacted:password]`. A text that is redacted
again stays as it is. Nothing here keeps, logs or returns a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from onrecord.domain.redaction_finding import MARKER, Finding, format_marker
from onrecord.domain.redaction_formats import find_formats
from onrecord.domain.redaction_names import find_named
from onrecord.domain.redaction_rules import GENERIC_RULE, find_public

__all__ = ["Finding", "Redaction", "find_secrets", "redact"]

# A replaced secret can free its neighbour to be seen: each further search sees the text as it then stands.
ROUNDS_MAX_COUNT: Final = 4


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets.

    Attributes:
        text: The text, each secret replaced by `[redacted:<rule id>]`.
        findings: Where the secrets were, in code points of the given text: ascending, without overlap.
    """

    text: str
    findings: tuple[Finding, ...]


def redact(text: str) -> Redaction:
    """Replace each secret of a text.

    Args:
        text: Any text, of any length.

    Returns:
        The same text where nothing was found. Redacting the result's text finds nothing.
    """
    findings = find_secrets(text)
    return Redaction(_replace(text, findings), findings)


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Where the secrets of a text lie: for what is only flagged.

    Args:
        text: Any text, of any length.

    Returns:
        Findings in ascending order, without overlap, none of them within a marker of an earlier redaction.
    """
    findings: tuple[Finding, ...] = ()
    for _ in range(ROUNDS_MAX_COUNT):
        current = _replace(text, findings)
        fresh = _find_once(current)
        if not fresh:
            break
        findings = _merge_rounds(findings, fresh)
    return findings


def _replace(text: str, findings: Iterable[Finding]) -> str:
    parts: list[str] = []
    at = 0
    for finding in findings:
        parts += (text[at : finding.start], format_marker(finding.rule))
        at = finding.end
    return "".join((*parts, text[at:])) if parts else text


def _find_once(text: str) -> list[Finding]:
    public = tuple(find_public(text))
    ranked = [
        *((0, finding) for finding in find_formats(text)),
        *((1, finding) for finding in public if finding.rule != GENERIC_RULE),
        *((2, finding) for finding in find_named(text)),
        *((3, finding) for finding in public if finding.rule == GENERIC_RULE),
    ]
    if not ranked:
        return []
    markers = [match.span() for match in MARKER.finditer(text)]
    return list(_leave_markers(text, _merge(ranked), markers))


def _merge(ranked: list[tuple[int, Finding]]) -> Iterator[Finding]:
    """Findings that overlap as one, named by the least rank among them; at equal rank by the first."""
    ranked.sort(key=lambda item: (item[1].start, item[0], -item[1].end))
    rank, merged = ranked[0]
    for next_rank, finding in ranked[1:]:
        if finding.start >= merged.end:
            yield merged
            rank, merged = next_rank, finding
            continue
        rule = finding.rule if next_rank < rank else merged.rule
        rank = min(rank, next_rank)
        merged = Finding(rule, merged.start, max(merged.end, finding.end))
    yield merged


def _leave_markers(text: str, findings: Iterable[Finding], markers: list[tuple[int, int]]) -> Iterator[Finding]:
    """The findings without the markers in them; of what is left only what has a letter or a digit."""
    index = 0
    for finding in findings:
        while index < len(markers) and markers[index][1] <= finding.start:
            index += 1
        at, here = finding.start, index
        while here < len(markers) and markers[here][0] < finding.end:
            yield from _shrink(text, finding.rule, at, markers[here][0])
            at = markers[here][1]
            here += 1
        if at == finding.start:
            yield finding
        else:
            yield from _shrink(text, finding.rule, at, finding.end)


def _shrink(text: str, rule: str, start: int, end: int) -> Iterator[Finding]:
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    if start < end:
        yield Finding(rule, start, end)


def _merge_rounds(findings: tuple[Finding, ...], fresh: Iterable[Finding]) -> tuple[Finding, ...]:
    """Add the findings of a redacted text to those that made it, at their offsets in the first text."""
    shifted: list[Finding] = []
    shift, index = 0, 0
    for finding in fresh:
        while index < len(findings) and findings[index].start - shift < finding.start:
            earlier = findings[index]
            shift += earlier.end - earlier.start - len(format_marker(earlier.rule))
            index += 1
        shifted.append(Finding(finding.rule, finding.start + shift, finding.end + shift))
    return tuple(sorted((*findings, *shifted), key=lambda finding: finding.start))
