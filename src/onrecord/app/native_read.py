"""Read one section of another program's file, always as the file has it now."""

from __future__ import annotations

from onrecord.app.natives import (
    Natives,
    Standing,
    compare_sources,
    judge,
    name_place,
    read_section,
    see_sources,
    take_in_stale,
)
from onrecord.app.pages import cut_text
from onrecord.app.session import Reply, Session
from onrecord.app.source_scan import SECTION_KIND
from onrecord.domain.errors import NotFoundError
from onrecord.domain.heads import VersionHead
from onrecord.domain.ids import RecordId
from onrecord.domain.sections import Section, name_section


def describe_section(
    session: Session, section: RecordId, span: tuple[int, int] | None, budget_bytes: int, reply: Reply
) -> None:
    """Read a section into a reply.

    Args:
        session: The opened vault.
        section: Its whole id.
        span: Code points of its text; None for all.
        budget_bytes: As of `read`.
        reply: Gets data and warnings.

    Raises:
        NotFoundError: there is none for this caller, or none any more.
        InvalidInputError: the span begins behind the text.
    """
    natives = see_sources(session)
    compare_sources(session, natives, reply)
    head, found = _find(session, natives, section, reply)
    cut, warning = cut_text(found.text, span, budget_bytes)
    reply.data = {
        "id": head.id,
        "title": head.title,
        "origin": head.origin,
        "status": head.status,
        "kind": head.kind,
        **name_place(natives, head),
        **cut,
    }
    if warning:
        reply.warnings.append(warning)


def _find(session: Session, natives: Natives | None, section: RecordId, reply: Reply) -> tuple[VersionHead, Section]:
    """Return a section that stands; one whose file has changed is looked for again in what the file says now."""
    for _ in range(2):
        with session.index.read() as reader:
            head = reader.get_loose(name_section(section))
        if head is None or head.kind != SECTION_KIND or judge(natives, head) is Standing.HIDDEN:
            break
        if judge(natives, head) is Standing.SHOWN:
            try:
                return head, read_section(natives, head)
            except NotFoundError:
                pass
        take_in_stale(natives, [head.path], reply)
    raise NotFoundError("no memory with this id", field="id")
