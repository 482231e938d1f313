"""Three-way merges, made by another program."""

from __future__ import annotations

from typing import Protocol


class Merger(Protocol):
    """What joins two edits of one text."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """Return both edits in one text, every byte that neither touched as it was.

        Args:
            base: The text that both began with.
            ours: One edit.
            theirs: The other one.

        Returns:
            None where the two change the same place, or where no merge can be had: no program, no text, no time.
        """
