"""Runs in memleaf's own environment: `python -P memleaf_worker.py VAULT`; a JSON object a line in, one out.

Imports nothing of this project. `fill` writes files as memleaf writes them, without its indexing after each one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import memleaf  # type: ignore[import-not-found]

_syncs = 0


def count_syncs() -> None:
    """Replace the system's sync calls by ones that count."""

    def wrap(sync: Any) -> Any:
        def sync_and_count(descriptor: int) -> None:
            global _syncs  # noqa: PLW0603  - one counter of one process
            _syncs += 1
            sync(descriptor)

        return sync_and_count

    for name in ("fsync", "fdatasync"):
        if hasattr(os, name):
            setattr(os, name, wrap(getattr(os, name)))


def fill(service: Any, keys: dict[str, str], records: list[list[str]]) -> None:
    """Write each record of key, title and body as a file, then index all."""
    for number, (key, title, body) in enumerate(records):
        memory = memleaf.Memory.new(title=title, body=body, memory_id=f"mem-20260101000000-{number:08x}")
        service.vault.memory_path(memory.memory_id).write_text(memory.to_markdown(), "utf-8")
        keys[memory.memory_id] = key
    service.rebuild_index()


def answer(service: Any, keys: dict[str, str], message: dict[str, Any]) -> dict[str, Any]:
    """Do what one message asks and tell what it cost."""
    syncs, wall, cpu = _syncs, time.perf_counter(), time.process_time()
    found: list[str] = []
    reply: Any = None
    match message["op"]:
        case "fill":
            fill(service, keys, message["records"])
        case "remember":
            service.create_memory(title=message["title"], body=message["body"], scopes=["global"])
        case "find":
            reply = service.search_candidates(message["query"], limit=message["limit"])
            found = [item["memory_id"] for item in reply["results"]]
        case other:
            raise ValueError(other)
    cpu_ms, wall_ms = (time.process_time() - cpu) * 1_000, (time.perf_counter() - wall) * 1_000
    size = len(json.dumps(reply, ensure_ascii=False).encode()) if reply is not None else None
    return {
        "cpu_ms": cpu_ms,
        "wall_ms": wall_ms,
        "syncs": _syncs - syncs,
        "reply_bytes": size,
        "keys": [keys.get(name, name) for name in found],
    }


def main() -> None:
    """Answer until the input ends; an error is an answer too."""
    count_syncs()
    service = memleaf.Memleaf.initialize(sys.argv[1])
    keys: dict[str, str] = {}
    for line in sys.stdin:
        try:
            told = answer(service, keys, json.loads(line))
        except (ValueError, TypeError, KeyError, OSError, memleaf.RetrievalError) as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
