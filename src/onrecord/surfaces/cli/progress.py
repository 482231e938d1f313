"""A progress line on standard error for long work, only where a person can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

Show = Callable[[int, int | None], None]


@contextmanager
def show_progress(label: str, *, is_quiet: bool, least: int = 0) -> Iterator[Show]:
    """Yield a function that takes the number of items done so far, and of all, None where nobody knows it.

    The line is there from the first call on until all are done; work of fewer than `least` items has none.
    """
    if is_quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with ExitStack() as shown:
        show: Show | None = None

        def tell(done: int, total: int | None) -> None:
            nonlocal show
            if show is None and (total is None or total >= least):
                show = _open_line(label, shown, _tell(label, done, total))
            elif show is not None:
                show(done, total)
            if done == total:
                shown.close()
                show = None

        yield tell


def _tell(label: str, done: int, total: int | None) -> str:
    return f"{label} {done:,}" if total is None else f"{label} {done:,} of {total:,}"


def _open_line(label: str, shown: ExitStack, first: str) -> Show:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    bar = shown.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
    task = bar.add_task(first, total=None)

    def show(done: int, total: int | None) -> None:
        bar.update(task, description=_tell(label, done, total))

    return show
