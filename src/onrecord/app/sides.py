"""The sides of a conflict in a few words: where each comes from, and the first line in which they differ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest

from onrecord.app.session import Session
from onrecord.domain.branches import drop_copies
from onrecord.domain.conflict import Member
from onrecord.domain.errors import DamagedError, NewerFormatError
from onrecord.domain.ids import LogId
from onrecord.domain.limits import CONFLICT_SIDES
from onrecord.domain.redaction import find_secrets
from onrecord.domain.redaction_finding import format_marker
from onrecord.ports.store import DISPLACING, VersionRow

_LINE_MAX_CHARS = 200
# A secret may span lines; so many before and behind are searched with one that is shown.
_NEAR_LINES = 100
_NEAR_LINE_MAX_CHARS = 2_000


def describe_sides(session: Session, members: Sequence[Member], given_up: Collection[LogId]) -> list[dict[str, object]]:
    """Return side, origin and line of each member, A first, and `written_here`, where that can be told.

    The line is the first of the file, keys of OnRecord left out, that is not the same on all sides; without secrets, at
    most 200 code points, empty where a side has ended before. Origin is `unknown` where the version is not here.
    `written_here` is whether the version was written on this machine, by the log of its entry. That tells it neither of
    a text that was kept as it lay in a copy or between marks of git, which may be from anywhere, nor of one that is not
    here or whose log was given up (`given_up`, as of `list_given_up`).
    """
    rows = [_read_row(session, member) for member in members]
    texts = [_list_lines(session, row) for row in rows]
    place = _find_difference([lines for row, lines in zip(rows, texts, strict=True) if row is not None])
    return [
        {
            "side": name,
            "origin": row.draft.origin if row is not None else "unknown",
            "line": _show_line(session, lines, place),
            **_tell_machine(session, row, given_up),
        }
        for name, row, lines in zip(CONFLICT_SIDES, rows, texts, strict=False)
    ]


def _tell_machine(session: Session, row: VersionRow | None, given_up: Collection[LogId]) -> dict[str, bool]:
    is_found = row is not None and row.draft.mode == "displaced" and row.actor != DISPLACING
    if row is None or is_found or row.ref.log in given_up:
        return {}
    return {"written_here": row.ref.log == session.store.log}


def _read_row(session: Session, member: Member) -> VersionRow | None:
    try:
        row = session.store.read_row(member.ref) if member.ref is not None else None
    except (DamagedError, NewerFormatError):
        return None
    return None if row is None or row.is_erased or row.is_sealed else row


def _list_lines(session: Session, row: VersionRow | None) -> list[str]:
    data = drop_copies(row.draft.data, session.yaml) if row is not None else b""
    return data.decode(errors="replace").splitlines()


def _find_difference(texts: Sequence[Sequence[str]]) -> int:
    """Return the place of the first line that differs; behind the last one where only line ends do."""
    for place, lines in enumerate(zip_longest(*texts)):
        if len(set(lines)) > 1:
            return place
    return max((len(lines) for lines in texts), default=0)


def _show_line(session: Session, lines: Sequence[str], place: int) -> str:
    if place >= len(lines):
        return ""
    line = lines[place][:_NEAR_LINE_MAX_CHARS]
    if session.policy.redact:
        first = max(0, place - _NEAR_LINES)
        near = [text[:_NEAR_LINE_MAX_CHARS] for text in lines[first : place + _NEAR_LINES]]
        start = sum(len(text) + 1 for text in near[: place - first])
        for finding in reversed(find_secrets("\n".join(near))):
            if finding.start < start + len(line) and finding.end > start:
                head, tail = line[: max(0, finding.start - start)], line[max(0, finding.end - start) :]
                line = f"{head}{format_marker(finding.rule)}{tail}"
    return line if len(line) <= _LINE_MAX_CHARS else f"{line[: _LINE_MAX_CHARS - 1]}…"
