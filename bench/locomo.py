"""Conversations in LoCoMo's form: turns, questions, and the turns that answer them, with faults of the key repaired.

Form: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. Its texts are read
from a folder that the caller names; none is kept in this project.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
# 1 several turns, 2 times, 3 open domain, 4 one turn; 5 has no answer and so no evidence to be found.
CATEGORIES = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One turn.

    Attributes:
        key: Its id in the conversation, `D4:17`.
        session: Number of its session, as text.
        speaker: Who spoke.
        time: When the session took place, as it was told.
        text: What was said; a shared picture is told as `[shares CAPTION]`.
    """

    key: str
    session: str
    speaker: str
    time: str
    text: str

    @property
    def line(self) -> str:
        """The turn as one line with speaker and date."""
        return f"{self.speaker} ({self.time}): {self.text}"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and the keys of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; `repairs` counts what was wrong in its key, by kind."""

    name: str
    turns: tuple[SpokenTurn, ...]
    questions: tuple[AskedQuestion, ...]
    repairs: Mapping[str, int]


def read_conversations(folder: Path) -> list[Conversation]:
    """Read every `*.json` of a folder, by name.

    Raises:
        ValueError: there is none, or one is not of this form.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise ValueError("the data folder holds no conversation")
    return [read_conversation(path) for path in paths]


def read_conversation(path: Path) -> Conversation:
    """Read one conversation.

    Raises:
        ValueError: it is not of this form.
    """
    try:
        shape = json.loads(path.read_text("utf-8"))
        turns = tuple(_list_turns(shape["conversation"]))
        repairs: Counter[str] = Counter()
        questions = tuple(_list_questions(shape["qa"], {turn.key for turn in turns}, repairs))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path.name} is no conversation: {error!r}") from error
    return Conversation(path.stem, turns, questions, dict(repairs))


def repair_evidence(given: Iterable[object], known: set[str], repairs: Counter[str]) -> frozenset[str]:
    """Return the keys that a question's evidence means; count what was wrong.

    Several ids in one text are taken apart (`joined`), other spellings of an id are read (`respelled`), an id that
    occurs again counts once (`repeated`), and what names no turn is left out (`unknown`).
    """
    keys: set[str] = set()
    for text in map(str, given):
        found = list(_TURN_ID.finditer(text))
        repairs["joined"] += len(found) > 1
        repairs["unknown"] += not found
        for match in found:
            key = f"D{int(match[1])}:{int(match[2])}"
            repairs["respelled"] += key != match[0]
            repairs["repeated"] += key in keys
            repairs["unknown"] += key not in known
            if key in known:
                keys.add(key)
    return frozenset(keys)


def _list_turns(shape: Mapping[str, Any]) -> Iterable[SpokenTurn]:
    numbers = sorted(int(found[1]) for name in shape if (found := _SESSION.fullmatch(name)))
    for number in numbers:
        name = f"session_{number}"
        for turn in shape[name]:
            caption = turn.get("blip_caption")
            text = f"{turn['text']} [shares {caption}]" if caption else turn["text"]
            yield SpokenTurn(turn["dia_id"], str(number), turn["speaker"], shape[f"{name}_date_time"], text)


def _list_questions(
    shapes: Iterable[Mapping[str, Any]], known: set[str], repairs: Counter[str]
) -> Iterable[AskedQuestion]:
    for shape in shapes:
        if shape["category"] not in CATEGORIES:
            continue
        evidence = repair_evidence(shape.get("evidence", ()), known, repairs)
        if evidence:
            yield AskedQuestion(shape["question"], shape["category"], evidence)
        else:
            repairs["question without evidence"] += 1
