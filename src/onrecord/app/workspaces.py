"""Which workspace a name means: names that differ in case or composition alone are one, in its first spelling."""

from __future__ import annotations

import unicodedata

from onrecord.domain.names import fold_name
from onrecord.ports.index import IndexReader


def spell_workspace(reader: IndexReader, name: str) -> str:
    """Return how the workspace that a name means is spelled: as it was first, or as given (NFC) if it is new."""
    known = reader.list_spellings(fold_name(name))
    return known[0] if known else unicodedata.normalize("NFC", name)


def list_spellings(reader: IndexReader, name: str) -> tuple[str, ...]:
    """Return every spelling that files use of the workspace that a name means; the name itself if it is new."""
    return tuple(reader.list_spellings(fold_name(name))) or (name,)
