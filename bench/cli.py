"""Command line: CPU and wall of whole processes of `onrecord`, beside the start of bare Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.arguments import Options, parse_options, publish, tell
from bench.costs import Contender, Cost, interleave, run_process, summarise
from bench.figures import COST_COLUMNS, Report, Table, list_cost_values
from bench.scratch import make_scratch, make_vault
from bench.words import WordSource

NAME = "cli"
_PYTHON = "bare Python"
_COLUMNS = ("command", *COST_COLUMNS, "x bare Python, CPU p50", "reply bytes")


def measure_cli(options: Options) -> Report:
    """Run each command as a process of its own, in turn."""
    count = options.records or 1_000
    rounds = 5 if options.is_quick else 20
    report = Report(NAME, {"records": count, "rounds": rounds})
    words = WordSource()
    lines = words.make_records(count + 1 + rounds)
    held, new = lines[:count], lines[count + 1 :]
    with make_scratch(options.work_folder) as folder:
        tell(f"cli: making {count} records")
        place = folder / "vault"
        with make_vault(place, held) as vault:
            known = vault.find(held[0], limit=1)[0].id
        contenders = _list_contenders(place, known)
        for contender in contenders:
            contender.call(lines[count])  # compiles
        costs = interleave(contenders, new)
    table = Table("Whole processes", _COLUMNS)
    report.tables.append(table)
    floor = summarise(costs[_PYTHON]).cpu_p50_ms
    for name, done in costs.items():
        summary = summarise(done)
        ratio = summary.cpu_p50_ms / floor if floor and summary.cpu_p50_ms is not None else None
        sizes = {"x bare Python, CPU p50": ratio, "reply bytes": done[-1].reply_bytes}
        table.add({"command": name, **list_cost_values(summary), **sizes})
    return report


def _list_contenders(place: Path, known: str) -> list[Contender]:
    def make(name: str, *before: str, takes_text: bool = True) -> Contender:
        def call(text: str) -> Cost:
            given = [*before, text] if takes_text else before
            command = [sys.executable, "-m", "onrecord", "--vault", str(place), *given, "--json"]
            cost, output = run_process(command)
            if json.loads(output)["ok"] is not True:
                raise ValueError(f"{name}: {output[:200]!r}")
            return cost

        return Contender(name, call)

    return [
        Contender(_PYTHON, lambda _: run_process([sys.executable, "-c", "pass"])[0]),
        make("onrecord remember", "remember"),
        make("onrecord find", "find"),
        make("onrecord read", "read", known, takes_text=False),
    ]


def main() -> None:
    """Measure and print."""
    options = parse_options(NAME, __doc__)
    publish(measure_cli(options), options)


if __name__ == "__main__":
    main()
