"""An installation that is damaged, half made, foreign or cannot be written: read what can be read, name the rest."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import onrecord as package
from onrecord.storage.files import disk as disk_module
from onrecord.storage.files.disk import Disk
from tests.fault.killing import PRIMITIVES
from tests.states import find_state, find_state_file, list_messages, list_reasons
from tests.surface.cli import CommandLine, Done


@pytest.fixture
def onrecord(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    """The command line on a vault with one memory."""
    made = CommandLine(monkeypatch, str(tmp_path / "vault"))
    assert made("init").status == 0
    assert made("remember", "first words").status == 0
    return made


def remove(path: Path) -> None:
    path.unlink()


def damage(path: Path) -> None:
    path.write_bytes(b"\xffnothing of use")


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        *((name, remove) for name in ("key", "pseudonyms", "log", "journal")),
        *((name, damage) for name in ("key", "pseudonyms", "log", "head.json")),
    ],
)
def test_doctor_names_each_file_of_the_state_folder_that_is_gone_or_damaged(
    onrecord: CommandLine, name: str, spoil: Callable[[Path], None]
) -> None:
    path = find_state_file(name)
    spoil(path)
    done = onrecord("doctor")
    assert done.status == 2, done.out
    findings = [item for item in done.data["findings"] if path.name.split(".")[0] in item["message"]]
    assert findings, done.out
    assert all(item["severity"] == "critical" and item["mend"] for item in findings)
    assert onrecord("find", "words").data["status"] == "found"
    assert onrecord("verify").data["verdict"] in ("L1", "L2")
    assert onrecord("status").status == 0
    done = onrecord("remember", "second words")
    if name == "key":
        assert done.status == 0, "a log goes on without its key, unsigned"
    else:
        assert done.error["code"] == "damaged"
        assert path.name.split(".")[0] in done.error["reason"] + done.error["hint"]


def test_a_frame_that_is_damaged_in_the_middle_of_the_journal_is_named(onrecord: CommandLine) -> None:
    with package.open(onrecord.vault) as vault:
        for number in range(3):
            vault.remember(f"memory {number}")
        path = find_state_file("journal")
        kept = path.read_bytes()
    (state,) = (path.parent for path in [path])
    (journal,) = state.glob("journal.*")
    head = json.loads((state / "head.json").read_bytes())
    head["gen"] = int(path.name.rpartition(".")[2])
    journal.unlink()
    (state / "head.json").write_text(json.dumps(head, sort_keys=True, separators=(",", ":")))
    spoiled = bytearray(kept)
    spoiled[40] ^= 1
    path.write_bytes(spoiled)
    done = onrecord("doctor")
    assert done.status == 2
    assert path.name in list_messages(done, "state_damaged")
    assert onrecord("find", "words").data["status"] == "found"


def test_without_its_head_a_state_folder_is_set_aside_and_named(onrecord: CommandLine) -> None:
    find_state_file("head.json").unlink()
    assert "before another command" in onrecord("doctor").data["findings"][0]["mend"]
    for words in (("find", "words"), ("status",), ("remember", "second words")):
        (told,) = onrecord(*words).envelope["degraded"]
        assert told["reason"] == "installation_new"
        assert "keep it" in told["mend"]
    assert not onrecord("find", "words").envelope["degraded"], "it is told until the new log has a version"
    assert onrecord("find", "words").data["results"][1:]
    done = onrecord("doctor")
    assert "headless" in list_messages(done, "state_set_aside")
    assert not any("Remove" in item["mend"] for item in done.data["findings"] if "headless" in item["mend"])


def test_a_key_of_another_log_is_named(onrecord: CommandLine, tmp_path: Path) -> None:
    own = find_state_file("key").read_bytes()
    state = find_state()
    assert onrecord("doctor").status == 0
    package.open(tmp_path / "second", create=True).close()
    (other,) = (path for path in state.parent.glob("*/key") if path.parent != state)
    (state / "key").write_bytes(other.read_bytes())
    assert "another log's" in list_messages(onrecord("doctor"), "key_unusable")
    (state / "key").write_bytes(own)
    assert onrecord("doctor").status == 0


@pytest.mark.parametrize("text", [None, "", "nonsense = [", "changed"])
def test_offline_a_vault_is_read_and_no_log_begins(onrecord: CommandLine, text: str | None) -> None:
    path = Path(onrecord.vault) / "onrecord.toml"
    before = path.read_text()
    path.unlink()
    if text is not None:
        path.write_text(text if text != "changed" else before.replace('vault = "', 'vault = "0')[:-1] + "\n")
    if text == "changed":
        identity = before.split('vault = "')[1][:24]
        path.write_text(before.replace(identity, "0" * 24))
    logs = sorted((Path(onrecord.vault) / ".onrecord").iterdir())
    states = sorted(find_state().parent.iterdir())
    found = onrecord("find", "words")
    assert found.data["status"] == "found"
    assert list_reasons(found) == ["vault_offline"]
    assert onrecord("read", found.data["results"][0]["id"]).data["text"] == "first words"
    assert onrecord("history", found.data["results"][0]["id"]).status == 0
    assert onrecord("verify").data["verdict"] in ("L1", "L2")
    refused = onrecord("remember", "into the void")
    assert refused.error["code"] == "vault_offline"
    assert "onrecord.toml" in refused.error["hint"]
    done = onrecord("doctor")
    assert done.status == 2
    assert [item["path"] for item in done.data["findings"] if item["severity"] == "critical"] == ["onrecord.toml"]
    mends = [item["mend"] for item in done.data["findings"] if item["path"] == "onrecord.toml"]
    assert before.split('vault = "')[1][:24] in "".join(mends)
    assert sorted((Path(onrecord.vault) / ".onrecord").iterdir()) == logs
    assert sorted(find_state().parent.iterdir()) == states
    path.unlink(missing_ok=True)
    path.write_text(before)
    assert onrecord("remember", "back again").status == 0


@pytest.mark.parametrize("is_absent", [True, False])
def test_doctor_names_a_lost_or_foreign_configuration_once_and_accuses_nothing_else(
    onrecord: CommandLine, is_absent: bool
) -> None:
    path = Path(onrecord.vault) / "onrecord.toml"
    before = path.read_text()
    identity = before.split('vault = "')[1][:24]
    path.unlink() if is_absent else path.write_text(before.replace(identity, "0" * 24))
    (index,) = find_state().glob("index*")
    made = index.stat().st_ino
    for _ in range(2):
        findings = onrecord("doctor", "--deep").data["findings"]
        assert [item["code"] for item in findings] == ["vault_offline"]
        assert onrecord("find", "words").data["status"] == "found"
    assert onrecord("status").data["vault"] == identity
    assert index.stat().st_ino == made


def test_a_vault_without_its_configuration_is_read_on_a_machine_that_never_saw_it(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (Path(onrecord.vault) / "onrecord.toml").unlink()
    monkeypatch.setenv("ONRECORD_STATE", str(tmp_path / "fresh"))
    assert onrecord("find", "words").data["status"] == "found"
    assert onrecord("remember", "x y z").error["code"] == "vault_offline"
    assert not list((tmp_path / "fresh").rglob("*"))


def test_a_new_vault_at_the_place_of_one_that_was_deleted_is_no_changed_one(onrecord: CommandLine) -> None:
    state = find_state()
    shutil.rmtree(onrecord.vault)
    assert onrecord("init").status == 0
    place = find_state_of(onrecord.vault)
    if state.exists():
        # The same device and inode, as if the file system had given them again.
        os.rename(state, state.parent / (state.name.split("-")[0] + "-" + "-".join(place.name.split("-")[1:])))
    shutil.rmtree(place)
    assert onrecord("remember", "in the new one").status == 0


def find_state_of(vault: str) -> Path:
    found = os.stat(os.path.join(vault, ".onrecord"))
    name = f"*-{found.st_dev:x}-{found.st_ino:x}"
    return max(Path(os.environ["ONRECORD_STATE"], "vaults").glob(name), key=lambda path: path.stat().st_mtime_ns)


class Killed(BaseException):
    """Stands for the end of the process."""


def kill_before(monkeypatch: pytest.MonkeyPatch, step: int) -> list[int]:
    """Let the n-th primitive of any disk, or step of making a state folder, be the last; return the counter."""
    count = [0]

    def wrap(owner: object, name: str) -> None:
        plain = getattr(owner, name)

        def call(*args: object, **more: object) -> object:
            count[0] += 1
            if count[0] >= step:
                raise Killed
            return plain(*args, **more)

        monkeypatch.setattr(owner, name, call)

    # A kill loses nothing that was written, so that one before a sync leaves what one after it does.
    for name in PRIMITIVES:
        if not name.startswith("sync"):
            wrap(Disk, name)
    wrap(disk_module.os, "mkdir")
    wrap(disk_module.os, "makedirs")
    return count


def test_an_init_that_is_killed_at_any_step_is_completed_by_init_and_the_others_say_so(
    bare_at: Callable[[str], CommandLine],
) -> None:
    step, completed, told = 0, 0, 0
    while True:
        step += 1
        onrecord = bare_at(f"vault{step}")
        with pytest.MonkeyPatch.context() as patch:
            kill_before(patch, step)
            try:
                finished = onrecord("init").status == 0
            except Killed:
                finished = False
        if finished:
            break
        other = bare_at(f"vault{step}")
        done = other("find", "words") if step % 2 else None
        if done is not None and done.status:
            assert done.error["code"] == "no_vault", done.out
            assert "onrecord init" in done.error["hint"]
            told += 1
        again = other("init")
        assert again.status == 0 or again.error["code"] == "vault_exists", again.out
        completed += again.status == 0
        assert other("remember", "kept words").status == 0, step
        if step % 3 == 0:
            assert [log["verdict"] in ("L1", "L2") for log in other("verify").data["logs"]] == [True], step
        if step % 5 == 0:
            codes = {item["code"] for item in other("doctor").data["findings"]}
            assert codes <= {"temporary_left"}, step
    assert step > 20
    assert told > 2
    assert completed > told


@pytest.fixture
def bare_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], CommandLine]:
    return lambda name: CommandLine(monkeypatch, str(tmp_path / name))


def test_a_vault_whose_machine_folder_is_gone_is_completed_by_init(onrecord: CommandLine) -> None:
    shutil.rmtree(Path(onrecord.vault) / ".onrecord")
    done = onrecord("find", "words")
    assert (done.error["code"], "onrecord init" in done.error["hint"]) == ("vault_incomplete", True)
    assert onrecord("init").status == 0
    assert onrecord("find", "words").data["status"] == "found"


def run_without_override(vault: str, *words: str) -> Done:
    """Run the command line as a user whom permissions bind, root or not."""

    def drop() -> None:
        if os.geteuid() == 0:
            libc = ctypes.CDLL(None)
            for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
                libc.prctl(24, capability, 0, 0, 0)

    command = [sys.executable, "-m", "onrecord", "--vault", vault, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=drop)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(sys.platform != "linux", reason="root is bound by permissions on Linux alone")
@pytest.mark.parametrize("has_state", [True, False])
def test_with_a_state_folder_that_cannot_be_written_reading_goes_on(onrecord: CommandLine, has_state: bool) -> None:
    state = find_state()
    locked = state if has_state else state.parent
    if not has_state:
        shutil.rmtree(state)
    files = [path for path in locked.rglob("*") if path.is_file()]
    for path in [*files, locked]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        found = run_without_override(onrecord.vault, "find", "words")
        assert found.status == 0, found.out + found.err
        assert found.data["status"] == "found"
        assert set(list_reasons(found)) & {"index_in_memory", "storage_failed"}
        for words in (("status",), ("verify",), ("read", found.data["results"][0]["id"])):
            assert run_without_override(onrecord.vault, *words).status == 0, words
        assert run_without_override(onrecord.vault, "doctor").data["findings"] is not None
        refused = run_without_override(onrecord.vault, "remember", "second words")
        assert refused.error["code"] == "storage_failed"
    finally:
        locked.chmod(0o700)
        for path in files:
            path.chmod(0o600)
    assert onrecord("remember", "second words").status == 0


@pytest.mark.parametrize(
    "name", ["LOG", "LOG/ledger", "LOG/versions", "LOG/ledger/00000000.jsonl", "LOG/versions/00000000.jsonl"]
)
def test_a_part_of_a_log_that_is_a_file_for_a_folder_or_a_folder_for_a_file_is_named(
    onrecord: CommandLine, tmp_path: Path, name: str
) -> None:
    inner = f".onrecord/{name.replace('LOG', (find_state() / 'log').read_text().strip())}"
    path = tmp_path / "vault" / inner
    if path.is_dir():
        shutil.rmtree(path)
        path.write_bytes(b"no folder")
    else:
        path.unlink()
        path.mkdir()
    assert onrecord("find", "words").data["status"] == "found"
    assert onrecord("status").status == 0
    verified = onrecord("verify")
    assert verified.status == 2
    assert inner in verified.out
    assert onrecord("remember", "second words").error["code"] == "ledger_rolled_back"
    done = onrecord("doctor")
    assert done.status == 2
    assert inner in list_messages(done, "damaged", "version_unreadable")


@pytest.mark.parametrize("name", ["vault/onrecord.toml", "head.json", "journal"])
def test_a_folder_in_the_place_of_a_file_of_the_installation_is_named(
    onrecord: CommandLine, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name if "/" in name else find_state_file(name)
    path.unlink()
    path.mkdir()
    assert onrecord("find", "words").data["status"] == "found"
    assert onrecord("remember", "second words").error["code"] in ("damaged", "vault_offline")
    assert path.name in list_messages(onrecord("doctor"), "state_damaged", "vault_offline")


def test_a_vault_whose_newest_state_is_lost_is_written_again_once_the_state_folder_is_away(
    onrecord: CommandLine, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(vault, tmp_path / "older")
    lost = onrecord("remember", "lost words").data["id"]
    shutil.copytree(tmp_path / "older", vault, dirs_exist_ok=True)
    next(vault.glob("memories/**/lost*.md")).unlink()
    error = onrecord("remember", "more words").error
    assert error["code"] == "ledger_rolled_back"
    state = find_state()
    assert "onrecord adopt" in error["hint"]
    assert onrecord("find", "first").data["status"] == "found"
    state.rename(tmp_path / "away")
    assert onrecord("remember", "more words").status == 0
    for word, status in (("first", "found"), ("more", "found"), ("lost", "no_match")):
        assert onrecord("find", word).data["status"] == status
    assert onrecord("read", lost).error["code"] == "not_found"
    assert onrecord("verify").data["verdict"] in ("L1", "L2")
