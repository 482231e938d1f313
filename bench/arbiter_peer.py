"""memory-arbiter, driven over MCP on standard streams."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.costs import Cost
from bench.peer import Peer, PeerHits, PeerPackage, make_environment
from bench.stdio_client import LineProcess, McpClient, PeerFailedError

PACKAGE = PeerPackage("memory-arbiter-mcp", "0.17.2")
_WORKSPACE = "bench"
_SUBJECT_CHARS = 2_000


class ArbiterPeer(Peer):
    """One server and its store. Without vectors it searches subject and tags alone, so the text is the subject too."""

    package = PACKAGE

    def __init__(self, environment: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "config.json"
        config.write_text('{"workspace": "bench", "update_check": {"enabled": false}}', "utf-8")
        variables = make_environment(folder) | {
            "MEMORY_ARBITER_CONFIG": str(config),
            "MEMORY_ARBITER_DB_PATH": str(folder / "memory.sqlite3"),
            "MEMORY_ARBITER_BACKUP_JSONL": str(folder / "backup.jsonl"),
            "MEMORY_ARBITER_CLIENT": "bench",
            "MEMORY_ARBITER_AGENT_ID": "bench",
        }
        self._process = LineProcess([str(environment / "bin" / "memory-arbiter-mcp")], variables, folder)
        try:
            self._client = McpClient(self._process)
        except PeerFailedError:
            self._process.close()
            raise
        self._keys: dict[str, str] = {}

    def fill(self, records: Sequence[tuple[str, str]]) -> None:
        """Store records, one call of its tool each."""
        for key, text in records:
            answer, _ = self._remember(text)
            self._keys[str(answer["id"])] = key

    def remember(self, text: str) -> Cost:
        """Store one text."""
        return self._remember(text)[1]

    def find(self, question: str, limit: int = 10) -> PeerHits:
        """Return the best records."""
        answer, cost = self._call("find", {"workspace": _WORKSPACE, "query": question, "limit": limit})
        ids = [str(item["id"]) for item in answer["results"]]
        return PeerHits(tuple(self._keys.get(found, found) for found in ids), cost)

    def close(self) -> None:
        """End the server."""
        self._process.close()

    def _remember(self, text: str) -> tuple[dict[str, Any], Cost]:
        data: dict[str, object] = {"workspace": _WORKSPACE, "subject": text[:_SUBJECT_CHARS], "content": text}
        return self._call("remember", data)

    def _call(self, action: str, data: dict[str, object]) -> tuple[dict[str, Any], Cost]:
        cpu_ms, wall = self._process.read_cpu_ms(), time.perf_counter()
        answer, size = self._client.call_tool("memory", {"action": action, "data": data})
        wall_ms, cpu_after_ms = (time.perf_counter() - wall) * 1_000, self._process.read_cpu_ms()
        if not answer.get("ok"):
            raise PeerFailedError(f"{action}: {str(answer)[:200]}")
        used_ms = cpu_after_ms - cpu_ms if cpu_ms is not None and cpu_after_ms is not None else None
        found = answer["data"]
        if not isinstance(found, dict):
            raise PeerFailedError(f"{action}: no data")
        return found, Cost(used_ms, wall_ms, reply_bytes=size)
