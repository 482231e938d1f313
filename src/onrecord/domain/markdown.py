"""The parts of a record file: byte order mark, front matter, text, final terminator (docs/format/record.md, Parts).

Nothing is normalised: what is cut here can be put together again byte for byte.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final, Literal

from onrecord.domain.problem import Problem, Severity

Encoding = Literal["utf-8", "utf-16", "windows-1252"]

BOM: Final = "\ufeff"

_OPENING = re.compile(r"---[ \t]*(\r\n|\n|\r)")
_CLOSING = re.compile(r"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_LONE_OPENING = re.compile(r"---[ \t]*\Z")
_FLAT_OPENING = "---\n"
_FLAT_CLOSING = "\n---\n"
_LINE_END = re.compile("\r\n|\n|\r")
_C0 = bytes({*range(0x20), 0x7F} - {0x09, 0x0A, 0x0D})
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_C1 = re.compile(b"\xc2[\x80-\x9f]")
# A byte that is no UTF-8, as Python hands it on, by Windows-1252; its five undefined bytes by Latin-1.
_STRAY = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte)) for byte in range(0x80, 0x100)
}
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class FileParts:
    """One file, cut into its parts.

    `has_bom + head + body` is the file: all three in code points of the decoded file.

    Attributes:
        encoding: How the bytes were read; only UTF-8 files are ever changed.
        has_bom: A byte order mark of UTF-8 stands first.
        head: Front matter with both fences and their line ends; empty where there is none.
        block: The lines between the fences; None where there is no front matter.
        is_flat_fenced: The fences are `---` with LF, as OnRecord writes them.
        body: All behind the front matter.
        text: The body less one final terminator.
        terminator: That terminator: CRLF, LF, CR or none.
        problems: What the parts show; lines count from 1 in the file.
    """

    encoding: Encoding
    has_bom: bool
    head: str
    block: str | None
    is_flat_fenced: bool
    body: str
    text: str
    terminator: str
    problems: tuple[Problem, ...]

    @property
    def newline(self) -> str:
        """Terminator of the opening line; LF where there is no front matter."""
        found = _OPENING.match(self.head)
        return found[1] if found is not None else "\n"

    @property
    def block_at(self) -> int:
        """Code points of the head before the block; 0 where there is no front matter."""
        found = _OPENING.match(self.head)
        return found.end() if found is not None else 0

    @property
    def body_at(self) -> int:
        """Byte offset of the body in a UTF-8 file."""
        return 3 * self.has_bom + len(self.head.encode())

    @property
    def body_line(self) -> int:
        """Line of the file, from 1, on which the body begins."""
        return len(_LINE_END.findall(self.head)) + 1


def split_file(data: bytes, path: str = "") -> FileParts:
    """Cut a file into its parts; takes any bytes.

    Args:
        data: The whole file.
        path: Relative to the vault, for the problems.
    """
    whole, encoding = decode_file(data)
    problems: list[Problem] = []
    if encoding != "utf-8":
        message, mend = f"not UTF-8: read as {encoding}, never rewritten", "Save the file as UTF-8."
        problems.append(Problem(path, 0, "not_utf8", Severity.WARNING, message, mend))
    has_bom = whole.startswith(BOM)
    if has_bom:
        whole = whole[1:]
        problems.append(Problem(path, 1, "byte_order_mark", Severity.INFO, "a byte order mark stands first"))
    head, block, is_flat_fenced = _cut_head(whole, path, problems)
    body = whole[len(head) :]
    text, terminator = split_terminator(body)
    if _has_control(data) if encoding == "utf-8" else _CONTROLS.search(whole) is not None:
        problems.append(_describe_control(whole, path))
    return FileParts(encoding, has_bom, head, block, is_flat_fenced, body, text, terminator, tuple(problems))


def _cut_head(whole: str, path: str, problems: list[Problem]) -> tuple[str, str | None, bool]:
    """Return front matter with its fences, the lines between them, and whether OnRecord would write such fences."""
    opening = _OPENING.match(whole) if whole.startswith("---") else None
    if opening is None:
        if whole.startswith("---") and _LONE_OPENING.match(whole) is not None:
            problems.append(_describe_unclosed(path))
        else:
            message = "no front matter; name and folder give title and workspace"
            problems.append(Problem(path, 1, "front_matter_missing", Severity.INFO, message))
        return "", None, False
    start = opening.end()
    # From the last character of the opening line: the closing one may be the next.
    closing = _CLOSING.search(whole, start - 1)
    if closing is None:
        problems.append(_describe_unclosed(path))
        return "", None, False
    is_flat_fenced = opening[0] == _FLAT_OPENING and closing[0] == _FLAT_CLOSING
    return whole[: closing.end()], whole[start : closing.start() + 1], is_flat_fenced


def _describe_unclosed(path: str) -> Problem:
    message = "the first line opens front matter that no line closes; all of it is text"
    mend = "Put a line `---` behind the keys, or an empty line first if it is text."
    return Problem(path, 1, "front_matter_unclosed", Severity.WARNING, message, mend)


def _has_control(data: bytes) -> bool:
    if len(data.translate(None, _C0)) != len(data) or (not data.isascii() and _C1.search(data) is not None):
        return True
    return b"\r" in data and data.count(b"\r") != data.count(b"\r\n")


def _describe_control(whole: str, path: str) -> Problem:
    found = _CONTROLS.search(whole)
    line = len(_LINE_END.findall(whole, 0, found.start())) + 1 if found is not None else 0
    shown = f"U+{ord(found[0]):04X}" if found is not None else "a control character"
    message = "a carriage return alone" if shown == "U+000D" else f"the control character {shown}"
    return Problem(path, line, "control_character", Severity.INFO, f"holds {message}; it is kept")


def decode_file(data: bytes) -> tuple[str, Encoding]:
    """Decode a file's bytes, whatever they are, and say how (docs/format/record.md, Parts)."""
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        pass
    if data.startswith(_UTF16_MARKS):
        return data.decode("utf-16", "replace"), "utf-16"
    return data.decode("utf-8", "surrogateescape").translate(_STRAY), "windows-1252"


def split_terminator(body: str) -> tuple[str, str]:
    """Return a body's text and its final terminator: CRLF, LF, CR or none."""
    if body.endswith("\n"):
        size = 2 if body.endswith("\r\n") else 1
        return body[:-size], body[-size:]
    return (body[:-1], "\r") if body.endswith("\r") else (body, "")


def join_body(text: str, terminator: str) -> str:
    """Return the body that is read back as this text; where the two would run together another terminator is taken."""
    if split_terminator(text + terminator) != (text, terminator):
        terminator = "\r" if text.endswith("\r") else "\n"
    return text + terminator


def find_first_line(text: str) -> str:
    """Return the first line with anything but blanks on it, trimmed of blanks; empty if there is none."""
    rest = text.lstrip(" \t\r\n")
    end = _LINE_END.search(rest)
    return rest[: end.start() if end is not None else len(rest)].rstrip(" \t")


def find_heading(text: str) -> str:
    """Return the level-1 heading that is the first line with anything on it; empty if there is none."""
    rest = text.lstrip(" \t\r\n")
    place = len(text) - len(rest)
    if not rest.startswith(("# ", "#\t")) or (place and text[place - 1] not in "\r\n"):
        return ""
    end = _LINE_END.search(rest)
    heading = rest[1 : end.start() if end is not None else len(rest)].strip(" \t")
    open_part = heading.rstrip("#")
    is_closed = open_part != heading and (not open_part or open_part[-1] in " \t")
    return open_part.rstrip(" \t") if is_closed else heading
