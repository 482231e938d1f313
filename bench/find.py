"""Find: cost of a question over one-line records, as a ratio to a bare FTS5 query on the same rows in the same run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import onrecord
from bench.arguments import Options, parse_options, publish, tell
from bench.bare import BareTable
from bench.costs import Contender, Cost, find_percentile, interleave, run_process, summarise
from bench.figures import COST_COLUMNS, Report, Table, Target, Value, list_cost_values
from bench.peer import Peer
from bench.peers import open_peers
from bench.scratch import make_find_contender, make_scratch, make_vault
from bench.words import Question, WordSource

NAME = "find"
_OWN, _BARE = "OnRecord", "bare FTS5 query"
_COLUMNS = ("contender", "records", *COST_COLUMNS, "x bare, CPU p50", "reply bytes p50", "own record in 10")
_PEER_BUDGET_S = 60.0
_WARM_UP = 10
_REPLIES = 5
_RATIO_MAX = 2.0
_REPLY_BYTES_MAX = 4_096


def measure_find(options: Options) -> Report:
    """Measure the same questions at each size; sizes that the peers reach are measured beside them, call by call."""
    largest = options.records or (2_000 if options.is_quick else 10_000)
    peer_largest = options.peer_records or (100 if options.is_quick else 1_000)
    count = 60 if options.is_quick else 300
    report = Report(NAME, {"questions": count, "records at most": largest, "records of a peer at most": peer_largest})
    report.tables.append(Table("One question, ten previews", _COLUMNS))
    with make_scratch(options.work_folder) as folder:
        for size in sorted({min(peer_largest, largest), largest}):
            tell(f"find: {size} records")
            with_peers = options.with_peers is not False and size <= peer_largest
            _measure_size(report, size, count, folder, options, with_peers=with_peers, is_largest=size == largest)
    return report


def _measure_size(
    report: Report, size: int, count: int, folder: Path, options: Options, *, with_peers: bool, is_largest: bool
) -> None:
    words = WordSource()
    held = words.make_records(size)
    questions = words.make_questions(held, count + _WARM_UP)
    place = folder / f"at-{size}"
    place.mkdir()
    bare = BareTable(place / "bare.sqlite3")
    bare.fill(held)
    vault = make_vault(place / "vault", held)
    contenders = [make_find_contender(vault), bare.make_find_contender()]
    for question in questions[:_WARM_UP]:
        for contender in contenders:
            contender.call(question.text)
    asked = questions[_WARM_UP:]
    texts = [question.text for question in asked]
    if with_peers:
        with open_peers(options, place, report.skipped) as peers:
            costs = interleave([*contenders, *_fill_peers(peers, held)], texts)
    else:
        costs = interleave(contenders, texts)
    found = _count_found(vault, bare, asked, held)
    vault.close()
    matched = find_percentile([bare.count_matches(text) for text in texts], 50)
    bare.close()
    replies = _measure_replies(place / "vault", texts[:_REPLIES])
    _add_rows(report, size, costs, found, replies)
    report.notes.append(f"At {size:,} records a question matches {matched / size:.0%} of the rows at the median.")
    if is_largest:
        _judge(report, size, costs, replies)


def _fill_peers(peers: Sequence[Peer], held: Sequence[str]) -> list[Contender]:
    contenders = []
    for peer in peers:
        tell(f"filling {peer.package.label}")
        peer.fill([(str(number), text) for number, text in enumerate(held)])
        contenders.append(peer.make_find_contender(_PEER_BUDGET_S))
    return contenders


def _count_found(
    vault: onrecord.Vault, bare: BareTable, questions: Sequence[Question], held: Sequence[str]
) -> dict[str, float]:
    """Return the share of questions whose own record is among the first ten."""
    own = sum(
        any(
            hit.snippet is not None and _is_cut_of(hit.snippet, held[question.record])
            for hit in vault.find(question.text)
        )
        for question in questions
    )
    plain = sum(question.record in {row for row, _ in bare.find(question.text, 10)} for question in questions)
    return {_OWN: own / len(questions), _BARE: plain / len(questions)}


def _is_cut_of(snippet: str, text: str) -> bool:
    return text.startswith(snippet.strip().rstrip("…"))


def _measure_replies(vault: Path, texts: Sequence[str]) -> list[int]:
    """Return the bytes that `onrecord find --json` prints for ten previews, one number a question."""
    sizes = []
    for text in texts:
        command = [sys.executable, "-m", "onrecord", "--vault", str(vault), "find", text, "--json"]
        cost, output = run_process(command)
        if len(json.loads(output)["data"]["results"]) == 10 and cost.reply_bytes is not None:
            sizes.append(cost.reply_bytes)
    return sizes


def _add_rows(
    report: Report, size: int, costs: dict[str, list[Cost]], found: dict[str, float], replies: Sequence[int]
) -> None:
    floor = summarise(costs[_BARE]).cpu_p50_ms
    for name, done in costs.items():
        summary = summarise(done)
        values: dict[str, Value] = {"contender": name, "records": size, **list_cost_values(summary)}
        if floor and summary.cpu_p50_ms is not None:
            values["x bare, CPU p50"] = summary.cpu_p50_ms / floor
        sizes = list(replies) if name == _OWN else [cost.reply_bytes for cost in done if cost.reply_bytes is not None]
        if sizes:
            values["reply bytes p50"] = int(find_percentile(sizes, 50))
        values["own record in 10"] = found.get(name)
        report.tables[0].add(values)


def _judge(report: Report, size: int, costs: dict[str, list[Cost]], replies: Sequence[int]) -> None:
    own, floor = summarise(costs[_OWN]), summarise(costs[_BARE])
    for percent, value, bare in (
        (50, own.cpu_p50_ms, floor.cpu_p50_ms),
        (95, own.cpu_p95_ms, floor.cpu_p95_ms),
    ):
        if value is not None and bare:
            what = f"find at {size:,} one-line records over bare FTS5, CPU p{percent}"
            report.targets.append(Target(what, value / bare, _RATIO_MAX, "x"))
    if replies:
        what = "reply of find, ten previews as JSON, largest"
        report.targets.append(Target(what, float(max(replies)), _REPLY_BYTES_MAX, "bytes"))


def main() -> None:
    """Measure and print."""
    options = parse_options(NAME, __doc__)
    publish(measure_find(options), options)


if __name__ == "__main__":
    main()
