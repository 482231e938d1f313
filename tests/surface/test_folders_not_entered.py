"""Folders of a vault that nobody may enter: each answer says what it could not look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.find import find
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.status import describe_status
from onrecord.app.verify import verify
from tests.surface.test_links import Desk


def list_differences(session: Session) -> list[dict[str, str]]:
    """Return what `verify` finds."""
    found = verify(session, {}, Ed25519Verifier()).data["differences"]
    assert isinstance(found, list)
    return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.session.close()


@pytest.mark.parametrize("folder", ["memories", "memories/ws"])
@pytest.mark.parametrize("is_anew", [False, True])
def test_no_answer_passes_over_in_silence_what_lies_below_a_folder_that_nobody_may_enter(
    desk: Desk, folder: str, is_anew: bool
) -> None:
    remember(desk.session, {"text": "apple one", "workspace": "ws"})
    elsewhere = desk.base / "elsewhere"
    (desk.vault / folder).rename(elsewhere)
    desk.plant(folder, elsewhere)
    if is_anew:
        rebuild(desk.session)
    reconcile(desk.session, Reply())
    told = find(desk.session, {"query": "apple"})
    assert told.data["results"] == []
    assert [(item.reason, item.mend[:20]) for item in told.degraded] == [("folder_shut", "1 memory lies below ")]
    assert not find(desk.session, {"query": "pear"}).degraded
    status = describe_status(desk.session, {})
    assert status.data["problems"] == 1
    if not is_anew:
        assert [item.reason for item in status.degraded] == ["folder_shut"]
        assert dict(status.data["counts"])["files"] == 0  # type: ignore[call-overload]
    (difference,) = list_differences(desk.session)
    assert (difference["code"], difference["path"]) == ("not_a_regular_file", folder)
    assert "the files of 1 memory below it were not compared" in difference["message"]

    made = remember(desk.session, {"text": "apple two", "workspace": "ws"})
    assert [item.mend.endswith("not found until then") for item in made.degraded] == [True]
    assert "2 memories lie" in find(desk.session, {"query": "apple"}).degraded[0].mend
    assert [item["code"] for item in list_differences(desk.session)] == ["not_a_regular_file", "not_placed"]
    desk.link(folder)
    assert len(desk.find("apple")) == 2
    assert list_differences(desk.session) == []


def test_verify_tells_which_files_it_could_not_compare_while_a_linked_folder_is_away(desk: Desk) -> None:
    desk.link("memories/work", desk.notes)
    desk.find("kettle")
    desk.notes.rename(desk.base / "unplugged")
    (difference,) = list_differences(desk.session)
    assert (difference["code"], difference["path"]) == ("link_away", "memories/work")
    assert difference["message"].endswith("the files of 1 memory below it were not compared")


def test_verify_tells_of_a_file_that_a_cloud_program_has_taken_off_the_disk(desk: Desk) -> None:
    remember(desk.session, {"text": "apple one", "title": "Apple"})
    place = desk.vault / "memories/default/Apple.md"
    place.unlink()
    place.with_name(".Apple.md.icloud").write_bytes(b"")
    (difference,) = list_differences(desk.session)
    assert (difference["code"], difference["path"]) == ("link_away", "memories/default/Apple.md")
