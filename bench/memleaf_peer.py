"""memleaf, driven by its Python API in a process of its own environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.costs import Cost
from bench.peer import Peer, PeerHits, PeerPackage, make_environment
from bench.stdio_client import LineProcess, PeerFailedError

PACKAGE = PeerPackage("memleaf", "1.0.4")
_WORKER = Path(__file__).with_name("memleaf_worker.py")
_TITLE_CHARS = 180


class MemleafPeer(Peer):
    """One vault. It finds by `search_candidates`, whose answer is also that of its MCP search."""

    package = PACKAGE

    def __init__(self, environment: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # -P: the worker must not see this folder's modules.
        command = [str(environment / "bin" / "python"), "-P", str(_WORKER), str(folder / "vault")]
        self._process = LineProcess(command, make_environment(folder), folder)

    def fill(self, records: Sequence[tuple[str, str]]) -> None:
        """Write records as files in its form and let it index them; single calls cost the square of their number."""
        self._ask(op="fill", records=[[key, text[:_TITLE_CHARS], text] for key, text in records])

    def remember(self, text: str) -> Cost:
        """Store one text."""
        return _read_cost(self._ask(op="remember", title=text[:_TITLE_CHARS], body=text))

    def find(self, question: str, limit: int = 10) -> PeerHits:
        """Return the best records."""
        answer = self._ask(op="find", query=question, limit=limit)
        return PeerHits(tuple(answer["keys"]), _read_cost(answer))

    def close(self) -> None:
        """End the worker."""
        self._process.close()

    def _ask(self, **message: object) -> dict[str, Any]:
        self._process.send(message)
        answer, _ = self._process.receive()
        if "error" in answer:
            raise PeerFailedError(str(answer["error"]))
        return answer


def _read_cost(answer: dict[str, Any]) -> Cost:
    return Cost(answer["cpu_ms"], answer["wall_ms"], answer["syncs"], answer["reply_bytes"])
