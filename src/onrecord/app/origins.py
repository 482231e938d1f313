"""Which origin a version gets: words that were said before are trusted no more for being written again."""

from __future__ import annotations

from onrecord.domain.ids import RecordId
from onrecord.domain.trust import choose_weakest
from onrecord.ports.index import IndexReader


def weigh_origin(reader: IndexReader, record: RecordId, text_sha256: bytes, origin: str) -> str:
    """Return the origin of a record's next version: the writer's, or the weakest that the same text has had.

    So does a change of tags alone, or the same words written into a file that is behind, raise no trust.

    Args:
        reader: Reads the index.
        record: The record.
        text_sha256: The hash of the text that the version is to have (`indexing.hash_text`).
        origin: Of who writes it.
    """
    said = (head.origin for head in reader.list_versions(record) if head.text_sha256 == text_sha256)
    return choose_weakest((origin, *said))
