"""What doctor asks of a transcript: whether its blocks are the turns as they were captured."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.app.indexing import hash_text
from onrecord.app.session import Session
from onrecord.app.standing import is_kept
from onrecord.domain.ids import RecordId
from onrecord.domain.problem import Problem, Severity
from onrecord.domain.transcript import Block, parse_transcript
from onrecord.ports.index import IndexReader, VersionHead

_SHOWN_MAX_COUNT = 5


def check_transcript(
    session: Session, reader: IndexReader, record: RecordId, path: str, data: bytes
) -> Iterator[Problem]:
    """Compare the blocks of a transcript with the turns that were captured; what is found are the captured ones.

    A turn that waits in the journal is told with what else is not placed.
    """
    parsed = parse_transcript(data, path)
    yield from parsed.problems
    captured = {head.turn.block: head for head in reader.list_turns(record) if head.turn is not None}
    found = {block.block for block in parsed.turns}
    gone = {name for name in captured.keys() - found if not session.store.is_waiting(captured[name].ref)}
    lost = {name for name in gone if not is_kept(session, captured[name].ref)}
    told = {
        "not in the file any more; their versions are kept": [(0, name) for name in gone - lost],
        "not in the file any more, and their versions are not here either": [(0, name) for name in lost],
        "not as they were captured; the captured ones are found and shown": [],
        "of nobody's capture; they are not found": [],
    }
    line, counted = 1, 0
    for block in parsed.turns:
        line += data.count(b"\n", counted, block.at)
        counted = block.at
        known = captured.get(block.block)
        if known is None:
            told["of nobody's capture; they are not found"].append((line, block.block))
        elif not _is_as_captured(block, known):
            told["not as they were captured; the captured ones are found and shown"].append((line, block.block))
    for what, places in told.items():
        if places:
            message = f"{len(places)} turns are {what}"
            names = sorted(block for _, block in places)
            evidence = f"turns {', '.join(names[:_SHOWN_MAX_COUNT])}"
            yield Problem(path, min(places)[0], "transcript_edited", Severity.WARNING, message, evidence=evidence)


def _is_as_captured(block: Block, head: VersionHead) -> bool:
    turn, name = block.turn, head.turn
    assert name is not None
    is_same = (turn.role, turn.speaker, turn.time) == (name.role, name.speaker, name.time)
    return is_same and turn.origin == head.origin and hash_text(turn.text) == head.text_sha256
