"""Two installations of one vault, driven at random, whose files and logs reach each other in any order, late or twice.

At the end of a run everything has arrived: both hold the same, nothing acknowledged is lost, and no version says that
somebody else wrote it.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal
from unittest import TestCase

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from onrecord.app.capture import capture
from onrecord.app.find import find
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.domain.errors import ConflictError, NotFoundError
from onrecord.domain.record import read_record
from tests.syncing import StayingMachine, die_behind_the_commit
from tests.vaults import check_verifies, make_vault, open_reference

WORDS = ("apple", "banana", "postgres", "v0.7.2", "数据库", "発版", "get_user_id", "Tuesday", "東京")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
WHO = st.integers(0, 1)
PICK = st.integers(0, 30)


class TwoInstallations(RuleBasedStateMachine):
    """The machines, what each acknowledged, and what the sync program last saw to be the same on both."""

    order: ClassVar[Literal["turns", "logs first", "any"]] = "any"
    has_twins: ClassVar[bool] = True  # both may write a plain note at one place
    has_copies: ClassVar[bool] = True  # the file that loses is kept as a copy; else it is gone, the last one wins

    @initialize(ahead_s=st.sampled_from((0, 40, -40, 7_200)))
    def open(self, ahead_s: int) -> None:
        self.base = Path(tempfile.mkdtemp())
        self.machines = (StayingMachine(self.base, "first", 0), StayingMachine(self.base, "second", ahead_s))
        make_vault(self.machines[0].vault)
        shutil.copytree(self.machines[0].vault, self.machines[1].vault)
        for machine in self.machines:
            machine.start()
        self.kept: set[str] = set()  # every text whose write was acknowledged
        self.written: set[str] = set()  # texts that went through OnRecord, and so are of no other origin
        self.said: set[str] = set()  # every line that anybody wrote, by hand or not
        self.agreed: dict[str, bytes] = {}  # what the sync program saw last on both
        self.count = self.turn = 0

    def name_text(self, text: str) -> str:
        """Return a text that no other write has."""
        self.count += 1
        self.said.add(f"{text} n{self.count}")
        return f"{text} n{self.count}"

    def choose(self, who: int) -> StayingMachine:
        """Return the machine that a rule is about; where they take turns, the one whose turn it is."""
        return self.machines[self.turn if self.order == "turns" else who]

    @rule(who=WHO, text=TEXTS)
    def keep(self, who: int, text: str) -> None:
        text = self.name_text(text)
        remember(self.choose(who).session, {"text": text})
        self.kept.add(text)
        self.written.add(text)

    @rule(who=WHO, pick=PICK, text=TEXTS)
    def change(self, who: int, pick: int, text: str) -> None:
        machine = self.choose(who)
        records = machine.list_records()
        if not records:
            return
        record, text = records[pick % len(records)], self.name_text(text)
        with suppress(ConflictError, NotFoundError):
            shown = read(machine.session, {"id": record}).data
            if shown["kind"] == "conflict":
                return
            update(machine.session, {"id": record, "text": text, "expect": shown["version"]})
            self.kept.add(text)
            self.written.add(text)

    @rule(who=WHO, turn=st.integers(1, 4), text=TEXTS)
    def say(self, who: int, turn: int, text: str) -> None:
        with suppress(ConflictError):
            given = {
                "source": f"s{self.machines.index(self.choose(who))}",
                "session": "x",
                "turn": f"t{turn}",
                "role": "user",
                "text": text,
            }
            capture(self.choose(who).session, given)

    @rule(who=WHO, pick=PICK, text=TEXTS)
    def edit_outside(self, who: int, pick: int, text: str) -> None:
        machine = self.choose(who)
        files = [path for path in machine.list_files() if path.startswith("memories/")]
        if not files:
            return
        path, text = files[pick % len(files)], self.name_text(text)
        with (machine.vault / path).open("ab") as file:
            file.write(f"{text}\n".encode())
        self.look(machine)

    def look(self, machine: StayingMachine) -> None:
        machine.clock.pass_s(1)
        reconcile(machine.session, Reply(), wait_s=None)

    @rule(who=WHO, place=st.integers(0, 2), text=TEXTS)
    def write_plain_note(self, who: int, place: int, text: str) -> None:
        machine = self.choose(who)
        owner = "" if self.has_twins else self.machines.index(machine)
        path = f"memories/default/plain {owner}{place}.md"
        if machine.get_bytes(path) is None:
            machine.put(path, f"{self.name_text(text)}\n".encode())
            self.look(machine)

    @rule(who=WHO, pick=PICK, place=st.integers(0, 2))
    def rename(self, who: int, pick: int, place: int) -> None:
        """Rename a file that both have alike: where one renames it and the other changes it, there are two."""
        machine, target = self.choose(who), f"memories/moved/by hand {place}.md"
        files = [path for path in machine.list_files() if path.startswith("memories/")]
        if not files or target in self.list_all_files():
            return
        path = files[pick % len(files)]
        self.carry_all_of(path)
        data = machine.get_bytes(path)
        if data is not None and self.agreed.get(path) == data:
            full = machine.vault / target
            full.parent.mkdir(parents=True, exist_ok=True)
            (machine.vault / path).rename(full)
            self.look(machine)
            self.carry_all_of(path)
            self.carry_all_of(target)

    def carry_all_of(self, path: str) -> None:
        """Bring a path with both logs, and let both take in what comes."""
        for who in (0, 1):
            self.machines[who].carry_log(self.machines[1 - who])
        self.sync_path(path)
        for machine in self.machines:
            self.look(machine)

    @rule(who=WHO, pick=PICK)
    def delete_and_restore(self, who: int, pick: int) -> None:
        machine = self.choose(who)
        files = [path for path in machine.list_files() if path.startswith("memories/")]
        if files:
            path = files[pick % len(files)]
            data = machine.get_bytes(path)
            machine.put(path, None)
            self.look(machine)
            machine.put(path, data)
            self.look(machine)

    @rule(who=WHO)
    def reopen(self, who: int) -> None:
        self.choose(who).stop()
        self.choose(who).start()

    @rule(who=WHO)
    def reindex(self, who: int) -> None:
        rebuild(self.choose(who).session)

    @rule(who=WHO, text=TEXTS)
    def crash_behind_the_commit(self, who: int, text: str) -> None:
        machine, text = self.choose(who), self.name_text(text)
        self.look(machine)
        machine.session.refresh()  # what has arrived is taken in before, so that only the new text is not indexed
        die_behind_the_commit(machine.session, text)
        self.written.add(text)
        self.kept.add(text)
        machine.stop()
        machine.start()

    @precondition(lambda self: self.order == "turns")
    @rule()
    def hand_over(self) -> None:
        """Deliver all, then let the other machine go on."""
        self.deliver_all()
        self.turn = 1 - self.turn
        self.look(self.machines[self.turn])

    @precondition(lambda self: self.order != "turns")
    @rule(source=WHO, store=st.sampled_from(("ledger", "versions", "checkpoint")), per_mille=st.integers(0, 1000))
    def carry_log(self, source: int, store: str, per_mille: int) -> None:
        """Carry a part of a log: whatever stands in front of some byte of it, never less than has arrived."""
        one, other = self.machines[source], self.machines[1 - source]
        own = one.own
        if store == "checkpoint":
            data = one.get_bytes(f"{own}/checkpoint")
            if data is not None:
                self.put_key(one, other, own)
                other.put(f"{own}/checkpoint", data)
            return
        path = f"{own}/{store}/00000000.jsonl"
        data = one.get_bytes(path)
        if data is not None:
            self.put_key(one, other, own)
            there = other.get_bytes(path) or b""
            other.put(path, data[: max(len(there), len(data) * per_mille // 1000)])

    def put_key(self, one: StayingMachine, other: StayingMachine, own: str) -> None:
        other.put(f"{own}/key.pub", one.get_bytes(f"{own}/key.pub"))

    @precondition(lambda self: self.order != "turns")
    @rule(source=WHO)
    def carry_whole_log(self, source: int) -> None:
        self.machines[source].carry_log(self.machines[1 - source])

    @precondition(lambda self: self.order != "turns")
    @rule(pick=PICK)
    def carry_file(self, pick: int) -> None:
        paths = self.list_all_files()
        if paths:
            self.sync_path(paths[pick % len(paths)])

    def list_all_files(self) -> list[str]:
        return sorted({path for machine in self.machines for path in machine.list_files()} | self.agreed.keys())

    def sync_path(self, path: str) -> None:
        """Bring one path to the same on both, as a sync program does that knows what both had before."""
        if self.order == "logs first":
            for who in (0, 1):
                self.machines[who].carry_log(self.machines[1 - who])
        one, other = self.machines
        data = one.get_bytes(path), other.get_bytes(path)
        before = self.agreed.get(path)
        if data[0] != data[1]:
            if data[0] == before or (data[0] is None and data[1] != before):
                one.put(path, data[1])
            elif data[1] == before or data[1] is None:
                other.put(path, data[0])
            else:
                self.resolve(path, data[0], data[1])
        after = one.get_bytes(path)
        self.agreed.pop(path, None)
        if after is not None:
            self.agreed[path] = after

    def resolve(self, path: str, one: bytes, other: bytes) -> None:
        """Let the first machine win; the other's file is kept under the name that Syncthing gives, or is gone."""
        self.count += 1
        stem = path.removesuffix(".md")
        copy = f"{stem}.sync-conflict-20261130-{self.count:06d}-ABCDEFG.md"
        for machine in self.machines:
            machine.put(path, one)
            if self.has_copies:
                machine.put(copy, other)
        if self.has_copies:
            self.agreed[copy] = other

    @rule(who=WHO)
    def look_around(self, who: int) -> None:
        self.look(self.choose(who))

    # The end: everything arrives.

    def deliver_all(self) -> None:
        for who in (0, 1):
            self.carry_whole_log(who)
        for path in self.list_all_files():
            self.sync_path(path)

    def settle(self) -> None:
        """Deliver until nobody has anything new to say; it must not go on for ever."""
        before = -1
        for _ in range(6):
            for machine in self.machines:
                self.look(machine)
                machine.session.store.checkpoint()
            self.deliver_all()
            for machine in self.machines:
                machine.stop()
                machine.start()
            size = sum(1 for machine in self.machines for _ in machine.list_rows())
            if size == before:
                return
            before = size
        raise AssertionError("two machines that have everything go on making versions of it")

    def teardown(self) -> None:
        if not hasattr(self, "base"):
            return
        try:
            self.settle()
            self.check_end()
        finally:
            for machine in self.machines:
                if machine.is_open:
                    machine.stop()
            shutil.rmtree(self.base)

    def check_end(self) -> None:
        one, other = self.machines
        assert one.list_records() == other.list_records()
        for record in one.list_records():
            assert one.read_text(record) == other.read_text(record), record
        for machine in self.machines:
            self.check_rows(machine)
            check_verifies(machine.session, may_differ=True)
            answers = [self.ask(machine.session), self.ask(open_reference(machine.session))]
            rebuild(machine.session)
            answers.append(self.ask(machine.session))
            assert answers[0] == answers[1]
            assert answers[0] == answers[2]
        assert self.ask(one.session) == self.ask(other.session)

    def check_rows(self, machine: StayingMachine) -> None:
        """Every acknowledged text is in a version, and nobody else's words are called an outside edit."""
        all_rows = [row for row in machine.list_rows() if row.draft.turn is None and row.draft.kind != "event"]
        all_texts = {read_record(row.draft.data, row.draft.path, machine.session.yaml).text for row in all_rows}
        assert self.kept <= all_texts
        rows = [row for row in all_rows if row.draft.kind != "conflict"]
        by_us = {
            (row.draft.id, row.draft.data, row.draft.workspace): row.ref.log
            for row in rows
            if row.draft.origin == "agent"
        }
        for row in rows:
            assert row.draft.origin in ("agent", "file")
            record = read_record(row.draft.data, row.draft.path, machine.session.yaml)
            text = record.text
            assert self.said.issuperset(text.splitlines()), "no version says what nobody wrote"
            if row.draft.origin == "agent":
                assert text in self.written, "no file's words are OnRecord's"
            elif record.claimed_id is not None or text not in self.written:
                # A file without an id that OnRecord wrote does not tell whose row it is ahead of.
                writer = by_us.get((row.draft.id, row.draft.data, row.draft.workspace), row.ref.log)
                assert writer == row.ref.log, f"{text!r} is called an outside edit and was written on the other machine"

    @staticmethod
    def ask(session: Session) -> list[list[tuple[object, ...]]]:
        answers: list[list[tuple[object, ...]]] = []
        for word in (*WORDS, "apple 数据库 東京"):
            results = find(session, {"query": word, "limit": 100}, page_bytes=1 << 24).data["results"]
            assert isinstance(results, list)
            answers.append([(hit["id"], hit["version"], hit["score"], hit.get("turn")) for hit in results])
        return answers


class InTurn(TwoInstallations):
    """One machine works at a time and gets everything before."""

    order = "turns"


class LogsFirst(TwoInstallations):
    """Both work at once; no file comes before the logs."""

    order = "logs first"
    has_twins = has_copies = False


class AnyOrder(TwoInstallations):
    """Both work at once; files and parts of logs come as they will, conflicting saves leave copies."""


def make_case(machine: type[TwoInstallations], *, is_deep: bool) -> type[TestCase]:
    """Return a machine's test; the quick one always drives the same runs, so that a rare fault is the deep run's."""
    case: type[TestCase] = type(machine.__name__, (machine,), {}).TestCase
    count, steps = (500, 50) if is_deep else (4, 25)
    case.settings = settings(max_examples=count, stateful_step_count=steps, derandomize=not is_deep, deadline=None)  # type: ignore[attr-defined]
    return pytest.mark.soak(case) if is_deep else case


test_in_turn = make_case(InTurn, is_deep=False)
test_logs_before_files = make_case(LogsFirst, is_deep=False)
test_any_order = make_case(AnyOrder, is_deep=False)
test_in_turn_deeply = make_case(InTurn, is_deep=True)
test_logs_before_files_deeply = make_case(LogsFirst, is_deep=True)
test_any_order_deeply = make_case(AnyOrder, is_deep=True)
