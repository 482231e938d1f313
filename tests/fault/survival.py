"""What must hold of a vault after anything: acknowledged writes are there, the index equals a rebuilt one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.session import Session
from tests.vaults import check_verifies

QUESTIONS = ("memory", "changed run", "turn", "記憶")


def check_acknowledged(session: Session, writes: Iterable[Mapping[str, object]]) -> None:
    """Fail unless each acknowledged write can be read, at the version that was acknowledged."""
    for write in writes:
        if write["op"] == "capture":
            with session.index.read() as reader:
                head = reader.find_turn("s", "x", str(write["turn"]))
            assert head is not None, write
            assert str(write["text"]) in read(session, {"id": str(write["id"])}, page_bytes=0).data["text"], write
        else:
            got = read(session, {"id": str(write["id"]), "version": write["version"]}, page_bytes=0).data
            assert got["text"] == write["text"], write
            numbers = [item["version"] for item in list_history(session, {"id": str(write["id"])}).data["versions"]]
            assert numbers == sorted(set(numbers)), write


def ask(session: Session) -> list[object]:
    """Return what the questions give: ids, versions, scores, turns, in order."""
    answers: list[object] = []
    for question in QUESTIONS:
        results = find(session, {"query": question, "limit": 100}, page_bytes=1 << 24).data["results"]
        assert isinstance(results, list)
        answers.append([(hit["id"], hit["version"], hit["score"], hit.get("turn")) for hit in results])
    return answers


def check_whole(session: Session, writes: Iterable[Mapping[str, object]]) -> None:
    """Fail unless writes, ledger and index are whole."""
    check_acknowledged(session, writes)
    check_verifies(session)
    before = ask(session)
    rebuild(session)
    assert ask(session) == before
