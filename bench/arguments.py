"""Options that all measurements share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Report, render_report, write_json


@dataclass(frozen=True, slots=True)
class Options:
    """How to measure.

    Attributes:
        data: Folder of conversations; None where none is given.
        is_quick: Less input, fewer repetitions, done within two minutes.
        json_path: Where the figures go as JSON; None for nowhere.
        records: The largest vault, in records; None leaves it to the measurement.
        peer_records: The largest store of a peer, in records; None leaves it to the measurement.
        with_peers: Whether peers take part; None leaves it to the measurement.
        peers_folder: Where peers are installed; None for the user's cache.
        work_folder: Where vaults are made and removed; None for the system's temporary folder.
    """

    data: Path | None = None
    is_quick: bool = False
    json_path: Path | None = None
    records: int | None = None
    peer_records: int | None = None
    with_peers: bool | None = None
    peers_folder: Path | None = None
    work_folder: Path | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shared options to a parser."""
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of conversations (LoCoMo's JSON)")
    parser.add_argument("--quick", action="store_true", help="less input; done within two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    parser.add_argument("--records", type=_count, metavar="N", help="records of the largest vault")
    parser.add_argument("--peer-records", type=_count, metavar="N", help="records of a peer's largest store")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, help="measure the peers too, or not")
    parser.add_argument("--peers-dir", type=Path, metavar="DIR", help="where peers are installed")
    parser.add_argument("--work-dir", type=Path, metavar="DIR", help="where vaults are made and removed")


def read_options(given: argparse.Namespace) -> Options:
    """Return the options that `add_arguments` read."""
    return Options(
        data=given.data,
        is_quick=given.quick,
        json_path=given.json,
        records=given.records,
        peer_records=given.peer_records,
        with_peers=given.peers,
        peers_folder=given.peers_dir,
        work_folder=given.work_dir,
    )


def parse_options(name: str, doc: str, arguments: Sequence[str] | None = None) -> Options:
    """Read the options of one measurement from the command line."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=doc)
    add_arguments(parser)
    return read_options(parser.parse_args(arguments))


def publish(report: Report, options: Options) -> None:
    """Print a report as Markdown, and write it as JSON if that was asked for."""
    print(render_report(report))
    if options.json_path is not None:
        write_json([report], options.json_path)


def tell(text: str) -> None:
    """Say on standard error what is going on."""
    print(text, file=sys.stderr, flush=True)


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1_000_000:
        raise argparse.ArgumentTypeError("from 1 to 1,000,000")
    return number
