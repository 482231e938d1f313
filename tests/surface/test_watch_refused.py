"""The watch names files that cannot be memories as they lie, each once, and says when they can."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from onrecord.ports.watching import Hints
from onrecord.storage.files.disk import Disk
from tests.surface.test_watch import Room, room

__all__ = ["room"]


class UnreadableDisk(Disk):
    """A disk with a file that cannot be read while the test says so."""

    is_closed = False

    @contextmanager
    def _open(self, path: str, flags: int) -> Iterator[int]:
        if UnreadableDisk.is_closed and path.endswith("shut.md"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        with super()._open(path, flags) as fd:
            yield fd


def list_refusals(room: Room) -> list[tuple[str, str, str]]:
    return [
        (event.kind, event.path.rpartition("/")[2], event.code)
        for event in room.events
        if event.kind in ("problem", "mended")
    ]


@pytest.mark.parametrize("is_hinted", [True, False])
def test_a_file_that_cannot_be_a_memory_is_told_once_and_when_it_is_mended(room: Room, *, is_hinted: bool) -> None:
    names = ("fifo.md", "large.md", "link.md", "shut.md")

    def look() -> Hints:
        if is_hinted:
            return Hints(frozenset(os.path.join(os.path.realpath(room.notes), name) for name in names))
        room.clock.pass_s(601)
        return Hints()

    def spoil() -> Hints:
        os.mkfifo(room.notes / "fifo.md")
        (room.notes / "large.md").touch()
        os.truncate(room.notes / "large.md", 9 << 20)
        (room.notes / "link.md").symlink_to("/dev/null")
        UnreadableDisk.is_closed = True
        (room.notes / "shut.md").write_text("shut off\n")
        return look()

    def mend() -> Hints:
        for name in names[:3]:
            (room.notes / name).unlink()
        (room.notes / "fifo.md").write_text("a file now\n")
        UnreadableDisk.is_closed = False
        os.utime(room.notes / "shut.md")
        return look()

    room.make_disk = UnreadableDisk
    try:
        room.run(spoil, look, look, mend, look)
    finally:
        UnreadableDisk.is_closed = False
    codes = ("not_a_regular_file", "file_too_large", "not_a_regular_file", "not_a_regular_file")
    told = [("problem", name, code) for name, code in zip(names, codes, strict=True)]
    assert list_refusals(room) == [*told, *(("mended", *item[1:]) for item in told)]
    assert [name for kind, name, _ in room.list_told() if kind == "version"] == ["fifo.md", "shut.md"]


def test_what_cannot_be_a_memory_already_is_told_as_the_watch_begins(room: Room) -> None:
    (room.notes / "link.md").symlink_to("/dev/null")
    room.run(lambda: None, lambda: None)
    assert list_refusals(room) == [("problem", "link.md", "not_a_regular_file")]
