"""What verify says of a difference: which memory and version, what was expected and found, and what mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.cli import CommandLine

TURN = ("--source", "s", "--session", "x", "--role", "user")


def test_a_transcript_that_another_log_went_on_with_is_as_it_was_captured(
    onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    states = [str(tmp_path / name) for name in ("one", "other")]
    for number in range(6):
        monkeypatch.setenv("ONRECORD_STATE", states[number % 2])
        assert onrecord("capture", f"said {number}", *TURN, "--turn", str(number)).status == 0
    for state in states:
        monkeypatch.setenv("ONRECORD_STATE", state)
        done = onrecord("verify")
        assert (done.status, done.data["differences"]) == (0, []), done.out
    (path,) = Path(onrecord.vault, "events/s").iterdir()
    path.write_text(path.read_text().replace("said 3", "sad 33"))
    for state in states:
        monkeypatch.setenv("ONRECORD_STATE", state)
        (found,) = onrecord("verify").data["differences"]
        assert (found["code"], found["found"]) == ("transcript_edited", "1 of them differ")
        assert "sad" not in str(found)


def test_each_difference_of_a_file_is_explained(onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [onrecord("remember", f"words number {number}").data["id"] for number in range(2)]
    paths = [Path(onrecord.vault, onrecord("read", record).data["path"]) for record in kept]
    monkeypatch.setenv("ONRECORD_RECONCILE", "false")
    paths[0].write_text(paths[0].read_text() + "secret words by hand")
    paths[1].unlink()
    (paths[0].parent / "new.md").write_text("more words")
    done = onrecord("verify")
    found = {item["code"]: item for item in done.data["differences"]}
    assert set(found) == {"edited_outside", "missing_file", "unknown_file"}
    assert (found["edited_outside"]["record"], found["edited_outside"]["version"]) == (kept[0], 1)
    assert found["edited_outside"]["expected"] != found["edited_outside"]["found"]
    assert found["missing_file"]["record"] == kept[1]
    assert found["missing_file"]["found"] == "no file"
    assert all(item["mend"] and item["message"] for item in found.values())
    assert all(len(item.get("expected", "")) < 40 for item in found.values())
    assert "by hand" not in done.out


@pytest.mark.parametrize(
    ("spoil", "code", "word"),
    [
        ("cut", "rolled_back", "newest"), ("row", "commitment_mismatch", "versions"),
        ("head", "checkpoint_malformed", "checkpoint"),
        ("absent", "unexplained_absence", "versions"), ("key", "key_mismatch", "key.pub"),
        ("line", "entry_not_canonical", "ledger"),
    ],
)  # fmt: skip
def test_the_fault_of_a_log_has_its_mend(onrecord: CommandLine, spoil: str, code: str, word: str) -> None:
    for number in range(3):
        assert onrecord("remember", f"words number {number}").status == 0
    (log,) = (path for path in Path(onrecord.vault, ".onrecord").iterdir() if path.is_dir())
    ledger, versions = log / "ledger/00000000.jsonl", log / "versions/00000000.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    match spoil:
        case "cut":
            ledger.write_bytes(b"".join(lines[:-1]))
        case "line":
            ledger.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'":', b'" :', 1)]))
        case "row":
            versions.write_bytes(versions.read_bytes().replace(b"number 1", b"number 9"))
        case "absent":
            versions.write_bytes(b"".join(versions.read_bytes().splitlines(keepends=True)[:-1]))
        case "head":
            (log / "checkpoint").write_bytes(b"no head")
        case _:
            (log / "key.pub").write_bytes(b"another key\n")
    done = onrecord("verify")
    assert done.status == 2, done.out
    (report,) = done.data["logs"]
    assert report["fault"]["code"] == code
    assert word in report["fault"]["mend"]
