"""What doctor asks of the installation: its files and folders, its settings, what the store knows of itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onrecord.app.natives import name_unavailable, scan_sources, see_sources
from onrecord.app.session import Reply, Session
from onrecord.domain.ids import Seq
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.store import VersionRow


def check_installation(session: Session) -> Iterator[Problem]:
    """Yield what a look at every file of the installation finds."""
    yield from session.store.inspect()


def check_store(session: Session) -> Iterator[Problem]:
    """Yield what the store knows to be wrong with itself, and what was met while the vault was opened."""
    yield from session.store.find_problems()
    yield from session.problems


def check_placed(session: Session) -> Iterator[Problem]:
    """Yield a problem for each file whose version waits in the journal and that the store could not try to place."""
    told = {problem.path for problem in session.store.find_problems() if problem.code == "not_placed"}
    size, _ = session.store.get_pinned()
    rows = session.store.read_rows(session.store.log, Seq(size)) if session.store.log else ()
    drafts = [row.draft for row in rows if isinstance(row, VersionRow) and session.store.is_waiting(row.ref)]
    for path, draft in {draft.path: draft for draft in drafts if draft.path not in told}.items():
        message = f"version {draft.version} of {draft.id} is committed and waits in the journal for its place"
        yield Problem(path, 0, "not_placed", Severity.WARNING, message, "Free space or mend permissions.")


def check_sources(session: Session) -> Iterator[Problem]:
    """Yield what of the sources that the caller may find cannot be read, and how much else is left out."""
    natives = see_sources(session)
    if natives is None:
        return
    tallies = scan_sources(session, natives, Reply()).tallies
    yield from name_unavailable(natives, tallies)
    for name, tally in tallies.items():
        left = sum(item.is_by_rule for item in tally.left_out)
        if left:
            message = f"source {name}: {left} names are left out; `onrecord source list` tells them"
            yield Problem("", 0, "source_left_out", Severity.INFO, message)


def check_settings(session: Session) -> Iterator[Problem]:
    """Yield a problem for each setting that has no effect or cannot be used."""
    for name in session.policy.unknown_settings:
        source, _, key = name.partition(":")
        path = "onrecord.toml" if source == "project" else ""
        message = f"unknown setting {key[:80]!r}; it has no effect"
        severity = Severity.WARNING
        if source == "environment":
            message, severity = f"no setting has the variable {key[:80]}; it has no effect", Severity.INFO
        elif source != "project":
            message = f"config.toml of the user: {message}"
        yield Problem(path, 0, "unknown_setting", severity, message, evidence=source)
    yield from name_refused(session.policy.refused_settings)


def name_refused(refused: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Yield a problem for each place of a setting that cannot be used."""
    for where, reason in refused:
        source = where.partition(":")[0]
        path = "onrecord.toml" if source == "project" else ""
        yield Problem(path, 0, "config_invalid", Severity.CRITICAL, f"{where}: {reason}", evidence=source)
