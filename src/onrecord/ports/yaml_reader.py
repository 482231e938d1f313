"""A reader of YAML that OnRecord did not write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from onrecord.domain.front_matter import YamlReading


class YamlReader(Protocol):
    """Reads front matter outside the flat subset; the same block gives the same reading."""

    def read(self, block: str) -> YamlReading:
        """Read a block of front matter as YAML 1.2, core schema without timestamps.

        Implementations never raise for any text, follow no alias, build no object of a tag, and end in time that is
        bounded by the size of the block: above 512 KiB, 20,000 nodes, or 32 levels in one value it is broken.

        Args:
            block: The lines between the fences, with any line ends.

        Returns:
            Values, where they stand, and problems; broken, without values, when it is not one YAML mapping.
        """
        ...
