"""Adopt: taking in a vault of notes that others wrote, beside a bare parse and FTS5 build of the same files."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import onrecord
from bench.arguments import Options, parse_options, publish, tell
from bench.bare import build_table
from bench.costs import Cost, measure, summarise
from bench.figures import COST_COLUMNS, Report, Table, Target, Value, list_cost_values
from bench.scratch import make_scratch
from bench.words import WordSource

NAME = "adopt"
_OWN, _BARE = "OnRecord: make the vault, take in all files", "bare parse + FTS5 build"
_DISK_FACTOR_MAX = 2.0
_FOLDERS = 40
_LINES_MU, _LINES_SIGMA, _LINES_MAX = 2.6, 0.9, 200  # paragraphs a note, log-normal: about 1.9 kB a note

# size, mtime, inode and bytes of a file
State = tuple[int, int, int, bytes]


def measure_adopt(options: Options) -> Report:
    """Write the notes, build the bare table, then make a vault of their folder and ask it one question."""
    count = options.records or (2_000 if options.is_quick else 20_000)
    report = Report(NAME, {"files": count})
    with make_scratch(options.work_folder) as folder:
        tell(f"adopt: writing {count} notes")
        place = folder / "vault"
        note_bytes = _write_notes(place / "memories", count)
        before = _describe_files(place / "memories")
        bare_path = folder / "bare.sqlite3"
        with measure() as watch:
            build_table(place / "memories", bare_path)
        bare = watch.cost
        tell("adopt: taking them in")
        with measure() as watch:
            vault = onrecord.open(place, create=True)
            found = vault.find("harbour")
            taken = int(vault.status().data["counts"]["files"])
        own = watch.cost
        vault.close()
        if taken != count or not found:
            raise ValueError(f"{taken} of {count} files were taken in")
        changed = sum(before[path] != state for path, state in _describe_files(place / "memories").items())
        sizes = _measure_folders(place, folder, bare_path)
    _report_cost(report, own, bare, count)
    _report_disk(report, sizes, note_bytes)
    report.targets.append(Target("files with another byte, mtime or inode afterwards", changed, 0, ""))
    return report


def _write_notes(folder: Path, count: int) -> int:
    """Write notes of several paragraphs below a title, in folders; return their bytes."""
    words, sizes, total = WordSource(), random.Random(3), 0
    lines = words.make_records(count * 4)
    for number in range(count):
        paragraphs = max(1, min(_LINES_MAX, int(sizes.lognormvariate(_LINES_MU, _LINES_SIGMA))))
        text = "\n\n".join(lines[(number * 7 + place * 13) % len(lines)] for place in range(paragraphs))
        path = folder / f"folder {number % _FOLDERS:02}" / f"note {number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        total += path.write_bytes(f"# Note {number}\n\n{text}\n".encode())
    return total


def _describe_files(folder: Path) -> dict[str, State]:
    found = {}
    for path in sorted(folder.rglob("*.md")):
        now = path.stat()
        found[str(path)] = (now.st_size, now.st_mtime_ns, now.st_ino, path.read_bytes())
    return found


def _measure_folders(place: Path, folder: Path, bare_path: Path) -> dict[str, int]:
    machine, state = place / ".onrecord", folder / "state"
    return {
        "ledger": _sum_bytes(machine, "ledger"),
        "versions store": _sum_bytes(machine, "versions"),
        "index": sum(path.stat().st_size for path in state.rglob("index.sqlite3*")),
        "bare FTS5 table": bare_path.stat().st_size,
    }


def _sum_bytes(folder: Path, name: str) -> int:
    return sum(path.stat().st_size for path in _list_files(folder) if path.parent.name == name)


def _list_files(folder: Path) -> Iterator[Path]:
    for base, _, names in os.walk(folder):
        yield from (Path(base, name) for name in names)


def _report_cost(report: Report, own: Cost, bare: Cost, count: int) -> None:
    table = Table("Taking in a folder of notes", ("contender", "files", *COST_COLUMNS, "CPU us a file"))
    report.tables.append(table)
    medians = []
    for name, cost in ((_OWN, own), (_BARE, bare)):
        summary = summarise([cost])
        medians.append(summary.cpu_p50_ms or 0.0)
        values: dict[str, Value] = {"contender": name, "files": count, **list_cost_values(summary)}
        table.add(values | {"CPU us a file": medians[-1] * 1_000 / count})
    report.notes.append(f"CPU over the bare build in the same run: {medians[0] / medians[1]:.1f} x.")


def _report_disk(report: Report, sizes: dict[str, int], note_bytes: int) -> None:
    table = Table("Bytes on disk", ("what", "bytes", "over note bytes"))
    report.tables.append(table)
    table.add({"what": "notes", "bytes": note_bytes, "over note bytes": 1.0})
    for name, size in sizes.items():
        table.add({"what": name, "bytes": size, "over note bytes": size / note_bytes})
    own = sum(size for name, size in sizes.items() if not name.startswith("bare"))
    report.targets.append(Target("ledger, versions and index over note bytes", own / note_bytes, _DISK_FACTOR_MAX, "x"))


def main() -> None:
    """Measure and print."""
    options = parse_options(NAME, __doc__)
    publish(measure_adopt(options), options)


if __name__ == "__main__":
    main()
