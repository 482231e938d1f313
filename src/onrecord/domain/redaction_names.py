"""Secrets that only a name gives away: `DB_PASSWORD=…`, `"password": "…"`, `my password is …`, `密码：…`.

A name, what joins it to a value, and the value are found apart; then the value is judged
(`redaction_verdict`). Every search is linear: joins are bounded, and what was found is not searched again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from onrecord.domain.redaction_finding import Finding
from onrecord.domain.redaction_pattern import LazyPattern
from onrecord.domain.redaction_values import is_mixed
from onrecord.domain.redaction_verdict import Join, Kind, is_phrase, is_secret

VALUE_MAX_CHARS: Final = 512
"""How much of a value is judged; what is found reaches to the value's own end."""

BEFORE_MAX_CHARS: Final = 24
VALUE_BEFORE_MAX_CHARS: Final = 64
OWNER_MAX_CHARS: Final = 48
REST_MAX_CHARS: Final = 64


class Name(NamedTuple):
    """One family of names that end with the same words.

    Attributes:
        rule: Rule id of what it finds.
        kind: How its values are judged.
        before: What must stand before the words, case ignored, up to their start; none for anything.
        after: What must follow them; none for anything.
    """

    rule: str
    kind: Kind
    before: LazyPattern | None = None
    after: LazyPattern | None = None


def _end_with(pattern: str) -> LazyPattern:
    return LazyPattern(rf"(?:{pattern})\Z", re.IGNORECASE)


_ALONE: Final = _end_with(r"\A|[^a-z0-9]")
_PASSWORD: Final = (Name("password", Kind.PASSWORD),)
_PASSWORD_ALONE: Final = (Name("password", Kind.PASSWORD, _ALONE),)
_PASS: Final = (
    Name("password", Kind.PASSWORD, _end_with(r"[a-z0-9][_.-]")),
    Name("password", Kind.PASSWORD, _end_with(r"\A|[^a-z0-9_.-]"), LazyPattern(r"[:=][ ]?[^\s\d_/.:]{1,64}\d")),
)
_PIN: Final = (Name("pin", Kind.PIN, _ALONE),)
_KEY: Final = (Name("api-key", Kind.KEY),)
_KEY_OF: Final = (
    Name(
        "api-key",
        Kind.KEY,
        _end_with(
            r"(?:api|access|secret|private|encryption|signing|master|account|shared|deploy|licen[sc]e|auth|service|app|admin"
            r"|subscription)[ _-]?"
        ),
    ),
)
_KEY_OF_JA: Final = (Name("api-key", Kind.KEY, _end_with(r"(?:api|アクセス|シークレット|秘密)[ ・]?")),)
_SECRET: Final = (
    Name(
        "api-key",
        Kind.KEY,
        _end_with(r"(?:api|client|app|application|consumer|webhook|shared|signing|oauth|jwt)[ _-]?"),
    ),
    Name("token", Kind.TOKEN),
)
_TOKEN: Final = (
    Name(
        "access-token",
        Kind.KEY,
        _end_with(
            r"(?:api|access|auth|authentication|refresh|bearer|session|id|bot|personal|deploy|private|security)"
            r"[ _-]?(?:access[ _-]?)?"
        ),
    ),
    Name("token", Kind.TOKEN),
)

# By the words that the names end with, in lower case; the first of a family that fits is taken.
NAMES: Final[dict[str, tuple[Name, ...]]] = {
    **dict.fromkeys(("password", "passwd", "passphrase", "pass phrase", "passcode"), _PASSWORD),
    **dict.fromkeys(("passwort", "kennwort", "mot de passe", "contraseña", "contrasena", "wachtwoord"), _PASSWORD),
    **dict.fromkeys(("пароль", "пароля", "비밀번호", "密码", "密碼", "口令"), _PASSWORD),
    **dict.fromkeys(("パスワード", "パスコード", "パスフレーズ"), _PASSWORD),
    **dict.fromkeys(("pwd", "pw", "senha"), _PASSWORD_ALONE),
    "pass": _PASS,
    **dict.fromkeys(("pin", "pin code", "pin-code", "pincode", "pin number", "pin码", "pin碼", "pinコード"), _PIN),
    **dict.fromkeys(("暗証番号", "暗証コード", "暗证号码"), _PIN),
    "key": _KEY_OF,
    **dict.fromkeys(("api-schlüssel", "clé api", "clave api", "clave de api"), _KEY),
    **dict.fromkeys(("credential", "credentials"), _KEY),
    **dict.fromkeys(("密钥", "密鑰", "秘钥", "私钥", "金鑰", "令牌", "トークン", "シークレット", "秘密鍵"), _KEY),
    "キー": _KEY_OF_JA,
    "secret": _SECRET,
    "token": _TOKEN,
}

# A name ends where no letter follows: `passwordless`, `tokens` and `password_hash` are other names.
_NAME_END: Final = (
    r"(?:[_-]?(?:\d{1,2}|prod|production|dev|test|staging|live|old|new|backup|main|root|admin))?(?![a-z0-9_])"
    r"(?P<close>\\?[\"'`]?[\])]?(?:[*_]{2}|</\w{1,8}>)?)"
)
_NOTE: Final = r"(?:[ \t]?[(（\[【][^()（）\[\]【】\n]{0,40}[)）\]】])?"
_PURPOSE: Final = (
    r"(?:[ \t]+(?:for|of|to|on|at|in|für|zum|zur|vom|von|pour|de|du|del|para|per|voor)"
    r"[ \t]+[^\n:=：＝.;,!?|<>\"]{1,48}?)?"
)
_LABEL: Final = (
    r"[ \t]*(?P<label>:=|={1,3}>?|->|→|[:：＝]|(?<=[ \t])\|(?=[ \t])|(?<=[ \t])[-–—](?=[ \t]))"
    r"(?:[*_]{2}|</?\w{1,8}>)?(?P<block>[ \t]*[|>][-+]?(?=[ \t]*\n))?"
)
_CALL: Final = r"(?P<call>[ \t]*[,(][ \t]*(?=\\?[\"'`])|[ \t]+value[ \t]*=[ \t]*(?=[\"']))"
_IS: Final = (
    r"[ \t]+(?:is|was|are|will[ ]be|remains|ist|war|lautet|est|es|è|é|wordt|это)"
    r"(?:[ \t]*[:=]|[ \t]+(?:still|now|just|currently|simply|set[ \t]+to|changed[ \t]+to))?(?=[ \t])"
)
_BECAME: Final = (
    r"(?:[ \t]+(?:is|was|has[ ]been|have[ ]been))?(?:[ \t]+(?:now|set|changed|updated|reset|switched))?"
    r"[ \t]+(?:to|auf)(?=[ \t])"
)
_IS_CJK: Final = (
    r"[ \t]?(?:是|为|為|叫|就是|改成了?|改为|改為|换成了?|換成了?|设为|设成|设置为|設為|設定為"
    r"|を|は|が|는|은|이|가)(?:[:：])?"
)
_TAIL: Final = LazyPattern(
    rf"{_NAME_END}(?:(?:{_NOTE}{_PURPOSE}(?:{_LABEL}|(?P<said>{_IS}|{_BECAME}|{_IS_CJK})))"
    rf"|{_CALL}|(?P<xml>>)|(?P<sql>[ \t]+(?='))|(?P<beside>[ \t\u3000]{{1,3}}(?=\S)))",
    re.IGNORECASE,
)
_OPTION: Final = LazyPattern(
    r"(?<![\w-])--?(?:[a-z0-9]{1,24}-){0,4}"
    r"(?P<name>password|passwd|passphrase|pass|pwd|api-?key|secret|token|key)[ \t]+(?=[^\s-])",
    re.IGNORECASE,
)
_OPTIONS: Final = {
    **dict.fromkeys(("secret", "token", "key"), Name("token", Kind.TOKEN)),
    **dict.fromkeys(("api-key", "apikey"), Name("api-key", Kind.KEY)),
}

_TO: Final = LazyPattern(r"\b(?:to|auf)\Z", re.IGNORECASE)
_CHANGED: Final = LazyPattern(r"\b(?:chang|set|reset|updat|switch|rotat|renam|änder|geänd|gesetzt)", re.IGNORECASE)
_CJK_FIRST: Final = "\u2e80"

_QUOTE_CLOSES: Final = {
    **{quote: quote for quote in "\"'`"},
    **dict(zip("「『“‘《«„", "」』”’》»“", strict=True)),
}
_BARE_ASSIGNED: Final = LazyPattern(r"[^\s]+")
_BARE: Final = LazyPattern(r"[^\s，。；、！？（）【】「」『』“”‘’《》]+")
_BARE_CJK: Final = LazyPattern(r"[\x21-\x7e０-９]+")
_BARE_QUERY: Final = LazyPattern(r"[^\s&#\"'<>]+")
_LONE_WORD: Final = LazyPattern(r"\S{4,128}[ \t]*(?:\r?\n|\Z)")
_ELEMENT: Final = LazyPattern(r"([^<>\s]{3,512})</")
_MARKUP: Final = LazyPattern(r"</|&(?:quot|apos|lt|gt|#3[49]);|\\[\"'`]")
_ESCAPED_LINE: Final = LazyPattern(r"\\[nrt]")
_NEXT_PAIR: Final = LazyPattern(r"[;,&][A-Za-z][\w. -]{0,40}=")
_SETS: Final = (":", "=", "：", "＝")
_TRIM: Final = ".,;:)]}>*\"'`|，。；：、"
_OWNER: Final = LazyPattern(
    r"(?i)[ \t](?:is|was|as)[ \t](?:(?:now|still)[ \t])?(?:my|the|our|your|his|her|their|a)[ \t]"
    r"(?:[\w-]{1,16}[ \t]){0,2}\Z"
)
_QUOTES_BEFORE: Final = "\"'`(“‘「『」』”’"
_ASCII_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def find_named(text: str) -> Iterator[Finding]:
    """The values that a secret's name points at, in the order of the names and then of the text.

    Args:
        text: Any text, of any length.

    Yields:
        Findings that cover the value alone; those of different names may overlap.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.translate(_ASCII_LOWER)
    for words, family in NAMES.items():
        at = lowered.find(words)
        while at >= 0:
            end = at + len(words)
            tail = _TAIL.match(text, end)
            finding = None if tail is None else _read_name(family, tail, at)
            if finding is not None:
                yield finding
                end = finding.end
            elif family[0].kind is Kind.PASSWORD:
                yield from _find_before(text, at, end)
            at = lowered.find(words, end)
    if "--" in text or " -p" in text:
        yield from _find_options(text)


def _find_before(text: str, start: int, end: int) -> Iterator[Finding]:
    """The value in `value is my password`, where the name stands from `start` to `end`."""
    owner = _OWNER.search(text, max(0, start - OWNER_MAX_CHARS), start)
    if owner is None:
        return
    least = max(0, owner.start() - VALUE_BEFORE_MAX_CHARS)
    before = text[least : owner.start()]
    blank = max(before.rfind(char) for char in " \t\n")
    value = before[blank + 1 :].strip(_QUOTES_BEFORE)
    is_whole = blank >= 0 or least == 0
    if is_whole and value and is_secret(Kind.PASSWORD, Join.BESIDE, value, text[end : end + REST_MAX_CHARS]):
        begin = text.rindex(value, least, owner.start())
        yield Finding("password", begin, begin + len(value))


def _read_name(family: tuple[Name, ...], tail: re.Match[str], start: int) -> Finding | None:
    text = tail.string
    for name in family:
        if name.before is not None and not name.before.search(text[max(0, start - BEFORE_MAX_CHARS) : start]):
            continue
        if name.after is not None and not name.after.match(text, tail.start()):
            continue
        span = _read_value(name.kind, tail, start)
        return None if span is None else Finding(name.rule, *span)
    return None


def _find_options(text: str) -> Iterator[Finding]:
    for match in _OPTION.finditer(text):
        name = _OPTIONS.get(match["name"].lower(), _PASSWORD[0])
        span = _judge_at(name.kind, Join.LABELLED, text, match.end(), _BARE)
        if span is not None:
            yield Finding(name.rule, *span)


def _read_value(kind: Kind, tail: re.Match[str], start: int) -> tuple[int, int] | None:
    text, at = tail.string, tail.end()
    if tail["xml"]:
        if tail["close"]:
            return None
        element = _ELEMENT.match(text, at)
        return element.span(1) if element is not None and is_secret(kind, Join.ASSIGNED, element[1], "") else None
    if tail["said"] is not None:
        if _TO.search(tail["said"]) and not _CHANGED.search(text, max(0, start - REST_MAX_CHARS), at):
            return None
        is_cjk = tail["said"].strip() >= _CJK_FIRST
        return _judge_at(kind, Join.SAID, text, _skip_blanks(text, at, 0), _BARE_CJK if is_cjk else _BARE)
    if tail["label"] is not None:
        return _read_labelled(kind, tail, start)
    if tail["beside"] is not None:
        return None if tail["close"] else _judge_at(kind, Join.BESIDE, text, at, _BARE)
    return _judge_quoted(kind, Join.SAID if tail["sql"] else Join.LABELLED, text, at)


def _read_labelled(kind: Kind, tail: re.Match[str], start: int) -> tuple[int, int] | None:
    text, at, label = tail.string, tail.end(), tail["label"]
    may_be_below = kind in (Kind.PASSWORD, Kind.KEY) and label in ":："
    begin = _skip_blanks(text, at, 1 if tail["block"] or may_be_below else 0)
    if tail["block"] is None and "\n" in text[at:begin]:
        return _judge_at(kind, Join.SAID, text, begin, _BARE) if _LONE_WORD.match(text, begin) else None
    if label == "=" and begin == at and not text[tail.start("label") - 1].isspace():
        return _judge_at(kind, Join.ASSIGNED, text, begin, _BARE_QUERY if _is_query(text, start) else _BARE_ASSIGNED)
    return _judge_at(kind, Join.LABELLED, text, begin, _BARE)


def _skip_blanks(text: str, at: int, lines: int) -> int:
    while at < len(text) and (text[at] in " \t\r\u3000" or (text[at] == "\n" and lines > 0)):
        lines -= text[at] == "\n"
        at += 1
    return at


def _is_query(text: str, at: int) -> bool:
    least = max(0, at - REST_MAX_CHARS)
    while at > least and (text[at - 1].isalnum() or text[at - 1] in "_-."):
        at -= 1
    return at > 0 and text[at - 1] in "?&"


def _judge_quoted(kind: Kind, join: Join, text: str, at: int) -> tuple[int, int] | None:
    span = _find_quoted(text, at)
    if span is None:
        return None
    value = text[span[0] : span[1]]
    if " " in value or (join is Join.LABELLED and not is_mixed(value)):
        return None
    return span if is_secret(kind, join, value, "\n") else None


def _judge_at(kind: Kind, join: Join, text: str, at: int, bare: LazyPattern) -> tuple[int, int] | None:
    """The span of the value that starts at a place, if it is one that a secret would have."""
    quoted = _find_quoted(text, at)
    if quoted is not None:
        value = text[quoted[0] : quoted[1]]
        if " " in value.strip():
            is_told = join in (Join.ASSIGNED, Join.LABELLED)
            return quoted if kind is Kind.PASSWORD and is_told and is_phrase(value) else None
        is_set = join is Join.LABELLED and text[max(0, at - 2) : at].strip()[-1:] in _SETS
        return quoted if is_secret(kind, Join.ASSIGNED if is_set else join, value, "\n") else None
    found = bare.match(text, at, at + VALUE_MAX_CHARS)
    if found is None:
        return None
    value = _trim(found[0] if join is Join.ASSIGNED else _cut_before_cjk(found[0]), join)
    end = at + len(value)
    if not value or not is_secret(kind, join, value, text[end : end + REST_MAX_CHARS]):
        return None
    whole = bare.match(text, at)
    if end == found.end() and whole is not None and whole.end() > end:
        end = at + len(_trim(whole[0], join))
    return at, end


def _cut_before_cjk(value: str) -> str:
    """A bare value up to the first character that belongs to a sentence in Chinese, Japanese or Korean."""
    stop = next((n for n, char in enumerate(value) if char >= _CJK_FIRST and not char.isdigit()), len(value))
    return value[:stop]


def _trim(value: str, join: Join) -> str:
    """A bare value without what follows it: markup, the next pair of a connection string, closing punctuation."""
    for stop in (_MARKUP, _NEXT_PAIR if join is Join.ASSIGNED else _ESCAPED_LINE):
        found = stop.search(value)
        if found is not None:
            value = value[: found.start()]
    while (
        value and value[-1] in _TRIM and not (join is Join.ASSIGNED and value[-1] in "*.") and not _is_balanced(value)
    ):
        value = value[:-1]
    return value


def _is_balanced(value: str) -> bool:
    return value[-1] in ")]}" and value.count(value[-1]) <= value.count("([{"[")]}".index(value[-1])])


def _find_quoted(text: str, at: int) -> tuple[int, int] | None:
    """The span between the quotes that open at a place and close on the same line; none if there are none."""
    is_escaped = text.startswith("\\", at)
    at += is_escaped
    closing = _QUOTE_CLOSES.get(text[at : at + 1])
    begin = end = at + 1
    limit = min(len(text), begin + VALUE_MAX_CHARS)
    while closing is not None and end < limit and text[end] != "\n":
        is_close = text.startswith("\\" + closing, end) if is_escaped else text[end] == closing
        if is_close:
            return (begin, end) if end > begin else None
        end += 2 if text[end] == "\\" else 1
    return None
