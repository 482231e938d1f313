"""Secrets that their own form gives away: private keys, headers, tokens with a known prefix, passwords in URLs.

These come before the public rules and cover what those miss: keys that are cut off, tokens of another length
than the rule's, headers and commands at a cost that is linear in the text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

from onrecord.domain.redaction_finding import Finding
from onrecord.domain.redaction_pattern import LazyPattern
from onrecord.domain.redaction_pem import find_private_keys
from onrecord.domain.redaction_values import (
    count_digits,
    is_code,
    is_mixed,
    is_placeholder,
    is_sentence,
    is_slug,
)

Check = Callable[[str], bool]


class Format(NamedTuple):
    """One form of secret.

    Attributes:
        rule: Rule id of what it finds.
        stems: Lower case; the pattern is tried only where one of them occurs.
        pattern: Regular expression for `re.ASCII`; the secret is the group `secret`, without one the whole match.
        check: What the secret must also be.
    """

    rule: str
    stems: tuple[str, ...]
    pattern: str
    check: Check


def _accept(_secret: str) -> bool:
    return True


def _is_token(secret: str) -> bool:
    """Whether a string with a token's prefix is one: it has a digit, or is too long and too mixed for words."""
    if is_placeholder(secret):
        return False
    return count_digits(secret) > 0 or (len(secret) >= 24 and not secret.islower() and not is_slug(secret))


def _is_bearer(secret: str) -> bool:
    return _is_token(secret) and not is_slug(secret) and not is_code(secret)


def _is_authorization(secret: str) -> bool:
    if secret.startswith("<") or is_placeholder(secret) or is_code(secret) or is_slug(secret):
        return False
    return is_mixed(secret) or len(secret) >= 16


def _is_basic(secret: str) -> bool:
    """Whether a string is the base64 of `user:password` (RFC 7617, section 2)."""
    try:
        decoded = base64.b64decode(secret + "=" * (-len(secret) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and all(32 <= byte < 127 or byte >= 160 for byte in decoded)


def _is_cookie(secret: str) -> bool:
    return bool(_COOKIE_PAIR.match(secret)) and not is_placeholder(secret)


def _is_url_password(secret: str) -> bool:
    return not is_placeholder(secret) and not secret.startswith(("$", "%("))


def _is_login(secret: str) -> bool:
    return not is_placeholder(secret) and not secret.isdigit() and not secret.startswith("$")


def _is_phrase(secret: str) -> bool:
    return not is_sentence(secret)


def _is_netrc(secret: str) -> bool:
    return not is_placeholder(secret) and not is_code(secret)


_COOKIE_PAIR: Final = LazyPattern(r"[\w!#$%&'*+.^|~-]{1,128}=[^\s;]")
_QUOTED_COOKIE: Final = r"(?P<secret>(?:(?!(?P=q))[^\r\n]){3,8192})(?P=q)"

# What stands before a token's prefix must not be a part of the same word.
_B: Final = r"(?<![A-Za-z0-9])"
_W: Final = r"[A-Za-z0-9_-]"
_A: Final = r"[A-Za-z0-9]"

_HEADER: Final = r"(?<![A-Za-z])authori[sz]ation[\"'`]?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?"

_GITLAB: Final = tuple(
    f"gl{kind}-" for kind in ("pat", "dt", "rt", "ft", "ptt", "oas", "cbt", "imt", "soat", "ffct", "agent")
)

FORMATS: Final[tuple[Format, ...]] = (
    Format("anthropic-key", ("sk-ant-",), _B + rf"sk-ant-{_W}{{12,}}", _is_token),
    Format(
        "openai-key",
        ("sk-",),
        _B + rf"sk-(?!ecdsa-|ssh-|learn-)(?:proj-|svcacct-|admin-|or-v1-|lf-|kimi-)?{_W}{{16,}}",
        _is_bearer,
    ),
    Format(
        "stripe-key",
        ("_live_", "_test_", "whsec_"),
        _B + rf"(?:[srp]k_(?:live|test)_{_A}{{10,}}|whsec_{_A}{{16,}})",
        _is_token,
    ),
    Format("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _B + rf"gh[pousr]_{_A}{{16,}}", _is_token),
    Format("github-token", ("github_pat_",), _B + r"github_pat_[A-Za-z0-9_]{16,}", _is_token),
    Format(
        "gitlab-token",
        _GITLAB,
        _B + rf"(?:{'|'.join(_GITLAB)})(?:{_W}|\.(?=\w)){{16,}}",
        _is_token,
    ),
    Format("npm-token", ("npm_",), _B + rf"npm_{_A}{{24,}}", _is_token),
    Format("huggingface-token", ("hf_",), _B + rf"hf_{_A}{{20,}}", _is_token),
    Format("pypi-token", ("pypi-",), _B + rf"pypi-{_W}{{40,}}", _is_token),
    Format("slack-token", ("xox", "xapp-"), _B + rf"(?:xox[a-z]|xapp)-(?:{_W}|\.(?=xox)){{10,}}", _is_token),
    Format("aws-access-key-id", ("akia", "asia"), _B + r"A(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])", _accept),
    Format(
        "aws-secret-access-key",
        ("secret",),
        r"(?i:aws_?secret_?(?:access_?)?key|secret_?access_?key)\W{1,12}"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        _is_token,
    ),
    Format("google-api-key", ("aiza",), _B + rf"AIza{_W}{{30,}}", _is_token),
    Format(
        "google-oauth-token",
        ("ya29.", "gocspx-"),
        _B + rf"(?:ya29\.{_W}{{20,}}|GOCSPX-{_W}{{20,}})",
        _is_token,
    ),
    Format("groq-key", ("gsk_",), _B + rf"gsk_{_A}{{20,}}", _is_token),
    Format("xai-key", ("xai-",), _B + rf"xai-{_A}{{32,}}", _is_token),
    Format("perplexity-key", ("pplx-",), _B + rf"pplx-{_A}{{24,}}", _is_token),
    Format("replicate-token", ("r8_",), _B + rf"r8_{_A}{{24,}}", _is_token),
    Format("telegram-bot-token", (":aa",), _B + rf"\d{{8,10}}:AA{_W}{{30,}}", _accept),
    Format("sendgrid-key", ("sg.",), _B + rf"SG\.{_W}{{16,}}\.{_W}{{16,}}", _is_token),
    Format(
        "jwt",
        ("eyj",),
        r"(?<![A-Za-z0-9_.-])eyJ[\w-]{8,}+(?:\.eyJ[\w-]{8,}+(?:\.[\w-]*+)?|(?:\.[\w-]*+){4})",
        _accept,
    ),
    Format(
        "cookie",
        ("cookie",),
        r"""(?i:(?P<n>["'`])(?:set-)?cookie(?P=n)\s{0,4}[:,=]\s{0,4}(?P<q>["'`])""" + _QUOTED_COOKIE + ")",
        _is_cookie,
    ),
    Format(
        "cookie",
        ("cookie",),
        r"""(?i:(?P<q>["'`])(?:set-)?cookie:\s{0,4}""" + _QUOTED_COOKIE + ")",
        _is_cookie,
    ),
    Format(
        "cookie",
        ("curl",),
        r"""(?i:\bcurl\b)[^\n]{0,200}?[ \t](?:-b|--cookie)[ =]{0,2}(?P<q>["'])""" + _QUOTED_COOKIE,
        _is_cookie,
    ),
    Format(
        "cookie",
        ("cookie",),
        r"""(?i:cookie(?:[ \t]*=|[ \t]+)[ \t]*(?P<q>["'])""" + _QUOTED_COOKIE + ")",
        _is_cookie,
    ),
    Format(
        "cookie",
        ("cookie",),
        r"""(?i:(?<!["'`\w])(?:set-)?cookie[ \t]*:[ \t]*(?P<secret>[^\s"'`][^\r\n]{2,}+))""",
        _is_cookie,
    ),
    Format(
        "session-cookie",
        ("sessid", "session_id", "sessionid", "connect.sid", "_session="),
        r"(?i:(?:jsessionid|phpsessid|aspsessionid\w{0,16}|asp\.net_sessionid|connect\.sid|(?<![a-z_])sessionid"
        r"|_\w{1,40}_session)=)"
        r"(?P<secret>[^\s;,\"'&]{8,})",
        _is_token,
    ),
    Format(
        "authorization",
        ("authorization", "authorisation"),
        rf"(?i:{_HEADER}(?:digest|aws4-hmac-sha256|hawk|oauth)[ \t]+)(?P<secret>[A-Za-z]\w*=[^\r\n]+)",
        _accept,
    ),
    Format(
        "authorization",
        ("authorization", "authorisation"),
        rf"(?i:{_HEADER}(?:(?:bearer|basic|token|apikey|api-key|negotiate|ntlm|key|bot|splunk)[ \t]+"
        r"(?:token=)?)?[\"'`]?)(?P<secret>[^\s\"'`,;]{6,})",
        _is_authorization,
    ),
    Format(
        "authorization",
        ("bearer",),
        r"(?i:\bbearer[ \t:]{1,4}[\"'`]?)(?P<secret>[\w.~+/=-]{16,})",
        _is_bearer,
    ),
    Format(
        "authorization",
        ("basic",),
        r"(?i:\bbasic[ \t]{1,4})(?P<secret>[A-Za-z0-9+/]{8,512}={0,2})",
        _is_basic,
    ),
    Format(
        "url-password",
        ("://",),
        r"(?<=://)[^\s:/?#@\"'<>`]{0,256}:(?P<secret>[^\s/?#\"'<>`]{1,512})@(?=[\w\[.%$-])",
        _is_url_password,
    ),
    Format(
        "command-password",
        ("curl", "wget", "http"),
        r"(?i:\b(?:curl|wget|https?)\b)[^\n]{0,200}?[ \t](?:-u|--user|--proxy-user|-U|-a|--auth)[ =]{0,3}[\"']?"
        r"[^\s:\"'/]{1,64}:(?P<secret>[^\s\"']{2,256})",
        _is_login,
    ),
    Format(
        "command-password",
        ("mysql", "mariadb"),
        r"\b(?:mysql|mariadb)\w{0,12}\b[^\n|;&]{0,200}?[ \t]-p[\"']?(?P<secret>[^\s\"'-][^\s\"']{2,256})",
        _is_login,
    ),
    Format(
        "command-password",
        ("sshpass", "login", "redis-cli", "7z", "unzip", "zip"),
        r"\b(?:sshpass|(?:docker|podman|oc|az)[ ]login|redis-cli|7za?|unzip|zip)\b[^\n|;&]{0,200}?"
        r"[ \t]-(?:p|a|P)[ ]?[\"']?(?P<secret>[^\s\"'-][^\s\"']{3,256})",
        _is_login,
    ),
    Format(
        "seed-phrase",
        ("phrase", "mnemonic", "助记词", "助記詞", "フレーズ"),
        r"(?i:passphrase|pass phrase|(?:seed|recovery|secret|backup)[ -]phrase|mnemonic|助记词|助記詞"
        r"|(?:シード|リカバリー)フレーズ)[\"*]{0,3}[ \t]?(?:[:=：]|\bis\b|は|是)[ \t\"]{0,4}"
        r"(?P<secret>[a-z]{3,9}(?:[ ,]{1,2}[a-z]{3,9}){3,23})(?=[ \t]*[\"'`.。]?[ \t]*(?:[\r\n]|\Z))",
        _is_phrase,
    ),
    Format("netrc", ("login",), r"(?i:\blogin[ \t]+\S{1,128}\s+password[ \t]+)(?P<secret>\S{3,})", _is_netrc),
)


@cache
def compile_format(pattern: str) -> re.Pattern[str]:
    """A pattern of a form, compiled once, with ASCII classes: a key after a Chinese character starts a word."""
    return re.compile(pattern, re.ASCII)


def find_formats(text: str) -> Iterator[Finding]:
    """The secrets in a text that their form gives away, in the order of the forms and then of the text.

    Args:
        text: Any text, of any length.

    Yields:
        Findings; those of different forms may overlap.
    """
    lowered = text.lower()
    if "private key" in lowered:
        yield from find_private_keys(text)
    for form in FORMATS:
        if not any(stem in lowered for stem in form.stems):
            continue
        pattern = compile_format(form.pattern)
        group = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            if form.check(match[group]):
                yield Finding(form.rule, *match.span(group))
