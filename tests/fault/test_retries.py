"""A call that is repeated after a death between commit and reply changes nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.app.capture import capture
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.update import update
from onrecord.domain.errors import IdempotencyMismatchError
from onrecord.ports.index import Index, IndexBatch
from tests.vaults import check_verifies, make_vault, open_session


class DiedError(BaseException):
    """Stands for the death of the process right behind the commit."""


class DyingIndex:
    """Dies when it is given documents, before it has taken them in."""

    def __init__(self, plain: Index) -> None:
        self._plain = plain

    def __getattr__(self, name: str) -> object:
        return getattr(self._plain, name)

    def apply(self, batch: IndexBatch) -> None:
        if batch.documents:
            raise DiedError
        self._plain.apply(batch)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    make_vault(tmp_path / "vault")
    return tmp_path / "vault", tmp_path / "state"


def die_and_repeat(places: tuple[Path, Path], call) -> tuple[dict, Session]:
    """Call until death, then again in a new opening; return the second reply's data and that opening."""
    session = open_session(*places)
    plain = session.index
    session.index = DyingIndex(plain)  # type: ignore[assignment]
    with pytest.raises(DiedError):
        call(session)
    session.index = plain
    session.close()
    again = open_session(*places)
    return call(again).data, again


@pytest.mark.parametrize("key", [None, "k1"])
def test_remember_repeated_gives_the_one_record(places: tuple[Path, Path], key: str | None) -> None:
    arguments = {"text": "kept once"} | ({"idempotency_key": key} if key else {})
    data, session = die_and_repeat(places, lambda opened: remember(opened, arguments))
    assert data["duplicate"] is True
    assert len(list((places[0] / "memories").rglob("*.md"))) == 1
    check_verifies(session)
    session.close()


def test_update_repeated_with_its_key_gives_the_one_version(places: tuple[Path, Path]) -> None:
    session = open_session(*places)
    record = str(remember(session, {"text": "first"}).data["id"])
    session.close()
    arguments = {"id": record, "text": "second", "expect": 1, "idempotency_key": "k2"}
    data, session = die_and_repeat(places, lambda opened: update(opened, arguments))
    assert data == {"id": record, "version": 2}
    assert [item["version"] for item in list_history(session, {"id": record}).data["versions"]] == [1, 2]
    check_verifies(session)
    session.close()


def test_capture_repeated_gives_the_one_turn(places: tuple[Path, Path]) -> None:
    arguments = {"source": "s", "session": "x", "turn": "1", "role": "user", "text": "said once"}
    data, session = die_and_repeat(places, lambda opened: capture(opened, arguments))
    assert data["duplicate"] is True
    assert str(read(session, {"id": str(data["id"])}).data["text"]).count("said once") == 1
    check_verifies(session)
    session.close()


@pytest.mark.parametrize("changed", [{"text": "third"}, {"expect": 2}, {"text": None, "tags": ["x"]}])
def test_a_key_with_another_update_is_refused(places: tuple[Path, Path], changed: dict[str, object]) -> None:
    session = open_session(*places)
    record = str(remember(session, {"text": "first", "idempotency_key": "k0"}).data["id"])
    arguments: dict[str, object] = {"id": record, "text": "second", "expect": 1, "idempotency_key": "k"}
    update(session, arguments)
    for other in (arguments | changed, arguments | {"idempotency_key": "k0"}):
        with pytest.raises(IdempotencyMismatchError):
            update(session, other)
    with pytest.raises(IdempotencyMismatchError):
        remember(session, {"text": "first", "title": "another", "idempotency_key": "k0"})
    assert read(session, {"id": record}).data["text"] == "second"
    session.close()
