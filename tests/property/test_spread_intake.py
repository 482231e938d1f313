"""Outside edits that are taken in one file at a time leave what all of them at once leave."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from onrecord.app.comparison import Comparison
from onrecord.app.find import find
from onrecord.app.reconcile import continue_reconcile, reconcile
from onrecord.app.remember import remember
from onrecord.app.session import Reply, Session
from onrecord.ports.store import VersionDraft, VersionRow
from tests.vaults import check_verifies, make_vault, open_session

_MADE, _PLAIN = 3, 4
_KINDS = (
    *("edit", "edit", "save anew", "save anew", "rename", "move", "move and edit", "copy", "copy and edit", "delete"),
    *("swap", "say the same", "take the place", "add", "add the same", "add a copy beside", "drop the id", "other id"),
)
CHANGES = st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(0, 30), st.integers(0, 30)), max_size=7)


class Hand:
    """What a person does to the files of a vault; nothing is deleted for good, so that no inode is given out again."""

    def __init__(self, folder: Path, aside: Path) -> None:
        self._folder = folder
        self._aside = aside
        self._count = 0
        aside.mkdir()

    def do(self, kind: str, one: int, other: int) -> None:
        """Change a file, chosen by number among those that are there."""
        files = sorted(self._folder.rglob("*.md"))
        self._count += 1
        new = self._folder / f"new {self._count}.md"
        path, second = files[one % len(files)], files[other % len(files)]
        data = path.read_bytes()
        edited = data + f"line {self._count}\n".encode()
        match kind:
            case "edit":
                path.write_bytes(edited)
            case "save anew":
                self._put(path, edited)
            case "rename":
                path.rename(new)
            case "move" | "move and edit":
                (self._folder / "moved").mkdir(exist_ok=True)
                target = self._folder / "moved" / f"{self._count} {path.name}"
                path.rename(target)
                target.write_bytes(data if kind == "move" else edited)
            case "copy" | "copy and edit":
                new.write_bytes(data if kind == "copy" else edited)
            case "delete" if len(files) > 1:
                path.rename(self._aside / f"{self._count}")
            case "swap" if path != second:
                path.rename(new)
                second.rename(path)
                new.rename(second)
            case "say the same" if path != second:
                path.write_bytes(second.read_bytes())
            case "take the place" if path != second:
                second.rename(self._aside / f"{self._count}")
                path.rename(second)
            case "add":
                new.write_bytes(f"new text {self._count}\n".encode())
            case "add the same":
                new.write_bytes(b"the same new text\n")
            case "add a copy beside":
                path.with_name(f"{path.stem}.sync-conflict-20260101-10101{self._count}-ABCDEFG.md").write_bytes(edited)
            case "drop the id":
                path.write_bytes(b"".join(line for line in data.splitlines(True) if not line.startswith(b"id:")))
            case "other id" if b"\nid:" in second.read_bytes():
                found = next(line for line in second.read_bytes().splitlines(True) if line.startswith(b"id:"))
                lines = [found if line.startswith(b"id:") else line for line in data.splitlines(True)]
                path.write_bytes(b"".join(lines))
            case _:
                pass

    def _put(self, path: Path, data: bytes) -> None:
        path.rename(self._aside / f"{self._count}")
        path.write_bytes(data)


def make_changed(folder: Path, changes: list[tuple[str, int, int]]) -> Session:
    """Return an opened vault of a few memories whose files were changed and not looked at since."""
    vault = folder / "vault"
    make_vault(vault)
    notes = vault / "memories" / "default"
    notes.mkdir()
    for number in range(_PLAIN):
        (notes / f"plain {number}.md").write_text(f"plain note number {number}\nwith a second line\n")
    (notes / "alike.md").write_text("plain note number 0\nwith a second line\n")
    session = open_session(vault, folder / "state")
    for number in range(_MADE):
        remember(session, {"text": f"made memory number {number}\nwith a second line\n", "workspace": "default"})
    hand = Hand(vault / "memories", folder / "aside")
    for change in changes:
        hand.do(*change)
    return session


def describe(session: Session, folder: Path) -> dict[str, object]:
    """Return what ledger, versions and index hold, without times and with ids put to what they stand for."""
    rows = [row for row in session.store.read_rows(session.store.log) if isinstance(row, VersionRow)]
    told = {row.ref: (row.draft.version, _mask(row.draft)) for row in rows}
    records: dict[str, list[object]] = {}
    for row in rows:
        draft = row.draft
        said = (
            row.type,
            draft.version,
            draft.kind,
            draft.status,
            draft.origin,
            draft.workspace,
            draft.mode,
            draft.path,
        )
        parents = sorted(told[parent] for parent in draft.parents)
        records.setdefault(draft.id, []).append((*said, told[row.ref][1], tuple(parents)))
    lines = [
        json.loads(line)
        for path in sorted((folder / "vault" / ".onrecord").glob("*/ledger/*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    with session.index.read() as reader:
        stamps = reader.list_files()
    found = find(session, {"query": "note memory line text plain made new same", "limit": 100, "mode": "full"}).data
    results = found["results"]
    assert isinstance(results, list)
    return {
        "records": Counter(tuple(sorted(map(repr, said))) for said in records.values()),
        "entries": Counter(line.get("type") for line in lines),
        "files": {
            stamp.path: (stamp.ref and told[stamp.ref], sorted(map(repr, records.get(stamp.record, ()))))
            for stamp in stamps
        },
        "found": Counter(
            (hit["kind"], hit["version"], hit["kind"] != "conflict" and hit.get("text")) for hit in results
        ),
        "missing": len(session.store.absences.read().missing),
    }


def _mask(draft: VersionDraft) -> bytes:
    """Return a version's bytes without what differs from one vault to another: what names ids and times."""
    if draft.kind == "conflict":
        return b""
    owned = (b"id:", b"by:", b"created:", b"updated:", b"recorded_at:")
    return b"".join(line for line in draft.data.splitlines(True) if not line.startswith(owned))


def compare_ways(changes: list[tuple[str, int, int]]) -> None:
    """Fail unless one file at a time leaves what all at once do."""
    states = []
    for is_spread in (False, True):
        with TemporaryDirectory() as name:
            folder = Path(name)
            session = make_changed(folder, changes)
            if is_spread:
                session.comparison = Comparison(session.store, session.index)
                while session.comparison is not None:
                    continue_reconcile(session, Reply(), None, 0)
            else:
                reconcile(session, Reply())
            states.append(describe(session, folder))
            check_verifies(session, may_differ=True)
            session.close()
    for part in states[0]:
        assert states[0][part] == states[1][part], part


@given(CHANGES)
def test_one_file_at_a_time_leaves_what_all_at_once_leave(changes: list[tuple[str, int, int]]) -> None:
    compare_ways(changes)
