"""A folder of the vault that may not be looked into: it stops no command, and nothing in it is missing or retired."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply
from onrecord.storage.files.disk import Disk
from tests.vaults import check_verifies, make_vault, open_session


class ClosableDisk(Disk):
    """A disk with a folder that is closed to this user while the test says so."""

    is_closed = False

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        if ClosableDisk.is_closed and f"{path}/".startswith("memories/default/"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        with super().folder(path) as fd:
            yield fd


def test_a_folder_that_is_closed_stops_no_question_and_no_memory_elsewhere(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state", make_disk=ClosableDisk)
    inside = str(remember(session, {"text": "the kettle is green"}).data["id"])
    outside = str(remember(session, {"text": "the kettle is white", "workspace": "work"}).data["id"])
    ClosableDisk.is_closed = True
    try:
        results = find(session, {"query": "kettle"}).data["results"]
        assert isinstance(results, list)
        assert outside in [hit["id"] for hit in results]
        assert read(session, {"id": inside}).data["text"] == "the kettle is green"
        assert remember(session, {"text": "the teapot is blue", "workspace": "work"}).data["id"]
        reconcile(session, Reply(), wait_s=None)
        assert not session.store.absences.read().missing
    finally:
        ClosableDisk.is_closed = False
    results = find(session, {"query": "kettle"}).data["results"]
    assert isinstance(results, list)
    assert {hit["id"] for hit in results} == {inside, outside}
    check_verifies(session)
    session.close()
