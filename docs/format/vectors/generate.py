"""Writes the test vectors of the format: `python docs/format/vectors/generate.py [FOLDER]`.

A small second implementation of docs/format in the standard library and `cryptography`; it imports nothing of
the product. All keys and salts are fixed and worthless. The output is the same on every run.
"""

import json
import sys
from pathlib import Path

from document_vectors import make_front_matter_vectors, make_name_vectors, make_record_vectors
from entry_vectors import make_canonical_vectors, make_commitment_vectors, make_entry_vectors, make_id_vectors
from instants import make_vectors as make_instant_vectors
from log_vectors import make_log_vectors
from proofs import make_checkpoint_vectors, make_journal_vectors, make_tree_vectors
from transcripts import make_transcript_vectors

FILES = {
    "canonical.json": make_canonical_vectors,
    "ids.json": make_id_vectors,
    "names.json": make_name_vectors,
    "front_matter.json": make_front_matter_vectors,
    "record.json": make_record_vectors,
    "transcript.json": make_transcript_vectors,
    "commitment.json": make_commitment_vectors,
    "entries.json": make_entry_vectors,
    "tree.json": make_tree_vectors,
    "checkpoint.json": make_checkpoint_vectors,
    "log.json": make_log_vectors,
    "instants.json": make_instant_vectors,
    "journal.json": make_journal_vectors,
}


def main(folder):
    """Write every file into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        text = json.dumps(make(), indent=1, ensure_ascii=True, sort_keys=False)
        (folder / name).write_bytes(text.encode("ascii") + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
