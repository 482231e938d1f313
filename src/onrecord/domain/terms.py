"""Bounds of search terms, and the number of the rules by which `analyzer` makes them."""

from __future__ import annotations

from typing import Final

ANALYZER_VERSION: Final = 1
TERM_MAX_CHARS: Final = 64
