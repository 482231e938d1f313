"""A problem: a non-fatal finding about a file or the vault, kept as a value so that a load never stops at one file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from onrecord.domain.ids import EntryRef, RecordId


class Severity(StrEnum):
    """How much a problem matters: `doctor` exits 0 with infos, 1 with warnings, 2 with a critical one."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One finding (docs/format/record.md, Problems).

    Attributes:
        path: File relative to the vault, `/`-separated; empty for the vault as a whole.
        line: Line from 1; 0 for the whole file.
        code: Stable name, as listed in docs/format/record.md.
        severity: How much it matters.
        message: What was found, without the file's content.
        mend: What a person can do; empty where the code's own mend says it (docs/DOCTOR.md).
        evidence: What was seen, such as a hash, a size or an errno; never content.
    """

    path: str
    line: int
    code: str
    severity: Severity
    message: str
    mend: str = ""
    evidence: str = ""


def name_reading(record: RecordId, ref: EntryRef) -> str:
    """Return the command that shows one version, whatever others have its number."""
    return f"`onrecord read {record} --entry {ref}`"


def describe_displaced(path: str, record: RecordId, version: int, ref: EntryRef) -> Problem:
    """Return the finding that an outside edit gave way to a write and is kept as a version, by its number and entry."""
    message = f"an edit made outside gave way to a write; it is kept as version {version}, {ref}"
    mend = f"Compare with {name_reading(record, ref)}."
    return Problem(path, 0, "displaced_edit", Severity.WARNING, message, mend)
