"""Files of the user that are read for an import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import: `/`-separated path relative to what was named, and its bytes.

    `problem` says why it has none.
    """

    path: str
    data: bytes
    problem: str = ""
