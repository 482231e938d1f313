"""All measurements, each in a process of its own, as one Markdown document and one JSON list."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.arguments import add_arguments, read_options, tell
from bench.figures import Report, read_json, render_report, render_targets, write_json

NAMES = ("remember", "find", "rebuild", "open", "adopt", "turns", "cli")


def measure_all(arguments: Sequence[str], folder: Path) -> tuple[list[Report], list[str]]:
    """Run each measurement with the same arguments.

    Returns:
        The reports in the order of `NAMES`, and the names of those that failed.
    """
    reports: list[Report] = []
    failed: list[str] = []
    for name in NAMES:
        tell(f"== bench.{name}")
        path = folder / f"{name}.json"
        command = [sys.executable, "-m", f"bench.{name}", *arguments, "--json", str(path)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            failed.append(name)
        else:
            reports += read_json(path)
    return reports, failed


def render_all(reports: Sequence[Report], failed: Sequence[str]) -> str:
    """Return one document: all targets first, then each measurement."""
    targets = [target for report in reports for target in report.targets]
    parts = ["# Measurements\n", render_targets(targets) + "\n"]
    if failed:
        parts.append(f"Failed: {', '.join(failed)}.\n")
    parts += [render_report(report) for report in reports]
    return "\n".join(parts)


def main() -> int:
    """Measure all, print the document, and write files if they were asked for; 1 if a measurement failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.all", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the document")
    given, options = parser.parse_args(), read_options(parser.parse_args())
    with tempfile.TemporaryDirectory(prefix="onrecord-bench-") as name:
        reports, failed = measure_all(_repeat_arguments(given), Path(name))
    document = render_all(reports, failed)
    print(document)
    if given.markdown is not None:
        given.markdown.write_text(document, "utf-8")
    if options.json_path is not None:
        write_json(reports, options.json_path)
    return 1 if failed else 0


def _repeat_arguments(given: argparse.Namespace) -> list[str]:
    """Return the shared arguments as the command line had them, without where the figures go."""
    arguments = ["--quick"] if given.quick else []
    if given.peers is not None:
        arguments.append("--peers" if given.peers else "--no-peers")
    for name in ("data", "records", "peer_records", "peers_dir", "work_dir"):
        value = getattr(given, name)
        if value is not None:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    return arguments


if __name__ == "__main__":
    sys.exit(main())
