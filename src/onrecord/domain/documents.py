"""From a record or a turn to what is kept of it for finding: postings, and the length of the document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onrecord.domain.analyzer import analyze
from onrecord.domain.instants import Instant
from onrecord.domain.lines import split_lines
from onrecord.domain.postings import PackedDocument, pack_terms

TITLE_HALVES: Final = 4
TAGS_HALVES: Final = 3
CONTEXT_HALVES: Final = 2

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def analyze_document(
    title: str, tags: Sequence[str], aliases: Sequence[str], text: str, context: str = ""
) -> PackedDocument:
    """Analyse a record or a turn.

    Args:
        title: Shown name; counts twice a word of the text.
        tags: Labels; count one and a half times.
        aliases: Other names, as the title.
        text: The text; its lines are those of `split_lines`.
        context: Words that stand around a turn: speaker and date; counts as a word of the text, in no line.
    """
    lines = split_lines(text)
    analyzed = [analyze(text)] if len(lines) == 1 else [analyze(text[start:end]) for start, end in lines]
    named = analyze(" \n".join((title, *aliases)) if aliases else title)
    tagged = [term for tag in tags for term in analyze(tag)]
    around = analyze(context) if context else []
    return pack_terms(analyzed, ((named, TITLE_HALVES), (tagged, TAGS_HALVES), (around, CONTEXT_HALVES)))


def describe_time(moment: Instant) -> str:
    """Return the words by which a day is asked for, `2023-05-08 8 May 2023`: date, day, month and year."""
    year, month, day = moment[:10].split("-")
    return f"{moment[:10]} {int(day)} {_MONTHS[int(month) - 1]} {year}"
