"""Transcript blocks (docs/format/transcript.md) and their vectors."""

import json
import re

from documents import write_block
from encoding import block_id, canonical

_SEPARATORS = re.compile("[<>\r\n\u0085\u2028\u2029]")
_META_ESCAPED = re.compile("[<>\\-\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]")
_ROLES = ("user", "assistant", "tool", "system", "document")
_MEMBERS = {"origin", "role", "speaker", "time", "turn", "tool", "mime", "name", "time_text"}
_HEADER = re.compile(r"> \[!([a-z]+)\](?: .*)? <!-- (\{.*\}) -->")
_ID_LINE = re.compile(r"\^t-([0-9a-z]{10})")


def write_turn(source, session, turn):
    """Return the block of a turn; a turn has role, text, and the members of META."""
    meta = {name: value for name, value in turn.items() if name != "text"}
    label = [turn["speaker"]] if "speaker" in turn else []
    if "time" in turn:
        label.append(turn["time"][:16].replace("T", " "))
    shown = _SEPARATORS.sub(" ", " · ".join(label))
    # Outside strings canonical JSON of integers and names has none of these characters.
    written = _META_ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", canonical(meta).decode("utf-8"))
    header = f"> [!{turn['role']}] {shown + ' ' if shown else ''}<!-- {written} -->"
    lines = [header, *(f"> {line}" for line in turn["text"].split("\n"))]
    return "\n".join(lines) + f"\n\n^t-{block_id(source, session, turn['turn'])}\n\n"


def read_turns(source, session, body):
    """Return (turns, other text) of a transcript's body; turns carry their block's offset in code points."""
    lines = body.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    turns, other, place = [], [], 0
    while place < len(lines):
        found = _read_turn(source, session, lines, place)
        if found is None:
            other.append(lines[place])
            place += 1
            continue
        turn, length = found
        turns.append({"at": starts[place], "turn": turn})
        place += length
    return turns, [line for line in other if line]


def _read_turn(source, session, lines, place):
    header = _HEADER.fullmatch(lines[place])
    if header is None or header[1] not in _ROLES:
        return None
    end = place + 1
    while end < len(lines) and lines[end].startswith("> "):
        end += 1
    if end == place + 1 or end + 3 >= len(lines) or lines[end] != "" or lines[end + 2] != "":
        return None
    tail = _ID_LINE.fullmatch(lines[end + 1])
    try:
        meta = json.loads(header[2])
    except ValueError:
        return None
    is_sound = set(meta) <= _MEMBERS and meta.get("role") == header[1] and isinstance(meta.get("turn"), str)
    if tail is None or not is_sound or tail[1] != block_id(source, session, meta["turn"]):
        return None
    return meta | {"text": "\n".join(line[2:] for line in lines[place + 1 : end])}, end + 3 - place


_SOURCE, _SESSION = "claude-code", "2026-11-30 kitchen"
_TIME = "2026-11-30T07:00:00.000000Z"
_TURNS = [
    {
        "role": "user",
        "turn": "1",
        "origin": "user",
        "speaker": "Ada",
        "time": _TIME,
        "text": "How hot for green tea?",
    },
    {
        "role": "assistant",
        "turn": "2",
        "origin": "agent",
        "time": _TIME,
        "text": "About 75 °C.\n\nNot boiling.\n",
    },
    {"role": "user", "turn": "3", "origin": "user", "speaker": "Ada", "text": ""},
    {"role": "system", "turn": "4", "origin": "unknown", "text": "no speaker, no time"},
    {
        "role": "tool",
        "turn": "call-5",
        "origin": "tool",
        "tool": "read_file",
        "mime": "text/x-c",
        "text": "a --> b\r\nc\u2028d",
    },
    {
        "role": "document",
        "turn": "6",
        "origin": "document",
        "name": "notes <1>.txt",
        "text": "> quoted\n^t-0000000000\n",
    },
    {
        "role": "user",
        "turn": "7",
        "origin": "user",
        "speaker": "A <b>-c\u2028d",
        "time_text": "last spring",
        "text": "<!-- -->",
    },
    {"role": "user", "turn": "ü\u001f8", "origin": "user", "speaker": "Zoë", "time": _TIME, "text": "\n"},
]
_KEYS = {
    "title": "Kitchen",
    "workspace": "default",
    "source": _SOURCE,
    "session": _SESSION,
    "part": 1,
    "id": "9h1m2k8w4x6z",
    "kind": "event",
    "version": 1,
    "by": "0123456789abcdef:1",
    "recorded_at": _TIME,
    "origin": "user",
}


def _write_transcript_block(keys):
    # Keys of a transcript come first in the order given, before the server-owned ones.
    first = ("title", "workspace", "source", "session", "part")
    own = "".join(write_block({name: keys[name]})[4:-4] for name in first)
    return "---\n" + own + write_block({name: value for name, value in keys.items() if name not in first})[4:]


def make_transcript_vectors():
    """Return turns and their blocks, a whole file, and edited ones with what a reader finds."""
    turns = [turn | {"turn": turn["turn"].replace("\u001f", "-")} for turn in _TURNS]
    blocks = [write_turn(_SOURCE, _SESSION, turn) for turn in turns]
    head = _write_transcript_block(_KEYS) + "\n"
    read, other = read_turns(_SOURCE, _SESSION, "\n" + "".join(blocks))
    assert [item["turn"] for item in read] == turns
    assert not other
    first = blocks[0]
    edited = {
        "by_hand_between": first + "A remark.\n" + blocks[1],
        "text_edited_keeps_the_form": first.replace("hot", "cold"),
        "label_edited": first.replace("] Ada", "] Bob"),
        "role_edited": first.replace("[!user]", "[!tool]"),
        "id_edited": first.replace("^t-", "^t-0")[:-3] + "\n\n",
        "meta_cut": first.replace('"turn":"1"} -->', '"turn":"1" -->'),
        "unknown_member": first.replace('"turn":"1"}', '"turn":"1","x":1}'),
        "id_line_missing": first[: first.index("^t-")],
        "line_without_mark": first.replace("> How", "How"),
        "last_line_missing": first[:-1],
        "torn_in_the_text": first + blocks[1][:90],
    }
    return {
        "source": _SOURCE,
        "session": _SESSION,
        "blocks": [
            {"turn": turn, "block_id": block_id(_SOURCE, _SESSION, turn["turn"]), "block": block}
            for turn, block in zip(turns, blocks, strict=True)
        ],
        "file": {"keys": _KEYS, "head": head, "bytes": head + "".join(blocks)},
        "edited": [
            {
                "name": name,
                "body": body,
                "turns": [item["turn"]["turn"] for item in read_turns(_SOURCE, _SESSION, body)[0]],
                "at": [item["at"] for item in read_turns(_SOURCE, _SESSION, body)[0]],
                "other": read_turns(_SOURCE, _SESSION, body)[1],
            }
            for name, body in edited.items()
        ],
    }
