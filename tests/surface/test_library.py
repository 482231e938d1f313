"""The Python API spells its arguments out, as the catalog has them, and the package tells what it has."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import pytest

import onrecord as package
from onrecord import Vault
from onrecord.app.catalog import OPERATIONS
from onrecord.app.operation import Kind
from tests.surface.cli import CommandLine

# Operations that the command line alone has, and `import`, of which each format is a method.
METHODS = {name: name for name in OPERATIONS if name not in ("init", "config", "help", "import", "watch")}
OF_IMPORT = {"import_turns": {"path", "workspace", "source"}, "import_markdown": {"path", "workspace"}}


def list_arguments(method: str) -> dict[str, inspect.Parameter]:
    signature = inspect.signature(getattr(Vault, method))
    return {name: parameter for name, parameter in signature.parameters.items() if name != "self"}


def test_every_public_method_is_held_to_the_catalog() -> None:
    public = {name for name, _ in inspect.getmembers(Vault, inspect.isfunction) if not name.startswith("_")}
    assert public == {*METHODS.values(), *OF_IMPORT, "close", "checkpoint"}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_by_name_what_its_operation_takes(name: str) -> None:
    given = list_arguments(METHODS[name])
    known = {argument.name: argument for argument in OPERATIONS[name].arguments}
    hints = get_type_hints(getattr(Vault, METHODS[name]))
    assert set(given) == set(known)
    for argument in known.values():
        parameter = given[argument.name]
        assert parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        assert (parameter.default is parameter.empty) == argument.is_required
        assert (parameter.kind is parameter.KEYWORD_ONLY) == (not argument.is_positional)
        assert hints[argument.name] is not object
        if argument.kind is Kind.CHOICE:
            choices = {choice for part in (hints[argument.name], *get_args(hints[argument.name]))
                       for choice in get_args(part) if isinstance(choice, str)}  # fmt: skip
            assert choices == set(argument.choices)


def test_the_ways_of_import_take_together_what_import_takes() -> None:
    assert {name: set(list_arguments(name)) for name in OF_IMPORT} == OF_IMPORT
    known = {argument.name for argument in OPERATIONS["import"].arguments}
    assert set().union(*OF_IMPORT.values()) == known - {"format"}


def test_every_argument_reaches_its_operation(onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stop(Exception):
        pass

    def receive(session: object, given: dict[str, object], *more: object, **options: object) -> None:
        received.update(given)
        raise Stop

    received: dict[str, object] = {}
    functions = {
        "conflicts": "list_conflicts",
        "history": "list_history",
        "doctor": "diagnose",
        "status": "describe_status",
        "missing": "repair_missing",
        "proposals": "list_proposals",
        "source_add": "add_source",
        "source_remove": "remove_source",
    }
    taking = [name for name in (*METHODS, *OF_IMPORT) if list_arguments(name)]
    with package.open(onrecord.vault) as vault:
        for name in taking:
            monkeypatch.setattr(f"onrecord.surfaces.library.{functions.get(name, name)}", receive)
            values: dict[str, Any] = {argument: [argument] for argument in list_arguments(name)}
            if name in OF_IMPORT:
                values["path"] = "x"
            received.clear()
            with pytest.raises(Stop):
                getattr(vault, name)(**values)
            assert received == values


def test_a_keyword_that_is_none_is_a_type_error(onrecord: CommandLine) -> None:
    with package.open(onrecord.vault) as vault, pytest.raises(TypeError, match="titel"):
        vault.remember("x", titel="t")  # type: ignore[call-arg]


def test_the_package_lists_what_it_has_and_tells_its_version() -> None:
    assert {*package.__all__, "__version__", "__doc__"} <= set(dir(package))
    assert package.__version__ == version("onrecord")
    for name in dir(package):
        assert getattr(package, name) is not None or name == "__cached__"
    with pytest.raises(AttributeError):
        _ = package.nothing


def test_looking_at_the_package_loads_none_of_it() -> None:
    code = "import sys, onrecord; dir(onrecord); print(*(name for name in sys.modules if 'onrecord.' in name))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("ids", [None, True, 5, object(), "abcd", {"abcd"}, []])
def test_a_batch_of_what_is_no_list_of_ids_is_refused_as_any_bad_call(tmp_path: Path, ids: object) -> None:
    with package.open(tmp_path / "vault", create=True) as vault, pytest.raises(package.InvalidInputError) as caught:
        vault.batch_read(cast("list[str]", ids))
    assert caught.value.field == "ids"
