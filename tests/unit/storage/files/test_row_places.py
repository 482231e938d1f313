"""Rows are found again where they were; what has changed under them is searched for anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.domain.ids import EntryRef, LogId, RecordId, Seq
from onrecord.domain.instants import Instant
from onrecord.ports.store import Actor, VersionDraft, VersionRow
from onrecord.storage.files import row_places
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.packed_segments import pack_lines, read_seq
from onrecord.storage.files.row_places import KeptRows, RowPlaces
from onrecord.storage.files.segments import SegmentReader

_LOG = LogId("a" * 12)


class CountingReader(SegmentReader):
    """Counts the searches from the beginning."""

    searches = 0

    def find_line(self, seq: int) -> tuple[int, int] | None:
        self.searches += 1
        return super().find_line(seq)


def _write(folder: Path, seqs: range, padding: str, segment: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f'{{"padding":"{padding}","seq":{seq},"text":"{{\\"seq\\":7,}}"}}\n' for seq in seqs]
    (folder / f"{segment:08}.jsonl").write_text("".join(lines))


def _open(tmp_path: Path) -> CountingReader:
    return CountingReader(Disk(str(tmp_path)), "store")


def test_rows_of_a_stretch_cost_one_search_in_any_order(tmp_path: Path) -> None:
    _write(tmp_path / "store", range(0, 300, 2), "x" * 900)
    reader, places = _open(tmp_path), RowPlaces()
    assert read_seq(places.read(reader, 2) or b"") == 2
    for seq in (298, 100, 4, 200, 6, 298):
        assert read_seq(places.read(reader, seq) or b"") == seq
    assert reader.searches == 1


def test_what_was_read_last_tells_whole_rows_without_a_look_at_the_disk_and_no_others(tmp_path: Path) -> None:
    _write(tmp_path / "store", range(0, 300, 2), "x" * 900)
    reader, places = _open(tmp_path), RowPlaces()
    assert places.read_known(4) is None
    for seq in (2, 4):
        places.read(reader, seq)
    (tmp_path / "store" / "00000000.jsonl").unlink()
    assert read_seq(places.read_known(6) or b"") == 6
    told = [seq for seq in range(300) if places.read_known(seq) is not None]
    assert 15 < len(told) < 40
    assert all(seq % 2 == 0 and read_seq(places.read_known(seq) or b"") == seq for seq in told)


def test_rows_of_a_packed_segment_cost_one_search_in_any_order(tmp_path: Path) -> None:
    _write(tmp_path / "store", range(0, 300, 2), "x" * 900)
    _write(tmp_path / "store", range(300, 310), "", segment=1)
    packed = pack_lines((tmp_path / "store/00000000.jsonl").read_bytes())
    assert packed is not None
    (tmp_path / "store/00000000.jsonl.gz").write_bytes(packed)
    (tmp_path / "store/00000000.jsonl").unlink()
    reader, places = _open(tmp_path), RowPlaces()
    for seq in (100, 298, 0, 7 * 2, 200, 298):
        assert read_seq(places.read(reader, seq) or b"") == seq
    assert reader.searches == 1
    assert read_seq(places.read(reader, 7) or b"") == 8
    assert read_seq(places.read(reader, 299) or b"") == 300


@pytest.mark.parametrize("padding", ["", "x" * 900, "y" * 100_000])
def test_every_row_is_found_whatever_its_length(tmp_path: Path, padding: str) -> None:
    _write(tmp_path / "store", range(40), padding)
    _write(tmp_path / "store", range(40, 60), padding, segment=1)
    reader, places = _open(tmp_path), RowPlaces()
    for seq in (7, 3, 41, 59, 0, 40, 39, 1, 58, 7, 0):
        assert read_seq(places.read(reader, seq) or b"") == seq
    assert places.read(reader, 60) is None


def test_a_row_that_lacks_gives_the_next_one_as_a_search_does(tmp_path: Path) -> None:
    _write(tmp_path / "store", range(0, 300, 2), "x")
    reader, places = _open(tmp_path), RowPlaces()
    places.read(reader, 2)
    assert read_seq(places.read(reader, 5) or b"") == 6


def test_an_older_store_that_was_put_back_is_searched_anew(tmp_path: Path) -> None:
    _write(tmp_path / "store", range(100), "x" * 500)
    reader, places = _open(tmp_path), RowPlaces()
    places.read(reader, 1)
    _write(tmp_path / "store", range(50), "x" * 77)
    assert read_seq(places.read(reader, 33) or b"") == 33
    assert places.read(reader, 70) is None


def test_a_line_without_its_end_is_not_there(tmp_path: Path) -> None:
    _write(tmp_path / "store", range(10), "x")
    with (tmp_path / "store" / "00000000.jsonl").open("a") as file:
        file.write('{"padding":"","seq":10,"text":""}')
    reader, places = _open(tmp_path), RowPlaces()
    places.read(reader, 1)
    assert places.read(reader, 10) is None


def _row(seq: int, data: bytes = b"text\n") -> VersionRow:
    draft = VersionDraft(RecordId("b" * 12), 1, "note", "memories/a.md", data, "file", "default")
    return VersionRow(
        EntryRef(_LOG, Seq(seq)), "record.observe", draft, Instant("2026-01-01T00:00:00Z"), b"", "", Actor()
    )


def test_rows_are_kept_while_the_lock_is_held_and_no_longer() -> None:
    asked: list[EntryRef] = []

    def read(ref: EntryRef) -> VersionRow:
        asked.append(ref)
        return _row(ref.seq)

    kept = KeptRows(read)
    with kept.keeping():
        assert kept.read(EntryRef(_LOG, Seq(1))) == kept.read(EntryRef(_LOG, Seq(1)))
        assert len(asked) == 1
    kept.read(EntryRef(_LOG, Seq(1)))
    kept.read(EntryRef(_LOG, Seq(1)))
    assert len(asked) == 3


def test_few_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def read(ref: EntryRef) -> VersionRow:
        asked.append(ref.seq)
        return _row(ref.seq, b"x" * 60)

    monkeypatch.setattr(row_places, "_KEPT_MAX_BYTES", 100)
    kept = KeptRows(read)
    with kept.keeping():
        for seq in (1, 2, 2, 1):
            kept.read(EntryRef(_LOG, Seq(seq)))
    assert asked == [1, 2, 1]
