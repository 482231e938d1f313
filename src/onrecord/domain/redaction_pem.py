"""Private keys in PEM (RFC 7468) and OpenPGP armour (RFC 9580): whole, or cut off at either end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from onrecord.domain.redaction_finding import Finding
from onrecord.domain.redaction_pattern import LazyPattern

# A private key of 16,384 bits is shorter; beyond it an END line belongs to something else.
KEY_MAX_CHARS: Final = 32 * 1024
LINE_MAX_CHARS: Final = 200

_BEGIN: Final = LazyPattern(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = LazyPattern(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_RUN: Final = LazyPattern(r"[A-Za-z0-9+/=]{16,}")

# What a key's text is made of where no END line closes it: base64 in lines, perhaps quoted, escaped or indented.
_JOIN: Final = r"(?:\\[nrt]|[\s\"'+>|#*,\\])"
_CUT_OFF: Final = LazyPattern(
    rf"(?:{_JOIN}{{0,16}}+(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\r\n\\]{{0,200}}+){{0,8}}+"
    rf"(?:{_JOIN}{{0,16}}+[A-Za-z0-9+/]{{24,}}+={{0,3}}){{1,}}+"
    rf"(?:{_JOIN}{{1,16}}[A-Za-z0-9+/]{{1,76}}={{0,3}}(?=[ \t]*(?:[\r\n\"'\\]|\Z)))?",
    re.ASCII,
)
_CUT_OFF_SHORT: Final = LazyPattern(rf"{_JOIN}{{0,16}}[A-Za-z0-9+/]{{16,23}}={{0,3}}(?=[\s\"'\\.…]|\Z)", re.ASCII)


def find_private_keys(text: str) -> Iterator[Finding]:
    """The private keys in a text, from the BEGIN line to the END line, or as far as they reach without one.

    A BEGIN line without a key after it is a mention of one, and no secret.

    Args:
        text: Any text, of any length.

    Yields:
        First the keys with a BEGIN line in the order of the text, then those without one, which may overlap them.
    """
    begins = [match.span() for match in _BEGIN.finditer(text)]
    limits = [*(start for start, _ in begins[1:]), len(text)]
    for (start, at), limit in zip(begins, limits, strict=False):
        end = _END.search(text, at, min(limit, at + KEY_MAX_CHARS))
        if end is not None:
            if _KEY_RUN.search(text, at, end.start()):
                yield Finding("private-key", start, end.end())
            continue
        cut = _CUT_OFF.match(text, at, limit) or _CUT_OFF_SHORT.match(text, at, limit)
        if cut is not None:
            yield Finding("private-key", start, cut.end())
    yield from _find_headless(text)


_BODY_LINE: Final = LazyPattern(r"[ \t>|\"'+]*[A-Za-z0-9+/]{16,}={0,3}(?:\\n)?[\"'+, \t\r]*\Z", re.ASCII)


def _find_headless(text: str) -> Iterator[Finding]:
    floor = 0
    for end in _END.finditer(text):
        last = start = line_end = text.rfind("\n", floor, end.start())
        while line_end > floor:
            line_start = max(floor, text.rfind("\n", floor, line_end) + 1)
            if line_end - line_start > LINE_MAX_CHARS or not _BODY_LINE.match(text, line_start, line_end):
                break
            start, line_end = line_start, line_start - 1
        floor = end.end()
        if 0 <= start < last:
            yield Finding("private-key", start, end.end())
