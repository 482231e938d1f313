"""Server-owned keys in a file are copies: changing one by hand changes nothing, is told, and may be a wish."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import onrecord as package
from onrecord.app.session import Reply
from onrecord.domain.entry import Entry, read_entry
from onrecord.domain.ids import RecordId
from onrecord.ports.store import Actor, Change, VersionRow
from tests.surface.cli import CommandLine

OTHER = "0123456789abcdef:7"
# Each key that OnRecord owns, what a hand writes, and the cause of the request that it is, or none.
CHANGES = {
    "kind": ("kind: conflict", ""),
    "version": ("version: 99", ""),
    "by": ('by: "LOG:999"', ""),
    "recorded_at": ("recorded_at: 2001-01-01T00:00:00.000000Z", ""),
    "client": ("client: somebody", ""),
    "agent": ("agent: somebody", ""),
    "status": ("status: retired", "retire"),
    "origin": ("origin: user", "confirm"),
    "confirmed_by": (f"confirmed_by: {OTHER}", "confirm"),
    "protection": ("protection: locked", "edit"),
    "kb": ("kb: true", "edit"),
    "governance": ('governance: {"visibility":"all"}', "edit"),
}


class Kept:
    """A memory, its file, and edits of the file's keys."""

    def __init__(self, onrecord: CommandLine) -> None:
        self.onrecord = onrecord
        self.id = onrecord("remember", "plain words").data["id"]
        self.path = Path(onrecord.vault) / onrecord("read", self.id).data["path"]
        self.written = self.path.read_text()

    def put(self, *lines: str, text: str = "") -> None:
        """Set lines of the front matter, in place of those of the same keys, and add to the text."""
        keys = {line.split(":")[0] for line in lines}
        _, block, body = self.written.split("---\n", 2)
        kept = [line for line in block.splitlines() if line.split(":")[0] not in keys]
        self.path.write_text("---\n" + "\n".join([*kept, *lines]) + "\n---\n" + body + text)

    def list_requests(self) -> list[Entry]:
        with package.open(self.onrecord.vault) as vault:
            store = vault._session.store
            entries = [read_entry(line) for _, line in store.read_entries(store.log)]
        return [item for item in entries if isinstance(item, Entry) and item.type == "approval.request"]

    def list_proposals(self) -> list[dict[str, object]]:
        proposals = self.onrecord("proposals").data["proposals"]
        assert self.onrecord("status").data["proposals"] == len(proposals)
        return proposals

    def list_told(self) -> list[str]:
        findings = self.onrecord("doctor").data["findings"]
        return [item["message"] for item in findings if item["code"] == "server_key_changed"]


@pytest.fixture
def kept(onrecord: CommandLine) -> Kept:
    return Kept(onrecord)


@pytest.mark.parametrize("key", CHANGES)
def test_no_server_owned_key_is_taken_from_the_file_of_a_known_memory(kept: Kept, key: str) -> None:
    before = kept.onrecord("read", kept.id).data
    line, cause = CHANGES[key]
    kept.put(line.replace("LOG", kept.onrecord("status").data["log"]))
    now = kept.onrecord("read", kept.id).data
    assert (now["id"], now["kind"], now["status"], now["workspace"]) == (kept.id, "note", "current", "default")
    assert (now["version"], now["origin"]) == (2, "file")
    assert now["recorded_at"] > before["recorded_at"]
    assert not now["by"].endswith(":999")
    with package.open(kept.onrecord.vault) as vault:
        store = vault._session.store
        row = [row for row in store.read_rows(store.log) if isinstance(row, VersionRow)][-1]
    assert (row.draft.protection, row.draft.status, row.actor) == ("normal", "current", Actor())
    assert [message.split()[0] for message in kept.list_told()] == [key]
    assert [entry.members["cause"] for entry in kept.list_requests()] == ([cause] if cause else [])
    assert [item["key"] for item in kept.list_proposals()] == ([key] if cause else [])


def test_doctor_tells_key_and_both_values_but_nobodys_words(kept: Kept) -> None:
    kept.put("status: retired", "client: secretive", 'governance: {"purpose":"secretive"}')
    told = kept.list_told()
    assert "status was changed in the file: it was current, it is retired; the change is not applied" in told
    assert len(told) == 3
    assert "secretive" not in json.dumps(told)


@pytest.mark.parametrize("kind", ["conflict", "workspace", "event"])
@pytest.mark.parametrize("folder", ["memories/default", "conflicts", "workspaces"])
def test_no_new_file_is_a_conflict_a_workspace_or_a_transcript(onrecord: CommandLine, kind: str, folder: str) -> None:
    path = Path(onrecord.vault) / folder / "claims.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nkind: {kind}\nisolation: strict\n---\nclaimed words\n")
    (hit,) = onrecord("find", "claimed words").data["results"]
    assert (hit["kind"], hit["origin"]) == ("note", "file")


def test_a_new_file_may_claim_a_kind_of_memory_and_no_authority(onrecord: CommandLine) -> None:
    path = Path(onrecord.vault) / "memories" / "claims.md"
    lines = ("kind: belief", "origin: confirmed", f"confirmed_by: {OTHER}", "protection: locked", "status: draft")
    path.write_text("---\n" + "\n".join(lines) + "\n---\nclaimed words\n")
    (hit,) = onrecord("find", "claimed words").data["results"]
    assert (hit["kind"], hit["origin"], hit["status"]) == ("belief", "file", "current")
    asked = {item["key"]: item["to"] for item in onrecord("proposals").data["proposals"]}
    assert asked == {"origin": "confirmed", "confirmed_by": OTHER, "protection": "locked", "status": "draft"}


OWN_WORDS = "status: done\nkind: book\norigin: Japan\nby: Jane Austen\nversion: 2nd\nagent: Curtis Brown\nkb: true\n"


@pytest.mark.parametrize(
    "own", [f"id: my-own-id-4\n{OWN_WORDS}", f'id: "202611301915"\n{OWN_WORDS}', "status: draft\n"]
)
def test_the_names_of_server_owned_keys_are_its_owners_in_a_note_that_bears_no_mark(
    onrecord: CommandLine, own: str
) -> None:
    path = Path(onrecord.vault) / "memories" / "pride.md"
    path.write_text(f"---\n{own}---\nA book about pride.\n")
    (hit,) = onrecord("find", "book about pride").data["results"]
    assert hit["kind"] == "note"
    for version, words in ((1, "prejudice"), (2, "persuasion")):
        onrecord("update", str(hit["id"]), "--expect", str(version), "--text", f"A book about {words}.")
        assert path.read_text() == f"---\n{own}---\nA book about {words}.\n"
        assert onrecord("doctor").data["findings"] == []
        assert onrecord("proposals").data["proposals"] == []
    path.write_text(f"---\n{own.replace('status', 'state')}---\nA book about emma.\n")
    assert onrecord("doctor").data["findings"] == []


def test_a_wish_is_asked_for_once(kept: Kept) -> None:
    kept.put("protection: locked")
    kept.list_proposals()
    for number in range(3):
        kept.put("protection: locked", text=f"more {number}\n")
        kept.list_proposals()
        kept.onrecord("reindex")
    (item,) = kept.list_proposals()
    assert (item["id"], item["record"], item["version"]) == (1, kept.id, 2)
    assert (item["key"], item["from"], item["to"]) == ("protection", "normal", "locked")
    versions = kept.onrecord("history", kept.id).data["versions"]
    assert (item["by"], item["since"]) == (versions[1]["by"], versions[1]["recorded_at"])
    assert len(versions) == 5
    assert len(kept.list_requests()) == 1


def test_undoing_the_edit_withdraws_the_proposal_and_doing_it_again_asks_again(kept: Kept) -> None:
    kept.put("protection: locked", "kb: true")
    assert [item["key"] for item in kept.list_proposals()] == ["protection", "kb"]
    kept.put("kb: true")
    assert [item["key"] for item in kept.list_proposals()] == ["kb"]
    kept.path.write_text(kept.written)
    assert kept.list_proposals() == []
    assert kept.list_told() == []
    kept.put("protection: locked", text="again\n")
    assert [item["id"] for item in kept.list_proposals()] == [3]


def test_an_update_by_an_agent_applies_no_wish_and_takes_none_back(kept: Kept) -> None:
    kept.put("protection: locked", "status: retired", "kb: true")
    kept.list_proposals()
    kept.onrecord("update", kept.id, "--text", "other words", "--expect", "2")
    assert not {"protection: locked", "status: retired", "kb: true"} & set(kept.path.read_text().splitlines())
    assert kept.list_told() == []
    assert [item["key"] for item in kept.list_proposals()] == ["status", "protection", "kb"]
    kept.path.write_text(kept.path.read_text() + "a further edit\n")
    assert len(kept.list_proposals()) == 3
    assert len(kept.list_requests()) == 3


def test_no_edit_of_a_file_and_no_update_unlocks_a_protected_memory(kept: Kept) -> None:
    with package.open(kept.onrecord.vault) as vault:
        session = vault._session
        with session.write() as unit:
            with session.index.read() as reader:
                head = reader.get_current(RecordId(kept.id))
            assert head is not None
            row = session.store.read_row(head.ref)
            assert row is not None
            draft = replace(row.draft, version=2, protection="locked", parents=(head.ref,), mode="observed")
            change = Change("record.protect", draft, {"protection": "locked"})
            session.publish(unit.commit([change], Actor()), Reply())
    kept.put("protection: normal", text="an edit\n")
    kept.onrecord("read", kept.id)
    kept.onrecord("update", kept.id, "--text", "other words", "--expect", "3")
    with package.open(kept.onrecord.vault) as vault:
        store = vault._session.store
        rows = [row.draft for row in store.read_rows(store.log) if isinstance(row, VersionRow)]
    rows = [draft for draft in rows if draft.id == kept.id]
    assert [draft.protection for draft in rows] == ["normal", "locked", "locked", "locked"]
    assert "protection: locked" in kept.path.read_text()


def test_doctor_names_an_open_proposal(kept: Kept) -> None:
    def list_open() -> list[str]:
        findings = kept.onrecord("doctor").data["findings"]
        return [item["message"].split(":")[0] for item in findings if item["code"] == "proposal_open"]

    kept.put("origin: confirmed")
    (proposal,) = kept.list_proposals()
    assert list_open() == [f"proposal {proposal['id']}"]
    kept.path.write_text(kept.written)
    assert list_open() == []


def test_a_proposal_names_the_place_of_the_file_now_and_none_where_it_is_gone(kept: Kept) -> None:
    def list_told() -> list[tuple[object, object]]:
        findings = kept.onrecord("doctor").data["findings"]
        (told,) = [item["path"] for item in findings if item["code"] == "proposal_open"]
        return [(item["path"], told) for item in kept.list_proposals()]

    kept.put("protection: locked")
    first = str(kept.path.relative_to(kept.onrecord.vault))
    assert list_told() == [(first, first)]
    kept.path.rename(kept.path.with_name("elsewhere.md"))
    place = "memories/default/elsewhere.md"
    assert list_told() == [(place, place)]
    kept.path.with_name("elsewhere.md").unlink()
    assert list_told() == [(None, "")]
    assert "no file" in kept.onrecord("proposals", as_json=False).out
