"""Several installations write logs of their own into copies of one vault; each says what it has seen of the others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.remember import remember
from onrecord.app.session import Session
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.domain.instants import Instant, to_unix_us
from tests.ledgers import Builder, Key
from tests.machines import Machine, bring, make_two
from tests.vaults import check_verifies, make_vault, open_session

HOUR_US = 3_600_000_000


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return make_two(tmp_path)


def list_seen(machine: Machine) -> list[tuple[str, int]]:
    return [(entry["type"], head["size"]) for entry in machine.list_entries() for head in entry.get("seen", ())]


def test_a_log_that_has_grown_is_seen_before_the_next_write(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    assert [kind for kind, _ in list_seen(second)] == ["log.start"]
    first.remember("written later")
    first.clock.pass_s(1)
    bring(first, second)
    before = second.list_entries()
    second.find("written later")
    assert second.list_entries() == before, "reading writes nothing"
    second.remember("after the sync")
    types = [entry["type"] for entry in second.list_entries()[len(before) :]]
    assert types == ["log.seen", "record.create"]
    assert list_seen(second)[-1] == ("log.seen", len(first.list_entries()))
    second.remember("nothing new since")
    assert len(list_seen(second)) == 2
    second.call(check_verifies)


def test_record_time_is_behind_every_head_that_was_seen(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    first.clock.wall_us += HOUR_US
    first.clock.boot = "boot-2"
    first.remember("an hour ahead")
    ahead = first.list_entries()[-1]["ts"]
    bring(first, second)
    second.remember("after it")
    seen = next(entry for entry in reversed(second.list_entries()) if entry["type"] == "log.seen")
    after = second.list_entries()[-1]
    assert to_unix_us(Instant(seen["ts"])) == to_unix_us(Instant(ahead)) + 1
    assert after["ts"] > seen["ts"]
    second.remember("and goes on")
    second.call(check_verifies)


def test_a_log_that_is_a_year_ahead_does_not_take_the_record_time_along(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    first.clock.wall_us += 365 * 24 * HOUR_US
    first.clock.boot = "boot-2"
    first.remember("a year ahead")
    bring(first, second)
    assert second.remember("of today")["id"]
    assert second.list_entries()[-1]["ts"] < first.list_entries()[-1]["ts"]

    def list_codes(session: Session) -> list[str]:
        remember(session, {"text": "again"})
        return [problem.code for problem in session.store.find_problems()]

    assert "clock_jump" in second.call(list_codes)


def test_a_version_of_another_log_counts_from_when_it_was_seen(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    record = first.remember("the capital is Bonn")["id"]
    first.call(lambda session: update(session, {"id": record, "old": "Bonn", "new": "Berlin", "expect": 1}))
    written = first.list_entries()[-1]["ts"]
    bring(first, second)
    second.clock.pass_s(60)
    assert second.find("capital") == [(record, 2)]
    assert second.find("capital", as_of=written) == []
    pending = second.call(lambda session: list_history(session, {"id": record}).data["versions"])
    assert [item.get("pending_sync") for item in pending] == [True, True]
    second.remember("a write of its own")
    seen = next(entry["ts"] for entry in reversed(second.list_entries()) if entry["type"] == "log.seen")
    before = second.list_entries()[-3]["ts"]
    assert second.find("capital", as_of=before) == []
    assert second.find("capital", as_of=written) == []
    assert second.find("capital", as_of=seen) == [(record, 2)]
    versions = second.call(lambda session: list_history(session, {"id": record}).data["versions"])
    assert [item["known_at"] for item in versions] == [seen, seen]
    assert versions[0]["superseded_at"] == seen
    assert versions[0]["recorded_at"] < seen
    assert first.find("capital", as_of=written) == [(record, 2)]


def test_an_own_version_stays_current_until_the_later_one_of_another_log_was_seen(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = second.remember("the capital is Bonn")["id"]
    own = second.list_entries()[-1]["ts"]
    first.clock.wall_us = second.clock.wall_us + 1_000_000
    bring(second, first)
    first.call(lambda session: update(session, {"id": record, "old": "Bonn", "new": "Berlin", "expect": 1}))
    later = first.list_entries()[-1]["ts"]
    bring(first, second)
    second.clock.pass_s(3_600)
    assert second.find("capital") == [(record, 2)]
    assert second.find("capital", as_of=later) == [(record, 1)]
    second.remember("a write of its own")
    now = second.list_entries()[-1]["ts"]
    assert second.find("capital", as_of=own) == [(record, 1)]
    assert second.find("capital", as_of=later) == [(record, 1)]
    assert second.find("capital", as_of=now) == [(record, 2)]


def test_of_two_versions_of_one_number_the_later_recorded_is_what_the_file_should_hold(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    record = first.remember("the capital is Bonn")["id"]
    bring(first, second)

    def get_log(machine: Machine) -> str:
        return machine.call(lambda session: session.store.log)

    # The later version lies in the log that is read first.
    later, earlier = sorted(machines, key=get_log)
    for machine, town in ((earlier, "Berlin"), (later, "Vienna")):
        machine.clock.wall_us = max(item.clock.wall_us for item in machines) + 60_000_000
        change = {"id": record, "old": "Bonn", "new": town, "expect": 1}
        assert machine.call(lambda session, change=change: update(session, change).data["version"]) == 2
    name = get_log(earlier)
    shutil.copytree(
        earlier.vault / ".onrecord" / name, later.vault / ".onrecord" / name, ignore=shutil.ignore_patterns("lock"),
        dirs_exist_ok=True,
    )  # fmt: skip
    for _ in range(2):
        data = later.call(lambda session: verify(session, {}, Ed25519Verifier()).data)
        assert "edited_outside" not in [item["code"] for item in data["differences"]], data
        later.call(rebuild)
    assert later.call(lambda session: read(session, {"id": record}).data["text"]) == "the capital is Vienna"


def test_more_logs_than_one_entry_can_name_are_seen_in_several(tmp_path: Path) -> None:
    vault, count = tmp_path / "vault", 45
    make_vault(vault)
    for number in range(count):
        other = Builder(Key(number + 10))
        other.add("log.start", key=other.key.vkey, seen=[])
        folder = vault / ".onrecord" / other.key.log
        (folder / "ledger").mkdir(parents=True)
        (folder / "key.pub").write_text(other.key.vkey + "\n")
        (folder / "ledger" / "00000000.jsonl").write_bytes(other.lines[0] + b"\n")
    session = open_session(vault, tmp_path / "last")
    remember(session, {"text": "after all of them"})
    named = [
        head["log"]
        for _, line in session.store.read_entries(session.store.log)
        for head in json.loads(line).get("seen", ())
    ]
    assert (len(set(named)), len(session.store.list_logs())) == (count, count + 1)
    check_verifies(session)
    session.close()


def test_a_log_that_is_not_the_one_seen_before_is_named_and_not_seen_again(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    first.remember("of the true log")
    bring(first, second)
    second.remember("has seen it")
    before = len(list_seen(second))
    path = next(second.vault.glob(f".onrecord/{first.call(lambda session: session.store.log)}/ledger/*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1].replace(b'"ver":1', b'"ver":2'), *lines[2:], lines[-1]]))
    (path.parent.parent / "checkpoint").unlink()

    def write(session: Session) -> list[str]:
        remember(session, {"text": "goes on"})
        return [problem.code for problem in session.store.find_problems()]

    assert "log_forked" in second.call(write)
    assert len(list_seen(second)) == before
    verdict = second.call(lambda session: verify(session, {}, Ed25519Verifier()).data["verdict"])
    assert verdict == "BROKEN"


def list_problems(session: Session) -> set[str]:
    return {problem.code for problem in (*session.store.find_problems(), *session.store.inspect())}


@pytest.mark.parametrize("way", ["altered", "another key"])
def test_a_log_whose_checkpoint_no_key_of_it_signed_is_named_and_not_seen_until_it_is_mended(
    machines: tuple[Machine, Machine], way: str
) -> None:
    first, second = machines
    first.remember("of the true log")
    first.call(lambda session: session.store.checkpoint())
    bring(first, second)
    before = len(list_seen(second))
    path = second.vault / ".onrecord" / first.log / "checkpoint"
    sound = path.read_bytes()
    lines = [line for _, line in first.call(lambda session: list(session.store.read_entries(session.store.log)))]
    if way == "altered":
        text, _, signature = sound.rpartition(b" ")
        swapped = signature[:20] + (b"A" if signature[20:21] != b"A" else b"B") + signature[21:]
        path.write_bytes(text + b" " + swapped)
    else:
        path.write_bytes(Key(9).sign_head(lines, len(lines)))
    assert "checkpoint_unproven" in second.call(list_problems), "doctor says it before anything is written"

    def write_twice(session: Session) -> None:
        remember(session, {"text": "goes on"})
        assert "checkpoint_unproven" in list_problems(session)
        assert len(list_seen(second)) == before
        path.write_bytes(sound)
        remember(session, {"text": "goes on after the mend"})
        assert "checkpoint_unproven" not in list_problems(session)

    second.call(write_twice)
    assert list_seen(second)[-1] == ("log.seen", len(lines))
    second.call(check_verifies)


def test_entries_that_are_not_sound_are_not_seen(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    first.remember("sound")
    bring(first, second)
    log = first.call(lambda session: session.store.log)
    path = next(second.vault.glob(f".onrecord/{log}/ledger/*.jsonl"))
    sound = path.read_bytes()
    path.write_bytes(sound + b'{"damaged":1}\n')
    second.remember("first write")
    assert list_seen(second)[-1] == ("log.seen", sound.count(b"\n"))
    record = first.remember("arrives whole")["id"]
    bring(first, second)
    second.remember("second write")
    assert list_seen(second)[-1] == ("log.seen", len(first.list_entries()))
    assert second.call(lambda session: read(session, {"id": record}).data["text"]) == "arrives whole"
    second.call(check_verifies)
