"""A history in packed segments is the history: here, after a kill, and on another machine, whatever comes first."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.read import read
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.domain.ids import RecordId
from onrecord.storage.files import applier, sealing
from tests.fault.survival import check_whole
from tests.machines import Machine, bring_log, make_two
from tests.unit.storage.files.test_sealing import Killed
from tests.vaults import check_verifies, make_vault, open_session

_PADDING = " ".join(["words that fill a segment"] * 20)


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applier, "VERSIONS_SEGMENT_MAX_BYTES", 3_000)


def list_segments(vault: Path, log: str) -> list[str]:
    return sorted(path.name for path in (vault / f".onrecord/{log}/versions").iterdir())


def list_codes(session: Session) -> set[str]:
    return {item["code"] for item in diagnose(session, {"deep": True}).data["findings"]}  # type: ignore[attr-defined]


def write_some(session: Session, count: int, start: int = 0) -> list[dict[str, object]]:
    writes: list[dict[str, object]] = []
    for number in range(start, start + count):
        text = f"memory {number} 記憶 {_PADDING}"
        kept = remember(session, {"text": text}).data
        writes.append({"op": "remember", "id": kept["id"], "version": 1, "text": text})
    return writes


def test_every_version_is_read_from_packed_segments(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state", checkpoint_entries=4)
    writes = write_some(session, 12)
    update(session, {"id": writes[0]["id"], "text": "changed", "expect": 1})
    session.store.checkpoint()
    names = list_segments(tmp_path / "vault", session.store.log)
    assert [name.endswith(".gz") for name in names] == [True] * (len(names) - 1) + [False]
    assert len(names) > 3
    check_whole(session, writes)
    assert list_codes(session) <= {"clock_jump"}
    session.close()
    session = open_session(tmp_path / "vault", tmp_path / "other-state")
    assert read(session, {"id": str(writes[0]["id"]), "version": 1}, page_bytes=0).data["text"] == writes[0]["text"]
    check_verifies(session)
    session.close()


def test_a_reader_goes_on_while_another_process_packs(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    writer = open_session(tmp_path / "vault", tmp_path / "state", checkpoint_entries=100)
    reader = open_session(tmp_path / "vault", tmp_path / "state", checkpoint_entries=100)
    writes = write_some(writer, 8)
    for write in writes:
        read(reader, {"id": str(write["id"]), "version": 1})
    rows = reader.store.read_rows(writer.store.log)
    seqs = [next(rows).ref.seq]  # type: ignore[union-attr]
    writer.store.checkpoint()
    assert "00000000.jsonl.gz" in list_segments(tmp_path / "vault", writer.store.log)
    seqs += [row.ref.seq for row in rows]  # type: ignore[union-attr]
    assert len(seqs) == len(writes)
    for write in writes:
        assert read(reader, {"id": str(write["id"]), "version": 1}, page_bytes=0).data["text"] == write["text"]
    remember(reader, {"text": "written by the other process"})
    check_verifies(reader)
    writer.close()
    reader.close()


def test_a_kill_in_the_middle_of_packing_is_gone_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state", checkpoint_entries=100)
    writes = write_some(session, 8)

    def kill(*_: object) -> bool:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(sealing, "_is_beginning", kill)
        with pytest.raises(Killed):
            session.store.checkpoint()
    log = session.store.log
    assert {"00000000.jsonl", "00000000.jsonl.gz"} <= set(list_segments(tmp_path / "vault", log))
    session = open_session(tmp_path / "vault", tmp_path / "state")
    check_whole(session, writes)
    writes += write_some(session, 1, 100)
    session.store.checkpoint()
    assert "00000000.jsonl" not in list_segments(tmp_path / "vault", log)
    check_whole(session, writes)
    session.close()


def _write_on_first(first: Machine) -> list[str]:
    return [str(first.remember(f"harbour {number} {_PADDING}")["id"]) for number in range(9)]


def _list_known(machine: Machine, records: list[str]) -> set[str]:
    """Return which of some memories the index has a version of."""

    def ask(session: Session) -> set[str]:
        session.refresh(Reply())
        with session.index.read() as reader:
            return {record for record in records if reader.list_versions(RecordId(record))}

    return machine.call(ask)


@pytest.mark.parametrize("late", ["00000000.jsonl.gz", "00000001.jsonl.gz"])
@pytest.mark.parametrize("left", ["nothing", "a beginning", "a torn packed one"])
def test_a_segment_that_comes_late_is_waited_for_and_nothing_behind_it_is_passed_over(
    tmp_path: Path, late: str, left: str
) -> None:
    first, second = make_two(tmp_path)
    records = _write_on_first(first)
    bring_log(first, second)
    folder = second.vault / f".onrecord/{first.log}/versions"
    whole = (folder / late).read_bytes()
    (folder / late).unlink()
    if left == "a beginning":
        source = first.vault / f".onrecord/{first.log}/versions" / late
        (folder / late.removesuffix(".gz")).write_bytes(gzip.decompress(source.read_bytes())[:700])
    elif left == "a torn packed one":
        (folder / late).write_bytes(whole[:-100])
    assert _list_known(second, records) < set(records)
    codes = second.call(list_codes)
    assert "rows_waiting" in codes or left == "a torn packed one"
    if left != "a torn packed one":
        second.call(lambda session: check_verifies(session, may_differ=True))
    second.remember("own words meanwhile")
    (folder / late).write_bytes(whole)
    assert _list_known(second, records) == set(records)
    second.call(lambda session: check_verifies(session, may_differ=True))
    assert second.call(list_codes) & {"rows_waiting", "version_unreadable", "damaged"} == set()


def test_a_segment_is_replaced_by_its_packed_form_between_two_looks(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    records = _write_on_first(first)
    plain = tmp_path / "plain"
    shutil.copytree(first.vault / f".onrecord/{first.log}/versions", plain)
    bring_log(first, second)
    folder = second.vault / f".onrecord/{first.log}/versions"
    for path in sorted(folder.glob("*.gz")):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    session = second.open()
    for record in records:
        read(session, {"id": record, "version": 1})
    for path in sorted(plain.glob("*.gz")):
        shutil.copy(path, folder)
        read(session, {"id": records[0], "version": 1})
        (folder / path.name).with_suffix("").unlink()
        for record in records:
            assert "harbour" in str(read(session, {"id": record, "version": 1}).data["text"])
    session.close()
    assert _list_known(second, records) == set(records)
    second.call(lambda session: check_verifies(session, may_differ=True))


def test_doctor_names_a_segment_whose_two_forms_differ(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    session = open_session(tmp_path / "vault", tmp_path / "state", checkpoint_entries=4)
    write_some(session, 8)
    session.store.checkpoint()
    folder = tmp_path / f"vault/.onrecord/{session.store.log}/versions"
    plain = folder / "00000000.jsonl"
    plain.write_bytes(gzip.decompress((folder / "00000000.jsonl.gz").read_bytes()).replace(b"memory 0", b"memory 9"))
    found = diagnose(session, {}).data["findings"]
    assert ("damaged", f".onrecord/{session.store.log}/versions/00000000.jsonl.gz") in {
        (item["code"], item.get("path"))
        for item in found  # type: ignore[attr-defined]
    }
    plain.unlink()
    assert list_codes(session) <= {"clock_jump"}
    session.close()
