"""The known keys of a record: their order, their forms, and what a reading of front matter says of them.

One table serves both ways (docs/format/record.md, The user's keys and Server-owned keys). On reading, a value of the
wrong form is a problem and counts as absent; on writing it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from onrecord.domain.errors import InvalidInputError
from onrecord.domain.front_matter import Value, YamlReading, spell_scalar
from onrecord.domain.ids import EntryRef, RecordId
from onrecord.domain.instants import Instant, Interval, Precision
from onrecord.domain.key_forms import (
    Form,
    FormContext,
    make_choice,
    make_name,
    make_names,
    read_any,
    read_confidence,
    read_entry,
    read_flag,
    read_id,
    read_instant,
    read_map,
    read_periods,
    read_text,
    read_version,
)
from onrecord.domain.limits import (
    ALIAS_MAX_CHARS,
    ALIASES_MAX_COUNT,
    NAME_MAX_CHARS,
    TAG_MAX_CHARS,
    TAGS_MAX_COUNT,
    TITLE_MAX_CHARS,
)
from onrecord.domain.problem import Problem, Severity

KINDS: Final = (
    "note", "fact", "entity", "experience", "observation", "belief", "reflection", "event", "conflict", "workspace",
)  # fmt: skip
STATUSES: Final = ("draft", "pending", "current", "superseded", "retired", "rejected")
ORIGINS: Final = ("confirmed", "user", "document", "import", "agent", "file", "tool", "web", "unknown")
PROTECTIONS: Final = ("normal", "protected", "locked")
ISOLATIONS: Final = ("none", "weak", "strict")
STATES: Final = ("pending", "confirmed", "redirected", "open", "applying", "resolved", "not_a_conflict")

_NO_MAP: Mapping[str, Any] = MappingProxyType({})

_USER_FORMS: Mapping[str, Form] = {
    "title": make_name(TITLE_MAX_CHARS),
    "tags": make_names(TAG_MAX_CHARS, TAGS_MAX_COUNT, is_tag=True, takes_one=True),
    "aliases": make_names(ALIAS_MAX_CHARS, ALIASES_MAX_COUNT, takes_one=True),
    "type": make_name(NAME_MAX_CHARS),
    "workspace": make_name(NAME_MAX_CHARS),
    "also_in": make_names(NAME_MAX_CHARS),
    "event_time": read_instant,
    "valid_from": read_instant,
    "valid_to": read_instant,
    "periods": read_periods,
    "confidence": read_confidence,
    "source_ref": make_name(NAME_MAX_CHARS),
    "review_by": read_instant,
    "meta": read_map,
    "former_ids": make_names(NAME_MAX_CHARS),
    "evidence": make_names(NAME_MAX_CHARS),
    "subject": make_name(NAME_MAX_CHARS),
    "attribute": make_name(NAME_MAX_CHARS),
    "value": read_text,
    "links": make_names(NAME_MAX_CHARS),
}
_SERVER_FORMS: Mapping[str, Form] = {
    "id": read_id,
    "kind": make_choice(KINDS),
    "version": read_version,
    "by": read_entry,
    "recorded_at": read_instant,
    "status": make_choice(STATUSES),
    "origin": make_choice(ORIGINS),
    "client": make_name(NAME_MAX_CHARS),
    "agent": make_name(NAME_MAX_CHARS),
    "confirmed_by": read_entry,
    "protection": make_choice(PROTECTIONS),
    "kb": read_flag,
    "governance": read_map,
    "superseded_by": make_names(NAME_MAX_CHARS),
    "supersedes": make_names(NAME_MAX_CHARS),
    "isolation": make_choice(ISOLATIONS),
    "parent": read_id,
    "state": make_choice(STATES),
    "members": make_names(NAME_MAX_CHARS),
    "decision": read_any,
    "plan": read_any,
    "detector": read_any,
    "judgments": read_any,
}
_FORMS: Mapping[str, Form] = {**_USER_FORMS, **_SERVER_FORMS}

USER_KEYS: Final = tuple(_USER_FORMS)
SERVER_KEYS: Final = tuple(_SERVER_FORMS)


@dataclass(frozen=True, slots=True)
class Keys:
    """The user's keys. Texts are empty and lists and maps without items where a key is absent.

    `confidence` is 0 to 1 with at most three decimals. `valid_from` and `valid_to` are the ends of `periods` where that
    is set. `precisions` has the precision of each instant that was given with less than a time.
    """

    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    type: str = ""
    workspace: str = ""
    also_in: tuple[str, ...] = ()
    event_time: Instant | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    periods: tuple[Interval, ...] = ()
    confidence: float | None = None
    source_ref: str = ""
    review_by: Instant | None = None
    meta: Mapping[str, Value] = field(default_factory=lambda: _NO_MAP)
    former_ids: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    subject: str = ""
    attribute: str = ""
    value: str = ""
    links: tuple[str, ...] = ()
    precisions: Mapping[str, Precision] = field(default_factory=lambda: _NO_MAP)


@dataclass(frozen=True, slots=True)
class ServerCopies:
    """What a file says of the keys that OnRecord owns: claims, until the versions store confirms them."""

    id: RecordId | None = None
    kind: str = ""
    version: int | None = None
    by: EntryRef | None = None
    recorded_at: Instant | None = None
    status: str = ""
    origin: str = ""
    client: str = ""
    agent: str = ""
    confirmed_by: EntryRef | None = None
    protection: str = ""
    kb: bool = False
    governance: Mapping[str, Value] = field(default_factory=lambda: _NO_MAP)
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    isolation: str = ""
    parent: str = ""
    state: str = ""
    members: tuple[str, ...] = ()
    decision: Value = None
    plan: Value = None
    detector: Value = None
    judgments: Value = None

    @property
    def is_marked(self) -> bool:
        """Whether the file names an entry, or an id with a version; in any other these keys are its owner's."""
        return bool(self.by or self.confirmed_by or (self.id and self.version))


@dataclass(frozen=True, slots=True)
class Fields:
    """The known keys of one reading, what was found, and the texts of values that do not count."""

    keys: Keys
    server: ServerCopies
    problems: tuple[Problem, ...]
    lost: tuple[str, ...]


def read_fields(reading: YamlReading) -> Fields:
    """Read the known keys; problems have no path, and lines that count from 1 in the block."""
    users: dict[str, Any] = {}
    servers: dict[str, Any] = {}
    problems: list[Problem] = []
    of_copies: list[Problem] = []
    lost: list[str] = []
    current = FormContext(reading, is_strict=False)
    for key, value in reading.values.items():
        form = _FORMS.get(key)
        if form is None:
            continue
        told = of_copies if key in _SERVER_FORMS else problems
        if value is None:
            told.append(_describe(reading, key, "field_normalised", Severity.INFO, "without a value it is absent"))
            continue
        current.key = key
        try:
            found = form(value, current)
        except InvalidInputError as error:
            told.append(_describe(reading, key, "field_invalid", Severity.WARNING, error.reason, error.own_hint))
            lost.append(_flatten(value, reading, key))
        else:
            (servers if key in _SERVER_FORMS else users)[key] = found
        if current.notes:
            told.extend(_describe(reading, key, code, Severity.INFO, note) for code, note in set(current.notes))
            current.notes.clear()
    if current.precisions:
        users["precisions"] = current.precisions
    if "periods" in users or "valid_to" in users:
        _settle_validity(users, reading, problems, lost)
    server = ServerCopies(**servers)
    if server.is_marked:
        problems += of_copies
    return Fields(Keys(**users), server, tuple(problems), tuple(lost))


def _describe(reading: YamlReading, key: str, code: str, severity: Severity, reason: str, mend: str = "") -> Problem:
    spans = reading.locate(key)
    return Problem("", spans[0].first if spans else 0, code, severity, f"{key}: {reason}", mend)


def _settle_validity(users: dict[str, Any], reading: YamlReading, problems: list[Problem], lost: list[str]) -> None:
    """Let `periods` decide over `valid_from` and `valid_to`, and drop a `valid_to` that is not after `valid_from`."""
    periods: tuple[Interval, ...] = users.get("periods", ())
    if periods:
        ends = {"valid_from": periods[0].start, "valid_to": periods[-1].end}
        for key, instant in ends.items():
            if key in users and users[key] != instant:
                reason = "it is not the end of periods, which count"
                problems.append(_describe(reading, key, "field_invalid", Severity.WARNING, reason))
        users |= ends
    elif users.get("valid_from") is not None and users["valid_to"] <= users["valid_from"]:
        reason = "it is not after valid_from"
        problems.append(_describe(reading, "valid_to", "field_invalid", Severity.WARNING, reason))
        lost.append(_flatten(reading.values["valid_to"], reading, "valid_to"))
        del users["valid_to"]


def _flatten(value: Value, reading: YamlReading, key: str) -> str:
    """Return all texts in a value, blank-joined, so that they can be found."""
    texts: list[str] = []
    waiting: list[Value] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            for name, member in reversed(list(item.items())):
                waiting.extend((member, name))
        elif isinstance(item, (list, tuple)):
            waiting.extend(reversed(item))
        elif item is value:
            texts.append(reading.spell(key))
        elif item is not None:
            texts.append(spell_scalar(item))
    return " ".join(texts)


def check_fields(values: Mapping[str, Value | None]) -> None:
    """Refuse values that would be read back as a problem; None and unknown keys are passed over.

    Raises:
        InvalidInputError: a known key has a value of the wrong form; `field` names the key.
        LimitExceededError: it is larger than docs/format/limits.md allows.
    """
    current = FormContext(YamlReading(values), is_strict=True)
    for key, value in values.items():
        form = _FORMS.get(key)
        if form is None or value is None:
            continue
        current.key = key
        try:
            form(value, current)
        except InvalidInputError as error:
            raise type(error)(error.reason, field=key, hint=error.own_hint) from None


def order_keys(keys: Mapping[str, object]) -> list[str]:
    """Return the keys in the order of a new record: the user's, others as given, then those that OnRecord owns."""
    others = [key for key in keys if key not in _FORMS]
    return [key for key in (*USER_KEYS, *others, *SERVER_KEYS) if key in keys]
