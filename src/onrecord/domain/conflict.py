"""A conflict record: its members, its id, and the Markdown that a person reads (docs/format/record.md, Conflicts)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onrecord.domain.errors import InvalidInputError
from onrecord.domain.ids import EntryRef, RecordId, derive_conflict_id, parse_entry_ref, parse_record_id
from onrecord.domain.instants import Instant
from onrecord.domain.limits import CONFLICT_SIDES
from onrecord.domain.record import KeyValue, Record

DETECTOR: Final = "sync-1"
SIDE_MAX_BYTES: Final = 64 * 1024
OPEN: Final = "open"
RESOLVED: Final = "resolved"
# Why a conflict ended by itself: the current version took in all sides; another open conflict tells all of them.
MERGED: Final = "merged"
SUPERSEDED: Final = "superseded"
# The status of a conflict's versions by its state; one that is settled is no more answer than one that waits.
STATUS_OF_STATE: Final[Mapping[str, str]] = {
    "open": "pending",
    "applying": "pending",
    "resolved": "retired",
    "not_a_conflict": "retired",
}
_TITLE_CHARS = 80
_MEMBER = re.compile(r"([0-9a-z]{12})@([1-9][0-9]{0,15})(?: ([0-9a-z]{16}:[0-9]{1,15}))?")
_FENCE = re.compile("`{3,}")
_MERGE: Final = "merge"


@dataclass(frozen=True, slots=True)
class Member:
    """One side of a conflict: a version of a record; `ref` None names it by its number alone."""

    record: RecordId
    version: int
    ref: EntryRef | None = None

    def __str__(self) -> str:
        name = f"{self.record}@{self.version}"
        return f"{name} {self.ref}" if self.ref is not None else name


@dataclass(frozen=True, slots=True)
class Side:
    """A member with what is shown of it: who wrote it and how it came, since when it is, where it lay, and its text."""

    member: Member
    origin: str
    who: str
    recorded_at: Instant
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a merge gives: its text; or None and the reason why none can be had."""

    text: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict record as its file tells it; members in the order of the sides, A first."""

    id: RecordId
    members: tuple[Member, ...]
    state: str
    decision: str = ""
    has_merge: bool = False

    def list_choices(self) -> list[str]:
        """Return what may be kept of it: a side, the merge where one was had, what the memory says now."""
        merge = ["merge"] if self.has_merge else []
        return [*CONFLICT_SIDES[: len(self.members)], *merge, "current"]


def parse_member(text: str) -> Member:
    """Read `id@version`, or `id@version log:seq` of one version among branches.

    Raises:
        InvalidInputError: another form.
    """
    match = _MEMBER.fullmatch(text)
    if match is None:
        raise InvalidInputError("a member is named id@version, or id@version log:seq", field="members")
    ref = parse_entry_ref(match[3]) if match[3] else None
    return Member(parse_record_id(match[1], "members"), int(match[2]), ref)


def identify(members: Sequence[Member]) -> RecordId:
    """Return the id of the conflict between these members, whatever their order."""
    return derive_conflict_id(str(member) for member in members)


def read_conflict(record: Record, record_id: RecordId) -> Conflict | None:
    """Return what a conflict's file says; None where its members are not those that its id was made of.

    A member that was changed by hand changes nothing: the id is the hash of them all.
    """
    try:
        members = tuple(parse_member(item) for item in record.server.members)
    except InvalidInputError:
        return None
    if not members or identify(members) != record_id:
        return None
    decision = record.server.decision
    state, told = record.server.state or OPEN, decision if isinstance(decision, str) else ""
    return Conflict(record_id, members, state, told, record.server.plan == _MERGE)


def describe_keys(title: str, sides: Sequence[Side], proposal: Proposal) -> dict[str, KeyValue]:
    """Return the keys that a new conflict has beside the copies that every record has."""
    return {
        "title": f"Conflict in {title[:_TITLE_CHARS]}",
        "kind": "conflict",
        "status": STATUS_OF_STATE[OPEN],
        "members": [str(side.member) for side in sides],
        "state": OPEN,
        "plan": _MERGE if proposal.text is not None else "choose",
        "detector": DETECTOR,
    }


def render_body(conflict: RecordId, title: str, sides: Sequence[Side], proposal: Proposal) -> str:
    """Return the text that a person reads: both sides, what a merge gives, how to settle."""
    parts = [
        f"# Conflict in {_make_cell(title[:_TITLE_CHARS])}",
        "Two texts stand against each other and neither was dropped. Until this is settled the memory stays as it is.",
        _render_table(sides),
    ]
    parts += [_render_text(f"## {name}", side.text, _tell_rest(side)) for name, side in _name(sides)]
    if proposal.text is None:
        parts.append(f"## Merge\n\nNo merge can be had: {proposal.reason}.")
    else:
        rest = f"`onrecord settle {conflict} --keep merge` writes it whole."
        parts.append(_render_text("## Merge", proposal.text, rest))
    words = [f"- `onrecord settle {conflict} --keep {name}` keeps {name}." for name, _ in _name(sides)]
    if proposal.text is not None:
        words.append(f"- `onrecord settle {conflict} --keep merge` keeps both, as merged above.")
    words.append(f"- Or edit the memory until it is right, then `onrecord settle {conflict} --keep current`.")
    words.append(
        "- A side or a merge that is to go over what was written since needs the version that it goes over:"
        " `--expect N`, as `onrecord history` lists it."
    )
    parts.append("## Settle\n\n" + "\n".join(words))
    return "\n\n".join(parts)


def _name(sides: Sequence[Side]) -> list[tuple[str, Side]]:
    return list(zip(CONFLICT_SIDES, sides, strict=False))


def _render_table(sides: Sequence[Side]) -> str:
    rows = [
        ["", *(f"**{name}**" for name, _ in _name(sides))],
        ["memory", *(f"`{side.member.record}` version {side.member.version}" for side in sides)],
        ["written by", *(_make_cell(side.who) for side in sides)],
        ["origin", *(side.origin for side in sides)],
        ["since", *(side.recorded_at for side in sides)],
        ["file", *(_make_cell(side.path) for side in sides)],
        ["entry", *(f"`{side.member.ref}`" if side.member.ref is not None else "" for side in sides)],
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    lines.insert(1, f"|{' --- |' * (len(sides) + 1)}")
    return "\n".join(lines)


def _make_cell(text: str) -> str:
    """Return a text for one cell of a table: one line, nothing in it that Markdown or a reader takes for another."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", " ".join(shown.split()))


def _tell_rest(side: Side) -> str:
    member = side.member
    which = f"--entry {member.ref}" if member.ref is not None else f"--version {member.version}"
    return f"Read the rest with `onrecord read {member.record} {which}`."


def _render_text(heading: str, text: str, rest: str) -> str:
    """Return a text in a fence that nothing in it closes; one above the bound is cut, and it is said how to go on."""
    data = text.encode(errors="replace")
    shown = data[:SIDE_MAX_BYTES].decode(errors="ignore") if len(data) > SIDE_MAX_BYTES else text
    fence = "`" * max((len(run) + 1 for run in _FENCE.findall(shown)), default=3)
    end = "" if shown.endswith("\n") else "\n"
    block = f"{heading}\n\n{fence}markdown\n{shown}{end}{fence}"
    return (
        block if shown is text else f"{block}\n\nThe text goes on; only {SIDE_MAX_BYTES // 1024} KiB are shown. {rest}"
    )
