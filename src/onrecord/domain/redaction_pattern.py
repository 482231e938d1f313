"""Regular expressions that are compiled when they are first used: most texts need few of redaction's many."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator


class LazyPattern:
    """One regular expression, compiled at its first use.

    Args:
        source: The expression; it is known to compile, since a test compiles each.
        flags: As for `re.compile`.
    """

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def compile(self) -> re.Pattern[str]:
        """The compiled expression, always the same object."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return self.compile().match(text, start, end)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return self.compile().search(text, start, end)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return self.compile().finditer(text, start, end)
