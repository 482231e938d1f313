"""Three-way merges, made by another program."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class MergeObstacle(StrEnum):
    """Why no merge can be had, in words that end a sentence."""

    SAME_PLACE = "both change the same place"
    NO_PROGRAM = "git could not be asked"
    NO_TEXT = "one of them is no text whose lines could be merged"


class Merger(Protocol):
    """What joins two edits of one text."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | MergeObstacle:
        """Return both edits in one text, every byte that neither touched as it was.

        Args:
            base: The text that both began with.
            ours: One edit.
            theirs: The other one.

        Returns:
            The merged bytes, else what stands against a merge.
        """
