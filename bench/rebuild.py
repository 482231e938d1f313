"""Rebuild: cost of making the index anew, beside a bare parse and FTS5 build of the same files in the same run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onrecord
from bench.arguments import Options, parse_options, publish, tell
from bench.bare import build_table
from bench.costs import Cost, measure, summarise
from bench.figures import COST_COLUMNS, Report, Table, Target, Value, list_cost_values
from bench.scratch import make_scratch, make_vault
from bench.words import WordSource

NAME = "rebuild"
_OWN, _BARE = "OnRecord reindex", "bare parse + FTS5 build"
_IMPORT = "OnRecord import of the same files"
_COLUMNS = ("contender", "files", *COST_COLUMNS, "CPU us a file")
_RATIO_MAX = 3.0
_QUESTIONS = 100

# id, version and score of each hit
Answer = tuple[tuple[str, int, float], ...]


def measure_rebuild(options: Options) -> Report:
    """Rebuild some times in turn with the bare build; answers before and after must be the same."""
    count = options.records or (2_000 if options.is_quick else 10_000)
    rounds = 3 if options.is_quick else 5
    report = Report(NAME, {"files": count, "rounds": rounds})
    words = WordSource()
    held = words.make_records(count)
    questions = [question.text for question in words.make_questions(held, _QUESTIONS)]
    costs: dict[str, list[Cost]] = {_OWN: [], _BARE: []}
    with make_scratch(options.work_folder) as folder:
        tell(f"rebuild: making {count} files")
        with measure() as watch:
            vault = make_vault(folder / "vault", held)
        costs[_IMPORT] = [watch.cost]
        before = _ask_all(vault, questions)
        for number in range(rounds):
            tell(f"rebuild: round {number + 1} of {rounds}")
            costs[_OWN].append(_reindex(vault))
            costs[_BARE].append(_build(folder / "vault" / "memories", folder / f"bare-{number}.sqlite3", count))
        after = _ask_all(vault, questions)
        vault.close()
    _report(report, costs, count)
    same = sum(first == second for first, second in zip(before, after, strict=True))
    report.targets.append(
        Target("answers equal before and after the rebuild", same / len(before), 1.0, "", is_floor=True)
    )
    return report


def _ask_all(vault: onrecord.Vault, questions: Sequence[str]) -> list[Answer]:
    return [tuple((hit.id, hit.version, hit.score) for hit in vault.find(text, limit=20)) for text in questions]


def _reindex(vault: onrecord.Vault) -> Cost:
    with measure() as watch:
        vault.reindex()
    return watch.cost


def _build(folder: Path, path: Path, count: int) -> Cost:
    with measure() as watch:
        rows = build_table(folder, path)
    if rows != count:
        raise ValueError(f"{rows} of {count} files were read")
    return watch.cost


def _report(report: Report, costs: dict[str, list[Cost]], count: int) -> None:
    table = Table("Making the index anew", _COLUMNS)
    report.tables.append(table)
    medians = {}
    for name, done in costs.items():
        summary = summarise(done)
        medians[name] = summary.cpu_p50_ms or 0.0
        values: dict[str, Value] = {"contender": name, "files": count, **list_cost_values(summary)}
        table.add(values | {"CPU us a file": medians[name] * 1_000 / count})
    ratio = medians[_OWN] / medians[_BARE]
    report.targets.append(Target(f"rebuild of {count:,} files over bare parse + FTS5, CPU p50", ratio, _RATIO_MAX, "x"))


def main() -> None:
    """Measure and print."""
    options = parse_options(NAME, __doc__)
    publish(measure_rebuild(options), options)


if __name__ == "__main__":
    main()
