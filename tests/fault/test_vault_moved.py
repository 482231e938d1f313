"""Vaults that are copied, put back or altered: what was acknowledged is not forgotten, and nothing is forged on."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.adopt import adopt
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Channel, Session
from onrecord.app.verify import verify
from onrecord.domain.errors import (
    DamagedError,
    LedgerRolledBackError,
    NewerFormatError,
    OnRecordError,
    VaultOfflineError,
)
from tests.surface.cli import CommandLine, Done
from tests.vaults import check_verifies, make_vault, open_session


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    make_vault(tmp_path / "vault")
    return tmp_path / "vault", tmp_path / "state"


def write(places: tuple[Path, Path], *texts: str) -> list[str]:
    session = open_session(*places)
    ids = [str(remember(session, {"text": text}).data["id"]) for text in texts]
    session.store.checkpoint()
    session.close()
    return ids


def put_content(source: Path, target: Path) -> None:
    """Replace the content of a folder, keeping the folder of machine state itself (device and inode)."""
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_file():
            path.unlink()
    shutil.copytree(source, target, dirs_exist_ok=True)


def test_an_older_vault_put_back_is_not_written_to(places: tuple[Path, Path], tmp_path: Path) -> None:
    write(places, "first")
    shutil.copytree(places[0], tmp_path / "old")
    write(places, "second", "third")
    put_content(tmp_path / "old", places[0])
    session = open_session(*places)
    with pytest.raises(LedgerRolledBackError):
        remember(session, {"text": "on top of the past"})
    assert find(session, {"query": "first"}).data["status"] == "found"
    assert verify(session, {}, Ed25519Verifier()).data["verdict"] == "BROKEN"
    session.close()


def test_a_copied_vault_goes_on_in_a_log_of_its_own(places: tuple[Path, Path], tmp_path: Path) -> None:
    (record,) = write(places, "shared past")
    shutil.copytree(places[0], tmp_path / "copy")
    session = open_session(tmp_path / "copy", places[1])
    assert read(session, {"id": record}).data["text"] == "shared past"
    remember(session, {"text": "own future"})
    logs = session.store.list_logs()
    assert len(logs) == 2
    first = next(line for _, line in session.store.read_entries(session.store.log))
    other = next(head.log for head in logs if not head.is_own)
    assert f'"log":"{other}"'.encode() in first
    check_verifies(session)
    session.close()
    original = open_session(*places)
    assert find(original, {"query": "future"}).data["status"] == "no_match"
    original.close()


def test_a_copied_vault_carries_no_key(places: tuple[Path, Path]) -> None:
    write(places, "text")
    for path in places[0].rglob("*"):
        assert not path.is_file() or b"PRIVATE KEY" not in path.read_bytes()


@pytest.mark.parametrize(
    "text", [None, "", "format = 1\n", "nonsense = [", 'format = 1\nvault = "000000000000000000000000"\n']
)
def test_without_its_configuration_a_vault_is_not_written_to(places: tuple[Path, Path], text: str | None) -> None:
    write(places, "first")
    session = open_session(*places)
    path = places[0] / "onrecord.toml"
    before = path.read_bytes()
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(VaultOfflineError):
        remember(session, {"text": "into the void"})
    assert find(session, {"query": "first"}).data["status"] == "found"
    path.unlink(missing_ok=True)
    path.write_bytes(before)
    assert remember(session, {"text": "back again"}).data["id"]
    session.close()


def test_a_vault_of_a_newer_format_is_read_and_not_written(places: tuple[Path, Path]) -> None:
    (record,) = write(places, "first")
    path = places[0] / "onrecord.toml"
    path.write_text(path.read_text().replace("format = 1", "format = 2"))
    files = {item: item.read_bytes() for item in places[0].rglob("*") if item.is_file()}
    session = open_session(*places)
    reply = read(session, {"id": record})
    assert reply.data["text"] == "first"
    assert [item.reason for item in reply.degraded] == ["newer_format"]
    with pytest.raises(NewerFormatError):
        remember(session, {"text": "too new for me"})
    session.close()
    assert {item: item.read_bytes() for item in places[0].rglob("*") if item.is_file()} == files


def test_folders_and_files_are_for_the_owner_alone_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_vault(tmp_path / "vault")
        write((tmp_path / "vault", tmp_path / "state"), "private")
    finally:
        os.umask(before)
    for root in ("vault", "state"):
        for path in (tmp_path / root).rglob("*"):
            assert path.stat().st_mode & 0o077 == 0, path


def alter(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def check_blames_the_store(session: Session) -> None:
    """Fail unless verify and doctor find the versions store broken, and no file at fault."""
    data = verify(session, {}, Ed25519Verifier()).data
    differences = data["differences"]
    assert isinstance(differences, list)
    assert data["verdict"] == "BROKEN"
    assert differences
    assert {item["path"].rpartition("/")[2] for item in differences} == {"versions"}
    findings = diagnose(session, {}).data["findings"]
    assert isinstance(findings, list)
    critical = [item for item in findings if item["severity"] == "critical"]
    assert any(item["path"].endswith("/versions") for item in critical), findings


def get_verdict(session: Session) -> str:
    return str(verify(session, {}, Ed25519Verifier()).data["verdict"])


def test_any_altered_byte_of_the_ledger_is_noticed(places: tuple[Path, Path]) -> None:
    write(places, "first", "second")
    session = open_session(*places)
    path = next(places[0].glob(".onrecord/*/ledger/00000000.jsonl"))
    for place in range(0, path.stat().st_size, 37):
        alter(path, place)
        assert get_verdict(session) == "BROKEN", place
        alter(path, place)
    check_verifies(session)
    session.close()


@pytest.mark.parametrize("member", ["id", "version", "kind", "origin", "salt", "text", "ts", "type", "seq"])
def test_an_altered_row_of_the_versions_store_is_noticed(places: tuple[Path, Path], member: str) -> None:
    write(places, "first", "second")
    session = open_session(*places)
    path = next(places[0].glob(".onrecord/*/versions/00000000.jsonl"))
    lines = path.read_bytes().split(b"\n")
    row = json.loads(lines[0])
    row[member] = row[member] + 1 if isinstance(row[member], int) else row[member].replace("a", "b") + "A"
    path.write_bytes(b"\n".join([json.dumps(row, sort_keys=True, separators=(",", ":")).encode(), *lines[1:]]))
    check_blames_the_store(session)
    session.close()


def test_a_removed_row_of_the_versions_store_is_noticed(places: tuple[Path, Path]) -> None:
    write(places, "first", "second")
    session = open_session(*places)
    path = next(places[0].glob(".onrecord/*/versions/00000000.jsonl"))
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    check_blames_the_store(session)
    session.close()


def test_a_flipped_bit_in_the_journal_takes_nothing_with_it(places: tuple[Path, Path]) -> None:
    writer = open_session(*places)
    for number in range(4):
        remember(writer, {"text": f"memory {number}"})
    journal = next(path for path in places[1].glob("vaults/*/journal.*"))
    files = {path: path.read_bytes() for path in places[0].rglob("*.jsonl")}
    for place in (journal.stat().st_size // 2, journal.stat().st_size - 3):
        alter(journal, place)
        session = open_session(*places)
        with pytest.raises(DamagedError):
            remember(session, {"text": "on top of damage"})
        assert {path: path.read_bytes() for path in files} == files
        session.close()
        alter(journal, place)
    session = open_session(*places)
    assert len(find(session, {"query": "memory"}).data["results"]) == 4  # type: ignore[arg-type]
    check_verifies(session)
    session.close()
    writer.close()


@pytest.mark.parametrize("name", ["Sync conflict 01", "0123456789abcdef", "not-a-log-at-all"])
def test_what_is_no_log_in_the_machines_folder_is_left_alone(places: tuple[Path, Path], name: str) -> None:
    write(places, "first")
    (places[0] / ".onrecord" / name).write_text("a file")
    session = open_session(*places)
    assert find(session, {"query": "first"}).data["status"] == "found"
    remember(session, {"text": "second"})
    check_verifies(session)
    session.close()


def replace(backup: Path, vault: Path) -> None:
    """Put a backup in the place of a vault, in folders of other inodes, as the old ones are kept."""
    vault.rename(vault.with_name(f"{vault.name} {len(list(vault.parent.iterdir()))}"))
    shutil.copytree(backup, vault)


def list_own_log(folder: Path, state: Path) -> str:
    session = open_session(folder, state)
    log = session.store.log
    session.close()
    return log


def test_a_backup_put_back_in_new_folders_is_not_written_to(places: tuple[Path, Path], tmp_path: Path) -> None:
    write(places, "first")
    log = list_own_log(*places)
    shutil.copytree(places[0], tmp_path / "backup")
    write(places, "second")
    replace(tmp_path / "backup", places[0])
    session = open_session(*places, channel=Channel.TERMINAL)
    assert session.store.log == log
    with pytest.raises(LedgerRolledBackError):
        remember(session, {"text": "third"})
    assert verify(session, {}, Ed25519Verifier()).data["verdict"] == "BROKEN"
    given_up = adopt(session, {}).data["given_up"]
    assert (given_up["entries"], given_up["versions"]) == (1, 1)  # type: ignore[index]
    session.close()


def test_the_newest_backup_put_back_in_new_folders_goes_on(places: tuple[Path, Path], tmp_path: Path) -> None:
    write(places, "first", "second")
    log = list_own_log(*places)
    shutil.copytree(places[0], tmp_path / "backup")
    replace(tmp_path / "backup", places[0])
    write(places, "third")
    assert list_own_log(*places) == log
    session = open_session(*places)
    assert len(session.store.list_logs()) == 1
    check_verifies(session)
    session.close()


def test_what_the_journal_holds_is_applied_to_a_backup_in_new_folders(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    write(places, "first")
    shutil.copytree(places[0], tmp_path / "backup")
    session = open_session(*places)
    record = remember(session, {"text": "second"}).data["id"]
    replace(tmp_path / "backup", places[0])
    again = open_session(*places)
    assert read(again, {"id": record}).data["text"] == "second"
    remember(again, {"text": "third"})
    late = remember(session, {"text": "through the folder that is gone"})
    assert [item.reason for item in late.degraded] == ["backup_only"]
    session.close()
    check_verifies(again)
    again.close()


@pytest.mark.parametrize("order", [("vault", "moved"), ("moved", "vault")])
def test_a_moved_vault_and_its_copy_at_the_old_path_never_have_one_key(
    places: tuple[Path, Path], tmp_path: Path, order: tuple[str, str]
) -> None:
    write(places, "first")
    log = list_own_log(*places)
    open_before = open_session(*places)
    places[0].rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", places[0])
    logs = [list_own_log(tmp_path / name, places[1]) for name in order]
    assert logs[0] == log
    assert logs[1] != log
    entries = {path: path.read_bytes() for path in tmp_path.glob(f"*/.onrecord/{log}/ledger/*")}
    with suppress(OnRecordError):
        remember(open_before, {"text": "through the name that was"})
    open_before.close()
    assert len(entries) == 2
    assert sum(path.read_bytes() != data for path, data in entries.items()) <= 1
    assert [list_own_log(tmp_path / name, places[1]) for name in order] == logs


def test_a_copy_elsewhere_takes_nothing_over_from_a_vault_that_is_gone(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    write(places, "first")
    log = list_own_log(*places)
    shutil.copytree(places[0], tmp_path / "copy")
    places[0].rename(tmp_path / "away")
    assert list_own_log(tmp_path / "copy", places[1]) != log
    assert list_own_log(tmp_path / "away", places[1]) == log


def test_only_one_state_folder_remembers_a_path(places: tuple[Path, Path], tmp_path: Path) -> None:
    write(places, "first")
    shutil.copytree(places[0], tmp_path / "copy")
    log = list_own_log(tmp_path / "copy", places[1])
    shutil.copytree(tmp_path / "copy", tmp_path / "backup")
    places[0].rename(tmp_path / "away")
    (tmp_path / "copy").rename(places[0])
    assert list_own_log(*places) == log
    replace(tmp_path / "backup", places[0])
    assert list_own_log(*places) == log


@pytest.mark.parametrize("step", ["unlink", "rename"])
def test_a_taking_over_that_is_cut_off_is_done_again(
    places: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    write(places, "first")
    log = list_own_log(*places)
    shutil.copytree(places[0], tmp_path / "backup")
    replace(tmp_path / "backup", places[0])
    with monkeypatch.context() as patch:

        def cut(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(os, step, cut)
        with pytest.raises(KeyboardInterrupt):
            open_session(*places)
    assert list_own_log(*places) == log


def _list_told(outcome: Done) -> list[dict[str, str]]:
    """Return what a reply is degraded by, but for a file that was put there less than 200 ms ago."""
    return [told for told in outcome.envelope["degraded"] if told["reason"] != "reconciling"]


def test_a_new_log_in_a_copy_of_a_vault_of_this_machine_is_told(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert onrecord("remember", "first").status == 0
    shutil.copytree(onrecord.vault, tmp_path / "copy")
    copied = CommandLine(monkeypatch, str(tmp_path / "copy"))
    for words in (("find", "first"), ("remember", "second")):
        (told,) = _list_told(copied(*words))
        assert told["reason"] == "installation_new"
        assert onrecord.vault in told["mend"]
    assert not _list_told(copied("find", "first"))
    assert not _list_told(onrecord("find", "first"))
    assert "installation_new" in [item["code"] for item in copied("doctor").data["findings"]]


def test_what_is_moved_away_and_put_back_as_a_copy_goes_on_and_one_told_otherwise_is_said(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert onrecord("remember", "first").status == 0
    log = onrecord("status").data["log"]
    machine = Path(onrecord.vault) / ".onrecord"
    machine.rename(tmp_path / "aside")
    shutil.copytree(tmp_path / "aside", machine)
    done = onrecord("status")
    assert (done.data["log"], _list_told(done)) == (log, [])
    Path(onrecord.vault).rename(tmp_path / "elsewhere")
    elsewhere = CommandLine(monkeypatch, str(tmp_path / "elsewhere"))
    assert elsewhere("status").data["log"] == log
    shutil.copytree(tmp_path / "elsewhere", onrecord.vault)
    (told,) = _list_told(onrecord("status"))
    assert (told["reason"], log in told["mend"]) == ("installation_new", True)
