"""Packing what is sealed: a crash behind any step leaves every line, and the next packing ends what was begun."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.storage.files.disk import Disk
from onrecord.storage.files.sealing import find_torn_pairs, pack_sealed
from onrecord.storage.files.segments import SegmentReader
from tests.fault.power import Recording, RecordingDisk, cut_power, draw_fates, keep_everything, keep_nothing
from tests.fault.power import load_model as load_disks
from tests.fault.power import write_model as write_disks
from tests.unit.storage.files.test_packed_segments import make_lines

_SEGMENTS = [make_lines(range(start, start + 100)) for start in (0, 100, 200)]
_LINES = [line for data in _SEGMENTS for line in data.split(b"\n")[:-1]]
_PRIMITIVES = ("write_new", "sync", "rename", "sync_folder", "unlink")


class Killed(BaseException):
    """The process is gone."""


def make_store(tmp_path: Path) -> Path:
    folder = tmp_path / "vault/store"
    folder.mkdir(parents=True)
    for number, data in enumerate(_SEGMENTS):
        (folder / f"{number:08d}.jsonl").write_bytes(data)
    return folder


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def read_all(root: Path) -> list[bytes]:
    return list(SegmentReader(Disk(str(root)), "store").read_lines())


def make_killing_disk(root: Path, step: int) -> Disk:
    """Return a disk that is no more before its n-th primitive."""
    done = 0

    def wrap(name: str) -> object:
        plain = getattr(Disk, name)

        def call(self: Disk, *given: object) -> object:
            nonlocal done
            done += 1
            if done == step:
                raise Killed
            return plain(self, *given)

        return call

    return type("KillingDisk", (Disk,), {name: wrap(name) for name in _PRIMITIVES})(str(root))


def test_sealed_segments_are_packed_and_the_newest_is_not(tmp_path: Path) -> None:
    folder = make_store(tmp_path)
    pack_sealed(Disk(str(tmp_path / "vault")), "store", 2)
    assert list_names(folder) == ["00000000.jsonl.gz", "00000001.jsonl.gz", "00000002.jsonl"]
    assert read_all(tmp_path / "vault") == _LINES


def test_a_kill_before_any_step_loses_no_line(tmp_path: Path) -> None:
    step = 0
    while True:
        step += 1
        shutil.rmtree(tmp_path / "vault", ignore_errors=True)
        folder = make_store(tmp_path)
        try:
            pack_sealed(make_killing_disk(tmp_path / "vault", step), "store", 2)
        except Killed:
            assert read_all(tmp_path / "vault") == _LINES
            assert list(find_torn_pairs(Disk(str(tmp_path / "vault")), "store", is_own=True)) == []
            pack_sealed(Disk(str(tmp_path / "vault")), "store", 2)
            assert list_names(folder) == ["00000000.jsonl.gz", "00000001.jsonl.gz", "00000002.jsonl"]
            assert read_all(tmp_path / "vault") == _LINES
            continue
        break
    assert step == 2 * len(_PRIMITIVES) + 1


def test_a_power_cut_behind_any_step_loses_no_line(tmp_path: Path) -> None:
    make_store(tmp_path)
    start, recording = load_disks({"vault": tmp_path / "vault"}), Recording()
    pack_sealed(RecordingDisk(str(tmp_path / "vault"), "vault", recording), "store", 2)
    for at in range(len(recording.ops) + 1):
        for fate in (keep_nothing, keep_everything, *map(draw_fates, range(at * 10, at * 10 + 4))):
            write_disks(cut_power(start, recording.ops[:at], fate), {"vault": tmp_path / "cut"})
            assert read_all(tmp_path / "cut") == _LINES
            pack_sealed(Disk(str(tmp_path / "cut")), "store", 2)
            assert read_all(tmp_path / "cut") == _LINES


def test_a_full_disk_leaves_the_segment_as_it_is(tmp_path: Path) -> None:
    folder = make_store(tmp_path)

    class FullDisk(Disk):
        def _write_all(self, fd: int, data: bytes, offset: int) -> None:
            raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        pack_sealed(FullDisk(str(tmp_path / "vault")), "store", 2)
    assert list_names(folder) == [f"{number:08d}.jsonl" for number in range(3)]


def test_a_shorter_plain_form_of_the_same_goes_and_another_one_stays_and_is_named(tmp_path: Path) -> None:
    folder = make_store(tmp_path)
    disk = Disk(str(tmp_path / "vault"))
    pack_sealed(disk, "store", 2)
    plain = folder / "00000000.jsonl"
    plain.write_bytes(_SEGMENTS[0][:5_000])
    assert list(find_torn_pairs(disk, "store", is_own=True)) == []
    pack_sealed(disk, "store", 2)
    assert not plain.exists()
    for other in (_SEGMENTS[0] + b"more\n", _SEGMENTS[0].replace(b"0000001", b"aaaaaaa"), b"x"):
        plain.write_bytes(other)
        pack_sealed(disk, "store", 2)
        assert plain.read_bytes() == other
        (problem,) = find_torn_pairs(disk, "store", is_own=True)
        assert (problem.code, problem.path) == ("damaged", "store/00000000.jsonl.gz")


def test_what_cannot_be_packed_stays(tmp_path: Path) -> None:
    folder = make_store(tmp_path)
    (folder / "00000000.jsonl").write_bytes(b"no row\n")
    pack_sealed(Disk(str(tmp_path / "vault")), "store", 2)
    assert list_names(folder) == ["00000000.jsonl", "00000001.jsonl.gz", "00000002.jsonl"]


def test_however_many_are_sealed_all_are_packed(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number:08d}.jsonl").write_bytes(make_lines(range(number * 2, number * 2 + 2)))
    pack_sealed(Disk(str(tmp_path)), "store", 29)
    assert list_names(folder) == [*(f"{number:08d}.jsonl.gz" for number in range(29)), "00000029.jsonl"]
    assert len(read_all(tmp_path)) == 60
