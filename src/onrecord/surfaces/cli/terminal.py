"""Text for a terminal: what a stored text holds may be seen there, but does nothing."""

from __future__ import annotations

import re

# Controls of ECMA-48 (C0 less the three that make lines; C1), and the marks that turn the direction of writing (UAX 9).
_LINE_MAKERS = "\t\n\r"
_ACTIVE = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_LINE = re.compile(f"[{_LINE_MAKERS}{_ACTIVE}]")
_IN_TEXT = re.compile(f"\r(?!\n)|[{_ACTIVE}]")


def show_line(value: object) -> str:
    """Return a value as one line: line ends and tabs too are written as escapes."""
    return _IN_LINE.sub(_escape, str(value))


def show_text(text: str) -> str:
    """Return a text of several lines: line ends (LF, CRLF) and tabs stay."""
    return _IN_TEXT.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
