"""What a person reads without `--json`: the same marks and ids that a program gets, and no raw structure."""

from __future__ import annotations

from pathlib import Path

from onrecord.app.session import Reply
from onrecord.surfaces.cli.output import print_reply
from tests.surface.cli import CommandLine


def test_a_hit_shows_that_it_stands_in_a_conflict_or_waits_for_its_version(capsys) -> None:  # type: ignore[no-untyped-def]
    hit = {"id": "a" * 12, "score": 1.0, "title": "Plan", "kind": "note", "origin": "file"}
    hits = [hit | {"conflict": "b" * 12}, hit | {"pending_sync": True}, hit]
    print_reply("find", Reply(data={"results": hits}), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("[")[2] for line in lines] == [
        f"note, file, conflict {'b' * 12}]", "note, file, pending_sync]", "note, file]",
    ]  # fmt: skip


def test_no_conflict_and_no_proposal_is_said(onrecord: CommandLine) -> None:
    assert onrecord("conflicts", as_json=False).out == "no open conflicts\n"
    assert onrecord("proposals", as_json=False).out == "no open proposals\n"


def test_a_proposal_is_told_with_title_path_and_what_it_asks_for(onrecord: CommandLine) -> None:
    made = onrecord("remember", "plain words", "--title", "Plan").data["id"]
    path = onrecord("read", made).data["path"]
    file = Path(onrecord.vault, path)
    file.write_text(file.read_text().replace("---\n", "---\nstatus: retired\n", 1))
    (item,) = onrecord("proposals").data["proposals"]
    assert (item["title"], item["path"]) == ("Plan", path)
    told = onrecord("proposals", as_json=False).out
    assert f"Plan  ({made}, {path})" in told
    assert "status: current -> retired" in told
    assert "{" not in told
    assert "check proposals.open." in onrecord("doctor", as_json=False).out


def test_a_link_that_is_followed_no_more_is_said_to_be_so(capsys) -> None:  # type: ignore[no-untyped-def]
    links = [{"path": "memories/work", "target": "/notes", "state": "open"}]
    print_reply("unlink", Reply(data={"links": links}), as_json=False)
    assert capsys.readouterr().out == "memories/work -> /notes  [followed no more]\n"


def test_a_link_without_arguments_lists_the_links_and_says_how_to_make_one(onrecord: CommandLine, tmp_path) -> None:
    assert onrecord("link", as_json=False).out.startswith("no link is followed; `onrecord link PATH TARGET` makes one")
    onrecord("link", "memories/work", str(tmp_path), at_terminal=True)
    (tmp_path / "notes").mkdir()
    assert onrecord("link", "memories/work", str(tmp_path / "notes"), at_terminal=True).status == 0
    assert onrecord("link", as_json=False).out == f"memories/work -> {tmp_path / 'notes'}  [open]\n"


def test_an_unknown_command_is_told_each_command_once(onrecord: CommandLine) -> None:
    hint = onrecord("nope").error["hint"]
    names = hint.removeprefix("One of: ").rstrip(".").split(", ")
    assert len(names) == len(set(names))
    assert "repair" in names


def test_status_is_a_few_lines_and_names_what_waits_with_its_command(onrecord: CommandLine) -> None:
    first = onrecord("status", as_json=False).out.splitlines()
    assert first[-1].startswith("nothing waits for you")
    assert len(first) == 3
    made = onrecord("remember", "plain words", "--title", "Plan").data["id"]
    Path(onrecord.vault, onrecord("read", made).data["path"]).unlink()
    told = onrecord("status", as_json=False).out
    assert "1 record, 1 version, 0 turns, 0 files, 2 ledger entries" in told
    assert "1 memory without a file, retirement is suspended  (onrecord repair missing)" in told
    assert "(onrecord doctor)" in told
    assert "{" not in told
    assert "nothing waits" not in told


def test_adopt_is_told_in_lines_with_what_is_given_up_and_how_to_go_on(capsys) -> None:  # type: ignore[no-untyped-def]
    memory = {"id": "a" * 12, "version": 2, "title": "Plan", "path": "memories/Plan.md"}
    data = {
        "adopted": False,
        "reason": "the ledger is shorter",
        "pinned": {"log": "b" * 16, "size": 3, "root": "x"},
        "there": {"size": 1, "root": "y"},
        "given_up": {"entries": 2, "versions": 1, "memories": [memory], "more": 4},
    }
    print_reply("adopt", Reply(data=data), as_json=False)
    told = capsys.readouterr().out
    assert "2 entries, 1 version\n" in told
    assert f"{'a' * 12}  version 2  memories/Plan.md  Plan" in told
    assert "(and 4 more)" in told
    assert told.splitlines()[-1].endswith("onrecord adopt --yes")
    done = data | {"adopted": True, "log": "c" * 16, "set_aside": "/state/old"}
    print_reply("adopt", Reply(data=done), as_json=False)
    assert "set aside at /state/old" in capsys.readouterr().out.splitlines()[-1]


def test_import_and_replay_are_told_without_raw_structure(onrecord: CommandLine, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("a note")
    (notes / "b.png").write_bytes(b"")
    told = onrecord("import", str(notes), as_json=False).out.splitlines()
    assert told == ["left out  b.png  not a Markdown file", "1 taken in, 0 known already, 1 left out"]
    (tmp_path / "turns.jsonl").write_text("no turn\n")
    assert onrecord("import", str(tmp_path / "turns.jsonl"), as_json=False).out.startswith("left out  line 1  ")
    told = onrecord("repair", "replay", as_json=False).out
    assert told == "0 written, 0 known already, 0 failed; 0 left\n"
