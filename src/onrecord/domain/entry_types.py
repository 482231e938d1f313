"""The closed set of ledger entry types and the form of every member (docs/format/ledger.md). Data; one place.

`TYPES` says which members a type has, `FORMS` what a member looks like on its own. What depends on more than one
member, or on other entries, is judged by `onrecord.domain.entry` and `onrecord.domain.ledger_check`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from onrecord.domain.checkpoint import is_log_vkey
from onrecord.domain.instants import is_instant

COMMON: Final = frozenset({"v", "log", "seq", "ts", "type", "actor", "cred", "cseq", "prev"})
COMMITMENT_ALGORITHM: Final = "hmac-sha256"
EMPTY_SEEN_TYPES: Final = frozenset({"log.start", "restore"})
BODY_MEMBERS: Final = frozenset({"kind", "origin", "body"})
RECORD_EXTRAS: Final = frozenset({"subj", "pol"})
# What an entry with `body` tells where it is not the usual: `current`, `normal`.
BODY_EXTRAS: Final = frozenset({"status", "protection"})

# In the notation of docs/format/ledger.md: required members stand plain, optional ones in brackets, and of those with
# `?` at least one stands.
_ROWS: Final = (
    ("log.start", "key seen"),
    ("log.seen", "seen"),
    ("log.adopt", "seen appr level"),
    ("key.rotate", "key sig"),
    ("key.compromise", "key n"),
    ("cred.create cred.revoke", "to? level?"),
    ("clock.jump", "off"),
    ("record.create", "rec ver kind origin body [refs from ws]"),
    ("record.update", "rec ver kind origin body from [refs ws appr]"),
    ("record.observe", "rec ver kind origin body [from refs]"),
    ("record.displace", "rec ver kind origin body from"),
    ("record.move", "rec ver to place"),
    ("record.missing record.found", "rec ver"),
    (
        "record.retire record.restore record.trash",
        "rec ver from [kind origin body cause refs appr level]",
    ),
    ("record.merge", "rec ver kind origin body from refs [appr level]"),
    ("record.confirm record.protect", "rec ver from [kind origin body protection appr level]"),
    ("record.propose", "rec ver kind origin body [from refs]"),
    ("record.approve record.reject", "rec ver from [body kind origin cause appr level]"),
    ("record.suspect", "rec ver refs"),
    ("record.link", "rec ver refs"),
    ("event.append", "rec ver kind origin turn body"),
    (
        "fact.assert fact.end fact.retract fact.correct",
        "rec ver kind origin body [from refs appr]",
    ),
    ("entity.merge entity.alias entity.separate", "rec ver kind origin body from [refs appr level]"),
    ("belief.form belief.revise belief.fall", "rec ver kind origin body [from refs cause]"),
    ("conflict.open", "rec ver kind origin body refs det"),
    (
        "conflict.judge conflict.apply conflict.resolve conflict.dismiss conflict.reopen",
        "rec ver kind origin body from [refs appr level cause]",
    ),
    (
        "workspace.create workspace.rename workspace.merge workspace.separate workspace.confirm "
        "workspace.isolate workspace.refuse",
        "rec ver kind origin body [from refs appr level]",
    ),
    ("workspace.move", "ws to [appr level]"),
    ("approval.request", "n cause [rec ver]"),
    ("approval.grant approval.deny approval.expire", "to level"),
    ("recall recall.deny", "n [refs pol]"),
    ("write.deny", "cause [pol]"),
    ("import export", "n [subj cause]"),
    ("replay", "n"),
    ("restore", "seen n"),
    ("erase.request", "to? rec? subj? cause appr level"),
    ("erase.execute", "rec [ver subj n] to"),
    ("erase.verify", "to n"),
    ("erase.ack", "to"),
    ("hold.set hold.release", "rec [subj cause appr level]"),
    ("retention.expire", "rec [ver]"),
    ("policy.change", "pol"),
    ("scan.complete", "det n"),
    ("pack.complete", "n"),
    ("selftest", "rec ver"),
    ("checkpoint.anchor", "n cause"),
    ("verify.fail", "n cause"),
)


@dataclass(frozen=True, slots=True)
class TypeRule:
    """Which members an entry of one type has, beyond the common ones.

    Attributes:
        required: All of them stand.
        optional: Any of them may stand.
        some: At least one stands; empty where the type asks for none.
        allowed: Everything that may stand but for `RECORD_EXTRAS` and `BODY_EXTRAS`, the common members included.
        needed: Everything that must stand, the common members but `prev` included.
    """

    required: frozenset[str]
    optional: frozenset[str]
    some: frozenset[str]
    allowed: frozenset[str]
    needed: frozenset[str]


def _read_rule(notation: str) -> TypeRule:
    required: set[str] = set()
    optional: set[str] = set()
    some: set[str] = set()
    target = required
    for word in notation.split():
        if word.startswith("["):
            target = optional
        name = word.strip("[]")
        (some if name.endswith("?") else target).add(name.rstrip("?"))
        if word.endswith("]"):
            target = required
    return TypeRule(
        required=frozenset(required),
        optional=frozenset(optional),
        some=frozenset(some),
        allowed=COMMON | required | optional | some | {"seen"},
        needed=(COMMON - {"prev"}) | required,
    )


TYPES: Final[Mapping[str, TypeRule]] = MappingProxyType(
    {name: _read_rule(notation) for names, notation in _ROWS for name in names.split()}
)

WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        name: frozenset(words.split())
        for name, words in (
            ("kind", "note fact entity experience observation belief reflection event conflict workspace"),
            ("origin", "confirmed user document import agent file tool web unknown"),
            ("status", "draft pending current superseded retired rejected"),
            ("protection", "normal protected locked"),
            ("level", "passphrase os passkey elicitation tty flag"),
            (
                "cause",
                "user duplicate stale wrong consent contract legal interest expiry policy confirm unlock retire edit "
                "erase merge adopt workspace witness git tsa mail tree signature commitment replay other",
            ),
            ("rel", "derived evidence supersedes merged member about copy restores"),
            ("d", "allow deny"),
        )
    }
)

Form = Callable[[object], bool]

_BASE32 = "[0-9a-hjkmnp-tv-z]"
_LOG = rf"{_BASE32}{{16}}"
# 32 and 64 bytes in base64: the last character before the padding has its unused bits zero.
_BASE64_32 = "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="
_BASE64_64 = "[A-Za-z0-9+/]{85}[AQgw]=="


def _match_text(pattern: str) -> Form:
    fullmatch = re.compile(pattern).fullmatch

    def has_form(value: object) -> bool:
        return isinstance(value, str) and fullmatch(value) is not None

    return has_form


def _match_word(name: str) -> Form:
    words = WORDS[name]

    def has_form(value: object) -> bool:
        return isinstance(value, str) and value in words

    return has_form


def _match_integer(low: int | None) -> Form:
    def has_form(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and (low is None or value >= low)

    return has_form


def _match_list(item_has_form: Form, *, is_ascending: bool = False) -> Form:
    def has_form(value: object) -> bool:
        if not isinstance(value, list) or not value or not all(item_has_form(item) for item in value):
            return False
        return not is_ascending or all(left < right for left, right in pairwise(value))

    return has_form


def _match_object(**forms: Form) -> Form:
    def has_form(value: object) -> bool:
        return (
            isinstance(value, dict)
            and value.keys() == forms.keys()
            and all(form(value[name]) for name, form in forms.items())
        )

    return has_form


def _is_instant(value: object) -> bool:
    return isinstance(value, str) and is_instant(value)


def _is_key(value: object) -> bool:
    return isinstance(value, str) and is_log_vkey(value)


_is_log = _match_text(_LOG)
_is_record = _match_text(rf"{_BASE32}{{12}}")
_is_reference = _match_text(rf"{_LOG}:(?:0|[1-9][0-9]{{0,14}})")
_is_hash = _match_text(_BASE64_32)
_is_positive = _match_integer(1)
_is_count = _match_integer(0)

is_seen_head: Final = _match_object(log=_is_log, size=_is_positive, root=_is_hash, ts=_is_instant)

# Not here: `v` and `type`, by which the others are found, and `seen`, whose form depends on type and log.
FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        "log": _is_log,
        "seq": _is_count,
        "ts": _is_instant,
        "actor": _match_text("p_[A-Za-z0-9_-]{22}"),
        "cred": _match_text("c_[A-Za-z0-9_-]{22}"),
        "cseq": _is_positive,
        "prev": _is_hash,
        "rec": _is_record,
        "ws": _is_record,
        "ver": _is_positive,
        "turn": _is_positive,
        "n": _is_count,
        "off": _match_integer(None),
        "kind": _match_word("kind"),
        "origin": _match_word("origin"),
        "status": _match_word("status"),
        "protection": _match_word("protection"),
        "level": _match_word("level"),
        "cause": _match_word("cause"),
        "body": _match_object(alg=lambda value: value == COMMITMENT_ALGORITHM, c=_is_hash),
        "from": _match_list(_is_reference),
        "to": _match_list(_is_reference),
        "refs": _match_list(_match_object(rel=_match_word("rel"), rec=_is_record, ver=_is_positive)),
        "subj": _match_list(_match_text("p_[A-Za-z0-9_-]{22}"), is_ascending=True),
        "appr": _is_reference,
        "pol": _match_object(doc=_is_hash, d=_match_word("d"), rule=_match_text("[A-Za-z0-9._-]{1,64}")),
        "place": _is_hash,
        "key": _is_key,
        "sig": _match_text(_BASE64_64),
        "det": _match_text("[a-z0-9.-]{1,64}"),
    }
)
