"""Turns: cost of importing conversations, and how well the turns that answer a question are found in its conversation.

`--data DIR` names a folder of conversations in LoCoMo's form; without it only the import of generated turns is
measured. With `--peers` both peers answer a sample of the questions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onrecord
from bench.arguments import Options, parse_options, publish, tell
from bench.bare import BareTable
from bench.costs import Cost, SyncCounter, measure, summarise
from bench.figures import Report, Table, Target, Value
from bench.locomo import CATEGORIES, AskedQuestion, Conversation, SpokenTurn, read_conversations
from bench.peer import Peer
from bench.peers import open_peers
from bench.ranking import DEPTH, Quality, average, judge_ranking
from bench.scratch import make_scratch
from bench.words import WordSource

NAME = "turns"
_OWN, _BARE = "OnRecord", "bare FTS5 porter, speaker and date"
_IMPORT_COLUMNS = ("conversation", "turns", "CPU ms a turn", "wall ms a turn", "fsyncs", "bare FTS5, CPU ms a turn")
_QUALITY_COLUMNS = ("contender", "questions", "R@5", "R@10", "R@20", "MRR", "nDCG@10", "CPU ms p50", "CPU ms p95")
_CPU_MS_MAX = 2.0
_RECALL_MIN = 0.61
_PEER_CONVERSATIONS = 2
_PEER_QUESTIONS = 60

Ask = Callable[[str], tuple[Sequence[str], Cost]]


@dataclass(slots=True)
class Answers:
    """What one contender answered: quality by category, and costs."""

    judged: list[tuple[int, Quality]] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)

    def add(self, question: AskedQuestion, found: Sequence[str], cost: Cost) -> None:
        """Judge one answer and keep it."""
        self.judged.append((question.category, judge_ranking(found, question.evidence)))
        self.costs.append(cost)

    def average(self, category: int | None = None) -> Quality | None:
        """Return the means of all questions, or of a category; None if there are none."""
        chosen = [quality for kind, quality in self.judged if category in {None, kind}]
        return average(chosen) if chosen else None


@dataclass(slots=True)
class Tally:
    """Sums over all imports."""

    turns: int = 0
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    syncs: int = 0
    bare_cpu_ms: float = 0.0


def measure_turns(options: Options) -> Report:
    """Import each conversation into a vault of its own, then ask its questions there."""
    report = Report(NAME, {})
    imports = Table("Import of turns", _IMPORT_COLUMNS)
    report.tables.append(imports)
    conversations = read_conversations(options.data) if options.data is not None else _make_conversations()
    if options.is_quick:
        conversations = sorted(conversations, key=lambda one: len(one.turns))[:2]
    smallest = sorted(conversations, key=lambda one: len(one.turns))[:_PEER_CONVERSATIONS]
    sampled = {one.name for one in smallest} if options.with_peers else set()
    total = Tally()
    answers: dict[str, Answers] = {_OWN: Answers(), _BARE: Answers()}
    sample: dict[str, Answers] = {}
    with make_scratch(options.work_folder) as folder:
        for conversation in conversations:
            tell(f"turns: {conversation.name}, {len(conversation.turns)} turns")
            place = folder / conversation.name
            place.mkdir()
            with _open_stores(place, conversation, imports, total) as stores:
                _ask_all(conversation.questions, stores.asks, answers)
                if conversation.name in sampled:
                    _ask_peers(options, place, conversation, stores.asks, sample, report.skipped)
    _report_import(report, imports, total)
    if options.data is None:
        report.skipped["quality"] = "no conversations were given (--data)"
    else:
        _report_quality(report, conversations, answers, sample)
    return report


class _Stores:
    """A vault and a bare table with the same turns."""

    def __init__(self, vault: onrecord.Vault, bare: BareTable, turns: Sequence[SpokenTurn]) -> None:
        self._vault = vault
        self._bare = bare
        self._keys = [turn.key for turn in turns]
        self.asks: dict[str, Ask] = {_OWN: self._ask_vault, _BARE: self._ask_bare}

    def __enter__(self) -> _Stores:
        return self

    def __exit__(self, *_: object) -> None:
        self._vault.close()
        self._bare.close()

    def _ask_vault(self, question: str) -> tuple[Sequence[str], Cost]:
        with measure() as watch:
            found = self._vault.find(question, limit=DEPTH)
        return [hit.turn or "" for hit in found], watch.cost

    def _ask_bare(self, question: str) -> tuple[Sequence[str], Cost]:
        with measure() as watch:
            found = self._bare.find(question, DEPTH)
        return [self._keys[row] for row, _ in found], watch.cost


def _open_stores(place: Path, conversation: Conversation, imports: Table, total: Tally) -> _Stores:
    """Import a conversation into both, and note what that cost."""
    lines = place / "turns.jsonl"
    lines.write_text("".join(map(_write_line, conversation.turns)), "utf-8")
    count = len(conversation.turns)
    vault = onrecord.open(place / "vault", create=True)
    with SyncCounter() as syncs, measure(syncs) as watch:
        done = vault.import_turns(str(lines))
    if done.data["imported"] != count:
        raise ValueError(f"{conversation.name}: {done.data['imported']} of {count} turns were imported")
    bare = BareTable(place / "bare.sqlite3")
    with measure() as plain:
        bare.fill(turn.line for turn in conversation.turns)
    own_ms, bare_ms = watch.cost.cpu_ms or 0.0, plain.cost.cpu_ms or 0.0
    total.turns += count
    total.cpu_ms += own_ms
    total.wall_ms += watch.cost.wall_ms
    total.syncs += watch.cost.syncs or 0
    total.bare_cpu_ms += bare_ms
    figures = (conversation.name, count, own_ms / count, watch.cost.wall_ms / count, watch.cost.syncs, bare_ms / count)
    imports.add(dict(zip(_IMPORT_COLUMNS, figures, strict=True)))
    return _Stores(vault, bare, conversation.turns)


def _write_line(turn: SpokenTurn) -> str:
    shape = {
        "session": turn.session,
        "turn": turn.key,
        "speaker": turn.speaker,
        "text": turn.text,
        "time": turn.time,
    }
    return json.dumps(shape, ensure_ascii=False) + "\n"


def _ask_all(questions: Sequence[AskedQuestion], asks: Mapping[str, Ask], answers: Mapping[str, Answers]) -> None:
    for question in questions:
        for name, ask in asks.items():
            found, cost = ask(question.text)
            answers[name].add(question, found, cost)


def _ask_peers(
    options: Options,
    place: Path,
    conversation: Conversation,
    asks: Mapping[str, Ask],
    sample: dict[str, Answers],
    skipped: dict[str, str],
) -> None:
    """Ask an even sample of the questions of everyone, in turn."""
    step = max(1, -(-len(conversation.questions) // _PEER_QUESTIONS))
    with open_peers(options, place, skipped) as peers:
        contenders = dict(asks)
        for peer in peers:
            tell(f"filling {peer.package.label}")
            peer.fill([(turn.key, turn.line) for turn in conversation.turns])
            contenders[peer.package.label] = _make_ask(peer)
        for name in contenders:
            sample.setdefault(name, Answers())
        _ask_all(conversation.questions[::step], contenders, sample)


def _make_ask(peer: Peer) -> Ask:
    def ask(question: str) -> tuple[Sequence[str], Cost]:
        hits = peer.find(question, DEPTH)
        return hits.keys, hits.cost

    return ask


def _report_import(report: Report, imports: Table, total: Tally) -> None:
    figures = (
        "all",
        total.turns,
        total.cpu_ms / total.turns,
        total.wall_ms / total.turns,
        total.syncs,
        total.bare_cpu_ms / total.turns,
    )
    imports.add(dict(zip(_IMPORT_COLUMNS, figures, strict=True)))
    report.notes.append("One fsync a batch of at most 500 turns; the rest are checkpoints, which sync each transcript.")
    report.targets.append(Target("import of turns, CPU a turn", total.cpu_ms / total.turns, _CPU_MS_MAX, "ms"))


def _report_quality(
    report: Report,
    conversations: Sequence[Conversation],
    answers: Mapping[str, Answers],
    sample: Mapping[str, Answers],
) -> None:
    report.tables.append(_make_quality_table("Evidence found, each question in its own conversation", answers))
    kinds = Table("Recall@10 by category", ("contender", *(f"category {kind}" for kind in CATEGORIES)))
    for name, one in answers.items():
        means = {kind: one.average(kind) for kind in CATEGORIES}
        values: dict[str, Value] = {
            f"category {kind}": mean.recall_10 for kind, mean in means.items() if mean is not None
        }
        kinds.add({"contender": name, **values})
    report.tables.append(kinds)
    if sample:
        title = (
            f"The same for a sample: at most {_PEER_QUESTIONS} questions, evenly taken, of each of the "
            f"{_PEER_CONVERSATIONS} shortest conversations"
        )
        report.tables.append(_make_quality_table(title, sample))
    own = answers[_OWN].average()
    if own is not None:
        report.targets.append(
            Target("evidence recall@10, own conversation", own.recall_10, _RECALL_MIN, "", is_floor=True)
        )
    repairs: Counter[str] = Counter()
    for conversation in conversations:
        repairs.update(conversation.repairs)
    told = ", ".join(f"{kind} {count}" for kind, count in sorted(repairs.items()) if count)
    report.notes.append(f"Repaired in the key: {told or 'nothing'}.")


def _make_quality_table(title: str, answers: Mapping[str, Answers]) -> Table:
    table = Table(title, _QUALITY_COLUMNS)
    for name, one in answers.items():
        mean = one.average()
        if mean is None:
            continue
        cost = summarise(one.costs)
        figures = (
            *(name, cost.n, mean.recall_5, mean.recall_10, mean.recall_20, mean.mrr, mean.ndcg_10),
            *(cost.cpu_p50_ms, cost.cpu_p95_ms),
        )
        table.add(dict(zip(_QUALITY_COLUMNS, figures, strict=True)))
    return table


def _make_conversations() -> list[Conversation]:
    """Return two generated conversations; that of 2,000 turns shows whether a turn costs what it does among 500."""
    made = []
    for count in (500, 2_000):
        texts = WordSource(count).make_records(count)
        turns = tuple(
            SpokenTurn(
                f"D{place // 25 + 1}:{place % 25 + 1}", str(place // 25 + 1), "AB"[place % 2], "2026-03-01", text
            )
            for place, text in enumerate(texts)
        )
        made.append(Conversation(f"generated-{count}", turns, (), {}))
    return made


def main() -> None:
    """Measure and print."""
    options = parse_options(NAME, __doc__)
    publish(measure_turns(options), options)


if __name__ == "__main__":
    main()
