"""What a newer program wrote is read as far as it is understood, and nothing is written beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.verify import verify
from onrecord.domain.errors import NewerFormatError
from tests.surface.cli import CommandLine
from tests.vaults import make_vault, open_session


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    make_vault(tmp_path / "vault")
    return tmp_path / "vault", tmp_path / "state"


def write(vault: Path, state: Path, *texts: str) -> list[str]:
    session = open_session(vault, state)
    ids = [str(remember(session, {"text": text}).data["id"]) for text in texts]
    session.store.checkpoint()
    session.close()
    return ids


def list_files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def raise_version(path: Path, place: int) -> None:
    """Make one line of a store a newer program's."""
    lines = path.read_bytes().splitlines()
    shape = json.loads(lines[place]) | {"v": 2, "zeal": 1}
    lines[place] = json.dumps(shape, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def check_read_only(session: Session, record: str, text: str) -> None:
    reply = read(session, {"id": record})
    assert reply.data["text"] == text
    assert "newer_format" in [item.reason for item in reply.degraded]
    with pytest.raises(NewerFormatError):
        remember(session, {"text": "too new for me"})


def test_on_a_machine_that_does_not_know_it_a_newer_vault_is_read_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record,) = write(_make(tmp_path), tmp_path / "elsewhere", "first words")
    path = tmp_path / "vault" / "onrecord.toml"
    path.write_text(path.read_text().replace("format = 1", "format = 2"))
    before = list_files(tmp_path / "vault"), sorted((tmp_path / "vault").rglob("*"))
    onrecord = CommandLine(monkeypatch, str(tmp_path / "vault"))
    for words in (("find", "words"), ("read", record), ("history", record), ("status",)):
        done = onrecord(*words)
        assert done.status == 0, done.out
        assert [item["reason"] for item in done.envelope["degraded"]][:1] == ["newer_format"], done.out
    assert onrecord("find", "words").data["results"][0]["id"] == record
    assert onrecord("verify").data["verdict"] in ("L1", "L2")
    assert onrecord("doctor").status == 2
    for words in (("remember", "too new"), ("update", record, "--text", "x", "--expect", "1"), ("reindex",)):
        assert onrecord(*words).error["code"] == "newer_format", words
    assert (list_files(tmp_path / "vault"), sorted((tmp_path / "vault").rglob("*"))) == before


def _make(tmp_path: Path) -> Path:
    make_vault(tmp_path / "vault")
    return tmp_path / "vault"


@pytest.mark.parametrize("place", [0, 1, -1])
@pytest.mark.parametrize("store", ["ledger", "versions"])
@pytest.mark.parametrize("whose", ["own", "foreign"])
def test_a_line_of_a_newer_program_makes_the_vault_read_only(
    places: tuple[Path, Path], tmp_path: Path, whose: str, store: str, place: int
) -> None:
    ids = write(*places, "first words", "second words", "third words")
    (path,) = places[0].glob(f".onrecord/*/{store}/00000000.jsonl")
    state = tmp_path / "other" if whose == "foreign" else places[1]
    if whose == "foreign":
        write(places[0], state, "of the other")
    raise_version(path, place)
    before = list_files(places[0] / "memories"), path.read_bytes()
    for index in state.glob("vaults/*/index.sqlite3*"):
        index.unlink()
    session = open_session(places[0], state)
    readable = ids[1] if place != 1 else ids[2]
    check_read_only(session, readable, "second words" if place != 1 else "third words")
    assert find(session, {"query": "words"}).data["status"] == "found"
    assert "newer_format" in [item.reason for item in verify(session, {}, Ed25519Verifier()).degraded]
    session.close()
    assert (list_files(places[0] / "memories"), path.read_bytes()) == before


def test_a_newer_row_that_could_not_be_indexed_is_met_again_by_the_next_process(places: tuple[Path, Path]) -> None:
    write(places[0], places[1], "first words", "second words", "third words")
    (path,) = places[0].glob(".onrecord/*/versions/00000000.jsonl")
    raise_version(path, 1)
    for index in places[1].glob("vaults/*/index.sqlite3*"):
        index.unlink()
    for _ in range(2):
        session = open_session(*places)
        with pytest.raises(NewerFormatError):
            remember(session, {"text": "too new for me"})
        session.close()


@pytest.mark.parametrize("store", ["ledger", "versions"])
def test_no_log_begins_in_a_vault_that_a_newer_program_shares(
    places: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    write(places[0], tmp_path / "other", *(f"memory {number} " + "words " * 200 for number in range(40)))
    (path,) = places[0].glob(f".onrecord/*/{store}/00000000.jsonl")
    raise_version(path, 3)
    before = sorted(places[0].rglob("*"))
    onrecord = CommandLine(monkeypatch, str(places[0]))
    assert onrecord("find", "words").data["status"] == "found"
    assert onrecord("remember", "too new").error["code"] == "newer_format"
    assert sorted(places[0].rglob("*")) == before


def edit_head(change: Callable[[dict], object]) -> Callable[[Path], None]:
    def edit(state: Path) -> None:
        (path,) = state.glob("vaults/*/head.json")
        shape = json.loads(path.read_bytes())
        change(shape)
        path.write_text(json.dumps(shape, sort_keys=True, separators=(",", ":")))

    return edit


def test_a_head_of_a_newer_program_makes_the_vault_read_only(places: tuple[Path, Path]) -> None:
    (record,) = write(*places, "first")
    edit_head(lambda shape: shape.update(v=2, more="x"))(places[1])
    session = open_session(*places)
    check_read_only(session, record, "first")
    session.close()
