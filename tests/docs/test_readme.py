"""README and help are in step with the catalog, and the README's Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.app.catalog import OPERATIONS
from onrecord.config import SETTINGS
from onrecord.surfaces.cli.parser import build_parser, list_commands

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(set(list_commands())))
def test_every_command_is_in_the_readme(command: str) -> None:
    assert re.search(rf"`{command}\b", README), command


def test_every_make_target_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:`|^)make (\w+)", README, re.M)):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_every_link_in_the_readme_leads_to_a_file() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_and_argument_has_a_line_of_help(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation.doc.endswith(".")
    assert all(argument.doc for argument in operation.arguments)


def test_help_of_every_command_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in OPERATIONS:
        if name == "batch_read":
            continue
        words = [*OPERATIONS[name].command.split(), "--help"]
        with pytest.raises(SystemExit) as left:
            build_parser().parse_args(words)
        assert left.value.code == 0
        assert OPERATIONS[name].doc[:20] in capsys.readouterr().out


def test_every_setting_has_a_line_of_documentation() -> None:
    assert all(spec.doc for spec in SETTINGS)


def test_the_python_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert (tmp_path / "my-vault" / "memories" / "ops").is_dir()
