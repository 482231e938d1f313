"""The part of docs/DOCTOR.md that is made from the code; `python -m tests.docs.doctor_page` writes it anew."""

from __future__ import annotations

from pathlib import Path

from onrecord.app.doctor.checks import CHECKS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "DOCTOR.md"
BEGIN = "## The checks\n"


def render_checks() -> str:
    """Return the page from `BEGIN` on."""
    lines = [BEGIN]
    for check in CHECKS:
        lines.append(f"- `{check.id}`: {check.title}{' (deep)' if check.is_deep else ''}.\n")
    lines.append(
        "\n## The findings\n| check | code | severity | what was found | mend |\n| --- | --- | --- | --- | --- |\n"
    )
    for check in CHECKS:
        for code in check.codes:
            severities = ", ".join(severity.value for severity in code.severities)
            lines.append(f"| `{check.id}` | `{code.name}` | {severities} | {code.meaning} | {code.mend} |\n")
    return "".join(lines)


def read_page() -> tuple[str, str]:
    """Return what is written by hand, and the rest."""
    head, begin, tail = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return head, begin + tail


if __name__ == "__main__":
    PAGE.write_text(read_page()[0] + render_checks(), encoding="utf-8")
