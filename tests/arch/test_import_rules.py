"""Data flows one way: the contracts in pyproject.toml hold, and nothing goes round them."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.arch.house import (
    ROOT,
    find_in,
    find_inner_own_imports,
    find_protocols,
    list_source_files,
    name_of,
)


def test_every_import_contract_is_kept(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_no_module_imports_itself_through_others() -> None:
    graph = grimp.build_graph("onrecord", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " -> ".join(error.args[1]))


def test_own_modules_are_imported_at_the_top_except_in_wiring() -> None:
    paths = [path for path in list_source_files() if name_of(path) != "src/onrecord/wiring.py"]
    assert find_in(paths, find_inner_own_imports) == []


def test_protocols_live_in_ports_only() -> None:
    paths = [path for path in list_source_files() if not name_of(path).startswith("src/onrecord/ports/")]
    assert find_in(paths, find_protocols) == []
