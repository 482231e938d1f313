"""What a check of doctor and a code of its findings are."""

from __future__ import annotations

from dataclasses import dataclass

from onrecord.domain.problem import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding.

    Attributes:
        name: Stable, as in a finding.
        severities: What it can have, mildest first.
        meaning: What was found, one clause.
        mend: What a person can do; a finding that knows better says that instead.
    """

    name: str
    severities: tuple[Severity, ...]
    meaning: str
    mend: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        id: Stable, `area.what`.
        title: What is well when it finds nothing.
        codes: What it can find.
        is_deep: Whether it is run only when it is asked for, by `--deep` or by its id.
    """

    id: str
    title: str
    codes: tuple[Code, ...]
    is_deep: bool = False
