"""A vault with its state folder and copies of both, to break and to put back."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from tests.surface.cli import CommandLine


@dataclass
class Home:
    """A vault with two memories and a transcript, its state folder, and copies of both from before the breakage."""

    run: CommandLine
    vault: Path
    state: Path
    copies: Path

    @property
    def log(self) -> Path:
        """The folder of the own log."""
        (found,) = (path for path in (self.copies / "vault" / ".onrecord").iterdir() if path.is_dir())
        return self.vault / ".onrecord" / found.name

    def find(self, name: str) -> Path:
        """Return a part: `vault/…`, `LOG/…` or `state/…`; `*` as in a shell."""
        room, _, inner = name.partition("/")
        base = {"vault": self.vault, "LOG": self.log, "state": self.state}[room]
        if "*" in inner:
            (found,) = base.glob(inner)
            return found
        return base / inner if inner else base

    def find_copy(self, path: Path) -> Path:
        """Return the copy of a part."""
        for base, name in ((self.vault, "vault"), (self.state, "state")):
            if path == base or base in path.parents:
                return self.copies / name / path.relative_to(base)
        raise AssertionError(path)

    def hash_vault(self) -> str:
        """Return a hash of every name and every byte of the vault."""
        found = hashlib.sha256()
        for path in sorted(self.vault.rglob("*")):
            found.update(f"{path.relative_to(self.vault)} {path.is_dir()}\n".encode())
            if path.is_file():
                found.update(path.read_bytes())
        return found.hexdigest()
