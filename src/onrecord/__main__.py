"""The command `onrecord`, also `python -m onrecord`."""

from __future__ import annotations

import sys

from onrecord.surfaces.cli.entry import run
from onrecord.wiring import SERVICES


def main() -> int:
    """Run one command of the process's command line and return its exit status."""
    return run(sys.argv[1:], SERVICES)


if __name__ == "__main__":
    sys.exit(main())
