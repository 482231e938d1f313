"""The public rule set: gitleaks' rules, kept as data, and how one is applied to a text.

`data/gitleaks.json` is made from `data/gitleaks.toml` by `scripts/convert_gitleaks.py`, whose text says what
is changed; a test holds the two equal. The file is read at the first search, and a rule is compiled when one
of its keywords occurs.

A long text is searched in windows: a rule whose keyword occurs once costs one window.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import Any, Final, NamedTuple

from onrecord.domain.redaction_finding import Finding
from onrecord.domain.redaction_pattern import LazyPattern
from onrecord.domain.redaction_values import is_placeholder, is_slug, is_term

WINDOW_CHARS: Final = 32 * 1024
LOOKAHEAD_CHARS: Final = 4 * 1024
SECRET_MAX_CHARS: Final = 64 * 1024
LINE_SIDE_CHARS: Final = 1_000
GENERIC_RULE: Final = "generic-api-key"

# The lazy prefix that the conversion drops; allowlists on the match look at it too.
_PREFIX_CHARS: Final = 50
_STEM_CHARS: Final = 3


class Allowlist(NamedTuple):
    """What a rule passes over.

    Attributes:
        target: What the patterns look at: `secret`, `match` or `line`.
        patterns: Regular expressions; one that occurs is enough.
        stopwords: Lower case words by their first three characters; one inside the secret is enough.
    """

    target: str
    patterns: tuple[str, ...]
    stopwords: Mapping[str, tuple[str, ...]]


class PublicRule(NamedTuple):
    """One rule of the public set.

    Attributes:
        id: Its id at the source.
        pattern: Regular expression, for `re.ASCII`.
        keywords: Lower case; the rule is tried only where one occurs.
        entropy: Least Shannon entropy of the secret, in bits a character; 0 for none.
        group: Group of the secret; 0 for the whole match, -1 for the first group that matched.
        allowlists: Each of them can pass over a match.
    """

    id: str
    pattern: str
    keywords: tuple[str, ...]
    entropy: float
    group: int
    allowlists: tuple[Allowlist, ...]


class RuleSet(NamedTuple):
    """The rules in the order of the source, the allowlist of all, and which rules a keyword wakes (by position)."""

    source: str
    rules: tuple[PublicRule, ...]
    allowlist: Allowlist
    by_keyword: Mapping[str, tuple[int, ...]]


@cache
def load_rules() -> RuleSet:
    """Read the rule set: package data, once a process.

    Raises:
        FileNotFoundError: The package was installed without its data.
    """
    # Not importlib.resources: importing it costs more than a search.
    content = get_data("onrecord", "domain/data/gitleaks.json")
    if content is None:
        raise FileNotFoundError("domain/data/gitleaks.json")
    data = json.loads(content)
    rules = tuple(_read_rule(rule) for rule in data["rules"])
    by_keyword: dict[str, tuple[int, ...]] = {}
    for position, rule in enumerate(rules):
        for keyword in rule.keywords:
            by_keyword[keyword] = (*by_keyword.get(keyword, ()), position)
    return RuleSet(data["source"], rules, _read_allowlist(data["allowlist"]), by_keyword)


def _read_rule(rule: Mapping[str, Any]) -> PublicRule:
    return PublicRule(
        id=rule["id"],
        pattern=rule["pattern"],
        keywords=tuple(keyword.lower() for keyword in rule["keywords"]),
        entropy=rule["entropy"],
        group=rule["group"],
        allowlists=tuple(_read_allowlist(allowlist) for allowlist in rule["allowlists"]),
    )


def _read_allowlist(allowlist: Mapping[str, Any]) -> Allowlist:
    stopwords: dict[str, list[str]] = {}
    for word in allowlist["stopwords"]:
        stopwords.setdefault(word[:_STEM_CHARS], []).append(word)
    return Allowlist(
        target=allowlist["target"],
        patterns=tuple(allowlist["patterns"]),
        stopwords={stem: tuple(words) for stem, words in stopwords.items()},
    )


@cache
def compile_rule(pattern: str) -> re.Pattern[str]:
    """A pattern of the set, compiled once; ASCII classes, as at the source."""
    return re.compile(pattern, re.ASCII)


def measure_entropy(secret: str) -> float:
    """Shannon entropy of the characters of a string, in bits a character (Shannon 1948, section 6)."""
    total = len(secret)
    return -sum(count / total * math.log2(count / total) for count in Counter(secret).values())


def find_public(text: str) -> Iterator[Finding]:
    """What the public rules see in a text, in no order and perhaps overlapping.

    Args:
        text: Any text, of any length.

    Yields:
        Findings that cover the secret alone, without the words that named it.
    """
    rule_set = load_rules()
    for start in range(0, len(text), WINDOW_CHARS):
        limit = min(len(text), start + WINDOW_CHARS + LOOKAHEAD_CHARS)
        lowered = text[start:limit].lower()
        woken = {
            position
            for keyword, positions in rule_set.by_keyword.items()
            if keyword in lowered
            for position in positions
        }
        for position in sorted(woken):
            yield from _apply_rule(rule_set, rule_set.rules[position], text, start, limit)


def _apply_rule(rule_set: RuleSet, rule: PublicRule, text: str, start: int, limit: int) -> Iterator[Finding]:
    pattern = compile_rule(rule.pattern)
    for found in pattern.finditer(text, start, limit):
        if found.start() >= start + WINDOW_CHARS:
            return
        match = found
        if found.end() == limit < len(text):
            longer = pattern.match(text, found.start(), found.start() + SECRET_MAX_CHARS)
            if longer is None:
                continue
            match = longer
        begin, end = _locate_secret(rule, match)
        secret = text[begin:end]
        if not secret or (rule.entropy and measure_entropy(secret) < rule.entropy):
            continue
        if rule.id == GENERIC_RULE and is_harmless(text[match.start() : begin], secret):
            continue
        if any(_is_allowed(a, text, match, secret) for a in (rule_set.allowlist, *rule.allowlists)):
            continue
        rest = _WORD_REST.match(text, end)
        yield Finding(rule.id, begin, rest.end() if rest else end)


# A rule of fixed length sees only the head of a longer token.
_WORD_REST: Final = LazyPattern(r"[\w-]+", re.ASCII)
_QUOTES: Final = "\"'`"
_CLOSINGS: Final = _QUOTES + "."


def _locate_secret(rule: PublicRule, match: re.Match[str]) -> tuple[int, int]:
    group = rule.group
    if group < 0:
        group = next((n for n in range(1, match.re.groups + 1) if match.group(n)), 0)
    begin, end = match.span(group)
    text = match.string
    while begin < end and text[begin] in _QUOTES:
        begin += 1
    while begin < end and text[end - 1] in _CLOSINGS:
        end -= 1
    return begin, end


def _is_allowed(allowlist: Allowlist, text: str, match: re.Match[str], secret: str) -> bool:
    if allowlist.stopwords and _has_stopword(secret.lower(), allowlist.stopwords):
        return True
    if not allowlist.patterns:
        return False
    target = secret
    if allowlist.target == "match":
        target = text[_widen_start(text, match.start()) : match.end()]
    elif allowlist.target == "line":
        target = _cut_line(text, match.start(), match.end())
    return any(compile_rule(pattern).search(target) for pattern in allowlist.patterns)


def _has_stopword(secret: str, stopwords: Mapping[str, Sequence[str]]) -> bool:
    return any(
        secret.startswith(word, at)
        for at in range(len(secret) - _STEM_CHARS + 1)
        for word in stopwords.get(secret[at : at + _STEM_CHARS], ())
    )


def _widen_start(text: str, start: int) -> int:
    least = max(0, start - _PREFIX_CHARS)
    while start > least and (text[start - 1] in "_.-" or (text[start - 1].isascii() and text[start - 1].isalnum())):
        start -= 1
    return start


def _cut_line(text: str, start: int, end: int) -> str:
    least, most = max(0, start - LINE_SIDE_CHARS), min(len(text), end + LINE_SIDE_CHARS)
    line_end = text.find("\n", end, most)
    return text[max(least, text.rfind("\n", least, start) + 1) : most if line_end < 0 else line_end]


# What follows a mere `key`, `auth` or `access` in a note is an id far more often than a secret. The names that leave no
# doubt (API key, password, access token) have rules of their own, in `redaction_names`, which take these too.
_LOWER_32: Final = "[0-9a-hjkmnp-tv-z]"
_UPPER_32: Final = "[0-9A-HJKMNP-TV-Z]"
# In turn: a UUID; record and log ids, a ULID (both Crockford base32); digests; dates; numbers; code.
_IDENTIFIER: Final = LazyPattern(
    rf"""(?x:
        (?i:[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}})
      | {_LOWER_32}{{10}} (?:{_LOWER_32}{{2}}|{_LOWER_32}{{6}}|{_LOWER_32}{{14}}|{_LOWER_32}{{16}})?
      | {_UPPER_32}{{26}}
      | (?i:[0-9a-f]{{7,128}} | sha\d+ [-:=] \S+)
      | \d{{4}}-\d\d-\d\d\S*
      | [\d.:_-]+
      | [A-Za-z_]\w* (?: [.=] [A-Za-z_]\w* )+
    )\Z""",
    re.ASCII,
)
_HARMLESS_NAME: Final = LazyPattern(r"(?i)public|sha-?\d|fingerprint|thumbprint|checksum|digest|hash|integrity|etag")


def is_harmless(name: str, secret: str) -> bool:
    """Whether what the generic rule saw is an id, a date, a digest, words, code or a placeholder.

    Args:
        name: What was matched before the secret: the name, what joins the two, an opening quote.
        secret: What was taken for one.
    """
    join = name.rstrip(" \t\r\n" + _QUOTES)
    if join.endswith((",", ">")) and not join.endswith("=>"):
        return True
    if _IDENTIFIER.match(secret) or _HARMLESS_NAME.search(name):
        return True
    return is_slug(secret) or is_term(secret) or is_placeholder(secret)
