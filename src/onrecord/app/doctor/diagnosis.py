"""Name every file and part of a vault that needs attention; works on broken parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from onrecord.app.admission import admit
from onrecord.app.catalog import DOCTOR
from onrecord.app.doctor.checks import BY_ID, CHECKS, find_severity
from onrecord.app.doctor.decisions import check_conflicts, check_displaced, check_proposals
from onrecord.app.doctor.index_equality import compare_indexes
from onrecord.app.doctor.logs import check_acknowledged, check_logs, check_others, check_proofs, check_seen
from onrecord.app.doctor.parts import (
    check_installation,
    check_placed,
    check_settings,
    check_sources,
    check_store,
    name_refused,
)
from onrecord.app.doctor.record_files import check_files
from onrecord.app.doctor.report import build_report
from onrecord.app.known_problems import NAMED_BY
from onrecord.app.session import Degraded, Reply, Session
from onrecord.app.suspension import check_suspension
from onrecord.domain.errors import (
    InvalidInputError,
    LedgerRolledBackError,
    LockTimeoutError,
    OnRecordError,
    VaultIncompleteError,
)
from onrecord.domain.near_names import find_near
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.signing import Verifier


@dataclass(frozen=True, slots=True)
class Source:
    """A function that finds things, and the checks that cannot be answered where it fails.

    `needs_edits`: it judges files, so that outside edits are taken in before.
    """

    find: Callable[[Session], Iterable[Problem]]
    checks: tuple[str, ...]
    needs_edits: bool = False


# What is looked at before anything is taken in: where it finds something critical, nothing is written.
FIRST: Final = (
    Source(
        check_installation,
        ("vault.config", "vault.strays", "vault.writable", "state.installation", "state.key", "index.usable",
         "sync.patterns"),
    ),
    Source(check_settings, ("settings.known",)),
    Source(check_logs, ("ledger.lines", "versions.rows", "versions.commitments", "vault.format")),
    Source(check_others, ("ledger.others",)),
)  # fmt: skip
THEN: Final = (
    Source(check_store, ("files.placed", "backup.waiting", "clock", "platform.exchange", "ledger.heads")),
    Source(check_placed, ("files.placed",)),
    Source(check_seen, ("ledger.heads",)),
    Source(check_acknowledged, ("ledger.heads",)),
    Source(
        check_files,
        ("files.readable", "files.links", "files.front_matter", "files.secrets", "files.identity", "files.taken",
         "files.missing", "files.marks", "files.transcripts", "files.leftovers"),
        needs_edits=True,
    ),
    Source(check_displaced, ("files.displaced",), needs_edits=True),
    Source(check_conflicts, ("conflicts.open",), needs_edits=True),
    Source(check_proposals, ("proposals.open",), needs_edits=True),
    Source(check_suspension, ("files.missing",), needs_edits=True),
    Source(check_sources, ("sources.readable",)),
    Source(compare_indexes, ("index.equal",)),
)  # fmt: skip
# Checks that looking alone answers, and those for which outside edits are taken in.
_LOOKED: Final = frozenset({"vault.folder", "vault.parts", *(check for source in FIRST for check in source.checks)})
_EDITS: Final = frozenset(check for source in THEN if source.needs_edits for check in source.checks)
# What the files alone answer, while `.onrecord` has not come.
_OF_FILES: Final = frozenset(
    {
        *("vault.folder", "vault.config", "settings.known", "sync.patterns", "files.readable", "files.front_matter"),
        *("files.secrets", "files.leftovers"),
    }
)
_TOLD: Final = {
    "index_behind": "the index lacks what the logs hold",
    "index_in_memory": "the index cannot be used where it lies and is made in memory",
    "index_unusable": "the index is absent, damaged or another one",
    "installation_new": "a new installation has begun here",
    "outside_edits_pending": "outside edits cannot be taken in",
    "locked": "another process writes, so that what it writes is not looked at",
    "reconciling": "not all files have been compared yet: one is being saved, or another process writes",
}

# What is told of a file that a command would take in.
_NOT_TAKEN: Final = frozenset({"edited_outside", "unknown_file"})
# What keeps commands from taking it in.
_HINDERING: Final = frozenset({"index_in_memory", "outside_edits_pending"})


@dataclass(slots=True)
class Examination:
    """What was found so far, and which checks could not be answered, with the reason."""

    problems: set[Problem] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def is_critical(self) -> bool:
        """Whether anything critical was found."""
        return any(problem.severity is Severity.CRITICAL for problem in self.problems)

    def take_error(self, error: OnRecordError, checks: Iterable[str] = ()) -> None:
        """Take in that something failed, and which checks went unanswered by it."""
        self.problems.add(Problem("", 0, error.code, Severity.CRITICAL, error.reason, error.hint))
        self.skipped.update(dict.fromkeys(checks, error.reason))

    def take_unusable(self, error: OnRecordError, refused: Iterable[tuple[str, str]]) -> None:
        """Take in that the vault cannot even be looked at; only the settings can be told of."""
        self.take_error(error, (check.id for check in CHECKS if check.id != "settings.known"))
        self.problems.update(name_refused(refused))

    def take_degraded(self, degraded: Iterable[Degraded]) -> None:
        """Take in why an answer is less than it could be, where nothing that was found says it already."""
        codes = {problem.code for problem in self.problems}
        for item in degraded:
            is_named = NAMED_BY.get(item.reason) in codes
            if item.reason not in codes and not is_named:
                message = _TOLD.get(item.reason, "the vault cannot be written")
                severity = find_severity(item.reason)
                self.problems.add(Problem("", 0, item.reason, severity, message, item.mend))

    def explain_older(self) -> None:
        """Say of files that are not taken in why: an older vault lies here, and no command can."""
        if all(problem.code != LedgerRolledBackError.code for problem in self.problems):
            self._explain_hindered()
            return
        mend = "Nothing is taken in while an older vault lies here. Put the newest one back: an edit is taken in then."
        for problem in [problem for problem in self.problems if problem.code in _NOT_TAKEN]:
            message = "not as it was last seen here: it came with the older vault, or was edited"
            self.problems.remove(problem)
            told = message if problem.code == "edited_outside" else problem.message
            self.problems.add(replace(problem, message=told, mend=mend))

    def _explain_hindered(self) -> None:
        """Say of files that are not taken in which mend comes first."""
        hindering = {problem.code for problem in self.problems if problem.code in _HINDERING}
        for problem in [problem for problem in self.problems if hindering and problem.code in _NOT_TAKEN]:
            mend = f"Mend {min(hindering)} first; then any onrecord command takes it in."
            self.problems.remove(problem)
            self.problems.add(replace(problem, mend=mend))

    def run(self, session: Session, sources: Iterable[Source], wanted: frozenset[str]) -> None:
        """Ask the sources that any wanted check needs."""
        for source in sources:
            if not wanted.isdisjoint(source.checks):
                try:
                    for problem in source.find(session):
                        self.problems.add(problem)
                except OnRecordError as error:
                    self.take_error(error, source.checks)

    def report(self, choice: Choice, page_bytes: int) -> dict[str, object]:
        """Return the data of the reply."""
        skipped = self.skipped | dict.fromkeys(choice.postponed, "run with --deep, or by its id")
        return build_report(self.problems, choice.reported, skipped, page_bytes, choice.offset)


def look(session: Session, opening: Reply) -> Examination:
    """Look at what must be whole before anything is taken in; nothing is written.

    Args:
        session: A vault that is opened for looking.
        opening: What opening it had to say.
    """
    found = Examination()
    found.run(session, FIRST, frozenset(BY_ID))
    found.take_degraded(opening.degraded)
    if any(problem.code == VaultIncompleteError.code for problem in found.problems):
        found.skipped.update((check.id, "it waits for .onrecord") for check in CHECKS if check.id not in _OF_FILES)
    return found


def diagnose(
    session: Session,
    given: Mapping[str, object],
    verifier: Verifier | None = None,
    *,
    found: Examination | None = None,
    opening: Reply | None = None,
) -> Reply:
    """Run the checks.

    Args:
        session: The opened vault.
        given: Arguments of the operation `doctor`.
        verifier: Checks signatures; None leaves them unchecked.
        found: What looking found before the vault was opened; None looks now.
        opening: What opening it had to say.

    Returns:
        data: checks[] {id, title, status, findings, reason}, in a fixed order; findings[] {check, path, line, code,
        severity, message, evidence, mend}, gravest first, then by path, as many as the page has room for
        (`truncated`, next_offset); notes that say the same of many files are one. `total` and `counts` by severity are
        of all.

    Raises:
        InvalidInputError: the call is refused.
    """
    choice = choose_checks(given)
    reply = Reply()
    found = look(session, reply) if found is None else found
    if choice.needs_opening and not found.is_critical and session.store.log:
        if not session.refresh(reply) and not reply.degraded:
            reply.degrade("locked", LockTimeoutError.default_hint)
        try:
            if choice.needs_edits:
                session.compare_files(reply, pieces=None, intake_pieces=None)
        except OnRecordError as error:
            found.take_error(error)
    found.run(session, [*THEN, *_list_proving(verifier)], choice.wanted)
    if opening is not None:
        reply.join(opening)
    found.take_degraded(reply.degraded)
    found.explain_older()
    reply.data = found.report(choice, session.policy.page_bytes)
    return reply


def _list_proving(verifier: Verifier | None) -> list[Source]:
    if verifier is None:
        return []
    return [Source(lambda session: check_proofs(session, verifier), ("ledger.proof",))]


@dataclass(frozen=True, slots=True)
class Choice:
    """The checks that a call asks for by id, those that it reports as not run, and where its page begins."""

    wanted: frozenset[str]
    postponed: frozenset[str]
    offset: int = 0

    @property
    def reported(self) -> frozenset[str]:
        """The checks of the reply."""
        return self.wanted | self.postponed

    @property
    def needs_opening(self) -> bool:
        """Whether looking does not answer all: the vault is opened, and what its logs hold is taken in."""
        return not self.wanted <= _LOOKED

    @property
    def needs_edits(self) -> bool:
        """Whether a check judges files, so that outside edits are taken in before."""
        return not self.wanted.isdisjoint(_EDITS)


def choose_checks(given: Mapping[str, object]) -> Choice:
    """Return the checks that a call asks for: all that are quick, or all, or those that it names.

    Raises:
        InvalidInputError: the call is refused, or names a check that is none.
    """
    admitted = admit(DOCTOR, given)
    named, offset = admitted.get("checks"), admitted.get("offset", 0)
    assert isinstance(offset, int)
    if named is None:
        postponed = frozenset(check.id for check in CHECKS if check.is_deep and not admitted.get("deep"))
        return Choice(frozenset(BY_ID) - postponed, postponed, offset)
    assert isinstance(named, tuple)
    for name in named:
        if name not in BY_ID:
            near = find_near(name, BY_ID, cutoff=0.5)
            hint = "`onrecord doctor --json` lists the ids under checks; docs/DOCTOR.md tells what each looks at."
            raise InvalidInputError("there is no such check", field="checks", hint=hint, did_you_mean=near)
    return Choice(frozenset(named), frozenset(), offset)
