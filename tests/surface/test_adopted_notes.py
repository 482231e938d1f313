"""A folder of notes that was there before: every note is a memory, and no byte of it is touched."""

from __future__ import annotations

import os
from pathlib import Path

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.find import find
from onrecord.app.history import list_history
from onrecord.app.read import read
from onrecord.app.verify import verify
from tests.vaults import make_vault, open_session

COUNT = 5_000
ODD = {
    "Daily/2026-11-30.md": b"- [ ] call [[Anna|A.]] #todo/phone ^b1\n![[picture.png|200]]\n> [!note] Hint\n",
    "Dataview.md": b"status:: open\n\n```dataview\nTABLE file.mtime\n```\n==marked== $e=mc^2$\n",
    "Yaml/anchors.md": b"---\na: &x [1, 2]\nb: *x\n---\nanchored words\n",
    "Yaml/block.md": b"---\ntext: |\n  lines\n  of text\naliases:\n- one\n- two\n---\nblocky words\n",
    "Yaml/flow.md": b"---\n{title: Flow, tags: [a, b]}\n---\nflowing words\n",
    "Yaml/dates.md": b"---\ncreated: 2026-01-02T03:04:05+02:00\ndone: yes\nn: 0o17\n---\ndated words\n",
    "Yaml/broken.md": b"---\ntitle: 'open\n---\nbroken words\n",
    "Yaml/unended.md": b"---\ntitle: never ended\n\nunended words\n",
    "Yaml/empty block.md": b"---\n---\nbare words\n",
    "empty.md": b"",
    "blank.md": b"\n\n \n",
    "bom.md": b"\xef\xbb\xbfmarked words\n",
    "latin.md": "Grüße aus Köln\n".encode("latin-1"),
    "binary.md": bytes(range(256)) * 8,
    "crlf.md": b"---\r\ntitle: Windows\r\n---\r\nreturned words\r\n",
    "a/b/c/d/e/f/g/deep.md": b"deep words\n",
    "UPPER.MD": b"loud words\n",
}
IGNORED = (".obsidian", ".trash", ".git", ".stversions", ".stfolder", ".sync", ".hidden")


def read_tree(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return bytes, modification time and inode of every file."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_five_thousand_notes_are_adopted_untouched_found_and_one_version_each(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    notes = tmp_path / "vault" / "memories"
    for number in range(COUNT - len(ODD)):
        path = notes / f"Area {number % 7}" / f"Note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            f"# Note {number}\n\nThe word of this one is w{number}x. See [[Note {number + 1}]].\n".encode()
        )
        os.utime(path, ns=(10**18, 10**18 + number))
    for name, data in ODD.items():
        path = notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for name in IGNORED:
        (notes / name).mkdir()
        (notes / name / "Note.md").write_bytes(b"an ignored word\n")
    (notes / ".Cloud note.md.icloud").write_bytes(b"bplist00")
    before = read_tree(notes)
    session = open_session(tmp_path / "vault", tmp_path / "state")
    assert read_tree(notes) == before
    with session.index.read() as reader:
        counts = dict(reader.count())
    assert (counts["records"], counts["versions"], counts["files"]) == (COUNT, COUNT, COUNT)
    for number in (0, 2_500, COUNT - len(ODD) - 1):
        results = find(session, {"query": f"w{number}x"}).data["results"]
        assert isinstance(results, list)
        assert results[0]["title"] == f"Note {number}"
    for name, data in ODD.items():
        words = data.decode(errors="replace").split("words")[0].rsplit(maxsplit=1)[-1:] if b" words" in data else []
        for word in words:
            results = find(session, {"query": word}).data["results"]
            assert isinstance(results, list)
            (hit,) = [hit for hit in results if str(read(session, {"id": hit["id"]}).data["path"]).endswith(name)]
            versions = list_history(session, {"id": hit["id"]}).data["versions"]
            assert isinstance(versions, list)
            assert [(item["version"], item["origin"]) for item in versions] == [(1, "file")]
    assert find(session, {"query": "ignored"}).data["status"] == "no_match"
    codes = {item["code"] for item in diagnose(session, {"checks": ["files.missing", "files.taken"]}).data["findings"]}
    assert codes <= {"edited_outside"}
    session.close()


def test_a_note_that_a_cloud_has_taken_off_the_disk_is_not_judged_missing(tmp_path: Path) -> None:
    make_vault(tmp_path / "vault")
    note = tmp_path / "vault" / "memories" / "Note.md"
    note.write_text("a word in the cloud\n")
    session = open_session(tmp_path / "vault", tmp_path / "state")
    note.rename(note.with_name(".Note.md.icloud"))
    findings = diagnose(session, {}).data["findings"]
    assert isinstance(findings, list)
    assert [item["code"] for item in findings if item["severity"] != "info"] == []
    assert find(session, {"query": "cloud"}).data["status"] == "found"
    (difference,) = verify(session, {}, Ed25519Verifier()).data["differences"]  # type: ignore[misc]
    assert (difference["code"], difference["path"]) == ("link_away", "memories/Note.md")
    session.close()
