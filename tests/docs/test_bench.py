"""The measurements measure what they say: their arithmetic, their input, their bare parts and their peers' clients."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench import all as bench_all
from bench import peers
from bench.arguments import Options
from bench.bare import BareManifest, BareTable, build_table, make_match, parse_note
from bench.costs import Contender, Cost, SyncCounter, find_percentile, interleave, measure, run_process, summarise
from bench.figures import Report, Table, Target, format_value, read_json, render_report, write_json
from bench.locomo import read_conversation, repair_evidence
from bench.peer import PeerUnavailableError, make_environment
from bench.ranking import average, judge_ranking
from bench.remember import measure_remember
from bench.scratch import make_scratch
from bench.stdio_client import LineProcess, McpClient, PeerFailedError
from bench.turns import measure_turns
from bench.words import WordSource

from tests.arch.house import ROOT


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 2), (51, 3), (95, 4), (100, 4)])
def test_a_percentile_is_a_value_that_was_measured(percent: float, expected: float) -> None:
    assert find_percentile([4, 1, 3, 2], percent) == expected


def test_cpu_is_unknown_if_one_call_does_not_tell() -> None:
    summary = summarise([Cost(1.0, 2.0), Cost(None, 4.0)])
    assert (summary.n, summary.cpu_p50_ms, summary.wall_p95_ms) == (2, None, 4.0)


def test_everyone_gets_every_input_and_begins_in_turn() -> None:
    calls: list[str] = []

    def make(name: str) -> Contender:
        def call(text: str) -> Cost:
            calls.append(name + text)
            return Cost(0.0, 0.0)

        return Contender(name, call)

    costs = interleave([make("a"), make("b")], ["1", "2"])
    assert calls == ["a1", "b1", "b2", "a2"]
    assert {name: len(done) for name, done in costs.items()} == {"a": 2, "b": 2}


def test_who_has_used_its_calls_or_its_time_sits_out() -> None:
    few = Contender("few", lambda _: Cost(0.0, 0.0), max_calls=1)
    slow = Contender("slow", lambda _: Cost(0.0, 600.0), budget_s=1.0)
    costs = interleave([few, slow], ["1", "2", "3"])
    assert {name: len(done) for name, done in costs.items()} == {"few": 1, "slow": 2}


def test_syncs_are_counted_while_entered_and_done_all_the_same(tmp_path: Path) -> None:
    before = os.fsync
    with SyncCounter() as syncs, (tmp_path / "file").open("w") as file:
        with measure(syncs) as watch:
            os.fsync(file.fileno())
        with pytest.raises(OSError, match="descriptor"):
            os.fsync(1_000_000)
    assert watch.cost.syncs == 1
    assert os.fsync is before


def test_a_process_is_measured_to_its_end_and_its_failure_is_told() -> None:
    cost, output = run_process([sys.executable, "-c", "print('done')"])
    assert (output, cost.reply_bytes) == (b"done\n", 5)
    assert cost.cpu_ms is not None
    assert cost.cpu_ms > 0
    with pytest.raises(subprocess.CalledProcessError):
        run_process([sys.executable, "-c", "raise SystemExit(3)"])


def test_generated_input_is_the_same_for_the_same_seed_and_never_repeats_a_line() -> None:
    records = WordSource().make_records(500)
    assert records == WordSource().make_records(500)
    assert records != WordSource(8).make_records(500)
    assert len(set(records)) == 500
    assert all("\n" not in record for record in records)


def test_a_generated_question_holds_words_of_its_record() -> None:
    source = WordSource()
    records = source.make_records(50)
    for question in source.make_questions(records, 50):
        shared = set(question.text.rstrip("?").split()) & set(records[question.record].rstrip(".").split())
        assert len(shared) >= 3


def test_the_bare_table_finds_word_forms_and_drops_stopwords_of_the_question(tmp_path: Path) -> None:
    assert make_match("Where is the lantern?") == '"lantern"'
    assert make_match("the") == '"the"'
    bare = BareTable(tmp_path / "bare.sqlite3")
    bare.fill(["the lanterns hang low", "a boat", "where is it"])
    assert bare.find("Where is the lantern?", 10) == [(0, "the lanterns hang low")]
    assert bare.count_matches("lantern boat") == 2
    bare.close()


def test_the_bare_build_reads_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.md").write_text("---\ntitle: A\ntags: [x]\n---\nbody\n")
    (tmp_path / "b.md").write_text("plain\n")
    (tmp_path / "c.txt").write_text("no note\n")
    assert parse_note((tmp_path / "deep" / "a.md").read_bytes()) == ("A", "[x]", "body\n")
    assert parse_note(b"plain\n") == ("", "", "plain\n")
    assert build_table(tmp_path, tmp_path / "table.sqlite3") == 2


def test_the_bare_comparison_names_what_is_new_changed_and_gone(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("kept", "changed", "gone"):
        (notes / f"{name}.md").write_text(name)
    manifest = BareManifest(notes, tmp_path / "manifest.sqlite3")
    assert manifest.list_changed() == []
    (notes / "changed.md").write_text("changed much")
    (notes / "gone.md").unlink()
    (notes / "new.md").write_text("new")
    assert {Path(path).stem for path in manifest.list_changed()} == {"changed", "gone", "new"}


def test_faults_of_evidence_are_repaired_and_counted() -> None:
    from collections import Counter

    repairs: Counter[str] = Counter()
    known = {"D1:1", "D8:6", "D9:17", "D11:26"}
    assert repair_evidence(["D8:6; D9:17", "D:11:26", "D8:6", "D", "D4:36"], known, repairs) == known - {"D1:1"}
    assert dict(repairs) == {"joined": 1, "respelled": 1, "repeated": 1, "unknown": 2}


def _write_conversation(folder: Path) -> Path:
    shape = {
        "conversation": {
            "session_10": [{"speaker": "Ada", "dia_id": "D10:1", "text": "My boat is green."}],
            "session_10_date_time": "9:00 am on 2 May, 2026",
            "session_2": [
                {"speaker": "Bo", "dia_id": "D2:1", "text": "I baked bread.", "blip_caption": "a round loaf"},
                {"speaker": "Ada", "dia_id": "D2:2", "text": "Lovely weather."},
            ],
            "session_2_date_time": "9:00 am on 1 May, 2026",
        },
        "qa": [
            {"question": "What colour is the boat?", "category": 4, "evidence": ["D10:1"]},
            {"question": "Who shared a loaf?", "category": 4, "evidence": ["D2:1"]},
            {"question": "What of the moon?", "category": 5, "evidence": ["D2:2"]},
            {"question": "Which one?", "category": 3, "evidence": []},
        ],
    }
    path = folder / "talk.json"
    path.write_text(json.dumps(shape))
    return path


def test_a_conversation_is_read_in_the_order_of_its_sessions_with_captions(tmp_path: Path) -> None:
    conversation = read_conversation(_write_conversation(tmp_path))
    assert [turn.key for turn in conversation.turns] == ["D2:1", "D2:2", "D10:1"]
    assert conversation.turns[0].line == "Bo (9:00 am on 1 May, 2026): I baked bread. [shares a round loaf]"
    assert [question.category for question in conversation.questions] == [4, 4]
    assert conversation.repairs["question without evidence"] == 1


def test_what_is_no_conversation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match="no conversation"):
        read_conversation(tmp_path / "other.json")


def test_a_ranking_is_judged_as_its_papers_define() -> None:
    best = judge_ranking(["a", "b", "c"], {"a", "b"})
    assert (best.recall_5, best.mrr, best.ndcg_10) == (1.0, 1.0, 1.0)
    late = judge_ranking([*"vwxyz", "a"], {"a", "b"})
    assert (late.recall_5, late.recall_10, late.mrr) == (0.0, 0.5, 1 / 6)
    deep = judge_ranking([f"other {number}" for number in range(20)] + ["a"], {"a"})
    assert (deep.recall_20, deep.mrr, deep.ndcg_10) == (0.0, 0.0, 0.0)
    assert average([best, deep]).recall_10 == 0.5


def test_a_target_is_met_at_its_bound_and_not_beyond() -> None:
    assert Target("cost", 2.0, 2.0, "x").is_met
    assert not Target("cost", 2.01, 2.0, "x").is_met
    assert Target("recall", 0.61, 0.61, "", is_floor=True).is_met
    assert not Target("recall", 0.6, 0.61, "", is_floor=True).is_met


def test_figures_survive_json_and_a_missed_target_is_seen_in_the_table(tmp_path: Path) -> None:
    table = Table("Costs", ("who", "ms"), [{"who": "a", "ms": 1.2345}, {"who": "b"}])
    report = Report("find", {"records": 1_000}, [table], [Target("cost", 3.0, 2.0, "x")], {"peer": "gone"}, ["a note"])
    write_json([report], tmp_path / "figures.json")
    assert read_json(tmp_path / "figures.json") == [report]
    shown = render_report(report)
    assert "| a | 1.23 |\n| b | – |" in shown
    assert "| cost | 3 x | ≤ 2 x | NO |" in shown
    assert "- Skipped: peer: gone" in shown
    with pytest.raises(KeyError):
        table.add({"unknown": 1})


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (12_345, "12,345"), (12_345.6, "12,346"), (0.012345, "0.0123")]
)
def test_figures_are_shown_with_three_digits(value: float | None, shown: str) -> None:
    assert format_value(value) == shown


def test_a_peer_that_cannot_be_installed_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(command: list[str], **_: object) -> None:
        environment = tmp_path / "peers" / f"{peers.MEMLEAF.name}-{peers.MEMLEAF.version}"
        environment.mkdir(parents=True, exist_ok=True)
        raise subprocess.CalledProcessError(1, command, stderr="first\nno such version\n")

    monkeypatch.setattr(peers.subprocess, "run", fail)
    with pytest.raises(PeerUnavailableError, match="no such version"):
        peers.ensure_peer(peers.MEMLEAF, tmp_path / "peers")
    assert list((tmp_path / "peers").iterdir()) == []
    skipped: dict[str, str] = {}
    with peers.open_peers(Options(peers_folder=tmp_path / "peers"), tmp_path / "stores", skipped) as opened:
        assert opened == []
    assert skipped == {package.label: "no such version" for package in (peers.ARBITER, peers.MEMLEAF)}


_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}), flush=True)
    if message["method"] == "initialize":
        result = {"serverInfo": {}}
    else:
        arguments = message["params"]["arguments"]
        result = {"content": [{"type": "text", "text": json.dumps(arguments)}], "isError": "bad" in arguments}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def _start(program: str, folder: Path, wait_s: float = 30.0) -> LineProcess:
    return LineProcess([sys.executable, "-c", program], make_environment(folder), folder, wait_s)


def test_the_client_passes_over_what_is_not_its_answer_and_tells_a_tools_error(tmp_path: Path) -> None:
    process = _start(_SERVER, tmp_path)
    try:
        client = McpClient(process)
        answer, size = client.call_tool("echo", {"text": "é"})
        assert answer == {"text": "é"}
        assert size > len('{"text": "é"}')
        with pytest.raises(PeerFailedError, match="bad"):
            client.call_tool("echo", {"bad": True})
    finally:
        process.close()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; sys.stdin.read()", "no answer"),
        ("pass", "has ended"),
        ("print('words'); input()", "no JSON"),
        ("print('[1]'); input()", "no JSON object"),
    ],
)
def test_a_peer_that_does_not_answer_is_told_from_one_that_ended(program: str, reason: str, tmp_path: Path) -> None:
    process = _start(program, tmp_path, wait_s=30.0 if reason != "no answer" else 0.2)
    try:
        with pytest.raises(PeerFailedError, match=reason):
            process.receive()
    finally:
        process.close()


def test_a_peer_sees_nothing_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONRECORD_VAULT", "mine")
    monkeypatch.setenv("XDG_CONFIG_HOME", "mine")
    environment = make_environment(tmp_path)
    assert environment["HOME"] == str(tmp_path)
    assert "mine" not in environment.values()


def test_a_measurement_leaves_the_users_state_alone_and_removes_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONRECORD_VAULT", "mine")
    before = dict(os.environ)
    with make_scratch(None) as folder:
        assert os.environ["ONRECORD_STATE"].startswith(str(folder))
        assert "ONRECORD_VAULT" not in os.environ
    assert dict(os.environ) == before
    assert not folder.exists()


def test_remember_is_measured_beside_the_bare_parts_at_every_size(tmp_path: Path) -> None:
    report = measure_remember(Options(is_quick=True, records=5, with_peers=False, work_folder=tmp_path))
    rows = [(row["contender"], row["records"]) for row in report.tables[0].rows]
    names = ("OnRecord", "bare append + fsync", "bare FTS5 insert + commit")
    assert rows == [(name, size) for size in (0, 5) for name in names]
    assert next(target for target in report.targets if target.what.startswith("fsyncs")).measured == 1.0


def test_turns_are_imported_once_each_and_their_evidence_is_judged(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    _write_conversation(data)
    report = measure_turns(Options(data=data, work_folder=tmp_path))
    assert [row["turns"] for row in report.tables[0].rows] == [3, 3]
    quality = {str(row["contender"]): row["R@5"] for row in report.tables[1].rows}
    assert quality == {"OnRecord": 1.0, "bare FTS5 porter, speaker and date": 1.0}


@pytest.mark.parametrize("name", [*bench_all.NAMES, "all"])
def test_every_measurement_is_told_in_its_readme_and_shows_its_options(name: str) -> None:
    assert f"bench.{name}" in (ROOT / "bench" / "README.md").read_text("utf-8")
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{name}", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {"--data", "--quick", "--json"} <= set(done.stdout.replace(",", " ").replace("[", " ").split())
