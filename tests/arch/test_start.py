"""A start of the command line loads what its command needs and nothing else."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from onrecord.app.catalog import OPERATIONS
from onrecord.surfaces.cli.commands import COMMANDS

_PROBE = """
import contextlib, io, sys
sys.argv = ["onrecord", *sys.argv[1:]]
from onrecord.__main__ import main
with contextlib.redirect_stdout(io.StringIO()):
    main()
print(*sys.modules, sep="\\n")
"""
# What only some commands need, and costs: rules of secrets, analysis of texts, YAML, proofs, keys, the database.
_SELDOM = (
    "onrecord.domain.redaction",
    "onrecord.domain.redaction_rules",
    "onrecord.domain.ledger_check",
    "onrecord.domain.analyzer",
    "onrecord.domain.documents",
    "onrecord.domain.record",
    "onrecord.domain.markdown",
    "onrecord.domain.transcript",
    "onrecord.app.scrub",
    "onrecord.app.verify",
    "onrecord.app.importing",
    "onrecord.app.doctor",
    "onrecord.app.remember",
    "onrecord.app.reconcile",
    "onrecord.app.rebuild",
    "onrecord.app.native_sections",
    "onrecord.storage.files.source_files",
    "onrecord.storage.files.source_list",
    "onrecord.surfaces.library",
    "onrecord.adapters.yaml_reader",
    "onrecord.adapters.source_tree",
    "Stemmer",
    "ruamel.yaml",
    "cryptography",
    "rich",
)
_NEVER_FOR_HELP = (
    *_SELDOM,
    "onrecord.app.session",
    "onrecord.config",
    "onrecord.ports.store",
    "onrecord.storage.files.store",
    "onrecord.storage.sqlite.index",
    "platformdirs",
    "sqlite3",
    "tomllib",
)


def load(*words: str) -> set[str]:
    """Return the modules that one command line loads, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _PROBE, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


@pytest.mark.parametrize("words", [("--help",), ("remember", "--help"), ("--version",)])
def test_help_opens_nothing(words: tuple[str, ...]) -> None:
    assert load(*words).intersection(_NEVER_FOR_HELP) == set()


def test_status_of_a_vault_that_nobody_changed_reads_no_record(tmp_path: Path) -> None:
    vault = ("--vault", str(tmp_path / "vault"))
    load("init", *vault)
    loaded = load("status", *vault)
    assert sys.platform != "linux" or "platformdirs" not in loaded
    assert "onrecord.storage.sqlite.index" in loaded
    assert loaded.intersection(_SELDOM) == set()


def test_every_operation_has_a_command_whose_function_is_there() -> None:
    assert set(COMMANDS) | {"batch_read"} == set(OPERATIONS)
    for module, name in COMMANDS.values():
        assert callable(getattr(import_module(module), name))
