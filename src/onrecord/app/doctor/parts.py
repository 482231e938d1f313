"""What doctor asks of the installation: its files and folders, its settings, what the store knows of itself."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.app.session import Session
from onrecord.domain.problem import Problem, Severity


def check_installation(session: Session) -> Iterator[Problem]:
    """Yield what a look at every file of the installation finds."""
    yield from session.store.inspect()


def check_store(session: Session) -> Iterator[Problem]:
    """Yield what the store knows to be wrong with itself, and what was met while the vault was opened."""
    yield from session.store.find_problems()
    yield from session.problems


def check_settings(session: Session) -> Iterator[Problem]:
    """Yield a problem for each setting that has no effect."""
    for name in session.policy.unknown_settings:
        source, _, key = name.partition(":")
        path = "onrecord.toml" if source == "project" else ""
        message = f"unknown setting {key[:80]!r}; it has no effect"
        if source != "project":
            message = f"config.toml of the user: {message}"
        yield Problem(path, 0, "unknown_setting", Severity.WARNING, message)
