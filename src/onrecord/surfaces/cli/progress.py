"""A progress line on standard error for long work, only where a person can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def show_progress(label: str, *, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of items done so far."""
    if is_quiet or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(f"{label} {{task.completed:.0f}}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done: bar.update(task, completed=done)
