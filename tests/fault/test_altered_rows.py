"""A row of the versions store that was changed where its entry was not: it is named, and counts for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import EntryRef, RecordId, Seq
from tests.fault.hostile import get_log
from tests.surface.cli import CommandLine
from tests.vaults import make_vault, open_reference, open_session

pytestmark = pytest.mark.usefixtures("guarded")


AGENT = '"origin":"agent","path":"memories/default/Account.md"'
USER = '"origin":"user","path":"memories/default/Accountx.md"'


@pytest.mark.parametrize(("said", "forged"), [(AGENT, USER), ('"status":"current"', '"status":"retired"')])
def test_a_row_that_its_entry_contradicts_counts_for_nothing(onrecord: CommandLine, said: str, forged: str) -> None:
    made = onrecord("remember", "pay the zanzibar account", "--title", "Account").data
    segment = Path(onrecord.vault, ".onrecord", get_log(onrecord), "versions", "00000000.jsonl")
    lines = segment.read_text().splitlines(keepends=True)
    (number,) = [number for number, line in enumerate(lines) if made["id"] in line]
    assert said in lines[number]
    lines[number] = lines[number].replace(said, forged)
    segment.write_text("".join(lines))
    assert onrecord("reindex").status == 0
    hits = onrecord("find", "zanzibar account").data["results"]
    assert all(hit["origin"] == "file" for hit in hits), hits
    history = onrecord("history", made["id"])
    assert history.status != 0 or all(item["origin"] == "file" for item in history.data["versions"])
    assert "version_altered" in [item["code"] for item in onrecord("doctor").data["findings"]]


FIRST = 1  # the entry behind that which begins the log
FORGED = [
    (b'"origin":"agent"', b'"origin":"user"'),
    (b'"status":"current"', b'"status":"draft"'),
    (b'"status":"current"', b'"protection":"locked","status":"current"'),
    (b'"mode":"placed"', b'"mode":"displaced"'),
    (b"pay the zanzibar", b"pay the mombasa"),
]


def forge_row(session: Session, seq: int, said: bytes, forged: bytes) -> None:
    """Change a row where it lies, as a program does that may write any file of the vault."""
    path = Path(session.store.folder, ".onrecord", session.store.log, "versions", "00000000.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    (number,) = [number for number, line in enumerate(lines) if b'"seq":%d,' % seq in line]
    assert said in lines[number]
    lines[number] = lines[number].replace(said, forged)
    path.write_bytes(b"".join(lines))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    make_vault(tmp_path / "vault")
    opened = open_session(tmp_path / "vault", tmp_path / "state")
    yield opened
    opened.close()


@pytest.mark.parametrize(("said", "forged"), FORGED[:4])
def test_an_index_that_takes_in_what_the_own_log_has_since_believes_no_forged_row(
    session: Session, said: bytes, forged: bytes
) -> None:
    late = open_reference(session)
    made = remember(session, {"text": "pay the zanzibar account"}).data
    session.store.checkpoint()
    with late.index.read() as reader:
        assert reader.get_current(RecordId(str(made["id"]))) is None
    forge_row(session, FIRST, said, forged)
    late.refresh(Reply())
    with late.index.read() as reader:
        assert reader.list_versions(RecordId(str(made["id"]))) == []
    assert [problem.code for problem in late.problems] == ["version_altered"]


@pytest.mark.parametrize(("said", "forged"), FORGED)
def test_a_row_that_is_forged_while_a_session_runs_is_not_shown_and_becomes_nothing(
    session: Session, said: bytes, forged: bytes
) -> None:
    made = remember(session, {"text": "pay the zanzibar account"}).data
    update(session, {"id": made["id"], "old": "account", "new": "bill", "expect": 1})
    session.store.checkpoint()
    forge_row(session, FIRST, said, forged)
    with pytest.raises(DamagedError):
        read(session, {"id": made["id"], "version": 1})
    found = verify(session, {}, Ed25519Verifier()).data
    assert found["verdict"] == "BROKEN"


def test_a_row_of_an_entry_that_has_none_is_no_version(session: Session) -> None:
    made = remember(session, {"text": "pay the zanzibar account"}).data
    session.store.checkpoint()
    path = Path(session.store.folder, ".onrecord", session.store.log, "versions", "00000000.jsonl")
    (row,) = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(row.replace(b'"seq":1,', b'"seq":0,').replace(b'"origin":"agent"', b'"origin":"user"') + row)
    with open_reference(session).index.read() as reader:
        assert [head.origin for head in reader.list_versions(RecordId(str(made["id"])))] == ["agent"]
    with pytest.raises(DamagedError):
        session.store.read_row(EntryRef(session.store.log, Seq(0)))
