"""docs/DOCTOR.md tells every check and code as the code does; every code that a source file names has its check."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from onrecord.app.doctor.checks import BY_ID, CHECKS, OWNERS
from onrecord.app.known_problems import ANSWERED
from onrecord.domain.errors import OnRecordError
from onrecord.domain.problem import Severity
from tests.docs.doctor_page import read_page, render_checks

ROOT = Path(__file__).resolve().parents[2]
RECORD = (ROOT / "docs" / "format" / "record.md").read_text(encoding="utf-8")


def test_the_page_tells_every_check_code_severity_and_mend_as_the_code_has_it() -> None:
    assert read_page()[1] == render_checks(), "python -m tests.docs.doctor_page writes it anew"


def test_a_code_belongs_to_one_check_and_ids_are_in_one_form() -> None:
    names = [code.name for check in CHECKS for code in check.codes]
    assert len(names) == len(set(names))
    assert len(BY_ID) == len(CHECKS)
    for check in CHECKS:
        assert re.fullmatch(r"[a-z]+(\.[a-z_]+)?", check.id), check.id
        for code in check.codes:
            assert code.mend.endswith("."), code.name
            assert code.severities == tuple(sorted(code.severities, key=list(Severity).index)), code.name


def test_the_page_tells_the_checks_that_status_answers() -> None:
    told = read_page()[0].split("`onrecord status` says in `problems`", 1)[1].split("; and one for", 1)[0]
    assert set(re.findall(r"`([a-z.]+)`", told)) == ANSWERED <= set(BY_ID)


def find_problems(source: str) -> list[tuple[str, str | None]]:
    """Return code and severity of every `Problem(...)` in a source whose code is written there."""
    found: list[tuple[str, str | None]] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Problem" or len(node.args) < 4:
            continue
        code, severity = node.args[2], node.args[3]
        if isinstance(code, ast.Constant):
            found.append((str(code.value), severity.attr if isinstance(severity, ast.Attribute) else None))
    return found


def test_every_code_that_a_source_file_names_has_its_check_and_severity() -> None:
    seen: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for code, severity in find_problems(path.read_text(encoding="utf-8")):
            seen.add(code)
            assert code in OWNERS, (path.name, code)
            (told,) = (item for item in OWNERS[code].codes if item.name == code)
            assert severity is None or Severity[severity] in told.severities, (path.name, code, severity)
    assert len(seen) > 25


def test_the_format_lists_every_code() -> None:
    listed = RECORD.split("## Problems", 1)[1]
    for code in OWNERS:
        assert f"`{code}`" in listed, code


@pytest.mark.parametrize("severity", list(Severity))
def test_the_page_tells_the_exit_status_of_each_severity(severity: Severity) -> None:
    assert re.search(rf"\*\*[012]\*\*[^.]*\b{severity.value}", read_page()[0])


def test_every_error_that_can_stop_a_check_has_its_check() -> None:
    def walk(kind: type[OnRecordError]) -> list[type[OnRecordError]]:
        return [kind, *(inner for below in kind.__subclasses__() for inner in walk(below))]

    refusals = {
        "error", "invalid_input", "limit_exceeded", "not_found", "ambiguous_id", "conflict", "stale_version",
        "turn_exists", "idempotency_mismatch", "not_writable", "file_busy", "vault_unusable", "vault_exists",
        "approval_required",
    }  # fmt: skip
    for kind in walk(OnRecordError):
        assert kind.code in OWNERS or kind.code in refusals, kind.code
