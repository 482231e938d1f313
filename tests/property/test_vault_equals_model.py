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

    def start(self) -> Session:
        return open_session(self.base / "vault", self.base / "state", checkpoint_entries=7)

    @rule(target=records, who=st.integers(0, 1), text=TEXTS, workspace=WORKSPACES)
    def keep(self, who: int, text: str, workspace: str) -> str:
        data = remember(self.sessions[who], {"text": text, "workspace": workspace}).data
        record = str(data["id"])
        same = [name for name, known in self.model.items() if known.workspace == workspace and known.texts[-1] == text]
        assert data["duplicate"] is bool(same)
        if same:
            assert record in same
        else:
            self.model[record] = Known(workspace, [text])
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

    @rule(who=st.integers(0, 1), turn=st.integers(1, 6), text=TEXTS)
    def say(self, who: int, turn: int, text: str) -> None:
        name = f"t{turn}"
        spoken = self.turns.setdefault(name, text)
        arguments = {"source": "s", "session": "x", "turn": name, "role": "user", "text": spoken}
        capture(self.sessions[who], arguments)

    @rule(who=st.integers(0, 1), record=records, text=TEXTS)
    def edit_outside(self, who: int, record: str, text: str) -> None:
        session = self.sessions[who]
        path = self.base / "vault" / str(read(session, {"id": record}).data["path"])
        before = self.model[record].texts[-1]
        after = f"{before} {text}"
        path.write_text(
            path.read_text(encoding="utf-8").replace(f"---\n{before}\n", f"---\n{after}\n"), encoding="utf-8"
        )
        reconcile(session, Reply(), wait_s=None)
        self.model[record].texts.append(after)

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
        rebuild(self.sessions[who], lambda _: None)

    @invariant()
    def every_text_is_there(self) -> None:
        for session in self.sessions:
            assert {(record, known.texts[-1], known.workspace) for record, known in self.model.items()} == set(
                self.list_current(session)
            )

    def teardown(self) -> None:
        if not hasattr(self, "base"):
            return
        session = self.sessions[0]
        for record, known in self.model.items():
            versions = list_history(session, {"id": record}).data["versions"]
            assert [item["version"] for item in versions] == list(range(1, len(known.texts) + 1))
        answers = [self.ask(session), self.ask(open_reference(session))]
        rebuild(session, lambda _: None)
        answers.append(self.ask(session))
        assert answers[0] == answers[1] == answers[2]
        check_verifies(session)
        for opened in self.sessions:
            opened.close()
        shutil.rmtree(self.base)

    @staticmethod
    def ask(session: Session) -> list[object]:
        answers: list[object] = []
        for word in (*WORDS, "apple 数据库 東京"):
            results = find(session, {"query": word, "limit": 100}, page_bytes=1 << 24).data["results"]
            assert isinstance(results, list)
            answers.append([(hit["id"], hit["version"], hit["score"], hit.get("turn")) for hit in results])
        return answers


VaultMachine.TestCase.settings = settings(
    max_examples=max(6, settings().max_examples // 6), stateful_step_count=20, deadline=None
)
test_vault_equals_model = VaultMachine.TestCase
