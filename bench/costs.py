"""What a call costs: CPU and wall time, summaries, and turns taken between contenders so that noise hits all alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cost:
    """One call.

    Attributes:
        cpu_ms: CPU of the process that did the work, all threads; None where the system does not tell.
        wall_ms: From the call to its return.
        syncs: Calls of `os.fsync` and `os.fdatasync` in that process; None where they cannot be counted.
        reply_bytes: Size of the reply as its surface sends it; None where there is none.
    """

    cpu_ms: float | None
    wall_ms: float
    syncs: int | None = None
    reply_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Many calls: how many, and the spread of their costs."""

    n: int
    cpu_p50_ms: float | None
    cpu_p95_ms: float | None
    cpu_mean_ms: float | None
    wall_p50_ms: float
    wall_p95_ms: float
    wall_max_ms: float


@dataclass(frozen=True, slots=True)
class Contender:
    """One who takes part: `call` does the work for one input and tells its cost.

    Attributes:
        name: As the tables show it.
        call: Does one unit of work.
        max_calls: After so many it sits out.
        budget_s: After so much wall time it sits out.
    """

    name: str
    call: Callable[[str], Cost]
    max_calls: int = sys.maxsize
    budget_s: float = float("inf")


def find_percentile(values: Sequence[float], percent: float) -> float:
    """Return the percentile by nearest rank.

    Args:
        values: At least one, in any order.
        percent: From 0 to 100.
    """
    ordered = sorted(values)
    place = max(0, -(-len(ordered) * percent // 100) - 1)
    return ordered[int(place)]


def summarise(costs: Sequence[Cost]) -> Summary:
    """Return the spread of at least one cost; CPU is None if one of them is."""
    wall = [cost.wall_ms for cost in costs]
    cpu = [cost.cpu_ms for cost in costs if cost.cpu_ms is not None]
    is_known = len(cpu) == len(costs)
    return Summary(
        n=len(costs),
        cpu_p50_ms=find_percentile(cpu, 50) if is_known else None,
        cpu_p95_ms=find_percentile(cpu, 95) if is_known else None,
        cpu_mean_ms=sum(cpu) / len(cpu) if is_known else None,
        wall_p50_ms=find_percentile(wall, 50),
        wall_p95_ms=find_percentile(wall, 95),
        wall_max_ms=max(wall),
    )


def interleave(contenders: Sequence[Contender], inputs: Sequence[str]) -> dict[str, list[Cost]]:
    """Give each input to each contender in turn; who begins changes with every input.

    Returns:
        The costs by the contender's name, in the order of the inputs; fewer for those who sat out.
    """
    costs: dict[str, list[Cost]] = {contender.name: [] for contender in contenders}
    spent_s = dict.fromkeys(costs, 0.0)
    for number, text in enumerate(inputs):
        first = number % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            done = costs[contender.name]
            if len(done) >= contender.max_calls or spent_s[contender.name] >= contender.budget_s:
                continue
            cost = contender.call(text)
            done.append(cost)
            spent_s[contender.name] += cost.wall_ms / 1_000
    return costs


@dataclass(slots=True)
class Stopwatch:
    """Costs of one block in this process; `cost` is there once the block has ended."""

    cost: Cost = field(default_factory=lambda: Cost(None, 0.0))


@contextmanager
def measure(syncs: SyncCounter | None = None) -> Iterator[Stopwatch]:
    """Time a block of this process: CPU of all its threads, wall, and syncs if a counter is given."""
    watch = Stopwatch()
    syncs_before = syncs.count if syncs is not None else 0
    wall, cpu = time.perf_counter(), time.process_time()
    yield watch
    cpu_ms, wall_ms = (time.process_time() - cpu) * 1_000, (time.perf_counter() - wall) * 1_000
    watch.cost = Cost(cpu_ms, wall_ms, syncs.count - syncs_before if syncs is not None else None)


def read_cpu_s(pid: int) -> float | None:
    """Return the CPU time of a running process, all threads; None where the system has no such clock."""
    if sys.platform != "linux":
        return None
    # CPUCLOCK_SCHED of another process, as clock_getcpuclockid(3) makes it.
    return time.clock_gettime((~pid << 3) | 2)


def run_process(command: Sequence[str]) -> tuple[Cost, bytes]:
    """Run a program to its end and return what it cost from start to exit, and its standard output.

    Raises:
        CalledProcessError: it ended with a status other than 0.
    """
    wall = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall_ms = (time.perf_counter() - wall) * 1_000
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return Cost((usage.ru_utime + usage.ru_stime) * 1_000, wall_ms, reply_bytes=len(output)), output


class SyncCounter:
    """Counts `os.fsync` and `os.fdatasync` of this process while entered. What SQLite syncs itself is not seen."""

    def __init__(self) -> None:
        self.count = 0
        self._fsync = os.fsync
        self._fdatasync = getattr(os, "fdatasync", os.fsync)

    def __enter__(self) -> SyncCounter:
        self._set(self._count(self._fsync), self._count(self._fdatasync))
        return self

    def __exit__(self, *_: object) -> None:
        self._set(self._fsync, self._fdatasync)

    def _set(self, fsync: Callable[[int], None], fdatasync: Callable[[int], None]) -> None:
        setattr(os, "fsync", fsync)  # noqa: B010  - a type checker must not take this for a redefinition
        if hasattr(os, "fdatasync"):
            setattr(os, "fdatasync", fdatasync)  # noqa: B010

    def _count(self, sync: Callable[[int], None]) -> Callable[[int], None]:
        def sync_and_count(descriptor: int) -> None:
            self.count += 1
            sync(descriptor)

        return sync_and_count
