"""How much a version is trusted for where it came from (docs/format/record.md, origin)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# Strongest first; what stands on one line is trusted alike, and the later is named where two meet.
_LEVELS: Final = (("confirmed",), ("user",), ("document", "import"), ("agent", "file"), ("tool", "web"), ("unknown",))
_ORDER: Final = tuple(origin for level in _LEVELS for origin in level)
_TRUST: Final = {origin: number for number, level in enumerate(_LEVELS, 1) for origin in level}


def get_trust(origin: str) -> int:
    """Return the trust of an origin: 1 for the strongest, 6 for the weakest and for what is no origin."""
    return _TRUST.get(origin, len(_LEVELS))


def choose_weakest(origins: Iterable[str]) -> str:
    """Return the weakest of some origins, of equals the one whose author is known less; `unknown` of none."""
    return max(origins, key=lambda origin: _ORDER.index(origin) if origin in _ORDER else len(_ORDER), default="unknown")
