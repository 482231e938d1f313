"""Open: cost of opening a vault and of the first find, beside a bare scan and comparison of the same files.

First with unchanged files, then after 1 % and 10 % were edited outside, then after half moved to another folder.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import onrecord
from bench.arguments import Options, parse_options, publish, tell
from bench.bare import BareManifest
from bench.costs import Contender, Cost, interleave, measure, run_process, summarise
from bench.figures import COST_COLUMNS, Report, Table, Target, list_cost_values
from bench.scratch import make_scratch, make_vault
from bench.words import WordSource

NAME = "open"
_OWN, _FIRST = "OnRecord open", "OnRecord open + first find"
_WHOLE = "OnRecord open + close: all files compared"
_BARE = "bare scandir + stat + compare"
_PROCESS, _PYTHON = "new process: open + first find", "new process: bare Python"
_CHANGE_COLUMNS = ("change", "first find, CPU ms", "taken in, CPU ms", "bare scan + compare, CPU ms")
_COLUMNS = ("contender", "files", *COST_COLUMNS)
# Whatever changed less than two seconds before it was last seen is read again.
_SETTLE_S = 2.5
_RATIO_MAX = 2.0
_PROGRAM = "import sys, onrecord\nwith onrecord.open(sys.argv[1]) as vault: vault.find(sys.argv[2])"


def measure_open(options: Options) -> Report:
    """Open the same vault again and again, in turn with the bare scan and with new processes."""
    count = options.records or (2_000 if options.is_quick else 10_000)
    rounds = 5 if options.is_quick else 15
    report = Report(NAME, {"files": count, "rounds": rounds})
    words = WordSource()
    held = words.make_records(count)
    questions = [question.text for question in words.make_questions(held, rounds + 1)]
    with make_scratch(options.work_folder) as folder:
        tell(f"open: making {count} files")
        place = folder / "vault"
        make_vault(place, held).close()
        time.sleep(_SETTLE_S)
        onrecord.open(place).close()
        manifest = BareManifest(place / "memories", folder / "manifest.sqlite3")
        contenders = _list_contenders(place, manifest)
        for contender in contenders:
            contender.call(questions[0])  # compiles
        costs = interleave(contenders, questions[1:])
        changes = _measure_changes(place, manifest, questions[0])
    table = Table("Opening a vault of unchanged files", _COLUMNS)
    report.tables.append(table)
    for name, done in costs.items():
        table.add({"contender": name, "files": count, **list_cost_values(summarise(done))})
    report.tables.append(changes)
    _judge(report, costs, count)
    return report


def _measure_changes(place: Path, manifest: BareManifest, question: str) -> Table:
    """Change files from outside, more and more, and open the vault after each change until all is taken in."""
    table = Table("Opening it after changes from outside, once each", _CHANGE_COLUMNS)
    files = sorted((place / "memories").rglob("*.md"))
    for share in (100, 10):
        chosen = files[::share]
        for path in chosen:
            path.write_text(path.read_text("utf-8") + "\nedited by hand\n", "utf-8")
        _add_change(table, place, manifest, question, f"{len(chosen):,} files edited")
    folder = place / "memories" / "moved"
    folder.mkdir()
    for path in files[: len(files) // 2]:
        path.rename(folder / path.name)
    _add_change(table, place, manifest, question, f"{len(files) // 2:,} files moved to another folder")
    return table


def _add_change(table: Table, place: Path, manifest: BareManifest, question: str, what: str) -> None:
    time.sleep(_SETTLE_S)
    with measure() as bare:
        manifest.list_changed()
    with measure() as first:
        vault = onrecord.open(place)
        vault.find(question)
    with measure() as rest:
        vault.status()
    vault.close()
    table.add(
        {
            "change": what,
            "first find, CPU ms": first.cost.cpu_ms,
            "taken in, CPU ms": (first.cost.cpu_ms or 0.0) + (rest.cost.cpu_ms or 0.0),
            "bare scan + compare, CPU ms": bare.cost.cpu_ms,
        }
    )


def _list_contenders(place: Path, manifest: BareManifest) -> list[Contender]:
    def open_only(_: str) -> Cost:
        with measure() as watch:
            vault = onrecord.open(place)
        vault.close()
        return watch.cost

    def open_and_find(question: str) -> Cost:
        with measure() as watch:
            vault = onrecord.open(place)
            vault.find(question)
        vault.close()
        return watch.cost

    def open_and_close(_: str) -> Cost:
        with measure() as watch:
            onrecord.open(place).close()
        return watch.cost

    def compare(_: str) -> Cost:
        with measure() as watch:
            changed = manifest.list_changed()
        if changed:
            raise ValueError(f"{len(changed)} files changed under the measurement")
        return watch.cost

    def run(question: str) -> Cost:
        return run_process([sys.executable, "-c", _PROGRAM, str(place), question])[0]

    def run_nothing(_: str) -> Cost:
        return run_process([sys.executable, "-c", "pass"])[0]

    return [
        Contender(_OWN, open_only),
        Contender(_FIRST, open_and_find),
        Contender(_WHOLE, open_and_close),
        Contender(_BARE, compare),
        Contender(_PROCESS, run),
        Contender(_PYTHON, run_nothing),
    ]


def _judge(report: Report, costs: dict[str, list[Cost]], count: int) -> None:
    own, floor = summarise(costs[_WHOLE]).cpu_p50_ms, summarise(costs[_BARE]).cpu_p50_ms
    if own is not None and floor:
        what = f"open and close of {count:,} unchanged files over a bare scan and compare, CPU p50"
        report.targets.append(Target(what, own / floor, _RATIO_MAX, "x"))


def main() -> None:
    """Measure and print."""
    options = parse_options(NAME, __doc__)
    publish(measure_open(options), options)


if __name__ == "__main__":
    main()
