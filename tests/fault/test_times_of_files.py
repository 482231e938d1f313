"""Files with times that no clock has: they are memories like any other, and an edit of them is seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply
from tests.sources import add, use_sources
from tests.vaults import check_verifies, make_vault, open_session

YEAR_S = 365 * 24 * 3_600
TIMES_S = {"epoch": 0, "negative": -40 * YEAR_S, "2099": 129 * YEAR_S, "2300": 330 * YEAR_S, "2440": 470 * YEAR_S}


@pytest.mark.parametrize("name", TIMES_S)
def test_a_file_of_any_time_is_taken_in_found_edited_and_indexed_anew(tmp_path: Path, name: str) -> None:
    make_vault(tmp_path / "vault")
    path = tmp_path / "vault" / "memories" / "note.md"
    path.parent.mkdir(exist_ok=True)
    session = open_session(tmp_path / "vault", tmp_path / "state")
    for text in ("the kettle is green", "the kettle is white"):
        path.write_text(f"{text}\n")
        os.utime(path, ns=(TIMES_S[name] * 10**9, TIMES_S[name] * 10**9))
        for _ in range(2):
            reply = Reply()
            reconcile(session, reply, wait_s=None)
            assert reply.degraded == []
            results = find(session, {"query": "kettle", "mode": "full"}).data["results"]
            assert isinstance(results, list)
            assert [hit["text"] for hit in results] == [text]
            rebuild(session)
        assert read(session, {"id": results[0]["id"]}).data["text"] == text
    check_verifies(session)
    session.close()


def test_a_source_with_a_time_that_no_clock_has_is_searched(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state")
    use_sources(session, tmp_path / "vault", tmp_path / "state")
    path = tmp_path / "notes.md"
    path.write_text("the kettle is green\n")
    os.utime(path, ns=(0, TIMES_S["2440"] * 10**9))
    add(session, path, "notes")
    results = find(session, {"query": "kettle", "mode": "full"}).data["results"]
    assert isinstance(results, list)
    assert [hit["text"] for hit in results] == ["the kettle is green"]
    session.close()
