"""Folder links in a vault: followed by the user's word for that very link, and no other ever."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.links import link, unlink
from onrecord.app.missing import repair_missing
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Channel, Reply, Session
from onrecord.app.status import describe_status
from onrecord.app.update import update
from onrecord.domain.errors import ApprovalRequiredError, ConflictError, InvalidInputError, NotFoundError
from onrecord.storage.files.claims import find_store
from tests.surface.cli import CommandLine
from tests.vaults import check_verifies, make_vault, open_session


class Desk:
    """A vault, a folder of notes elsewhere, and a person at a terminal."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.vault = base / "vault"
        self.notes = base / "Obsidian" / "Notes"
        self.notes.mkdir(parents=True)
        (self.notes / "Kettle.md").write_text("the kettle sings\n")
        make_vault(self.vault)
        self.session = self.start()

    def start(self, channel: Channel = Channel.TERMINAL, vault: Path | None = None) -> Session:
        return open_session(vault or self.vault, self.base / "state", channel=channel)

    def plant(self, path: str, target: Path | str) -> None:
        place = self.vault / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def link(self, path: str, target: Path | str | None = None) -> dict[str, object]:
        given: dict[str, object] = {"path": path, "target": str(target) if target is not None else None}
        links = link(self.session, given).data["links"]
        assert isinstance(links, list)
        return dict(links[0])

    def list_states(self, session: Session | None = None) -> dict[str, str]:
        links = link(session or self.session, {"list": True}).data["links"]
        assert isinstance(links, list)
        return {item["path"]: item["state"] for item in links}

    def find(self, query: str, session: Session | None = None) -> list[str]:
        session = session or self.session
        reconcile(session, Reply())
        results = find(session, {"query": query}).data.get("results", [])
        assert isinstance(results, list)
        return [str(hit["id"]) for hit in results]

    def list_codes(self, session: Session | None = None) -> list[tuple[str, str]]:
        findings = diagnose(session or self.session, {}).data["findings"]
        assert isinstance(findings, list)
        return [(item["code"], item["path"]) for item in findings if item["severity"] != "info"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.session.close()


def test_a_link_that_the_user_made_is_named_with_its_mend_until_it_is_allowed_and_then_followed(desk: Desk) -> None:
    desk.plant("memories/work", desk.notes)
    assert desk.find("kettle") == []
    assert desk.list_codes() == [("not_a_regular_file", "memories/work")]
    assert desk.link("memories/work") == {"path": "memories/work", "target": str(desk.notes), "state": "open"}
    (record,) = desk.find("kettle")
    assert desk.list_codes() == []
    assert read(desk.session, {"id": record}).data["path"] == "memories/work/Kettle.md"
    assert (desk.notes / "Kettle.md").read_text() == "the kettle sings\n"
    other = desk.start()
    assert desk.find("kettle", other) == [record]
    other.close()
    check_verifies(desk.session)


def test_a_link_is_made_where_nothing_or_an_empty_folder_is(desk: Desk) -> None:
    desk.link("memories", desk.notes)
    assert os.readlink(desk.vault / "memories") == str(desk.notes)
    assert len(desk.find("kettle")) == 1
    with pytest.raises(ConflictError):
        desk.link("memories", desk.base)
    desk.vault.joinpath("facts/x").mkdir(parents=True)
    desk.vault.joinpath("facts/x/a.md").write_text("here\n")
    other = desk.base / "other"
    other.mkdir()
    with pytest.raises(ConflictError):
        desk.link("facts", other)


@pytest.mark.parametrize("channel", [Channel.PIPE, Channel.LIBRARY])
def test_nobody_but_the_user_allows_or_forgets_a_link(desk: Desk, channel: Channel) -> None:
    desk.plant("memories/work", desk.notes)
    agent = desk.start(channel)
    with pytest.raises(ApprovalRequiredError):
        link(agent, {"path": "memories/work"})
    with pytest.raises(ApprovalRequiredError):
        unlink(agent, {"path": "memories/work"})
    assert desk.list_states(agent) == {}
    assert desk.find("kettle", agent) == []
    agent.close()


def test_forgetting_a_link_touches_no_file_and_is_obeyed_by_processes_that_are_running(desk: Desk) -> None:
    desk.link("memories/work", desk.notes)
    other = desk.start()
    assert len(desk.find("kettle", other)) == 1
    unlink(desk.session, {"path": "memories/work"})
    assert desk.find("kettle", other) == []
    assert (desk.vault / "memories/work").is_symlink()
    assert (desk.notes / "Kettle.md").exists()
    with pytest.raises(NotFoundError):
        unlink(desk.session, {"path": "memories/work"})
    other.close()


@pytest.mark.parametrize("is_anew", [False, True])
def test_what_lies_behind_a_link_that_was_taken_back_is_not_found_and_not_missing(desk: Desk, is_anew: bool) -> None:
    desk.link("memories/work", desk.notes)
    (record,) = desk.find("kettle")
    told = unlink(desk.session, {"path": "memories/work"}).warnings
    assert told[0].startswith("1 memories below memories/work are kept")
    if is_anew:
        rebuild(desk.session)
    assert desk.find("kettle") == []
    shown = read(desk.session, {"id": record})
    assert shown.data["text"] == "the kettle sings"
    assert any("behind a link that is not followed" in warning for warning in shown.warnings)
    assert repair_missing(desk.session, {}).data["total"] == 0
    assert repair_missing(desk.session, {"retire": True}).data["retired"] == 0
    assert describe_status(desk.session, {}).data["missing"] == {"records": 0, "retirement_suspended": False}
    assert desk.list_codes() == [("not_a_regular_file", "memories/work")]
    findings = diagnose(desk.session, {}).data["findings"]
    assert "1 memories below it are not found until then" in str(findings)
    with pytest.raises(ConflictError, match="not followed"):
        update(desk.session, {"id": record, "text": "mine", "expect": 1})
    check_verifies(desk.session, may_differ=True)
    desk.link("memories/work")
    assert desk.find("kettle") == [record]


def test_what_lay_behind_a_link_that_was_taken_back_and_removed_is_missing_for_all_alike(desk: Desk) -> None:
    desk.link("memories/work", desk.notes)
    (record,) = desk.find("kettle")
    (desk.vault / "memories/work").unlink()
    assert desk.find("kettle") == [record]
    unlink(desk.session, {"path": "memories/work"})
    assert desk.find("kettle") == []
    missing = repair_missing(desk.session, {}).data["missing"]
    assert isinstance(missing, list)
    assert [item["id"] for item in missing] == [record]
    assert ("missing_file", "memories/work/Kettle.md") in desk.list_codes()


def test_a_link_that_leads_elsewhere_than_was_allowed_is_not_followed(desk: Desk) -> None:
    desk.link("memories/work", desk.notes)
    assert len(desk.find("kettle")) == 1
    secret = desk.base / "secret"
    secret.mkdir()
    (secret / "Kettle.md").write_text("the kettle is secret\n")
    (desk.vault / "memories/work").unlink()
    desk.plant("memories/work", secret)
    assert desk.find("secret") == []
    assert desk.list_states() == {"memories/work": "changed"}
    assert desk.list_codes() == [("link_changed", "memories/work")]
    # ... and nothing is written through it, nor is what lay behind the old one judged missing.
    (record,) = desk.find("kettle")
    assert "missing" not in str(read(desk.session, {"id": record}))
    assert update(desk.session, {"id": record, "text": "mine", "expect": 1}).degraded
    assert os.listdir(secret) == ["Kettle.md"]
    (desk.vault / "memories/work").unlink()
    desk.plant("memories/work", desk.notes)
    desk.session.refresh()
    assert (desk.notes / "Kettle.md").read_text() == "mine\n"
    check_verifies(desk.session)


def test_another_folder_at_the_place_of_the_allowed_one_is_not_followed(desk: Desk) -> None:
    desk.link("memories/work", desk.notes)
    desk.notes.rename(desk.base / "moved")
    desk.notes.mkdir()
    (desk.notes / "Planted.md").write_text("planted words\n")
    assert desk.find("planted") == []
    assert desk.list_states() == {"memories/work": "changed"}


def test_of_a_folder_that_is_away_nothing_is_judged_missing_and_all_is_served(desk: Desk) -> None:
    desk.link("memories/work", desk.notes)
    (record,) = desk.find("kettle")
    away = desk.base / "unplugged"
    desk.notes.rename(away)
    for _ in range(2):
        assert desk.find("kettle") == [record]
        assert desk.list_states() == {"memories/work": "away"}
        assert desk.list_codes() == [("link_away", "memories/work")]
        assert read(desk.session, {"id": record}).data["text"] == "the kettle sings"
        for reply in (read(desk.session, {"id": record}), find(desk.session, {"query": "kettle"})):
            assert [item.reason for item in reply.degraded] == ["link_away"]
        assert describe_status(desk.session, {}).data["problems"] == 1
        check_verifies(desk.session, may_differ=True)
        desk.session.close()
        desk.session = desk.start()
    away.rename(desk.notes)
    assert desk.find("kettle") == [record]
    assert desk.list_codes() == []


FORBIDDEN = [
    "/",
    "{base}",
    "{base}/vault",
    "{base}/vault/.onrecord",
    "{base}/state",
    "{base}/state/vaults",
    "{base}/vault/facts",
]


@pytest.mark.parametrize("is_planted", [False, True])
@pytest.mark.parametrize("target", FORBIDDEN)
def test_no_link_leads_to_the_vault_the_state_folder_or_what_holds_them(
    desk: Desk, target: str, is_planted: bool
) -> None:
    (desk.vault / "facts").mkdir()
    target = target.format(base=desk.base)
    if is_planted:
        desk.plant("memories/work", target)
    with pytest.raises(InvalidInputError) as refused:
        desk.link("memories/work", None if is_planted else target)
    assert refused.value.field == ("path" if is_planted else "target")
    assert os.path.lexists(desk.vault / "memories/work") is is_planted
    assert desk.list_states() == {}


@pytest.mark.parametrize(
    "path", ["work", ".onrecord/x", "memories/../facts", "memories/.hidden", "../out", "/etc", "", "memories//x"]
)
def test_a_link_lies_at_or_below_a_record_folder(desk: Desk, path: str) -> None:
    with pytest.raises((InvalidInputError, NotFoundError)):
        desk.link(path, desk.notes)


def test_a_loop_is_refused_and_stops_nothing(desk: Desk) -> None:
    desk.plant("memories/a", "b")
    desk.plant("memories/b", "a")
    desk.plant("memories/deep", "../memories")
    for path in ("memories/a", "memories/b", "memories/deep"):
        with pytest.raises(InvalidInputError):
            desk.link(path)
    assert len(desk.list_codes()) == 3


def test_one_folder_is_linked_once_by_one_vault(desk: Desk) -> None:
    desk.link("memories/work", desk.notes)
    (desk.notes / "inner").mkdir()
    for target in (desk.notes, desk.notes / "inner", desk.notes.parent):
        with pytest.raises(InvalidInputError):
            desk.link("facts/again", target)
    second = desk.base / "second"
    make_vault(second)
    other = desk.start(vault=second)
    for target in (desk.notes, desk.notes / "inner", desk.vault / "memories"):
        with pytest.raises(InvalidInputError):
            link(other, {"path": "memories/work", "target": str(target)})
    other.close()


def test_a_link_inside_a_linked_folder_needs_a_word_of_its_own(desk: Desk) -> None:
    inner = desk.base / "inner"
    inner.mkdir()
    (inner / "Pot.md").write_text("the pot is silent\n")
    (desk.notes / "inner").symlink_to(inner)
    desk.link("memories/work", desk.notes)
    assert desk.find("pot") == []
    desk.link("memories/work/inner")
    assert len(desk.find("pot")) == 1


def test_a_link_to_a_file_is_never_followed(desk: Desk) -> None:
    desk.plant("memories/Kettle.md", desk.notes / "Kettle.md")
    with pytest.raises(InvalidInputError):
        desk.link("memories/Kettle.md")
    assert desk.find("kettle") == []


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder on another file system than that of the tests."""
    if not os.path.isdir("/dev/shm"):
        pytest.skip("no second file system")
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)


def test_writing_through_a_link_to_another_file_system_is_as_anywhere(desk: Desk, elsewhere: Path) -> None:
    desk.link("memories/default", elsewhere)
    record = str(remember(desk.session, {"text": "the pot is silent", "title": "Pot"}).data["id"])
    assert update(desk.session, {"id": record, "old": "silent", "new": "loud", "expect": 1}).degraded == []
    assert os.listdir(elsewhere) == ["Pot.md"]
    assert "the pot is loud" in (elsewhere / "Pot.md").read_text()
    (elsewhere / "Pot.md").rename(elsewhere / "Pan.md")
    assert desk.find("loud") == [record]
    desk.session.store.checkpoint()
    check_verifies(desk.session)


def test_the_path_of_a_vault_may_be_a_link_that_is_turned_while_it_is_open(desk: Desk) -> None:
    alias = desk.base / "alias"
    alias.symlink_to(desk.vault)
    session = desk.start(vault=alias)
    first = str(remember(session, {"text": "before the turn", "title": "One"}).data["id"])
    second = desk.base / "second"
    make_vault(second)
    alias.unlink()
    alias.symlink_to(second)
    assert find(session, {"query": "before the turn"}).data["status"] == "found"
    assert not list((second / "memories").rglob("*.md"))
    session.close()
    assert desk.find("before the turn")[0] == first


def test_init_accepts_record_folders_that_are_links_already_and_says_so(bare: CommandLine, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Kettle.md").write_text("the kettle sings\n")
    vault = Path(bare.vault)
    vault.mkdir()
    (vault / "memories").symlink_to(notes)
    warnings = bare("init").envelope["warnings"]
    assert any("memories is a link to" in warning for warning in warnings)
    assert bare("find", "kettle").data["status"] == "found"
    assert bare("link", "--list").data["links"][0]["state"] == "open"
    assert bare("link", "memories").error["code"] == "approval_required"
    assert bare("unlink", "memories").error["code"] == "approval_required"
    assert bare("link").data == bare("link", "--list").data
    refused = bare("link", "memories", "--list")
    assert (refused.status, refused.error["field"]) == (2, "list")
    assert str(notes) in bare("link", "--list", as_json=False).out


def test_the_list_of_links_belongs_to_a_store() -> None:
    assert find_store("links.json", is_state=True) == "links"
