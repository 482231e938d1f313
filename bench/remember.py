"""Remember: cost of keeping one line in an empty vault, at 1,000 and at 10,000 records, in one long-lived process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.arguments import Options, parse_options, publish, tell
from bench.bare import BareJournal, BareTable
from bench.costs import Contender, Cost, SyncCounter, find_percentile, interleave, summarise
from bench.figures import COST_COLUMNS, Report, Table, Target, Value, list_cost_values
from bench.peer import Peer
from bench.peers import open_peers
from bench.scratch import make_remember_contender, make_scratch, make_vault
from bench.words import WordSource

NAME = "remember"
_OWN = "OnRecord"
_COLUMNS = ("contender", "records", *COST_COLUMNS, "fsyncs p50", "fsyncs mean")
_PEER_BUDGET_S = 40.0
_CPU_MS_MAX = 5.0
_FLAT_MAX = 1.5


def measure_remember(options: Options) -> Report:
    """Measure one call at each size; sizes that the peers reach are measured beside them, call by call."""
    largest = options.records or (1_000 if options.is_quick else 10_000)
    peer_largest = options.peer_records or (100 if options.is_quick else 1_000)
    calls = 128 if options.is_quick else 512
    sizes = sorted({0, min(peer_largest, largest), min(1_000, largest), largest})
    report = Report(
        NAME, {"calls a size": calls, "records at most": largest, "records of a peer at most": peer_largest}
    )
    lines = WordSource().make_records(largest + calls)
    table = Table("One call of remember", _COLUMNS)
    report.tables.append(table)
    figures: dict[int, list[Cost]] = {}
    with make_scratch(options.work_folder) as folder, SyncCounter() as syncs:
        for size in sizes:
            tell(f"remember: {size} records")
            with_peers = options.with_peers is not False and size <= peer_largest
            costs = _measure_size(
                lines[:size], lines[largest:], folder, syncs, options, report.skipped if with_peers else None
            )
            for name, done in costs.items():
                table.add(_list_values(name, size, done))
            figures[size] = costs[_OWN]
    _judge(report, figures)
    report.notes.append("arbiter's store and the bare table sync inside SQLite, where this count does not reach.")
    return report


def _measure_size(
    held: Sequence[str],
    given: Sequence[str],
    folder: Path,
    syncs: SyncCounter,
    options: Options,
    skipped: dict[str, str] | None,
) -> dict[str, list[Cost]]:
    """Fill each store, then give each the same new lines in turn; `skipped` None leaves the peers out."""
    place = folder / f"at-{len(held)}"
    place.mkdir()
    journal, bare = BareJournal(place / "journal"), BareTable(place / "bare.sqlite3")
    bare.fill(held)
    vault = make_vault(place / "vault", held)
    own = make_remember_contender(vault, syncs)
    contenders = [own, journal.make_contender(syncs), bare.make_insert_contender()]
    try:
        if skipped is None:
            return interleave(contenders, given)
        with open_peers(options, place, skipped) as peers:
            return interleave([*contenders, *_fill_peers(peers, held)], given)
    finally:
        vault.close()
        bare.close()
        journal.close()


def _fill_peers(peers: Sequence[Peer], held: Sequence[str]) -> list[Contender]:
    contenders = []
    for peer in peers:
        tell(f"filling {peer.package.label}")
        peer.fill([(str(number), text) for number, text in enumerate(held)])
        contenders.append(peer.make_remember_contender(_PEER_BUDGET_S))
    return contenders


def _list_values(name: str, size: int, costs: Sequence[Cost]) -> dict[str, Value]:
    values: dict[str, Value] = {"contender": name, "records": size, **list_cost_values(summarise(costs))}
    syncs = [cost.syncs for cost in costs if cost.syncs is not None]
    if syncs:
        values |= {"fsyncs p50": int(find_percentile(syncs, 50)), "fsyncs mean": sum(syncs) / len(syncs)}
    return values


def _judge(report: Report, figures: dict[int, list[Cost]]) -> None:
    smallest, largest = min(figures), max(figures)
    medians = {size: summarise(costs).cpu_p50_ms or 0.0 for size, costs in figures.items()}
    syncs = Counter(cost.syncs for cost in figures[largest])
    usual, times = syncs.most_common(1)[0]
    report.targets += [
        Target(f"remember at {largest:,} records, CPU p50", medians[largest], _CPU_MS_MAX, "ms"),
        Target(
            f"remember, CPU p50 at {largest:,} over {smallest:,} records",
            medians[largest] / medians[smallest],
            _FLAT_MAX,
            "x",
        ),
        Target("fsyncs of an acknowledged write, usual", float(usual or 0), 1.0, ""),
    ]
    spread = ", ".join(f"{count} fsyncs: {number} calls" for count, number in sorted(syncs.items(), key=str))
    report.notes.append(
        f"At {largest:,} records {times} of {len(figures[largest])} calls had the usual number. {spread}."
    )


def main() -> None:
    """Measure and print."""
    options = parse_options(NAME, __doc__)
    publish(measure_remember(options), options)


if __name__ == "__main__":
    main()
