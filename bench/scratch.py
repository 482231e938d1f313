"""A vault, its state and everything else of a measurement, in a folder that is removed afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import onrecord
from bench.costs import Contender, Cost, SyncCounter, measure

_PREFIX = "onrecord-bench-"
_VARIABLES = (
    *("ONRECORD_STATE", "ONRECORD_CONFIG", "ONRECORD_VAULT"),
    *("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"),
)


@contextmanager
def make_scratch(work_folder: Path | None) -> Iterator[Path]:
    """Give an empty folder and remove it at the end; OnRecord's state and settings are kept inside it.

    So is the bytecode of new processes, which compile once as an installed program does, and leave nothing behind.
    """
    before = {name: os.environ.get(name) for name in _VARIABLES}
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=work_folder) as name:
        folder = Path(name)
        for variable in _VARIABLES:
            os.environ.pop(variable, None)
        os.environ["ONRECORD_STATE"] = str(folder / "state")
        os.environ["ONRECORD_CONFIG"] = str(folder / "absent.toml")
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        try:
            yield folder
        finally:
            for variable, value in before.items():
                if value is None:
                    os.environ.pop(variable, None)
                else:
                    os.environ[variable] = value


def write_notes(folder: Path, texts: Sequence[str]) -> Path:
    """Write each text as a Markdown file of its own and return the folder."""
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"note {number:06}.md").write_text(text + "\n", "utf-8")
    return folder


def make_vault(folder: Path, texts: Sequence[str]) -> onrecord.Vault:
    """Make a vault in `folder` and take in each text as a record, by the import of Markdown.

    Raises:
        ValueError: not every text became a record.
    """
    vault = onrecord.open(folder, create=True)
    if texts:
        report = vault.import_markdown(str(write_notes(folder.with_name(folder.name + "-source"), texts)))
        if report.data["imported"] != len(texts):
            vault.close()
            raise ValueError(f"{report.data['imported']} of {len(texts)} texts were imported")
    return vault


def make_remember_contender(vault: onrecord.Vault, syncs: SyncCounter, name: str = "OnRecord") -> Contender:
    """Return who remembers through the Python API."""

    def call(text: str) -> Cost:
        with measure(syncs) as watch:
            vault.remember(text)
        return watch.cost

    return Contender(name, call)


def make_find_contender(vault: onrecord.Vault, name: str = "OnRecord") -> Contender:
    """Return who finds ten previews through the Python API."""

    def call(text: str) -> Cost:
        with measure() as watch:
            vault.find(text, limit=10)
        return watch.cost

    return Contender(name, call)
