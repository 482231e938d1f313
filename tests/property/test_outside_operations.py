"""Whatever is done to the files of a vault from outside, and in between by agents: no text is lost, none is invented.

The model knows each text that was acknowledged, or that lay in a file at a settled moment, and what each file holds.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.capture import capture
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.rebuild import rebuild
from onrecord.app.reconcile import reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.app.stamps import COPY_MARK
from onrecord.app.update import update
from onrecord.app.verify import verify
from onrecord.domain.errors import OnRecordError
from onrecord.domain.record import read_record
from onrecord.ports.index import IndexBatch
from onrecord.ports.store import VersionRow
from tests.vaults import make_vault, open_reference, open_session

WORDS = ("apple", "banana", "postgres", "数据库", "get_user_id", "Tuesday")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
FOLDERS = st.sampled_from(("default", "ops", "ops/deep"))
WHO = st.integers(0, 1)
PICK = st.integers(0, 30)
_WEAK = ("agent", "file", "unknown")


class Crashed(BaseException):
    """Stands for the death of a process between commit and index."""


class OutsideMachine(RuleBasedStateMachine):
    """Two openings, and somebody with an editor, a shell and a sync program at the same folder."""

    @initialize()
    def open(self) -> None:
        self.base = Path(tempfile.mkdtemp())
        self.vault = self.base / "vault"
        make_vault(self.vault)
        self.sessions = [self.start(), self.start()]
        self.known: set[str] = set()  # texts that were acknowledged or seen at a settled moment
        self.trash: list[tuple[Path, bytes]] = []
        self.locked: list[Path] = []
        self.half: list[tuple[Path, bytes]] = []
        self.count = 0

    def start(self) -> Session:
        return open_session(self.vault, self.base / "state", checkpoint_entries=9)

    # -- what is there

    def list_files(self) -> list[Path]:
        busy = {path for path, _ in self.half}
        files = (path for path in sorted((self.vault / "memories").rglob("*.md")) if path.is_file())
        return [path for path in files if path not in busy and not path.is_symlink()]

    def choose(self, pick: int) -> Path | None:
        files = self.list_files()
        return files[pick % len(files)] if files else None

    def read_text(self, path: Path) -> str:
        return read_record(path.read_bytes(), str(path.relative_to(self.vault)), self.sessions[0].yaml).text

    def settle(self, who: int) -> None:
        """A moment at which all files are whole and are taken in: what they hold is known from now on."""
        for path, data in self.half:
            path.write_bytes(data)
        self.half.clear()
        reconcile(self.sessions[who], Reply(), wait_s=None)
        self.known |= {self.read_text(path) for path in self.list_files()}

    def name_text(self, text: str) -> str:
        """Return a text that nothing else has, so that it can be looked for."""
        self.count += 1
        return f"{text} n{self.count}"

    # -- agents

    @rule(who=WHO, text=TEXTS, workspace=st.sampled_from(("default", "ops")))
    def keep(self, who: int, text: str, workspace: str) -> None:
        text = self.name_text(text)
        assert remember(self.sessions[who], {"text": text, "workspace": workspace}).data["id"]
        self.known.add(text)

    @rule(who=WHO, pick=PICK, text=TEXTS)
    def change(self, who: int, pick: int, text: str) -> None:
        session = self.sessions[who]
        self.settle(who)
        with session.index.read() as reader:
            heads = [reader.get_current(record) for record in sorted({s.record for s in reader.list_files()})]
        notes = [head for head in heads if head is not None and head.kind == "note"]
        if not notes:
            return
        head = notes[pick % len(notes)]
        text = self.name_text(text)
        try:
            update(session, {"id": head.id, "text": text, "expect": head.version})
        except OnRecordError as error:
            if error.code not in (
                "stale_version",
                "conflict",
                "not_found",
                "file_busy",
            ):  # refused, and nothing acknowledged
                raise
        else:
            self.known.add(text)

    @rule(who=WHO, turn=st.integers(1, 4))
    def say(self, who: int, turn: int) -> None:
        capture(
            self.sessions[who],
            {"source": "s", "session": "x", "turn": f"t{turn}", "role": "user", "text": f"said {turn}"},
        )

    @rule(who=WHO, text=TEXTS)
    def crash_behind_the_commit(self, who: int, text: str) -> None:
        session, text = self.sessions[who], self.name_text(text)
        plain, known = session.index, self.known

        class Dying:
            def __getattr__(self, name: str) -> object:
                return getattr(plain, name)

            def apply(self, batch: IndexBatch) -> None:
                if any(text in item.head.title for item in batch.documents):
                    known.add(text)
                if batch.documents:
                    raise Crashed  # perhaps behind a commit of what files said, before the text was stored
                plain.apply(batch)

        session.index = Dying()  # type: ignore[assignment]
        try:
            remember(session, {"text": text})
        except Crashed:
            session.index = plain
            session.close()
            self.sessions[who] = self.start()
        session.index = plain

    @rule(who=WHO)
    def reopen(self, who: int) -> None:
        self.sessions[who].close()
        self.sessions[who] = self.start()

    @rule(who=WHO)
    def reindex(self, who: int) -> None:
        rebuild(self.sessions[who])

    # -- the outside

    @rule(folder=FOLDERS, text=TEXTS)
    def put_a_plain_note(self, folder: str, text: str) -> None:
        path = self.vault / "memories" / folder / f"plain {self.count}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.name_text(text) + "\n", "utf-8")

    @rule(pick=PICK, text=TEXTS, replaces=st.booleans())
    def edit(self, pick: int, text: str, replaces: bool) -> None:
        path = self.choose(pick)
        if path is None:
            return
        data = path.read_bytes() + f"{self.name_text(text)}\n".encode()
        if replaces:  # as editors save
            path.with_name(".swap").write_bytes(data)
            path.with_name(".swap").replace(path)
        else:
            path.write_bytes(data)

    @rule(pick=PICK, text=TEXTS)
    def save_half(self, pick: int, text: str) -> None:
        path = self.choose(pick)
        if path is not None:
            data = path.read_bytes() + f"{self.name_text(text)}\n".encode()
            self.half.append((path, data))
            path.write_bytes(data[: len(data) // 2])

    @rule(pick=PICK, folder=FOLDERS)
    def rename(self, pick: int, folder: str) -> None:
        path = self.choose(pick)
        target = self.vault / "memories" / folder / f"moved {self.count}.md"
        self.count += 1
        if path is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)

    @rule(pick=PICK)
    def rename_in_case(self, pick: int) -> None:
        path = self.choose(pick)
        if path is not None and not path.with_name(path.name.swapcase()).exists():
            path.rename(path.with_name(f"{path.stem.swapcase()}.md"))

    @rule(pick=PICK)
    def copy(self, pick: int) -> None:
        path = self.choose(pick)
        if path is not None:
            self.count += 1
            shutil.copy2(path, path.with_name(f"copied {self.count}.md"))

    @rule(pick=PICK)
    def delete(self, pick: int) -> None:
        path = self.choose(pick)
        if path is not None:
            self.trash.append((path, path.read_bytes()))
            path.unlink()

    @precondition(lambda self: self.trash)
    @rule()
    def restore(self) -> None:
        path, data = self.trash.pop()
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    @rule(one=PICK, other=PICK)
    def swap(self, one: int, other: int) -> None:
        first, second = self.choose(one), self.choose(other)
        if first is not None and second is not None and first != second:
            aside = self.base / "aside"
            first.rename(aside)
            second.rename(first)
            aside.rename(second)

    @rule(pick=PICK)
    def touch_with_an_old_time(self, pick: int) -> None:
        path = self.choose(pick)
        if path is not None:
            os.utime(path, (1_000_000_000, 1_000_000_000))

    @rule(pick=PICK)
    def take_rights_away_and_give_them_back(self, pick: int) -> None:
        path = self.choose(pick)
        if path is not None:
            path.chmod(0)
            find(self.sessions[0], {"query": "apple"})
            path.chmod(0o600)

    @rule(who=WHO)
    def put_a_link_in_the_place_of_a_folder_and_back(self, who: int) -> None:
        folder, aside = self.vault / "memories" / "ops", self.base / "ops aside"
        if folder.is_dir() and not self.half:
            folder.rename(aside)
            folder.symlink_to(aside)
            reconcile(self.sessions[who], Reply(), wait_s=None)
            folder.unlink()
            aside.rename(folder)

    @rule(who=WHO, pick=PICK)
    def put_a_folder_in_the_place_of_a_file_and_back(self, who: int, pick: int) -> None:
        path = self.choose(pick)
        if path is not None:
            data = path.read_bytes()
            path.unlink()
            path.mkdir()
            reconcile(self.sessions[who], Reply(), wait_s=None)
            path.rmdir()
            path.write_bytes(data)

    @rule(who=WHO)
    def come_to_rest(self, who: int) -> None:
        self.settle(who)

    # -- what holds

    def list_rows(self) -> list[VersionRow]:
        store = self.sessions[0].store
        return [row for row in store.read_rows(store.log) if isinstance(row, VersionRow)]

    @invariant()
    def every_known_text_is_in_a_version(self) -> None:
        if not hasattr(self, "base"):
            return
        self.sessions[0].refresh()
        yaml = self.sessions[0].yaml
        texts = {read_record(row.draft.data, row.draft.path, yaml).text for row in self.list_rows()}
        assert self.known <= texts, self.known - texts

    @invariant()
    def no_trust_is_raised(self) -> None:
        if hasattr(self, "base"):
            rows = [row for row in self.list_rows() if row.draft.turn is None]
            assert all(row.draft.origin in _WEAK for row in rows)
            memories = [row for row in rows if row.draft.kind != "conflict"]
            assert all(row.draft.status in ("current", "retired") for row in memories)
            assert all(row.draft.origin == "file" for row in rows if row.type == "record.observe")

    def teardown(self) -> None:
        if not hasattr(self, "base"):
            return
        self.settle(0)
        session = self.sessions[0]
        unserved = [path for path in self.list_files() if not self.is_served(session, path)]
        told = self.list_told_copies(session) if unserved else set()
        assert told.issuperset(unserved), [str(path) for path in unserved if path not in told]
        reconcile(self.sessions[1], Reply(), wait_s=None)
        answers = [self.ask(self.sessions[1]), self.ask(session), self.ask(open_reference(session))]
        rebuild(session)
        answers.append(self.ask(session))
        for number, answer in enumerate(answers[:-1]):
            for word, one, other in zip((*WORDS, "said"), answer, answers[-1], strict=True):
                assert one == other, f"{word}: way {number} answers {one}, the rebuilt index {other}"
        assert verify(session, {}, Ed25519Verifier()).data["verdict"] != "BROKEN"
        retired = [row for row in self.list_rows() if row.draft.status == "retired" and row.draft.kind != "conflict"]
        assert not retired, "no day has passed"
        for opened in self.sessions:
            opened.close()
        shutil.rmtree(self.base)

    def is_served(self, session: Session, path: Path) -> bool:
        """Tell whether what a file holds is the current version of its record (or one that is known and behind it)."""
        with session.index.read() as reader:
            stamp = reader.get_file(str(path.relative_to(self.vault)))
            head = reader.get_current(stamp.record) if stamp is not None else None
        row = session.store.read_row(head.ref) if head is not None else None
        return row is not None and row.draft.data == path.read_bytes()

    def list_told_copies(self, session: Session) -> set[Path]:
        """Return the files that doctor names as copies of a memory, of which each byte is kept in a version."""
        found = diagnose(session, {}).data["findings"]
        assert isinstance(found, list)
        named = {self.vault / item["path"] for item in found if item["code"] in ("sync_copy", "conflict_copy")}
        with session.index.read() as reader:
            stamps = reader.find_files_of(COPY_MARK)
        kept = {self.vault / stamp.path: session.store.read_row(stamp.ref) for stamp in stamps if stamp.ref is not None}
        return {path for path, row in kept.items() if row and row.draft.data == path.read_bytes() and path in named}

    @staticmethod
    def ask(session: Session) -> list[list[tuple[object, ...]]]:
        answers: list[list[tuple[object, ...]]] = []
        for word in (*WORDS, "said"):
            results = find(session, {"query": word, "limit": 100}, page_bytes=1 << 24).data["results"]
            assert isinstance(results, list)
            answers.append([(hit["id"], hit["version"], hit["score"], hit.get("turn")) for hit in results])
        return answers


OutsideMachine.TestCase.settings = settings(
    max_examples=max(6, settings().max_examples // 8), stateful_step_count=20, deadline=None
)
test_outside_operations = OutsideMachine.TestCase
