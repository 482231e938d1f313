"""Files of other programs change, grow, break and vanish at any moment: an answer is of the new text or says so."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.session import Session
from onrecord.app.sources import list_sources
from onrecord.domain.errors import DamagedError, InvalidInputError, LockTimeoutError, NewerFormatError, NotFoundError
from onrecord.domain.limits import SOURCE_FILE_MAX_BYTES
from onrecord.storage.files import source_files
from tests.sources import add, call_as, use_sources
from tests.vaults import make_vault, open_session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Give an empty vault that may have sources."""
    make_vault(tmp_path / "vault")
    opened = open_session(tmp_path / "vault", tmp_path / "state")
    use_sources(opened, tmp_path / "vault", tmp_path / "state")
    yield opened
    opened.close()


def search(session: Session, query: str) -> tuple[list[str], list[str]]:
    """Return the texts found and why the answer is less than it could be."""
    reply = find(session, {"query": query, "mode": "full", "limit": 50})
    results = reply.data["results"]
    assert isinstance(results, list)
    return [hit["text"] for hit in results], [item.reason for item in reply.degraded]


def list_reasons(session: Session) -> set[str]:
    """Return why files are left out."""
    left = list_sources(session, {}).data["left_out"]
    assert isinstance(left, list)
    return {item["reason"] for item in left}


def test_a_save_that_stat_alone_cannot_tell_is_never_answered_with_the_old_text(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("kumquat old!\n")
    add(session, path, "notes")
    assert search(session, "kumquat")[0] == ["kumquat old!"]
    known = source_files._describe
    state = os.stat(path)
    monkeypatch.setattr(source_files, "_describe", lambda name, _: known(name, state))
    path.write_text("kumquat new!\n")
    assert search(session, "old") == ([], [])
    assert search(session, "kumquat") == (["kumquat new!"], [])


def test_a_save_that_keeps_size_and_time_is_seen_by_the_time_of_the_change(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("kumquat old!\n")
    before = os.stat(path)
    add(session, path, "notes")
    assert search(session, "kumquat")[0] == ["kumquat old!"]
    path.write_text("quandong new\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert search(session, "kumquat") == ([], [])
    assert search(session, "quandong")[0] == ["quandong new"]


def test_a_file_that_is_replaced_while_it_is_read_is_read_again(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("kumquat one\n")
    add(session, path, "notes")
    path.write_text("kumquat two two\n")
    opened = os.fdopen
    changes: list[int] = []
    most = 1

    class Changing:
        def __init__(self, file: IO[Any]) -> None:
            self.file = file

        def read(self, size: int) -> Any:
            data = self.file.read(size)
            if len(changes) < most:
                changes.append(1)
                path.write_text(f"kumquat torn {'x' * len(changes)}\n")
            return data

    @contextmanager
    def open_and_change(fd: int, mode: str) -> Iterator[Changing]:
        with opened(fd, mode) as file:
            yield Changing(file)

    for most, found in ((1, True), (1_000, False)):  # noqa: B007  - read by Changing
        with monkeypatch.context() as patch:
            patch.setattr(source_files.os, "fdopen", open_and_change)
            texts, degraded = search(session, "kumquat")
        assert texts == ([path.read_text().strip()] if found else [])
        assert degraded == [] or not found
        changes.clear()
        path.write_text("kumquat three three three\n")


@pytest.mark.parametrize("change", ["truncated", "unlinked", "folder", "grown", "nul", "link"])
def test_what_a_file_said_is_gone_with_it(session: Session, tmp_path: Path, change: str) -> None:
    path, other = tmp_path / "notes.md", tmp_path / "other.md"
    path.write_text("# a\nkumquat\n# b\nkumquat\n")
    other.write_text("kumquat other")
    add(session, path, "notes")
    hits = find(session, {"query": "kumquat"}).data["results"]
    assert isinstance(hits, list)
    path.unlink()
    match change:
        case "truncated":
            path.touch()
        case "folder":
            path.mkdir()
        case "grown":
            path.write_bytes(b"kumquat " * (SOURCE_FILE_MAX_BYTES // 8) + b"x")
        case "nul":
            path.write_bytes(b"kumquat\0")
        case "link":
            path.symlink_to(other)
    assert search(session, "kumquat")[0] == []
    for hit in hits:
        with pytest.raises(NotFoundError):
            read(session, {"id": hit["id"]})
    assert search(call_as(session), "kumquat")[0] == []
    assert (list_reasons(session) == set()) == (change == "truncated")
    codes = {item["code"] for item in diagnose(session, {}).data["findings"]}  # type: ignore[attr-defined]
    assert ("source_unavailable" in codes) == (change != "truncated")


def test_a_file_at_the_limit_is_read_and_one_byte_above_it_is_not(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"\n" * (SOURCE_FILE_MAX_BYTES - 7) + b"kumquat")
    add(session, path, "notes")
    assert search(session, "kumquat")[0] == ["kumquat"]
    with path.open("ab") as file:
        file.write(b"\n")
    assert search(session, "kumquat") == ([], [])
    assert list_reasons(session) == {f"the file is above {SOURCE_FILE_MAX_BYTES} bytes"}
    copy = tmp_path / "copy.txt"
    copy.write_bytes(path.read_bytes())
    with pytest.raises(InvalidInputError):
        add(session, copy, "copy")


def test_every_encoding_of_text_is_found_and_what_is_none_is_named(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        (folder / f"{encoding}.md").write_bytes("# Käse\r\nkumquat Käse\r\n".encode(encoding))
    (folder / "cjk.md").write_text("# 部署\n金柑の数据库は毎週火曜日に更新する\n")
    (folder / "bare.md").write_bytes("kumquat".encode("utf-16-le"))
    add(session, folder, "notes")
    assert search(session, "kumquat")[0] == ["# Käse\r\nkumquat Käse"] * 4
    assert search(session, "数据库")[0] == ["# 部署\n金柑の数据库は毎週火曜日に更新する"]
    assert list_reasons(session) == {"it holds the character U+0000, so it is no text"}


def test_a_file_that_cannot_be_opened_is_named_with_the_reason(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("kumquat")
    add(session, path, "notes")
    opened = os.open

    def refuse(name: str, *more: Any, **options: Any) -> int:
        if name == "notes.md":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(name, *more, **options)

    os.utime(path)
    with monkeypatch.context() as patch:
        patch.setattr(source_files.os, "open", refuse)
        assert search(session, "kumquat") == ([], [])
        assert list_reasons(session) == {"it cannot be read: Permission denied"}
    assert search(call_as(session), "kumquat")[0] == ["kumquat"]


def test_while_another_process_writes_what_changed_is_left_out_and_said(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("kumquat old\n")
    add(session, path, "notes")

    @contextmanager
    def refuse(wait_s: float | None = None) -> Iterator[None]:
        raise LockTimeoutError("busy")
        yield

    path.write_text("kumquat brand new\n")
    with monkeypatch.context() as patch:
        patch.setattr(session.store, "hold", refuse)
        for asking in (session, call_as(session)):
            assert search(asking, "kumquat") == ([], ["reconciling"])
    assert search(session, "kumquat") == (["kumquat brand new"], [])


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"v":1}\n', b'{"sources":[{"name":"x"}],"v":1}\n', b'{"sources":[],"v":2}\n']
)
def test_a_damaged_list_gives_no_source_is_named_and_kept(session: Session, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "notes.md"
    path.write_text("kumquat")
    add(session, path, "notes")
    (listed,) = (tmp_path / "state").rglob("sources.json")
    listed.write_bytes(data)
    assert search(session, "kumquat")[0] == []
    codes = {item["code"] for item in diagnose(session, {}).data["findings"]}  # type: ignore[attr-defined]
    assert "state_sources_unreadable" in codes
    with pytest.raises((DamagedError, NewerFormatError)):
        add(session, path, "again")
    assert listed.read_bytes() == data


def test_a_list_that_was_half_written_is_written_anew(session: Session, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("kumquat")
    (folder,) = (tmp_path / "state" / "vaults").glob("*[0-9a-f]")
    (folder / "sources.json.tmp").write_bytes(b"{")
    add(session, tmp_path / "notes.md", "notes")
    assert search(session, "kumquat")[0] == ["kumquat"]
    assert not (folder / "sources.json.tmp").exists()


def test_a_large_folder_is_compared_in_pieces_and_says_so(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "0.md").write_text("kumquat")
    add(session, folder, "notes")
    for number in range(1, 50):
        (folder / f"{number}.md").write_text(f"kumquat {number}")
    asking = call_as(session)
    texts, degraded = search(asking, "kumquat")
    assert len(texts) < 50
    assert degraded == ["reconciling"]
    for _ in range(5):
        texts, degraded = search(asking, "kumquat")
    assert (len(texts), degraded) == (50, [])


def test_more_files_than_the_limit_are_named(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_files, "SOURCE_FILES_MAX_COUNT", 3)
    monkeypatch.setattr(source_files, "SOURCE_MAX_DEPTH", 2)
    folder = tmp_path / "folder"
    for name in ("a.md", "b.md", "x/y/c.md", "x/y/z/d.md", "e.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("kumquat")
    add(session, folder, "notes")
    assert len(search(session, "kumquat")[0]) == 3
    assert list_reasons(session) == {"what lies beyond 3 files or 20000 names of the folder"}
    (folder / "e.md").unlink()
    assert list_reasons(session) == {"it lies deeper than 2 folders"}


def test_a_source_that_cannot_be_added_leaves_no_trace(session: Session, tmp_path: Path) -> None:
    for place in (tmp_path / "absent", tmp_path / "vault"):
        with pytest.raises((NotFoundError, InvalidInputError)):
            add(session, place, "notes")
    assert list((tmp_path / "state").rglob("sources.json")) == []
