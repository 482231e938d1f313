"""A vault driven at random by two openings that may crash equals a model; its index a rebuilt and an obvious one."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from onrecord.app.capture import capture
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.update import update
from onrecord.domain.errors import StaleVersionError
from onrecord.ports.index import IndexBatch
from tests.vaults import check_verifies, make_vault, open_reference, open_session

WORDS = ("apple", "banana", "postgres", "v0.7.2", "数据库", "発版", "get_user_id", "Tuesday", "東京")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
WORKSPACES = st.sampled_from(("default", "ops"))


@dataclass
class Known:
    """What the model knows of one record."""

    workspace: str
    texts: list[str]
    is_there: bool = True

    def is_like(self, other: Known) -> bool:
        """Tell whether both are shown, with one text in one workspace."""
        mine, theirs = ((known.workspace, known.texts[-1], known.is_there) for known in (self, other))
        return mine == theirs and self.is_there


class Crashed(BaseException):
    """Stands for the death of a process between commit and index."""


class VaultMachine(RuleBasedStateMachine):
    """Two openings of one vault (as two processes have), and a dictionary as the model."""

    records = Bundle("records")

    @initialize()
    def open(self) -> None:
        self.base = Path(tempfile.mkdtemp())
        make_vault(self.base / "vault")
        self.sessions = [self.start(), self.start()]
        self.model: dict[str, Known] = {}
        self.turns: dict[str, str] = {}
        self.is_moved = False  # by hand: then files differ from where the versions say they are

    def start(self) -> Session:
        return open_session(self.base / "vault", self.base / "state", checkpoint_entries=7)

    @rule(target=records, who=st.integers(0, 1), text=TEXTS, workspace=WORKSPACES)
    def keep(self, who: int, text: str, workspace: str) -> str:
        data = remember(self.sessions[who], {"text": text, "workspace": workspace}).data
        record = str(data["id"])
        wanted = Known(workspace, [text])
        same = [name for name, known in self.model.items() if known.is_like(wanted)]
        assert data["duplicate"] is bool(same)
        if same:
            assert record in same
        else:
            self.model[record] = wanted
        return record

    @rule(who=st.integers(0, 1), record=records, text=TEXTS, is_stale=st.booleans())
    def change(self, who: int, record: str, text: str, is_stale: bool) -> None:
        known = self.model[record]
        expect = len(known.texts) + (1 if is_stale else 0)
        arguments = {"id": record, "text": text, "expect": expect}
        if is_stale:
            with pytest.raises(StaleVersionError):
                update(self.sessions[who], arguments)
        else:
            update(self.sessions[who], arguments)
            if text != known.texts[-1]:
                known.texts.append(text)
                known.is_there = True

    @rule(who=st.integers(0, 1), turn=st.integers(1, 6), text=TEXTS)
    def say(self, who: int, turn: int, text: str) -> None:
        name = f"t{turn}"
        spoken = self.turns.setdefault(name, text)
        arguments = {"source": "s", "session": "x", "turn": name, "role": "user", "text": spoken}
        capture(self.sessions[who], arguments)

    @rule(who=st.integers(0, 1), record=records, text=TEXTS)
    def edit_outside(self, who: int, record: str, text: str) -> None:
        session = self.sessions[who]
        if not self.model[record].is_there:
            return
        path = self.locate(session, record)
        before = self.model[record].texts[-1]
        after = f"{before} {text}"
        path.write_text(
            path.read_text(encoding="utf-8").replace(f"---\n{before}\n", f"---\n{after}\n"), encoding="utf-8"
        )
        reconcile(session, Reply(), wait_s=None)
        self.model[record].texts.append(after)

    def locate(self, session: Session, record: str) -> Path:
        return self.base / "vault" / str(read(session, {"id": record}).data["path"])

    @rule(who=st.integers(0, 1), record=records)
    def delete_by_hand(self, who: int, record: str) -> None:
        if self.model[record].is_there:
            self.locate(self.sessions[who], record).unlink()
            self.model[record].is_there = False
            self.is_moved = True

    @rule(who=st.integers(0, 1), record=records, place=st.integers(0, 3), folder=WORKSPACES)
    def rename_by_hand(self, who: int, record: str, place: int, folder: str) -> None:
        session = self.sessions[who]
        if self.model[record].is_there:
            target = self.base / "vault" / "memories" / folder / f"by hand {place}.md"
            target.parent.mkdir(exist_ok=True)
            if not target.exists():
                self.locate(session, record).rename(target)
                self.is_moved = True
                reconcile(session, Reply(), wait_s=None)

    @rule(who=st.integers(0, 1), one=records, other=records)
    def swap_by_hand(self, who: int, one: str, other: str) -> None:
        session = self.sessions[who]
        if one != other and self.model[one].is_there and self.model[other].is_there:
            paths = self.locate(session, one), self.locate(session, other)
            aside = self.base / "aside.md"
            paths[0].rename(aside)
            paths[1].rename(paths[0])
            aside.rename(paths[1])
            self.is_moved = True
            reconcile(session, Reply(), wait_s=None)

    @rule(who=st.integers(0, 1), text=TEXTS, workspace=WORKSPACES)
    def crash_behind_the_commit(self, who: int, text: str, workspace: str) -> None:
        session = self.sessions[who]
        plain = session.index

        class Dying:
            def __getattr__(self, name: str) -> object:
                return getattr(plain, name)

            def apply(self, batch: IndexBatch) -> None:
                if batch.documents:
                    raise Crashed
                plain.apply(batch)

        session.index = Dying()  # type: ignore[assignment]
        try:
            remember(session, {"text": text, "workspace": workspace})
        except Crashed:
            session.index = plain
            session.close()
            self.sessions[who] = self.start()
            hit = next(
                record
                for record, text_, home in self.list_current(self.sessions[who])
                if text_ == text and home == workspace and record not in self.model
            )
            self.model[hit] = Known(workspace, [text])
        session.index = plain

    def list_current(self, session: Session) -> list[tuple[str, str, str]]:
        with session.index.read() as reader:
            ids = {stamp.record for stamp in reader.list_files() if not stamp.path.startswith("events/")}
        found = [read(session, {"id": record}).data for record in sorted(ids)]
        return [(str(data["id"]), str(data["text"]), str(data["workspace"])) for data in found]

    @rule(who=st.integers(0, 1))
    def reopen(self, who: int) -> None:
        self.sessions[who].close()
        self.sessions[who] = self.start()

    @rule(who=st.integers(0, 1))
    def reindex(self, who: int) -> None:
        rebuild(self.sessions[who])

    @invariant()
    def every_text_is_there(self) -> None:
        for session in self.sessions:
            for record, known in self.model.items():
                data = read(session, {"id": record}).data
                assert (data["text"], data["workspace"]) == (known.texts[-1], known.workspace)

    @invariant()
    def what_has_a_file_is_found_and_nothing_else(self) -> None:
        there = {record for record, known in self.model.items() if known.is_there}
        for session in self.sessions:
            shown = {hit for answer in self.ask(session) for hit, _, _, turn in answer if turn is None}
            assert shown == there

    def teardown(self) -> None:
        if not hasattr(self, "base"):
            return
        session = self.sessions[0]
        for record, known in self.model.items():
            versions = list_history(session, {"id": record}).data["versions"]
            assert [item["version"] for item in versions] == list(range(1, len(known.texts) + 1))
        answers = [self.ask(session), self.ask(open_reference(session))]
        rebuild(session)
        answers.append(self.ask(session))
        assert answers[0] == answers[1] == answers[2]
        check_verifies(session, may_differ=self.is_moved)
        for opened in self.sessions:
            opened.close()
        shutil.rmtree(self.base)

    @staticmethod
    def ask(session: Session) -> list[list[tuple[object, ...]]]:
        answers: list[list[tuple[object, ...]]] = []
        for word in (*WORDS, "apple 数据库 東京"):
            results = find(session, {"query": word, "limit": 100}, page_bytes=1 << 24).data["results"]
            assert isinstance(results, list)
            answers.append([(hit["id"], hit["version"], hit["score"], hit.get("turn")) for hit in results])
        return answers


VaultMachine.TestCase.settings = settings(
    max_examples=max(6, settings().max_examples // 6), stateful_step_count=20, deadline=None
)
test_vault_equals_model = VaultMachine.TestCase
