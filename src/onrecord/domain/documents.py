"""From a record or a turn to what is kept of it for finding: postings, and the length of the document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from onrecord.domain.analyzer import analyze
from onrecord.domain.instants import Instant
from onrecord.domain.lines import split_lines
from onrecord.domain.postings import LineCount, Posting

TITLE_HALVES: Final = 4
TAGS_HALVES: Final = 3
CONTEXT_HALVES: Final = 2
TEXT_HALVES: Final = 2

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class AnalyzedDocument:
    """What finding needs of a document.

    Attributes:
        postings: One for each distinct term, in order of first occurrence (lines, title, tags, context).
        tokens: Terms of all fields together.
        lines: Lines of the text.
    """

    postings: tuple[Posting, ...]
    tokens: int
    lines: int


def analyze_document(
    title: str, tags: Sequence[str], aliases: Sequence[str], text: str, context: str = ""
) -> AnalyzedDocument:
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
    named = analyze(" \n".join((title, *aliases)))
    tagged = [term for tag in tags for term in analyze(tag)]
    around = analyze(context) if context else []
    halves, found = _count_lines(analyzed)
    for terms, weight in ((named, TITLE_HALVES), (tagged, TAGS_HALVES), (around, CONTEXT_HALVES)):
        for term in terms:
            halves[term] = halves.get(term, 0) + weight
    names = {*named, *tagged, *around}
    postings = tuple(
        Posting(term, weight, tuple(found.get(term, ())), term in names) for term, weight in halves.items()
    )
    tokens = sum(map(len, analyzed)) + len(named) + len(tagged) + len(around)
    return AnalyzedDocument(postings, tokens, len(lines))


def _count_lines(analyzed: Iterable[Sequence[str]]) -> tuple[dict[str, int], dict[str, list[LineCount]]]:
    """Return, by term, what its occurrences in the lines weigh, and the lines."""
    halves: dict[str, int] = {}
    found: dict[str, list[LineCount]] = {}
    for number, terms in enumerate(analyzed):
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        for term, occurrences in counts.items():
            halves[term] = halves.get(term, 0) + TEXT_HALVES * occurrences
            found.setdefault(term, []).append(LineCount(number, occurrences))
    return halves, found


def describe_time(moment: Instant) -> str:
    """Return the words by which a day is asked for, `2023-05-08 8 May 2023`: date, day, month and year."""
    year, month, day = moment[:10].split("-")
    return f"{moment[:10]} {int(day)} {_MONTHS[int(month) - 1]} {year}"
