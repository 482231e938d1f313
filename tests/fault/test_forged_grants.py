"""What of the state folder gives a right counts only under the installation's secret; what is forged gives none."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.links import link
from onrecord.app.remember import remember
from onrecord.app.replay import replay
from onrecord.app.session import Channel, Session
from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.seal import Seal
from tests.sources import add, use_sources
from tests.vaults import make_vault, open_session

LINE = {
    "v": 1, "op": "remember", "key": "A" * 22, "at": "2026-11-30T18:00:00.000000Z", "channel": "terminal", "client": "",
    "agent": "", "args": {"text": "kumquat forged", "title": "Forged"},
}  # fmt: skip
SEALS = [b"}", b',"mac":""}', b',"mac":"' + b"A" * 43 + b'"}', b',"mac":1}']


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Give an empty vault with notes beside it that nobody allowed."""
    make_vault(tmp_path / "vault")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "note.md").write_text("kumquat private\n")
    opened = open_again(tmp_path)
    yield opened
    opened.close()


def open_again(base: Path) -> Session:
    opened = open_session(base / "vault", base / "state", channel=Channel.TERMINAL)
    use_sources(opened, base / "vault", base / "state")
    return opened


def find_state(base: Path) -> Path:
    (path,) = (base / "state").rglob("head.json")
    return path.parent


def search(session: Session) -> list[str]:
    results = find(session, {"query": "kumquat", "mode": "full"}).data["results"]
    assert isinstance(results, list)
    return [hit["text"].strip() for hit in results]


def forge(shape: object, seal: bytes) -> bytes:
    return json.dumps(shape, separators=(",", ":"), sort_keys=True).encode()[:-1] + seal + b"\n"


def list_codes(session: Session) -> set[str]:
    findings = diagnose(session, {}).data["findings"]
    assert isinstance(findings, list)
    return {item["code"] for item in findings}


def list_link(base: Path) -> object:
    """Return what links.json would have to hold for a link to the private notes, and plant that link."""
    found = os.stat(base / "private")
    place = base / "vault" / "memories" / "lnk"
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(base / "private")
    row = {"path": "memories/lnk", "target": str(base / "private"), "dev": found.st_dev, "ino": found.st_ino}
    return {"v": 1, "links": [row]}


@pytest.mark.parametrize("seal", SEALS)
def test_a_forged_line_of_the_backup_is_never_written_is_kept_and_named(
    session: Session, tmp_path: Path, seal: bytes
) -> None:
    (find_state(tmp_path) / "backup.jsonl").write_bytes(forge(LINE, seal))
    assert [item["line"] for item in replay(session, {"dry_run": True}).data["failed"]] == [1]  # type: ignore[attr-defined]
    data = replay(session, {}).data
    assert (data["replayed"], data["remaining"]) == (0, 0)
    assert "seal" in data["failed"][0]["reason"]  # type: ignore[index]
    assert search(session) == []
    assert (find_state(tmp_path) / "backup.failed.jsonl").read_bytes() == forge(LINE, seal)
    assert "backup_waiting" in list_codes(session)


def test_a_line_of_the_backup_that_was_changed_is_not_written_and_one_as_it_was_is(
    session: Session, tmp_path: Path
) -> None:
    path = find_state(tmp_path) / "backup.jsonl"
    agent = {**LINE, "channel": "pipe"}
    session.store.backup.append(json.dumps(agent).encode())
    path.write_bytes(path.read_bytes().replace(b'"pipe"', b'"terminal"') + path.read_bytes())
    data = replay(session, {}).data
    assert [item["line"] for item in data["failed"]] == [1]  # type: ignore[attr-defined]
    results = find(session, {"query": "kumquat"}).data["results"]
    assert [hit["origin"] for hit in results] == ["agent"]  # type: ignore[attr-defined]


def test_lines_wait_in_the_backup_while_there_is_no_secret_to_judge_them_by(session: Session, tmp_path: Path) -> None:
    session.store.backup.append(json.dumps(LINE).encode())
    secret = find_state(tmp_path) / "pseudonyms"
    data = secret.read_bytes()
    for spoiled in (None, b"short"):
        secret.unlink() if spoiled is None else secret.write_bytes(spoiled)
        with pytest.raises(StorageFailedError):
            replay(session, {})
    secret.write_bytes(data)
    assert replay(session, {}).data["replayed"] == 1


@pytest.mark.parametrize("seal", SEALS)
def test_a_forged_list_of_links_opens_nothing_and_is_named(session: Session, tmp_path: Path, seal: bytes) -> None:
    remember(session, {"text": "kumquat own"})
    (find_state(tmp_path) / "links.json").write_bytes(forge(list_link(tmp_path), seal))
    other = open_again(tmp_path)
    assert search(other) == ["kumquat own"]
    remember(session, {"text": "another"})
    assert search(session) == ["kumquat own"]
    assert link(other, {"list": True}).data["links"] == []
    assert "state_links_unreadable" in list_codes(other)
    link(other, {"path": "memories/lnk"})
    assert sorted(search(other)) == ["kumquat own", "kumquat private"]
    assert "state_links_unreadable" not in list_codes(other)
    other.close()


@pytest.mark.parametrize("seal", SEALS)
def test_a_forged_list_of_sources_opens_nothing_is_named_and_kept(
    session: Session, tmp_path: Path, seal: bytes
) -> None:
    place = str(tmp_path / "private")
    row = {"name": "x", "path": place, "folder": True, "format": "", "agent": "", "owner_only": False}
    listed = find_state(tmp_path) / "sources.json"
    listed.write_bytes(forge({"v": 1, "sources": [row]}, seal))
    other = open_again(tmp_path)
    assert search(other) == []
    assert "state_sources_unreadable" in list_codes(other)
    with pytest.raises(DamagedError):
        add(other, tmp_path / "private", "notes")
    listed.unlink()
    add(other, tmp_path / "private", "notes")
    assert search(other) == ["kumquat private"]
    other.close()


def test_a_seal_is_good_for_one_file_of_one_installation(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "pseudonyms").write_bytes(bytes([number]) * 32)
    one, two = (Disk(str(folder)) for folder in folders)
    sealed = Seal(one, "links.json").close(b'{"v":1}')
    assert Seal(one, "links.json").open(sealed) == b'{"v":1}'
    for other in (Seal(one, "sources.json"), Seal(two, "links.json")):
        with pytest.raises(DamagedError):
            other.open(sealed)
    for changed in (sealed + b" ", sealed[:-3] + b'"}', sealed.replace(b"1", b"2", 1), sealed[:-1]):
        with pytest.raises(DamagedError):
            Seal(one, "links.json").open(changed)
    one.close()
    two.close()
