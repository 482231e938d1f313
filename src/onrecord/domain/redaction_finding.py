"""A finding of redaction: where a secret lies and which rule saw it, never what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from onrecord.domain.redaction_pattern import LazyPattern

MARKER: Final = LazyPattern(r"\[redacted:[a-z0-9-]{1,64}\]")
"""What stands in a text where a secret stood."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret in a text.

    Attributes:
        rule: Id of the rule that saw it: lower case letters, digits and hyphens.
        start: Offset of its first character, in code points of the text that was searched.
        end: Offset after its last character; always greater than `start`.
    """

    rule: str
    start: int
    end: int


def format_marker(rule: str) -> str:
    """The text that replaces a secret; `MARKER` matches it."""
    return f"[redacted:{rule}]"
