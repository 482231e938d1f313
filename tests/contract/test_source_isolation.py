"""What is its owner's alone is met by the owner and the user; for everybody else it is as if it were not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.read import batch_read, read
from onrecord.app.rebuild import rebuild
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.sources import add_source, list_sources, remove_source
from onrecord.app.status import describe_status
from onrecord.domain.errors import NotFoundError, OnRecordError
from onrecord.domain.sections import make_section_id
from onrecord.storage.reference import ReferenceIndex
from tests.sources import USER, add, call_as, use_sources
from tests.vaults import make_vault, open_session

ALONE = {"agent": "codex", "owner_only": True}
SECTION = make_section_id("mine", "mine.md", 1)


@pytest.fixture(params=["sqlite", "reference"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    """Give a vault with memories and a shared source, over each driver of the index."""
    vault, state = tmp_path / "vault", tmp_path / "state"
    make_vault(vault)
    opened = open_session(vault, state, index=ReferenceIndex() if request.param == "reference" else None)
    use_sources(opened, vault, state)
    for number in range(4):
        remember(opened, {"text": f"kumquat number {number} " + "word " * number})
    (tmp_path / "shared.md").write_text("# One\nkumquat shared\n# Two\nanother word\n")
    (tmp_path / "mine.md").write_text("# Plan\nkumquat secretplan\n# More\nkumquat kumquat number words\n")
    add(opened, tmp_path / "shared.md", "shared")
    yield opened
    opened.close()


def ask_everything(session: Session) -> list[object]:
    """Return every reply and error that a caller can get about sources."""
    replies: list[object] = []
    for query in ("kumquat", "kumquat number word", "secretplan", "Plan More", "mine mine.md", "codex"):
        for mode in ("preview", "hits", "full"):
            reply = find(session, {"query": query, "limit": 50, "mode": mode})
            replies += [reply.data, reply.degraded, reply.warnings]
    for section in (SECTION, make_section_id("mine", "mine.md", 2), make_section_id("mine", "mine.md", 0)):
        with pytest.raises(NotFoundError) as caught:
            read(session, {"id": section})
        replies.append(caught.value.describe())
        replies.append(batch_read(session, {"ids": [section]}).data)
    for use in (describe_status, list_sources, diagnose):
        reply = use(session, {})  # type: ignore[operator]
        assert isinstance(reply, Reply)
        replies += [reply.data, reply.degraded, reply.warnings]
    return replies


def test_nobody_else_can_tell_whether_it_is_there(session: Session, tmp_path: Path) -> None:
    for agent, client in (("", ""), ("claude", "cursor"), ("Codex", "codex "), ("mine", "")):
        other = call_as(session, agent=agent, client=client)
        before = ask_everything(other)
        add(session, tmp_path / "mine.md", "mine", **ALONE)
        assert ask_everything(replace(other, scan=None)) == before
        find(call_as(session, agent="codex"), {"query": "kumquat"})
        assert ask_everything(other) == before
        (tmp_path / "mine.md").write_text("# Plan\nkumquat secretplan anew\n")
        assert ask_everything(replace(other, scan=None)) == before
        text = (tmp_path / "mine.md").read_text()
        (tmp_path / "mine.md").unlink()
        assert ask_everything(replace(other, scan=None)) == before
        (tmp_path / "mine.md").write_text(text)
        forget(session)


def forget(session: Session) -> None:
    remove_source(replace(session, caller=USER, scan=None), {"name": "mine"})


@pytest.mark.parametrize("names", [{"agent": "codex"}, {"client": "codex"}])
def test_the_owner_and_the_user_find_and_read_it(session: Session, tmp_path: Path, names: dict[str, str]) -> None:
    add(session, tmp_path / "mine.md", "mine", **ALONE)
    for caller in (call_as(session, **names), replace(session, caller=USER, scan=None)):
        results = find(caller, {"query": "secretplan"}).data["results"]
        assert isinstance(results, list)
        assert [hit["id"] for hit in results] == [SECTION]
        assert read(caller, {"id": SECTION}).data["text"] == "# Plan\nkumquat secretplan"
        sources = list_sources(caller, {}).data["sources"]
        assert isinstance(sources, list)
        assert [source["name"] for source in sources] == ["mine", "shared"]


def test_what_becomes_its_owners_alone_is_found_by_no_other_at_once(session: Session, tmp_path: Path) -> None:
    add(session, tmp_path / "mine.md", "mine")
    other = call_as(session, agent="claude")
    assert find(other, {"query": "secretplan"}).data["results"]
    forget(session)
    add(session, tmp_path / "mine.md", "mine", **ALONE)
    assert find(other, {"query": "secretplan"}).data["results"] == []


def test_an_index_made_anew_by_another_has_it_for_its_owner_alone(session: Session, tmp_path: Path) -> None:
    add(session, tmp_path / "mine.md", "mine", **ALONE)
    owner, other = call_as(session, agent="codex"), call_as(session, agent="claude")
    before = [find(caller, {"query": "kumquat number", "limit": 50}).data for caller in (owner, other)]
    rebuild(other)
    assert [find(caller, {"query": "kumquat number", "limit": 50}).data for caller in (owner, other)] == before


def test_a_call_about_a_source_fails_alike_for_all_who_are_not_the_user(session: Session, tmp_path: Path) -> None:
    other = call_as(session, agent="codex")
    for path in (tmp_path / "mine.md", tmp_path / "absent", tmp_path / "vault"):
        with pytest.raises(OnRecordError) as caught:
            add_source(other, {"path": str(path), "name": "mine"})
        assert caught.value.code == "approval_required"
