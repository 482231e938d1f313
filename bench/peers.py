"""Install the peers from the package index, by name and exact version, each into its own environment, and open them.

Whoever cannot be had is skipped with the reason. Peers run without a model, as they come, on scratch stores.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.arbiter_peer import PACKAGE as ARBITER
from bench.arbiter_peer import ArbiterPeer
from bench.arguments import Options, tell
from bench.memleaf_peer import PACKAGE as MEMLEAF
from bench.memleaf_peer import MemleafPeer
from bench.peer import Peer, PeerPackage, PeerUnavailableError
from bench.stdio_client import PeerFailedError

_INSTALL_WAIT_S = 600.0
_BYTECODE_VARIABLES = frozenset({"PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"})
_PEERS: tuple[tuple[PeerPackage, type[ArbiterPeer] | type[MemleafPeer]], ...] = (
    (ARBITER, ArbiterPeer),
    (MEMLEAF, MemleafPeer),
)


def find_peers_folder(options: Options) -> Path:
    """Return where peers are installed: as given, else in the user's cache."""
    if options.peers_folder is not None:
        return options.peers_folder.absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "onrecord-bench" / "peers"


def ensure_peer(package: PeerPackage, folder: Path) -> Path:
    """Return the environment of a peer, installed if it is not there yet.

    Raises:
        PeerUnavailableError: it cannot be installed; a half-made environment is removed.
    """
    environment = folder / f"{package.name}-{package.version}"
    mark = environment / "installed"
    if mark.exists():
        return environment
    if os.name != "posix":
        raise PeerUnavailableError("peers are driven on Linux and macOS only")
    tell(f"installing {package.label}")
    wanted = f"{package.name}=={package.version}"
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(environment)],
        [str(environment / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check", wanted],
    )
    try:
        environment.parent.mkdir(parents=True, exist_ok=True)
        for step in steps:
            subprocess.run(
                step, check=True, capture_output=True, text=True, timeout=_INSTALL_WAIT_S, env=_list_variables()
            )
        mark.write_text(wanted + "\n", "utf-8")
    except subprocess.CalledProcessError as error:
        shutil.rmtree(environment, ignore_errors=True)
        reason = (error.stderr or error.stdout or "").strip().splitlines()
        raise PeerUnavailableError(reason[-1] if reason else f"exit status {error.returncode}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        shutil.rmtree(environment, ignore_errors=True)
        raise PeerUnavailableError(type(error).__name__) from error
    return environment


def _list_variables() -> dict[str, str]:
    """Return the environment without what would keep bytecode out of the peer's own."""
    return {name: value for name, value in os.environ.items() if name not in _BYTECODE_VARIABLES}


@contextmanager
def open_peers(options: Options, folder: Path, skipped: dict[str, str]) -> Iterator[list[Peer]]:
    """Give an empty store of each peer that can be had, and end their programs afterwards.

    Args:
        options: Where peers are installed.
        folder: Each store gets a folder of its own in it.
        skipped: Gets the reason of whoever is missing, by name.
    """
    peers_folder = find_peers_folder(options)
    with ExitStack() as stack:
        peers: list[Peer] = []
        for package, kind in _PEERS:
            try:
                peer = kind(ensure_peer(package, peers_folder), folder / package.name)
            except (PeerUnavailableError, PeerFailedError) as error:
                skipped[package.label] = str(error)
                continue
            stack.callback(peer.close)
            peers.append(peer)
        yield peers
