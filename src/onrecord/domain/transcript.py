"""Transcripts: one block a turn, append-only, exact (docs/format/transcript.md).

Every line of a turn's text stands behind `> `, so no text can end its block or begin another one, whatever it holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from onrecord.domain.canonical import encode_canonical
from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.front_matter import escape_json, read_flat
from onrecord.domain.ids import BlockId, derive_block_id
from onrecord.domain.instants import Instant, is_instant
from onrecord.domain.limits import TURN_TEXT_MAX_BYTES
from onrecord.domain.markdown import FileParts, split_file
from onrecord.domain.names import check_characters, check_name
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.record import KeyValue, render_record

ROLES: Final = ("user", "assistant", "tool", "system", "document")

_META_MEMBERS = frozenset(("origin", "role", "speaker", "time", "time_text", "turn", "tool", "mime", "name"))
_IN_LABEL = re.compile("[<>\r\n\x85\u2028\u2029]")
_IN_META = re.compile("[<>-]")
_HEADER = re.compile(rb"> \[!([a-z]{1,9})\] (?:[^\n]* )?<!-- (\{[^\n<>]*\}) -->\n")
_QUOTED_LINES = re.compile(rb"(?:> [^\n]*+\n)++")
_TAIL = re.compile(rb"\n\^t-([0-9a-hjkmnp-tv-z]{10})\n\n")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a session as it was told.

    Attributes:
        source: Where the session took place.
        session: Name of the session in its source.
        turn: Name of the turn in its session.
        role: user, assistant, tool, system or document.
        text: At most 256 KiB of UTF-8; kept exactly.
        origin: Trust class, as in docs/format/record.md; empty where it is not known.
        speaker: Who spoke, or empty.
        time: When, or None.
        time_text: The time as told, where it has no known form; else empty.
        tool: Name of the tool, for its output.
        mime: Media type of the text, where it is no plain message.
        name: Name of the document.
    """

    source: str
    session: str
    turn: str
    role: str
    text: str
    origin: str = ""
    speaker: str = ""
    time: Instant | None = None
    time_text: str = ""
    tool: str = ""
    mime: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A turn and where its block stands.

    Attributes:
        turn: The turn; source and session are empty where the file does not name them.
        block: The block id.
        at: Offset of the block in the file, in bytes.
        size_bytes: Size of the block.
        start: Offset of the block in the text of the record, in code points.
        end: Where it ends there; half-open. What follows the last block's final line end counts too.
    """

    turn: Turn
    block: BlockId
    at: int
    size_bytes: int
    start: int
    end: int

    @property
    def text(self) -> str:
        """Text of the turn."""
        return self.turn.text

    @property
    def time_text(self) -> str:
        """The time as told, where it has no known form."""
        return self.turn.time_text


@dataclass(frozen=True, slots=True)
class ForeignSpan:
    """What stands between blocks and is none.

    Attributes:
        at: Offset in the file, in bytes.
        size_bytes: Size.
        line: Line of the file, from 1.
        text: What it says; bytes that are not UTF-8 as U+FFFD.
    """

    at: int
    size_bytes: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript file: blocks in order, foreign spans in order, problems."""

    turns: tuple[Block, ...]
    foreign: tuple[ForeignSpan, ...]
    problems: tuple[Problem, ...]


def render_block(turn: Turn) -> bytes:
    """Return the block of a turn.

    Raises:
        InvalidInputError: an unknown role; U+0000 or half a surrogate pair; a control character in a name; a time that
            is no instant; time and time_text together.
        LimitExceededError: a text above 256 KiB, or a name above 2,000 code points.
    """
    check_turn(turn)
    time = turn.time.replace("T", " ")[:16] if turn.time is not None else ""
    label = _IN_LABEL.sub(" ", " · ".join(part for part in (turn.speaker, time) if part))
    header = f"> [!{turn.role}] {f'{label} ' if label else ''}<!-- {_write_meta(turn)} -->"
    text = turn.text.replace("\n", "\n> ")
    block_id = derive_block_id(turn.source, turn.session, turn.turn)
    return f"{header}\n> {text}\n\n^t-{block_id}\n\n".encode()


def _write_meta(turn: Turn) -> str:
    members = {
        "mime": turn.mime,
        "name": turn.name,
        "origin": turn.origin,
        "role": turn.role,
        "speaker": turn.speaker,
        "time": turn.time or "",
        "time_text": turn.time_text,
        "tool": turn.tool,
        "turn": turn.turn,
    }
    meta = encode_canonical({member: value for member, value in members.items() if value}).decode()
    # All values are strings, so none of these characters stands outside one.
    return escape_json(_IN_META.sub(lambda found: f"\\u{ord(found[0]):04x}", meta))


def check_turn(turn: Turn) -> Turn:
    """Return a turn that has a block.

    Raises:
        InvalidInputError, LimitExceededError: as `render_block`.
    """
    if turn.role not in ROLES:
        raise InvalidInputError(f"a role is one of {', '.join(ROLES)}", field="role")
    if turn.time is not None and (turn.time_text or not is_instant(turn.time)):
        raise InvalidInputError("a turn has an instant or a text for its time, not both", field="time")
    names = ("source", "session", "turn", "origin", "speaker", "tool", "mime", "name")
    for field in names:
        check_name(getattr(turn, field), field, may_be_blank=True)
    for field in ("time_text", "text"):
        check_characters(getattr(turn, field), field)
    if not turn.turn:
        raise InvalidInputError("a turn has a name", field="turn")
    if len(turn.text.encode()) > TURN_TEXT_MAX_BYTES:
        raise LimitExceededError(f"a turn has at most {TURN_TEXT_MAX_BYTES} bytes", field="text")
    return turn


def render_head(
    *,
    record_id: str,
    source: str,
    session: str,
    part: int,
    workspace: str,
    by: str,
    recorded_at: Instant,
    origin: str,
    title: str = "",
) -> bytes:
    """Return what a transcript begins with: front matter and an empty line.

    Args:
        record_id: Id of the transcript's record.
        source: Where the session took place.
        session: Its name there.
        part: Number of the part, from 1.
        workspace: Home workspace.
        by: Ledger entry of the record, `<log id>:<seq>`.
        recorded_at: Its record time.
        origin: Trust class of who opened it.
        title: Shown name; empty takes the session's name, with the number of a later part behind it.

    Raises:
        InvalidInputError, LimitExceededError: a value that cannot be written.
    """
    keys: dict[str, KeyValue] = {
        "title": title or (session if part == 1 else f"{session} ({part})"),
        "workspace": workspace,
        "source": source,
        "session": session,
        "part": part,
        "id": record_id,
        "kind": "event",
        "version": 1,
        "by": by,
        "recorded_at": recorded_at,
        "origin": origin,
    }
    return render_record(keys, "")


def parse_transcript(data: bytes, path: str = "") -> Transcript:
    """Read a transcript, or blocks without front matter; takes any bytes, in time linear in their number.

    A block counts only whole: its role in header and META, its turn and its block id have to fit. Where front matter of
    the flat subset does not name source and session, the block id is not checked.

    Args:
        data: The whole file, or some of its blocks.
        path: Relative to the vault, for the problems.
    """
    parts = split_file(data, path)
    body_at = _find_body(data, parts)
    reading = read_flat(parts.block) if parts.block is not None else None
    values = reading.values if reading is not None else {}
    source, session = values.get("source"), values.get("session")
    names = (source, session) if isinstance(source, str) and isinstance(session, str) else None
    is_begun_right = not parts.head or body_at == len(data) or data.startswith(b"\n", body_at)
    place = body_at + 1 if parts.head and is_begun_right else body_at
    turns: list[Block] = []
    gaps: list[tuple[int, int]] = []
    chars, counted = 0, body_at
    for turn, block_id, start, end in _find_blocks(data, place, names):
        if start > place:
            gaps.append((place, start))
        chars += _count_chars(data, counted, start)
        size = _count_chars(data, start, end)
        turns.append(Block(turn, block_id, start, end - start, chars, chars + size))
        chars, counted, place = chars + size, end, end
    if place < len(data):
        gaps.append((place, len(data)))
    foreign = tuple(_describe_gaps(data, gaps))
    problems = [_name_problem(span.line, path) for span in foreign]
    if not is_begun_right:
        problems.insert(0, _name_problem(parts.body_line, path))
    return Transcript(tuple(turns), foreign, tuple(problems))


def hide_turns(text: str, turns: Iterable[Block]) -> str:
    """Return the text of a transcript's record with line ends in place of its blocks; the rest keeps its place.

    Args:
        text: Text of the record.
        turns: Its blocks, in order.
    """
    parts: list[str] = []
    at = 0
    for block in turns:
        end = min(block.end, len(text))
        parts += (text[at : block.start], "\n" * (end - block.start))
        at = end
    return "".join((*parts, text[at:]))


def read_part_number(data: bytes) -> int:
    """Return the number of the part that begins with these bytes; 1 where they do not tell it."""
    block = split_file(data).block
    reading = read_flat(block) if block is not None else None
    part = reading.values.get("part") if reading is not None else None
    return part if isinstance(part, int) and not isinstance(part, bool) and part > 0 else 1


def _find_body(data: bytes, parts: FileParts) -> int:
    """Return where the body begins, in bytes, also where some of them are not UTF-8."""
    if parts.encoding == "utf-8":
        return parts.body_at
    place = 0
    for _ in range(parts.head.count("\n") if parts.encoding == "windows-1252" else 0):
        place = data.index(b"\n", place) + 1
    return place


def _count_chars(data: bytes, start: int, end: int) -> int:
    return len(data[start:end].decode(errors="replace"))


def _describe_gaps(data: bytes, gaps: list[tuple[int, int]]) -> Iterator[ForeignSpan]:
    line, counted = 1, 0
    for start, end in gaps:
        line += data.count(b"\n", counted, start)
        counted = start
        yield ForeignSpan(start, end - start, line, data[start:end].decode(errors="replace"))


def _name_problem(line: int, path: str) -> Problem:
    message = "here the transcript is not as OnRecord wrote it; what stands here is found as its text"
    mend = "Transcripts only grow: undo the edit, and keep remarks in a note of their own."
    return Problem(path, line, "transcript_edited", Severity.WARNING, message, mend)


def _find_blocks(data: bytes, place: int, names: tuple[str, str] | None) -> Iterator[tuple[Turn, BlockId, int, int]]:
    """Yield turn, block id, start and end of each block from `place` on; no byte is looked at more than a few times."""
    while place < len(data):
        run = _QUOTED_LINES.match(data, place)
        if run is None:
            end = data.find(b"\n> ", place)
            place = end + 1 if end >= 0 else len(data)
            continue
        place = run.end()
        tail = _TAIL.match(data, place)
        found = _read_run(run[0], tail[1], names) if tail is not None else None
        if tail is not None and found is not None:
            turn, offset = found
            place = tail.end()
            yield turn, BlockId(tail[1].decode()), run.start() + offset, place


def _read_run(run: bytes, block_id: bytes, names: tuple[str, str] | None) -> tuple[Turn, int] | None:
    """Return the turn of a run of quoted lines, and where its header begins.

    The first header that fits the id counts: in a sound block any further one is text.
    """
    try:
        run.decode()
    except UnicodeDecodeError:
        return None
    start = 0
    while (text_at := run.find(b"\n", start) + 1) < len(run):
        header = _HEADER.fullmatch(run, start, text_at)
        turn = _read_header(header, block_id, names) if header is not None else None
        if turn is not None:
            text = run[text_at:].decode()[2:-1].replace("\n> ", "\n")
            return replace(turn, text=text), start
        start = text_at
    return None


def _read_header(header: re.Match[bytes], block_id: bytes, names: tuple[str, str] | None) -> Turn | None:
    """Return the turn that a header names, its text left out; None where it does not fit."""
    try:
        meta = json.loads(header[2].decode())
        if not meta.keys() <= _META_MEMBERS or not all(isinstance(value, str) for value in meta.values()):
            return None
        "".join(meta.values()).encode()
        role, turn, time = meta.pop("role"), meta.pop("turn"), meta.pop("time", None)
    except (ValueError, KeyError, RecursionError):
        return None
    source, session = names if names is not None else ("", "")
    if names is not None and derive_block_id(source, session, turn).encode() != block_id:
        return None
    if role != header[1].decode() or role not in ROLES or (time is not None and not is_instant(time)):
        return None
    return Turn(source, session, turn, role, "", time=Instant(time) if time is not None else None, **meta)
