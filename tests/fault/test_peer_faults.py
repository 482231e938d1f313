"""Faults that memories in files are known to have elsewhere: the rule that each of them breaks holds here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord.app.catalog import OPERATIONS
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.domain.errors import LockTimeoutError
from tests.fault.survival import check_whole
from tests.fault.test_kill_at_every_step import list_writes, run_killed
from tests.hand_edits import HAND_EDITS
from tests.states import find_state
from tests.surface.cli import CommandLine
from tests.vaults import make_vault, open_session


@pytest.fixture
def onrecord(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    """The command line on an empty vault."""
    made = CommandLine(monkeypatch, str(tmp_path / "vault"))
    assert made("init").status == 0
    return made


def locate(onrecord: CommandLine, record: str) -> Path:
    return Path(onrecord.vault) / onrecord("read", record).data["path"]


def list_hits(onrecord: CommandLine, query: str) -> list[str]:
    return [hit["id"] for hit in onrecord("find", query).data["results"]]


def describe_files(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return bytes, inode and mtime of every file by path."""
    found = {}
    for path in sorted(folder.rglob("*.md")):
        now = path.stat()
        found[str(path)] = (path.read_bytes(), now.st_ino, now.st_mtime_ns)
    return found


def test_twenty_three_hand_edits_of_memories_stay_the_same_memories_found_and_readable(onrecord: CommandLine) -> None:
    assert len(HAND_EDITS) == 23
    kept = {edit.name: onrecord("remember", f"first words {edit.name}").data["id"] for edit in HAND_EDITS}
    paths = {name: locate(onrecord, record) for name, record in kept.items()}
    for edit in HAND_EDITS:
        paths[edit.name].write_bytes(edit.data)
    for edit in HAND_EDITS:
        record = kept[edit.name]
        hits = onrecord("find", edit.word, "--limit", "100").data["results"]
        assert record in [hit["id"] for hit in hits], edit.name
        shown = onrecord("read", record).data
        assert (shown["version"], shown["origin"]) == (2, "file"), edit.name
        assert shown["path"] == str(paths[edit.name].relative_to(onrecord.vault)), edit.name
        assert paths[edit.name].read_bytes() == edit.data
    assert onrecord("status").data["counts"]["files"] == len(HAND_EDITS)


_TITLE_BREAKS = ("\u2028", "\u2029", "\u0085")


@pytest.mark.parametrize("break_", [*_TITLE_BREAKS, "\x0b", "\x0c", "\x1c", "\r"])
def test_a_title_and_a_body_with_any_line_break_are_read_as_they_were_given(onrecord: CommandLine, break_: str) -> None:
    text, title = f"before{break_}after\n\nlast line\n\n", f"Tea{break_}time"
    if break_ not in _TITLE_BREAKS:
        assert onrecord("remember", text, "--title", title).error["field"] == "title"
        title = "Tea time"
    record = onrecord("remember", text, "--title", title).data["id"]
    for _ in range(2):
        shown = onrecord("read", record).data
        assert (shown["text"], shown["title"]) == (text, title)
        assert list_hits(onrecord, "before") == list_hits(onrecord, "time") == [record]
        assert onrecord("reindex").status == 0


def test_a_file_that_claims_the_id_of_a_memory_never_takes_its_place(onrecord: CommandLine) -> None:
    record = onrecord("remember", "the first words").data["id"]
    path = locate(onrecord, record)
    other = path.with_name("other.md")
    other.write_text(f"---\nid: {record}\ntitle: Other\n---\nquite another claim\n")
    shown = onrecord("read", record).data
    assert (shown["text"], shown["version"]) == ("the first words", 1)
    assert record not in list_hits(onrecord, "another claim")
    assert other.read_text().endswith("quite another claim\n")


def test_an_import_that_claims_the_id_of_a_memory_never_takes_its_place(onrecord: CommandLine, tmp_path: Path) -> None:
    record = onrecord("remember", "the first words").data["id"]
    source = tmp_path / "source"
    source.mkdir()
    (source / "other.md").write_text(f"---\nid: {record}\n---\nquite another claim\n")
    assert onrecord("import", str(source)).data["imported"] == 1
    assert onrecord("read", record).data["text"] == "the first words"
    assert len(list_hits(onrecord, "another claim")) == 1
    assert record not in list_hits(onrecord, "another claim")


@pytest.mark.parametrize("place", ["renamed by hand.md", "sub/folder/renamed.md", "../ops/moved.md"])
def test_an_update_by_id_follows_the_file_and_writes_no_second_one(onrecord: CommandLine, place: str) -> None:
    record = onrecord("remember", "the old words").data["id"]
    path = locate(onrecord, record)
    moved = Path(os.path.normpath(path.parent / place))
    moved.parent.mkdir(parents=True, exist_ok=True)
    path.rename(moved)
    expect = onrecord("read", record).data["version"]
    done = onrecord("update", record, "--old", "old", "--new", "new", "--expect", str(expect))
    assert done.data["version"] == expect + 1
    assert list(Path(onrecord.vault, "memories").rglob("*.md")) == [moved]
    assert moved.read_text().endswith("the new words\n")
    assert onrecord("read", record).data["text"] == "the new words"
    assert list_hits(onrecord, "words") == [record]


def test_a_copy_neither_hides_the_original_nor_takes_it_along_when_it_goes(onrecord: CommandLine) -> None:
    record = onrecord("remember", "original words").data["id"]
    path = locate(onrecord, record)
    copy = path.with_name(f"{path.stem} 1.md")
    shutil.copy(path, copy)
    copy.write_text(copy.read_text().replace("original", "copied"))
    assert len(set(list_hits(onrecord, "copied words"))) == 2
    assert onrecord("read", record).data["text"] == "original words"
    copy.unlink()
    assert list_hits(onrecord, "original") == [record]
    assert onrecord("read", record).data["text"] == "original words"
    assert path.exists()


def test_no_operation_that_takes_words_removes_or_changes_a_memory(onrecord: CommandLine) -> None:
    for text in ("my Prius is red", "the dentist in Leeds", "tea in the morning"):
        onrecord("remember", text)
    before = describe_files(Path(onrecord.vault))
    asking = [operation.name for operation in OPERATIONS.values() if "query" in {a.name for a in operation.arguments}]
    assert asking == ["find"]
    onrecord("find", "the plan I mentioned in London")
    onrecord("find", "forget my Prius password")
    assert describe_files(Path(onrecord.vault)) == before


def test_reading_changes_no_byte_no_inode_and_no_time_of_a_file(onrecord: CommandLine) -> None:
    record = onrecord("remember", "words of ours").data["id"]
    (Path(onrecord.vault) / "memories" / "by hand.md").write_text(
        "---\ntitle:   'Words'   # mine\nzeta: 1\ntags: [ b,a ]\n---\nwords by hand  \n\n\n"
    )
    onrecord("status")
    before = describe_files(Path(onrecord.vault))
    for words in (("find", "words"), ("read", record), ("history", record), ("status",), ("doctor",), ("verify",)):
        assert onrecord(*words).status in (0, 2)
    (by_hand,) = list_hits(onrecord, "hand")
    assert onrecord("read", by_hand).data["text"] == "words by hand  \n\n"
    onrecord("reindex")
    assert describe_files(Path(onrecord.vault)) == before


@pytest.mark.parametrize("place", ["memories", "memories/default", "memories/default/sub", "memories/default/one.md"])
def test_what_is_hidden_behind_a_link_is_said_aloud(onrecord: CommandLine, tmp_path: Path, place: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "one.md").write_text("hidden words")
    link = Path(onrecord.vault) / place
    if link.exists():
        shutil.rmtree(link)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere / "one.md" if place.endswith(".md") else elsewhere)
    assert onrecord("find", "hidden").status == 0
    named = [item for item in onrecord("doctor").data["findings"] if item["path"] == place]
    assert named, onrecord("doctor").out
    assert all(item["message"] and item["severity"] != "info" for item in named)


def test_a_write_to_a_folder_that_is_a_link_names_its_cause_or_is_kept(onrecord: CommandLine, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(Path(onrecord.vault) / "memories")
    (Path(onrecord.vault) / "memories").symlink_to(elsewhere)
    done = onrecord("remember", "words that are kept")
    assert done.status == 0 or done.error["reason"]
    assert not list(elsewhere.iterdir())
    if done.status == 0:
        assert onrecord("read", done.data["id"]).data["text"] == "words that are kept"
        assert done.envelope["degraded"]


@pytest.mark.parametrize("line", ["[settings", "format = one", 'vault = "', "format = 1\nformat = 1", "\x00"])
def test_a_bad_line_of_the_vaults_configuration_names_file_and_cause(onrecord: CommandLine, line: str) -> None:
    onrecord("remember", "first words")
    path = Path(onrecord.vault) / "onrecord.toml"
    path.write_text(path.read_text() + line + "\n")
    refused = onrecord("remember", "more words")
    assert refused.status != 0
    assert "onrecord.toml" in refused.error["reason"] + refused.error.get("hint", "")
    assert onrecord("find", "first").data["status"] == "found"
    assert "onrecord.toml" in {item["path"] for item in onrecord("doctor").data["findings"]}


def test_a_bad_line_of_the_users_settings_names_file_and_line(
    onrecord: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    path.write_text('workspace = "default"\npage_bytes = = 3\n')
    monkeypatch.setenv("ONRECORD_CONFIG", str(path))
    done = onrecord("find", "words")
    assert done.status != 0
    assert "config.toml" in done.error["reason"]
    assert "line 2" in done.error["reason"]


def test_a_tag_that_was_added_by_hand_is_found_at_once_and_a_removed_one_no_more(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state")

    tagged = str(remember(session, {"text": "one thing", "tags": ["alpha"]}).data["id"])
    other = str(remember(session, {"text": "another thing"}).data["id"])

    def ask(query: str) -> list[str]:
        results = find(session, {"query": query}).data["results"]
        return [hit["id"] for hit in results]

    assert ask("alpha") == [tagged]
    with session.index.read() as reader:
        paths = {stamp.record: tmp_path / "vault" / stamp.path for stamp in reader.list_files()}
    first, second = (paths[record].read_text() for record in (tagged, other))
    paths[tagged].write_text(first.replace("tags: [alpha]\n", ""))
    paths[other].write_text(second.replace("---\n", "---\ntags: [alpha]\n", 1))
    session.close()
    session = open_session(tmp_path / "vault", tmp_path / "state")
    assert ask("alpha") == [other]
    session.close()


@pytest.mark.parametrize("first", [10, 17, 28, 40])
def test_a_kill_leaves_no_temporary_file_for_ever_and_the_index_level(tmp_path: Path, first: int) -> None:
    for step in range(first, first + 12):
        vault, state = tmp_path / str(step) / "vault", tmp_path / str(step) / "state"
        vault.parent.mkdir()
        make_vault(vault)
        lines = run_killed(vault, state, step, 3)
        assert "step" in lines[-1]
        if list_temporary(vault, state):
            break
    else:
        pytest.fail("no kill was where a temporary file lies")
    session = open_session(vault, state)
    check_whole(session, list_writes(lines))
    record = remember(session, {"text": "memory written later"}).data["id"]
    assert record in [hit["id"] for hit in find(session, {"query": "later"}).data["results"]]
    session.store.checkpoint()
    session.close()
    assert not list_temporary(vault, state)


def list_temporary(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*") if ".tmp" in path.name]


ROOT = Path(__file__).resolve().parents[2]
_HOLD = """
import os, signal, sys
from pathlib import Path
from tests.vaults import open_session
session = open_session(Path(sys.argv[1]), Path(sys.argv[2]))
with session.write():
    os.write(1, b"held\\n")
    os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_a_stopped_writer_blocks_no_reader_and_is_named_to_the_next_writer(tmp_path: Path) -> None:

    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    session = open_session(vault, state, lock_wait_s=0.2)
    record = str(remember(session, {"text": "kept words"}).data["id"])
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(vault), str(state)],
        stdout=subprocess.PIPE, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert [hit["id"] for hit in find(session, {"query": "kept"}).data["results"]] == [record]
        assert read(session, {"id": record}).data["text"] == "kept words"
        with pytest.raises(LockTimeoutError, match=str(holder.pid)):
            remember(session, {"text": "more words"})
    finally:
        holder.send_signal(signal.SIGCONT)
        holder.kill()
        holder.communicate()
    assert remember(session, {"text": "more words"}).data["id"]
    session.close()


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def garble(path: Path) -> None:
    path.write_bytes(b"\xff\x00nothing of use" * 300)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("spoil", [cut, garble, empty, Path.unlink])
@pytest.mark.parametrize("name", ["index.sqlite3", "applied", "head.json", "journal.*", "backup.done", "lock", "key"])
def test_a_corrupt_state_file_is_healed_or_named_and_hides_nothing(
    onrecord: CommandLine, name: str, spoil: Callable[[Path], None]
) -> None:
    record = onrecord("remember", "kept words").data["id"]
    state = find_state()
    (state / "backup.done").write_text("0\n")
    (path,) = state.glob(name)
    spoil(path)
    assert list_hits(onrecord, "kept") == [record]
    assert onrecord("read", record).data["text"] == "kept words"
    kept = onrecord("remember", "later words")
    if kept.status == 0 and "id" in kept.data:
        assert list_hits(onrecord, "later") == [kept.data["id"]]
        assert onrecord("verify").data["verdict"] in ("L1", "L2")
    else:
        assert path.name.partition(".")[0] in kept.out or kept.envelope["degraded"]
        grave = [item for item in onrecord("doctor").data["findings"] if item["severity"] == "critical"]
        assert any(item["mend"] for item in grave)


@pytest.mark.parametrize("record", ["x" * 10_000, "9" * 300, "a/../../b" * 60, "\x1b[2J" * 100, "ü" * 200])
def test_an_impossible_id_is_our_error_with_a_cause(onrecord: CommandLine, record: str) -> None:
    onrecord("remember", "first words")
    for words in (
        ("read", record), ("history", record), ("update", record, "--old", "a", "--new", "b", "--expect", "1")
    ):  # fmt: skip
        done = onrecord(*words)
        assert done.status not in (0, 1), done.out
        assert done.error["code"] in ("invalid_input", "not_found", "limit_exceeded"), done.out
        assert "Errno" not in done.out
        assert len(done.out) < 1_000


def test_a_folder_that_is_away_for_a_while_retires_nothing_and_comes_back_whole(
    onrecord: CommandLine, tmp_path: Path
) -> None:
    kept = {onrecord("remember", f"numbered words {number}").data["id"] for number in range(12)}
    folder, aside = Path(onrecord.vault) / "memories", tmp_path / "aside"
    folder.rename(aside)
    assert onrecord("find", "numbered").data["status"] == "no_match"
    folder.mkdir()
    assert onrecord("find", "numbered").data["status"] == "no_match"
    onrecord("reindex")
    for record in kept:
        assert onrecord("read", record).data["status"] == "current"
        assert len(onrecord("history", record).data["versions"]) == 1
    folder.rmdir()
    aside.rename(folder)
    assert set(list_numbered(onrecord)) == kept
    onrecord("reindex")
    assert set(list_numbered(onrecord)) == kept
    assert all(len(onrecord("history", record).data["versions"]) == 1 for record in kept)


def list_numbered(onrecord: CommandLine) -> list[str]:
    return [hit["id"] for hit in onrecord("find", "numbered", "--limit", "100").data["results"]]


def test_what_a_one_way_sync_deletes_stays_readable_with_its_history(onrecord: CommandLine, tmp_path: Path) -> None:
    record = onrecord("remember", "words of this machine").data["id"]
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    path = locate(onrecord, record)
    path.unlink()  # the mirror never had it
    assert onrecord("read", record).data["text"] == "words of this machine"
    onrecord("reindex")
    assert onrecord("read", record).data["text"] == "words of this machine"
    assert [item["version"] for item in onrecord("history", record).data["versions"]] == [1]
    assert "missing_file" in {item["code"] for item in onrecord("doctor").data["findings"]}
