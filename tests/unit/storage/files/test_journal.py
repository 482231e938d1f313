"""The journal's bytes: what a reader takes of them, and what it calls damage."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from onrecord.domain.errors import DamagedError
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.journal import Journal, decode_frames, encode_frame
from tests.vectors import load_vectors

JOURNALS = [pytest.param(item, id=item["name"]) for item in load_vectors("journal.json")["journals"]]
# A frame that is not whole, with one behind it that is: it was acknowledged.
DAMAGED = {"flipped_bit", "flipped_length", "another_mark"}


@pytest.mark.parametrize("vector", JOURNALS)
def test_a_reader_takes_the_frames_of_the_vectors(vector: dict[str, Any]) -> None:
    frames = decode_frames(vector["generation"], b64decode(vector["b64"]))
    assert [frame.payload for frame in frames] == [b64decode(payload) for payload in vector["payloads"]]
    assert (frames[-1].end if frames else 0) == vector["end"]


@pytest.mark.parametrize("vector", JOURNALS)
def test_the_journal_stops_where_the_vectors_say_or_calls_it_damage(vector: dict[str, Any], tmp_path: Path) -> None:
    disk = Disk(str(tmp_path))
    journal = Journal(disk, vector["generation"])
    (tmp_path / journal.name).write_bytes(b64decode(vector["b64"]))
    if vector["name"] in DAMAGED:
        with pytest.raises(DamagedError):
            journal.read_new()
    else:
        journal.read_new()
        assert journal.end == vector["end"]
    disk.close()


def test_what_is_written_is_the_first_vector() -> None:
    whole = JOURNALS[0].values[0]
    made = b""
    for payload in whole["payloads"]:
        made += encode_frame(whole["generation"], len(made), b64decode(payload))
    assert made == b64decode(whole["b64"])
