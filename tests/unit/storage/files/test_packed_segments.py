"""A packed segment gives the lines back that it was made of, by gunzip and by its table; what is damaged is named."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path

import pytest

from onrecord.domain.errors import DamagedError
from onrecord.storage.files import packed_segments
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.packed_segments import PackedReader, pack_lines, read_seq
from onrecord.storage.files.row_places import RowPlaces
from onrecord.storage.files.segments import SegmentReader

_HEAD_BYTES = 16


def make_lines(seqs: range, padding: int = 900) -> bytes:
    return b"".join(b'{"padding":"%s","seq":%d}\n' % (b"%07d" % seq * (padding // 7), seq) for seq in seqs)


def pack(data: bytes) -> bytes:
    packed = pack_lines(data)
    assert packed is not None
    return packed


def make_store(tmp_path: Path, *segments: bytes, packed: int) -> SegmentReader:
    """Write segments, the first few packed."""
    folder = tmp_path / "store"
    folder.mkdir(exist_ok=True)
    for number, data in enumerate(segments):
        name = f"{number:08d}.jsonl" + (".gz" if number < packed else "")
        (folder / name).write_bytes(pack(data) if number < packed else data)
    return SegmentReader(Disk(str(tmp_path)), "store")


@pytest.mark.parametrize("padding", [0, 900, 200_000])
def test_gunzip_and_the_reader_give_the_lines_back(tmp_path: Path, padding: int) -> None:
    data = make_lines(range(0, 600, 3) if padding < 1_000 else range(3), padding)
    assert gzip.decompress(pack(data)) == data
    reader = make_store(tmp_path, data, packed=1)
    assert list(reader.read_lines()) == data.split(b"\n")[:-1]
    middle = data.index(b"\n", len(data) // 2) + 1
    assert list(reader.read_lines(0, middle)) == data[middle:].split(b"\n")[:-1]
    assert reader.read_part(0, middle - 1, 100_000) == data[middle - 1 : middle + 99_999]


def test_a_row_is_read_by_inflating_one_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_lines(range(2_000))
    reader = make_store(tmp_path, data, make_lines(range(2_000, 2_010)), packed=1)
    asked: list[int] = []
    inflate = PackedReader._inflate

    def count(self: PackedReader, segment: packed_segments.PackedSegment, number: int) -> bytes:
        asked.append(number)
        return inflate(self, segment, number)

    monkeypatch.setattr(PackedReader, "_inflate", count)
    for seq in (1_000, 3, 1_999):
        asked.clear()
        assert read_seq(RowPlaces().read(reader, seq) or b"") == seq
        assert len(asked) <= 1


def test_a_place_that_was_learnt_holds_when_the_segment_is_packed(tmp_path: Path) -> None:
    data = make_lines(range(0, 2_000, 2))
    reader, places = make_store(tmp_path, data, packed=0), RowPlaces()
    assert read_seq(places.read(reader, 100) or b"") == 100
    (tmp_path / "store/00000000.jsonl.gz").write_bytes(pack(data))
    (tmp_path / "store/00000000.jsonl").unlink()
    for seq in (100, 340, 102, 1_998, 0):
        assert read_seq(places.read(reader, seq) or b"") == seq
    assert read_seq(places.read(reader, 101) or b"") == 102
    assert places.read(reader, 2_000) is None


def test_lines_are_read_on_while_the_segment_is_packed(tmp_path: Path) -> None:
    data = make_lines(range(3_000))
    reader = make_store(tmp_path, data, packed=0)
    lines = reader.read_lines()
    got = [next(lines) for _ in range(10)]
    (tmp_path / "store/00000000.jsonl.gz").write_bytes(pack(data))
    (tmp_path / "store/00000000.jsonl").unlink()
    assert got + list(lines) == data.split(b"\n")[:-1]


def test_of_both_forms_the_plain_one_is_read_unless_it_is_shorter(tmp_path: Path) -> None:
    data = make_lines(range(10))
    reader = make_store(tmp_path, data, packed=1)
    plain = tmp_path / "store/00000000.jsonl"
    plain.write_bytes(data.replace(b"0000001", b"aaaaaaa"))
    assert b"a" * 7 in b"".join(reader.read_lines())
    plain.write_bytes(make_lines(range(5)))
    assert len(list(reader.read_lines())) == 10
    packed = tmp_path / "store/00000000.jsonl.gz"
    packed.write_bytes(packed.read_bytes()[:-1])
    assert len(list(reader.read_lines())) == 5


def test_lines_that_cannot_be_told_apart_again_are_not_packed() -> None:
    assert pack_lines(b"") is None
    assert pack_lines(make_lines(range(3))[:-1]) is None
    assert pack_lines(b"no row\n" * 3) is None


def _forge(data: bytes, packed: int | None = None, unpacked: int | None = None, seq: int | None = None) -> bytes:
    """Return a packed segment of one member whose table says something else."""
    whole = pack(data)
    row = list(struct.unpack_from("<IIQ", whole, _HEAD_BYTES))
    for place, value in enumerate((packed, unpacked, seq)):
        row[place] = row[place] if value is None else value
    return whole[:_HEAD_BYTES] + struct.pack("<IIQ", *row) + whole[_HEAD_BYTES + 16 :]


def _make_bomb(size: int) -> bytes:
    """Return a packed segment of one member that unpacks to `size` bytes of one line."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    member = b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()
    whole = pack(make_lines(range(1)))
    row = struct.pack("<IIQ", len(member), size, 0)
    return whole[:_HEAD_BYTES] + row + whole[_HEAD_BYTES + 16 : _HEAD_BYTES + 26] + member


_LINES = make_lines(range(20))
HOSTILE = {
    "empty": b"",
    "cut in the head": pack(_LINES)[:20],
    "cut in the member": pack(_LINES)[:-9],
    "more behind": pack(_LINES) + b"more",
    "a member more behind": pack(_LINES) + gzip.compress(_LINES),
    "another CRC": pack(_LINES)[:-8] + bytes(4) + pack(_LINES)[-4:],
    "plain gzip": gzip.compress(_LINES),
    "another extra field": pack(_LINES).replace(b"OR", b"BC", 1),
    "no member": pack(_LINES)[:10] + struct.pack("<HBBH", 4, *b"OR", 0) + b"\x03\x00" + bytes(8),
    "a table that says less": _forge(_LINES, unpacked=len(_LINES) - 1),
    "a table that says more": _forge(_LINES, unpacked=len(_LINES) + 1),
    "a table that says far more": _forge(_LINES, unpacked=(1 << 32) - 1),
    "a table that says nothing": _forge(_LINES, unpacked=0),
    "a table of another seq": _forge(_LINES, seq=7),
    "bytes that are not there": _forge(_LINES, packed=1 << 30),
    "not text": b"\x1f\x8b" + bytes(400),
    "a bomb": _make_bomb(80 << 20),
    "a member that is no line": _make_bomb(8 << 20),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_packed_segment_is_damaged(tmp_path: Path, name: str) -> None:
    reader = make_store(tmp_path, _LINES, packed=0)
    (tmp_path / "store/00000000.jsonl").unlink()
    (tmp_path / "store/00000000.jsonl.gz").write_bytes(HOSTILE[name])
    with pytest.raises(DamagedError):
        list(reader.read_lines())
    with pytest.raises(DamagedError):
        RowPlaces().read(reader, 3)


def test_no_more_is_inflated_than_the_table_says(tmp_path: Path) -> None:
    bomb = _make_bomb(32 << 20)
    small = struct.pack("<IIQ", *(struct.unpack_from("<I", bomb, _HEAD_BYTES)[0], 60, 0))
    (tmp_path / "a.gz").write_bytes(bomb[:_HEAD_BYTES] + small + bomb[_HEAD_BYTES + 16 :])
    reader = PackedReader(Disk(str(tmp_path)))
    segment = reader.open("a.gz", (tmp_path / "a.gz").stat())
    sizes: list[int] = []
    make_inflater = zlib.decompressobj

    class Counting:
        def __init__(self, window: int) -> None:
            self._inner = make_inflater(window)

        def decompress(self, data: bytes, limit: int) -> bytes:
            found = self._inner.decompress(data, limit)
            sizes.append(len(found))
            return found

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_segments.zlib, "decompressobj", Counting)
        with pytest.raises(DamagedError):
            reader.read_member(segment, 0)
    assert sizes == [61]


def test_a_damaged_segment_hides_its_own_lines_alone(tmp_path: Path) -> None:
    reader = make_store(tmp_path, *(make_lines(range(start, start + 9)) for start in (0, 10, 20, 30)), packed=3)
    packed = tmp_path / "store/00000001.jsonl.gz"
    packed.write_bytes(packed.read_bytes()[:-1])
    for seq in (0, 8, 20, 28, 30, 38):
        assert read_seq(RowPlaces().read(reader, seq) or b"") == seq
    with pytest.raises(DamagedError):
        RowPlaces().read(reader, 15)
