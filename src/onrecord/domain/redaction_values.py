"""Whether a value that a secret's name points at looks like a secret, or like prose, code or a placeholder.

Every function is pure, looks at one value without blanks around it, and takes time linear in its length.
"""

from __future__ import annotations

import re
from typing import Final

from onrecord.domain.redaction_finding import MARKER
from onrecord.domain.redaction_pattern import LazyPattern
from onrecord.domain.redaction_words import (
    ADJECTIVES,
    DESCRIPTIONS,
    NON_VALUES,
    PARTICIPLES,
    SENTENCE_WORDS,
)

_STRONG_SYMBOLS: Final = frozenset("!@#$%^&*+=~?<>|\\")
_EDGES: Final = "!?()[]{}<>.,;:"

_PLACEHOLDER: Final = LazyPattern(
    r"""(?ix:
        [<\[({%$*x.\-_/\\|~=]* \Z                                # signs and x alone
      | [*•●·…█]{2,} | x{4,}
      | (?:%[sdrfv][:/@, -]?){1,8} \Z
      | \$ [{(] | \$ (?-i:[A-Z_][A-Z0-9_]*) \Z | %[A-Z_]+% \Z | \{\{ | <% | \[\[
      | <[^<>]{0,80}> \Z | \[[^\[\]]{0,80}\] \Z | \{[A-Z_. ]{0,80}\} \Z
      | (?:your|my|the|some|insert|enter|put|add|replace|change) [-_ ] (?:[a-z0-9]+[-_ ]){0,6}
        (?:key|token|secret|password|passwd|value|here|me) \Z
      | (?:secretref|valuefrom|env|vault|op|file|ssm|arn|projects|kms|sops|enc) (?: :// | :[A-Z/{] | :: | \( )
    )""",
    re.ASCII,
)
_CODE: Final = LazyPattern(
    r"""(?ix:
        [(\[{!]{0,4} [a-z_][\w.]{0,80} (?: \( | \[["'\w] | :: )                 # call, index, path
      | (?:self|this|cls|args|kwargs|opts|options|config|cfg|settings|process|os|env|environ|request|req|res
         |response|params|props|state|ctx|context|user|data|secrets|form|body|credentials|creds|session|auth|inputs|steps|github|var|local|module)
        (?: \?? \. | -> ) [a-z_]
      | (?:new|await|return|lambda|function|async|typeof|not|raise|def|const|let|var) \Z
      | [&*@]? (?:str|string|bytes|int|bool|optional|any|none|null|text|char|secretstr|option|vec|cstr|nsstring)
        (?: \Z | [\[<|?;,)=\]] )
      | (?:getenv|environ|input|getpass|readline|prompt) \b
    )""",
    re.ASCII,
)
_UNITS: Final = (
    r"(?:char(?:acter)?s?|bits?|bytes?|digits?|letters?|words?|symbols?|ms|s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?"
    r"|d|days?|w|weeks?|months?|y|years?|x|times|k|[kmg]i?b|px|pt|%|°c?|am|pm|st|nd|rd|th)"
)
_STANDARDS: Final = (
    r"(?:aes|sha|md|rsa|dsa|ecdsa|ed|hs|rs|es|ps|base|utf|iso|rfc|argon|pbkdf|hmac|bcrypt|scrypt|blake|chacha|tls|ssl"
    r"|http|ipv|oauth|auth|openid|saml|fido|web|ec|log|python|java|php|node|vue|version|ver|step|chapter|section|page"
    r"|fig|windows|win|office|ios|android|iphone|usb|mp|gpt|claude|llama|qwen|bert|word|llm|cve|pep|issue|bip|nist"
    r"|fips|pkcs|[a-z])"
)
_FILE_ENDINGS: Final = (
    r"(?:md|txt|ya?ml|json5?|toml|ini|cfg|conf|env|key|pem|crt|pub|kdbx|py|js|ts|go|rs|java|sh|html?|pdf|docx?|xlsx?"
    r"|csv|db|sql|log|xml|bin|png|jpe?g|svg|zip|gz|tar|exe|dll|so|lock|rst|c|h|cpp)"
)
# In turn: a standard or product with its number, a measure, a date or time, a bound, a version, set terms.
_TERM: Final = LazyPattern(
    rf"""(?ix:
        {_STANDARDS} [-_/.]? \d{{1,5}} (?:\.\d+){{0,3}} (?:id|i|s|sum|vec|n)?
        (?:[-_/.](?:\d{{1,6}}|[a-z]{{1,12}})){{0,6}} \Z
      | \d{{1,4}} (?:[-–~.]\d{{1,4}})? \+? -? {_UNITS} (?:-long)? \Z
      | \d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}} (?:T[\d:.]+Z?)? \Z
      | \d{{1,2}}:\d\d (?::\d\d)? (?:[ap]m)? \Z
      | \d{{1,4}} \+ \Z | [<>~≥≤=]+ \d+ \Z
      | v? \d+ (?:\.\d+)+ (?:[-+][\w.]{{0,12}})? \Z
      | (?:1password|2fa|mfa|3des|c\+\+|c\#|f\#|e\.g|i\.e|w/|w/o|q&a|r&d|at&t|2-?factor|i18n|l10n|a11y|k8s) \Z
    )""",
    re.ASCII,
)
# In turn: a URL, an e-mail address, paths, a file's name.
_ADDRESS: Final = LazyPattern(
    rf"""(?ix:
        [a-z][a-z0-9+.-]{{1,20}} :// \S*
      | [\w.+-]{{1,64}} @ [\w-]{{1,64}} (?: \. [\w-]{{1,64}} ){{0,4}} \. [a-z]{{2,24}} \Z
      | (?: ~ | \. \.? )? / (?:[\w.@-]+/)+ [\w.@-]* \Z
      | (?: ~ | \. \.? ) / [\w./@-]* \Z
      | [a-z] :\\ \S*
      | [\w-]+ (?: [./\\] [\w-]+ )* \. {_FILE_ENDINGS} \Z
    )""",
    re.ASCII,
)
_ENV_NAME: Final = LazyPattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z", re.ASCII)
_SNAKE: Final = LazyPattern(r"[a-z]+(?:_[a-z0-9]+)+\Z", re.ASCII)
_SECRET_NAME: Final = LazyPattern(
    r"""(?x:
        (?i:\$? (?:[a-z0-9]+[_.-]){0,8}
        (?:passwords?|passwd|passphrase|passcode|pwd|secrets?|tokens?|keys?|credentials?|cookies?|pass|pin|auth) \Z)
      | \$? [a-z]{1,24} (?:[A-Z][a-z0-9]{1,24}){0,4}
        (?:Password|Passwd|Passphrase|Pwd|Secret|Token|Key|Credentials?) \Z
    )""",
    re.ASCII,
)
_DIGITS: Final = LazyPattern(r"[0-9０-９](?:[0-9０-９]|[- ](?=[0-9０-９]))*\Z")
_POSSESSIVE: Final = LazyPattern(r"['’](?:s|t|re|ll|ve|d|m)?\Z")


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: `***`, `<password>`, `${TOKEN}`, a marker of ours."""
    return bool(MARKER.match(value)) or bool(_PLACEHOLDER.match(value))


def is_code(value: str) -> bool:
    """Whether a value is an expression, a type or the name of a secret: `getpass()`, `self.token`, `str`."""
    return bool(_CODE.match(value) or _ENV_NAME.match(value) or _SECRET_NAME.match(value))


def is_term(value: str) -> bool:
    """Whether a value holds digits or signs by nature: `SHA-256`, `12-character`, `2024-05-01`, `a.kdbx`."""
    return bool(_TERM.match(value) or _ADDRESS.match(value))


def is_wordy(value: str) -> bool:
    """Whether a value is made of letters alone, perhaps joined by hyphens."""
    return value.replace("-", "").replace("'", "").replace("’", "").isalpha()


def is_description(value: str, *, in_sentence: bool) -> bool:
    """Whether a wordy value says something of a secret: `required`; in a sentence also `case-sensitive`."""
    word = value.lower()
    if not word.isascii() or word in DESCRIPTIONS or _POSSESSIVE.search(word):
        return True
    return len(word) > 4 and word.endswith(ADJECTIVES if in_sentence else PARTICIPLES)


def is_sentence(value: str) -> bool:
    """Whether a value of several words reads like a sentence rather than like a passphrase."""
    words = value.replace(",", " ").split()
    return not all(word.isalnum() and word.islower() for word in words) or not SENTENCE_WORDS.isdisjoint(words)


def is_non_value(value: str) -> bool:
    """Whether a setting's value says that there is none, or of what type one is: `null`, `string`."""
    return value.lower() in NON_VALUES


def is_digits(value: str) -> bool:
    """Whether a value is digits alone, perhaps in groups: `4821`, `1234 5678`."""
    return bool(_DIGITS.match(value))


def is_mixed(value: str) -> bool:
    """Whether a value mixes letters with digits, or either with a sign that prose does not put into words."""
    letters = sum(char.isalpha() for char in value)
    digits = count_digits(value)
    if letters and digits:
        return True
    if _STRONG_SYMBOLS.isdisjoint(value.strip(_EDGES)):
        return False
    return letters >= 3 or (digits >= 4 and len(value) >= 6)


def is_slug(value: str) -> bool:
    """Whether a value is words joined by signs: `see-section-4`, `get_token_v2`, `cl100k_base`."""
    if _SNAKE.match(value) and sum(char.isdigit() for char in value) <= 2:
        return True
    parts = re.split(r"[-_./:]", value)
    words = [part for part in parts if len(part) >= 3 and part.isalpha() and (part.islower() or part.istitle())]
    return len(words) >= 2 and 10 * sum(map(len, words)) >= 6 * len(value)


def count_digits(value: str) -> int:
    """How many digits a value holds."""
    return sum(char.isdigit() for char in value)
