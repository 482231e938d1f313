"""Talk to a program over its standard streams, one JSON object a line; with JSON-RPC as MCP servers speak it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from bench.costs import read_cpu_s

_READ_BYTES = 65_536
_CLOSE_WAIT_S = 10.0


class PeerFailedError(Exception):
    """A peer's program ended, was silent for too long, or answered with an error."""


class LineProcess:
    """A program that is given a line and answers with lines.

    Args:
        command: The program and its arguments.
        environment: All of its environment.
        folder: Where it runs; its standard error goes to `stderr.txt` there.
        wait_s: How long an answer may take.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, wait_s: float = 600.0
    ) -> None:
        self._errors: IO[bytes] = (folder / "stderr.txt").open("ab")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=dict(environment),
            cwd=folder,
        )
        self._wait_s = wait_s
        self._waiting = b""

    def read_cpu_ms(self) -> float | None:
        """Return the CPU time that the program has used so far."""
        seconds = read_cpu_s(self._process.pid)
        return None if seconds is None else seconds * 1_000

    def send(self, message: Mapping[str, object]) -> None:
        """Send one object.

        Raises:
            PeerFailedError: the program has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerFailedError("the program has ended") from error

    def receive(self) -> tuple[dict[str, Any], int]:
        """Return the next object and its size in bytes.

        Raises:
            PeerFailedError: the program has ended, is silent for too long, or sends what is no JSON object.
        """
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        until = time.monotonic() + self._wait_s
        while b"\n" not in self._waiting:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise PeerFailedError(f"no answer within {self._wait_s:g} s")
            part = os.read(descriptor, _READ_BYTES)
            if not part:
                raise PeerFailedError("the program has ended")
            self._waiting += part
        line, _, self._waiting = self._waiting.partition(b"\n")
        try:
            message = json.loads(line)
        except ValueError as error:
            raise PeerFailedError("the answer is no JSON") from error
        if not isinstance(message, dict):
            raise PeerFailedError("the answer is no JSON object")
        return message, len(line)

    def close(self) -> None:
        """End the program: its input is closed, and after some seconds it is killed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(_CLOSE_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()


class McpClient:
    """A client of an MCP server on standard streams: the handshake, then one tool call after the other."""

    _VERSION = "2025-06-18"

    def __init__(self, process: LineProcess) -> None:
        self.process = process
        self._number = 0
        told = {"name": "onrecord-bench", "version": "1"}
        self._request("initialize", {"protocolVersion": self._VERSION, "capabilities": {}, "clientInfo": told})
        process.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call_tool(self, name: str, arguments: Mapping[str, object]) -> tuple[dict[str, Any], int]:
        """Call a tool whose answer is a JSON object in its first text block.

        Returns:
            That object, and the bytes of the whole reply.

        Raises:
            PeerFailedError: the server or the tool answered with an error.
        """
        result, size = self._request("tools/call", {"name": name, "arguments": arguments})
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise PeerFailedError(f"{name}: {text[:200]}")
        answer = json.loads(text)
        if not isinstance(answer, dict):
            raise PeerFailedError(f"{name}: no object")
        return answer, size

    def _request(self, method: str, parameters: Mapping[str, object]) -> tuple[dict[str, Any], int]:
        self._number += 1
        self.process.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        while True:
            message, size = self.process.receive()
            if message.get("id") != self._number:
                continue
            if "error" in message:
                raise PeerFailedError(f"{method}: {message['error']}")
            result = message["result"]
            if not isinstance(result, dict):
                raise PeerFailedError(f"{method}: no object")
            return result, size
