"""The catalog tells of each operation exactly the members that its replies have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import onrecord as package
from onrecord.adapters.watcher import FileWatcher
from onrecord.app.catalog import OPERATIONS
from onrecord.app.links import unlink
from onrecord.app.read import batch_read
from onrecord.app.session import Caller, Channel
from onrecord.ports.watching import Hints
from tests.surface.cli import CommandLine
from tests.surface.test_conflicts import Case

# What takes another log, a damaged ledger or a refused disk to see; tests/fault has replies with them.
UNSEEN = {
    "remember": {"backup_only"},
    "capture": {"backup_only"},
    "history": {"versions[].known_at", "versions[].pending_sync", "path", "pending_sync"},
    "adopt": {"log", "set_aside"},
    "verify": {
        *("logs[].fault", "logs[].fault.seq", "logs[].fault.code", "logs[].fault.message", "logs[].fault.mend"),
        *("notes[].record", "notes[].version"),
    },
    "batch_read": {
        *("results[].error.did_you_mean", "results[].error.field", "results[].conflict", "results[].pending_sync"),
    },
    "conflicts": {"truncated", "next_offset", "not_checked"},
    "find": {"results[].conflict", "results[].pending_sync"},
    "read": {"conflict", "pending_sync"},
    "settle": {"copies", "removed"},
    "update": {"merged", "conflict"},
}


def list_members(value: object, prefix: str = "") -> Iterator[str]:
    """Yield the path of every member of an object, as the catalog writes it."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield prefix + name
            yield from list_members(item, f"{prefix}{name}.")
    elif isinstance(value, list):
        for item in value:
            yield from list_members(item, f"{prefix.removesuffix('.')}[].")


@pytest.fixture
def replies(onrecord: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    """Replies of every operation, with all members that they can have."""
    seen: dict[str, list[object]] = {name: [] for name in OPERATIONS}

    def call(operation: str, *words: str, stdin: bytes = b"", at_terminal: bool = False) -> dict[str, object]:
        data = onrecord(*OPERATIONS[operation].command.split(), *words, stdin=stdin, at_terminal=at_terminal).data
        seen[operation].append(data)
        return data

    made = CommandLine(monkeypatch, str(tmp_path / "second"))
    (tmp_path / "linked").mkdir()
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "memories").symlink_to(tmp_path / "linked")
    seen["init"].append(made("init").data)
    seen["link"].append(made("link", "--list").data)
    with package.open(made.vault) as vault:
        vault._session.caller = Caller(Channel.TERMINAL)
        seen["unlink"].append(unlink(vault._session, {"path": "memories"}).data)
    made("remember", "rolled back")
    (ledger,) = Path(made.vault).glob(".onrecord/*/ledger/00000000.jsonl")
    ledger.write_bytes(b"")
    seen["adopt"].append(made("adopt").data)
    kept = str(call("remember", "kumquat. " + "words " * 600, "--tag", "t")["id"])
    call("remember", "short", "--title", "x")
    call("update", kept, "--old", "kumquat", "--new", "quince kumquat", "--expect", "1")
    turn = ("--source", "s", "--session", "x", "--turn", "1", "--role", "user", "--speaker", "Mia")
    transcript = str(call("capture", "kumquat turn", *turn, "--time", "2026-01-01")["id"])
    for mode in ("preview", "hits", "full"):
        call("find", "kumquat", "--mode", mode)
    case = Case(tmp_path / "disputed")
    case.session.close()
    disputed = CommandLine(monkeypatch, str(case.vault))
    seen["settle"].append(disputed("settle", case.conflict, "--keep", "A").data)
    seen["conflicts"].append(disputed("conflicts", "--all").data)
    call("find", "kumquat", "--limit", "1")
    call("find", "nothing")
    section = _use_sources(call, tmp_path)
    monkeypatch.setenv("ONRECORD_PAGE_BYTES", "1024")
    call("source_remove", "rules", at_terminal=True)
    call("source_add", str(tmp_path / "rules"), "--name", "rules", at_terminal=True)
    call("source_list")
    call("find", "quince", "--mode", "full")
    call("read", kept)
    for number in range(2, 8):
        call("update", kept, "--text", f"text {number} " + "words " * 600, "--expect", str(number))
    call("history", kept)
    call("history", transcript)
    with package.open(onrecord.vault) as vault:
        seen["batch_read"].append(batch_read(vault._session, {"ids": [kept, "zzzz", transcript, kept, kept]}).data)
        seen["batch_read"].append(batch_read(vault._session, {"ids": ["zzzz", section, transcript]}).data)
        vault._session.store.backup.append(b"not a line of the backup")
    call("import", "-", stdin=b"x\n" * 100 + json.dumps({"session": "s", "turn": "1", "text": 5}).encode())
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "picture.png").write_bytes(b"")
    call("import", str(notes))
    call("replay")
    call("status")
    Path(onrecord.vault, "memories/default/open.md").write_text("---\nopen: [\n---\nx\n")
    call("source_remove", "gone", at_terminal=True)
    (edited,) = Path(onrecord.vault, "events/s").iterdir()
    edited.write_text(edited.read_text().replace("kumquat turn", "changed turn"))
    monkeypatch.setattr(FileWatcher, "wait", lambda watcher, timeout_s: Hints(is_ended=True))
    seen["watch"].append(json.loads(onrecord("watch").out.splitlines()[-1])["data"])
    for name in ("doctor", "verify", "config", "reindex", "help"):
        call(name)
    call("help", "find")
    call("help", "remember")
    for number in range(8):
        path = Path(onrecord.vault, str(onrecord("read", str(call("remember", f"gone {number}")["id"])).data["path"]))
        path.unlink()
    call("missing")
    call("missing", "--retire", at_terminal=True)
    asking = f"kb: true\nprotection: locked\ngovernance: {{purpose: {'x' * 180}}}\n"
    for number in range(4):
        Path(onrecord.vault, f"memories/asking {number}.md").write_text(
            f"---\nid: {number:012d}\nversion: 1\n{asking}---\nasking {number}\n"
        )
    call("proposals")
    return seen


def _use_sources(call: Callable[..., dict[str, object]], tmp_path: Path) -> str:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "own.md").write_text("# Rules\nquandong\n")
    for number in range(20):
        (rules / f".hidden {number}.md").touch()
    gone = tmp_path / "gone.txt"
    gone.write_text("bilberry")
    call("source_add", str(rules), "--name", "rules", "--agent", "a", "--format", "markdown", at_terminal=True)
    call("source_add", str(gone), "--name", "gone", at_terminal=True)
    gone.unlink()
    found = call("find", "quandong")["results"]
    assert isinstance(found, list)
    section = str(found[0]["id"])
    call("read", section)
    call("source_list")
    return section


def test_every_operation_returns_what_its_catalog_entry_tells(replies: dict[str, list[object]]) -> None:
    for name, operation in OPERATIONS.items():
        told = {member.rstrip("?") for member in operation.returns}
        always = {member for member in operation.returns if not member.endswith("?") and "." not in member}
        assert len(told) == len(operation.returns), name
        found: set[str] = set()
        for data in replies[name]:
            members = set(list_members(data))
            assert members <= told, (name, members - told)
            assert always <= members, (name, always - members)
            found |= members
        assert told - found - UNSEEN.get(name, set()) == set(), name


def test_members_without_a_mark_are_in_every_item(replies: dict[str, list[object]]) -> None:
    for name, operation in OPERATIONS.items():
        for member in operation.returns:
            parent, dot, last = member.rpartition("[].")
            if not dot or member.endswith("?") or "." in parent + last:
                continue
            for data in replies[name]:
                assert isinstance(data, dict)
                assert all(last in item for item in data.get(parent, ())), (name, member)


def test_help_tells_the_same_members(onrecord: CommandLine) -> None:
    for name, operation in OPERATIONS.items():
        assert onrecord("help", name).data["returns"] == list(operation.returns)
