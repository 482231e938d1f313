"""What was measured, as tables, targets and JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench.costs import Summary

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Target:
    """A figure that must be reached.

    Attributes:
        what: What is measured.
        measured: The figure of this run.
        limit: The bound.
        unit: Unit of both, `x` for a ratio.
        is_floor: True where more is better.
    """

    what: str
    measured: float
    limit: float
    unit: str
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the figure keeps the bound."""
        return self.measured >= self.limit if self.is_floor else self.measured <= self.limit


@dataclass(slots=True)
class Table:
    """Rows with the same columns; a row lacks what does not apply to it."""

    title: str
    columns: tuple[str, ...]
    rows: list[dict[str, Value]] = field(default_factory=list)

    def add(self, values: Mapping[str, Value]) -> None:
        """Add a row.

        Raises:
            KeyError: a column is not known.
        """
        for name in values:
            if name not in self.columns:
                raise KeyError(name)
        self.rows.append(dict(values))


def _tell_date() -> str:
    return datetime.now(UTC).date().isoformat()


def describe_machine() -> str:
    """Return the class of this machine: cores, memory, system and versions; nothing that names it."""
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        size_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = f"{size_bytes / 2**30:.0f} GiB, "
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    return (
        f"{cores} cores, {memory}{platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def read_load() -> float | None:
    """Return how many processes waited for a core in the last minute; None where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


@dataclass(slots=True)
class Report:
    """All of one measurement; `load` is that of the machine when it began."""

    bench: str
    settings: dict[str, Value]
    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    measured_on: str = field(default_factory=_tell_date)
    machine: str = field(default_factory=describe_machine)
    load: float | None = field(default_factory=read_load)


COST_COLUMNS = ("n", "CPU ms p50", "CPU ms p95", "CPU ms mean", "wall ms p50", "wall ms p95", "wall ms max")


def list_cost_values(summary: Summary) -> dict[str, Value]:
    """Return a summary as values of `COST_COLUMNS`."""
    values = (
        summary.n,
        summary.cpu_p50_ms,
        summary.cpu_p95_ms,
        summary.cpu_mean_ms,
        summary.wall_p50_ms,
        summary.wall_p95_ms,
        summary.wall_max_ms,
    )
    return dict(zip(COST_COLUMNS, values, strict=True))


def write_json(reports: Sequence[Report], path: Path) -> None:
    """Write reports as a JSON list; each target also tells whether it is met."""
    path.write_text(json.dumps([_shape(report) for report in reports], ensure_ascii=False, indent=1) + "\n", "utf-8")


def read_json(path: Path) -> list[Report]:
    """Read what `write_json` wrote."""
    reports = []
    for shape in json.loads(path.read_text("utf-8")):
        tables = [Table(table["title"], tuple(table["columns"]), table["rows"]) for table in shape.pop("tables")]
        targets = [
            Target(**{name: value for name, value in target.items() if name != "is_met"})
            for target in shape.pop("targets")
        ]
        reports.append(Report(**shape, tables=tables, targets=targets))
    return reports


def render_report(report: Report, level: int = 2) -> str:
    """Return a report as Markdown, its heading on the level given."""
    settings = ", ".join(f"{name} {format_value(value)}" for name, value in report.settings.items())
    parts = [
        f"{'#' * level} bench.{report.bench}",
        f"{report.measured_on}. {report.machine}, load {format_value(report.load)} at the start."
        + (f" {settings}." if settings else ""),
    ]
    for table in report.tables:
        parts.append(f"**{table.title}**\n\n" + _render_rows(table.columns, table.rows))
    if report.targets:
        parts.append(render_targets(report.targets))
    notes = [*report.notes, *(f"Skipped: {name}: {reason}" for name, reason in report.skipped.items())]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"


def render_targets(targets: Sequence[Target]) -> str:
    """Return targets as a Markdown table."""
    rows: list[dict[str, Value]] = [
        {
            "target": target.what,
            "measured": f"{format_value(target.measured)} {target.unit}".rstrip(),
            "goal": f"{'≥' if target.is_floor else '≤'} {format_value(target.limit)} {target.unit}".rstrip(),
            "met": "yes" if target.is_met else "NO",
        }
        for target in targets
    ]
    return _render_rows(("target", "measured", "goal", "met"), rows)


def format_value(value: Value) -> str:
    """Return a value as a table shows it: three significant digits, thousands set off, a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _render_rows(columns: Sequence[str], rows: Sequence[Mapping[str, Value]]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(format_value(row.get(name)) for name in columns)} |" for row in rows]
    return "\n".join(lines)


def _shape(report: Report) -> dict[str, object]:
    shape = asdict(report)
    shape["targets"] = [asdict(target) | {"is_met": target.is_met} for target in report.targets]
    return shape
