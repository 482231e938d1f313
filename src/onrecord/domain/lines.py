"""A text cut into lines, the smallest units that recall finds and shows: sentences, rows, items, blocks of code.

A line is a stretch of the text by exact code-point offsets. Lines are in order, never overlap, and begin and end with
a visible character. The work is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

LINES_MAX_COUNT: Final = 65_535
LINE_MAX_CHARS: Final = 1_000

_WRAPPED_MIN_CHARS = 60
_ITEM_WHOLE_CHARS = 300
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)、])\s+\S")
_ALONE = re.compile(r"\s*(?:#{1,6}\s|\||>)")
_RULE = re.compile(r"[-=*_\s|:+]+")
_RUNNING = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
# Possessive, and begun only where a run of marks begins, so that long runs stay linear.
_SENTENCE_END = re.compile(
    r"(?<![.!?])[.!?]++[\"')\]”’]*+(?=\s)"
    rf"|(?<![!?])[!?]++(?=[{_RUNNING}])"
    r"|[。！？｡．؟।॥۔…]++[」』”’）】》〉\"')\]]*+"
)
_BEFORE_STOP = re.compile(r"(?:^|[\s(\"'“‘\[])([A-Za-z][A-Za-z.]{0,9})\Z")
_CLOSERS = "\"')]”’"
_INITIAL = re.compile(r"[A-Z]")
# The usual text of one line: it begins with a letter, and no mark in it but the last can end a sentence.
_ONE_LINE = re.compile(r"[A-Za-z](?:[^\x00-\x1f.!?\x7f-\U0010ffff]++|[.!?](?=[A-Za-z0-9]))*+[.!?]?")
_ABBREVIATED = """
    mr mrs ms mx dr prof sr jr st rev hon gen col sgt capt lt fr messrs mt ft vs cf al approx dept est fig figs no nos
    vol ch sec eq ed eds pp art inc ltd co corp ca resp e.g i.e a.k.a jan feb mar apr jun jul aug sep sept oct nov dec
"""
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())


class Line(NamedTuple):
    """One line: `text[start:end]`, offsets in code points."""

    start: int
    end: int


@dataclass(slots=True)
class _Open:
    """What may go on with the next physical line: prose since `start`, or code fenced by `fence`."""

    start: int = -1
    end: int = -1
    fence: str = ""


def split_lines(text: str) -> list[Line]:
    """Cut a text into lines.

    A line is a sentence of prose; a heading, table row, quoted line or list item (items above 300 code points by
    sentence); a fenced block of code with its fences. A line break ends a line, unless the text before it has at least
    60 code points, as wrapped prose has, does not end in a hard break (two blanks or a backslash), and prose follows.
    What is longer than 1,000 code points is cut at a blank where there is one in its second half, code at line breaks.

    Args:
        text: Any text up to 2 MiB.

    Returns:
        At most 65,535 lines; the 65,535th goes on to the end of the text. Rules and delimiter rows of tables are
        no lines.
    """
    if len(text) <= LINE_MAX_CHARS and text[-1:] != " " and _ONE_LINE.fullmatch(text) is not None:
        return [Line(0, len(text))]
    cut = (line for start, end in _cut_blocks(text) for line in _cut_long(text, start, end))
    lines = list(islice(cut, LINES_MAX_COUNT))
    if len(lines) == LINES_MAX_COUNT:
        lines[-1] = Line(lines[-1].start, _trim_end(text, lines[-1].start, len(text)))
    return lines


def _cut_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield lines in order, still of any length."""
    state = _Open()
    place = 0
    for physical in text.splitlines(keepends=True):
        start, place = place, place + len(physical)
        end = start + len(physical.rstrip())
        start += len(physical) - len(physical.lstrip())
        if state.fence:
            yield from _continue_code(text, state, start, end)
            continue
        if start >= end:
            yield from _close_prose(text, state)
            continue
        yield from _take_line(text, state, start, end, physical)
    if state.fence:
        if state.end > state.start:
            yield state.start, state.end
    else:
        yield from _close_prose(text, state)


def _take_line(text: str, state: _Open, start: int, end: int, physical: str) -> Iterator[tuple[int, int]]:
    if text[start].isalpha():
        yield from _take_prose(text, state, start, end, physical, is_item=False)
        return
    fence = _FENCE.match(physical)
    if fence is not None and not (fence[1][0] == "`" and "`" in physical[fence.end() :]):
        yield from _close_prose(text, state)
        state.start, state.end, state.fence = start, end, fence[1]
    elif _RULE.fullmatch(text, start, end):
        yield from _close_prose(text, state)
    elif _ALONE.match(physical):
        yield from _close_prose(text, state)
        yield from _cut_sentences(text, start, end) if text[start] == ">" else [(start, end)]
    else:
        is_item = _ITEM.match(physical) is not None
        yield from _take_prose(text, state, start, end, physical, is_item=is_item)


def _take_prose(
    text: str, state: _Open, start: int, end: int, physical: str, *, is_item: bool
) -> Iterator[tuple[int, int]]:
    if is_item or state.end - state.start < _WRAPPED_MIN_CHARS:
        yield from _close_prose(text, state)
    if state.start < 0:
        state.start = start
    state.end = end
    if physical.rstrip("\r\n").endswith(("  ", "\\")):
        yield from _close_prose(text, state)


def _continue_code(text: str, state: _Open, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Take a physical line into the block; yield the block where it ends or grows too long for one line."""
    if start >= end:
        return
    line = text[start:end]
    if state.start >= 0 and end - state.start > LINE_MAX_CHARS:
        yield state.start, state.end
        state.start = -1
    if state.start < 0:
        state.start = start
    state.end = end
    if line[0] == state.fence[0] and len(line) >= len(state.fence) and not line.strip(state.fence[0]):
        yield state.start, state.end
        state.start, state.end, state.fence = -1, -1, ""


def _close_prose(text: str, state: _Open) -> Iterator[tuple[int, int]]:
    """Yield the sentences of the open prose or list item."""
    start, end = state.start, state.end
    state.start = state.end = -1
    if start < 0:
        return
    if end - start <= _ITEM_WHOLE_CHARS and _ITEM.match(text, start, end):
        yield start, end
    else:
        yield from _cut_sentences(text, start, end)


def _cut_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for mark in _SENTENCE_END.finditer(text, start, end):
        stop = mark.end()
        if stop >= end:
            break
        after = _skip_blanks(text, stop, end)
        if _is_end(text, begin, mark, after):
            yield begin, stop
            begin = after
    if begin < end:
        yield begin, end


def _skip_blanks(text: str, place: int, end: int) -> int:
    while place < end and text[place].isspace():
        place += 1
    return place


def _is_end(text: str, begin: int, mark: re.Match[str], after: int) -> bool:
    """Tell whether a sentence ends at the mark: not after an abbreviation or initial, not before a small letter."""
    follows = text[after]
    if mark[0][0] not in ".…":
        is_closed = mark[0][0] in "!?" and mark[0][-1] in _CLOSERS
        return not (is_closed and follows.islower())
    if follows.islower():
        return False
    if mark[0] != ".":
        return True
    word = _BEFORE_STOP.search(text, max(begin, mark.start() - 12), mark.start())
    if word is None:
        return True
    if _INITIAL.fullmatch(word[1]):
        return word[1] == "I"
    return word[1].lower() not in _ABBREVIATIONS


def _cut_long(text: str, start: int, end: int) -> Iterator[Line]:
    while end - start > LINE_MAX_CHARS:
        half = start + LINE_MAX_CHARS // 2
        cut = start + LINE_MAX_CHARS
        while cut > half and not text[cut].isspace():
            cut -= 1
        if cut == half:
            cut = start + LINE_MAX_CHARS
        yield Line(start, _trim_end(text, start, cut))
        start = _skip_blanks(text, cut, end)
    if start < end:
        yield Line(start, end)


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
