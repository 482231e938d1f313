"""The verdict on a value that a secret's name points at: the weaker the name and what joins the two, the stricter."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, assert_never

from onrecord.domain.redaction_pattern import LazyPattern
from onrecord.domain.redaction_values import (
    count_digits,
    is_code,
    is_description,
    is_digits,
    is_mixed,
    is_non_value,
    is_placeholder,
    is_sentence,
    is_slug,
    is_term,
    is_wordy,
)

PASSWORD_MIN_CHARS: Final = 3
WORD_MIN_CHARS: Final = 4
MIXED_MIN_CHARS: Final = 5
KEY_MIN_CHARS: Final = 8
TOKEN_MIN_CHARS: Final = 10
BESIDE_PASSWORD_MIN_CHARS: Final = 6
BESIDE_KEY_MIN_CHARS: Final = 12
LETTERS_MIN_CHARS: Final = 20
ONE_CASE_MIN_CHARS: Final = 32
PIN_MIN_DIGITS: Final = 4
PIN_MAX_DIGITS: Final = 12
PHRASE_MIN_WORDS: Final = 3


class Kind(Enum):
    """How much a name says: a password can be any word, a key is long and mixed, a `token` is often prose."""

    PASSWORD = "password"
    PIN = "pin"
    KEY = "key"
    TOKEN = "token"


class Join(Enum):
    """What joins a name and its value.

    ASSIGNED: `NAME=value`, a quoted value, an element or attribute of XML: a machine reads it.
    LABELLED: `Name: value`, a cell of a table, an option of a command.
    SAID: `the name is value`, in any language.
    BESIDE: `name value`, or `value is my name`: nothing but a blank, or words that prose is full of.
    """

    ASSIGNED = "assigned"
    LABELLED = "labelled"
    SAID = "said"
    BESIDE = "beside"


# What may follow the last word of a clause, in any of the languages.
_ENDS: Final = LazyPattern(
    r"""[ \t]*(?:$|[\n\r.,;!?)\]}|"'<*，。；！？、）」』】”—–(（#]"""
    r"|(?:and|but|or|not|und|aber|oder|et|mais|y|pero|e|if|when|for|on|since|until)\b"
    r"|です|でした|だ(?!\w)|に(?:変更|設定|した|し)|哦|喔|啊|吧|了|입니다|이다|이고)",
    re.IGNORECASE,
)
_UNIT_NEXT: Final = LazyPattern(
    r"[ \t-]?(?:bits?\b|bytes?\b|char|digit|letter|word|symbol|times?\b|day|hour|min|sec|month|year|use|of\b"
    r"|位|字|桁|文字|個|个|年|月|日|天|小时|分|秒|ビット|次|回|種|种|行|页|%|万|千|亿|[-–~～至到]|\d)",
    re.IGNORECASE,
)
_VARIABLE: Final = LazyPattern(r"[a-z]+(?:_[a-z]+)+\Z")


def is_secret(kind: Kind, join: Join, value: str, rest: str) -> bool:
    """Whether a value is a secret.

    Args:
        kind: The kind of its name.
        join: What joins it to its name.
        value: The value, without quotes and closing punctuation; not empty.
        rest: What follows it in the text; a few dozen characters are enough.
    """
    if is_placeholder(value) or is_code(value):
        return False
    if join is Join.ASSIGNED:
        is_argument = rest[:1] in (",", ")") and _VARIABLE.match(value) is not None
        return not is_argument and _is_assigned_secret(kind, value)
    if is_term(value):
        return False
    if join is Join.BESIDE and not (is_digits(value) and kind is Kind.PIN):
        return _is_secret_beside(kind, value, rest)
    if is_digits(value):
        return _is_digit_secret(kind, value, rest)
    if is_wordy(value):
        return kind is Kind.PASSWORD and _is_word_secret(join, value, rest)
    match kind:
        case Kind.PASSWORD:
            return len(value) >= MIXED_MIN_CHARS and is_mixed(value)
        case Kind.PIN:
            return False
        case Kind.KEY | Kind.TOKEN:
            return _is_key(kind, join, value)
        case _:
            assert_never(kind)


def is_phrase(value: str) -> bool:
    """Whether a quoted value is a passphrase: words that make no sentence; a few must not speak of passwords."""
    words = value.split()
    if is_sentence(value):
        return False
    return len(words) >= PHRASE_MIN_WORDS or not any(is_description(word, in_sentence=True) for word in words)


def _is_secret_beside(kind: Kind, value: str, rest: str) -> bool:
    if not value.isascii() or not any(char.isalpha() for char in value) or not count_digits(value):
        return False
    match kind:
        case Kind.PASSWORD:
            least = BESIDE_PASSWORD_MIN_CHARS
        case Kind.KEY:
            least = BESIDE_KEY_MIN_CHARS
        case Kind.PIN | Kind.TOKEN:
            return False
        case _:
            assert_never(kind)
    return len(value) >= least and not is_slug(value) and _ENDS.match(rest) is not None


def _is_assigned_secret(kind: Kind, value: str) -> bool:
    if is_non_value(value) or (value[0] in "/~." and is_term(value)):
        return False
    match kind:
        case Kind.PASSWORD:
            return len(value) >= PASSWORD_MIN_CHARS
        case Kind.PIN:
            return is_digits(value) and PIN_MIN_DIGITS <= count_digits(value) <= PIN_MAX_DIGITS
        case Kind.KEY | Kind.TOKEN:
            if is_digits(value):
                return kind is Kind.KEY and count_digits(value) >= KEY_MIN_CHARS
            return _is_key(kind, Join.ASSIGNED, value)
        case _:
            assert_never(kind)


def _is_digit_secret(kind: Kind, value: str, rest: str) -> bool:
    digits = count_digits(value)
    if kind is Kind.TOKEN or (kind is Kind.PIN and digits > PIN_MAX_DIGITS) or _UNIT_NEXT.match(rest):
        return False
    return digits >= (KEY_MIN_CHARS if kind is Kind.KEY else PIN_MIN_DIGITS) and _ENDS.match(rest) is not None


def _is_word_secret(join: Join, value: str, rest: str) -> bool:
    if len(value) < WORD_MIN_CHARS or not value.isascii() or not _ENDS.match(rest):
        return False
    if join is Join.SAID and not value.islower():
        return False
    return not is_description(value, in_sentence=join is Join.SAID)


def _is_key(kind: Kind, join: Join, value: str) -> bool:
    if not value.isascii() or is_slug(value) or is_term(value) or not any(char.isalpha() for char in value):
        return False
    digits = count_digits(value)
    if digits:
        is_sure = kind is Kind.KEY or join is Join.ASSIGNED
        return len(value) >= (KEY_MIN_CHARS if is_sure else TOKEN_MIN_CHARS) and (kind is Kind.KEY or digits >= 2)
    is_mixed_case = not value.islower() and not is_wordy(value)
    return len(value) >= (LETTERS_MIN_CHARS if is_mixed_case else ONE_CASE_MIN_CHARS)
