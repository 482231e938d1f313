"""What a name is made of: workspace, tag, source, session, turn, speaker, client … (docs/format/limits.md)."""

from __future__ import annotations

import re
import unicodedata

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.limits import NAME_MAX_CHARS

_CONTROL = re.compile("[\x01-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_characters(text: str, field: str) -> str:
    """Return a text that can be kept.

    Raises:
        InvalidInputError: it holds U+0000 or half a surrogate pair.
    """
    if "\0" in text:
        raise InvalidInputError("the character U+0000 is not allowed", field=field)
    if _SURROGATE.search(text) is not None:
        raise InvalidInputError("half a surrogate pair is no character", field=field)
    return text


def check_name(value: object, field: str, max_chars: int = NAME_MAX_CHARS, *, may_be_blank: bool = False) -> str:
    """Return a name.

    Args:
        value: What was given.
        field: Argument or key at fault, for the error.
        max_chars: Limit in code points; 0 for none.
        may_be_blank: Whether it may be empty or of blanks.

    Raises:
        InvalidInputError: no text, a control character, U+0000, half a surrogate pair, or blank.
        LimitExceededError: too long.
    """
    if not isinstance(value, str):
        raise InvalidInputError("a text is expected", field=field)
    check_characters(value, field)
    if _CONTROL.search(value) is not None:
        raise InvalidInputError("control characters are not allowed here", field=field)
    if not may_be_blank and not value.strip():
        raise InvalidInputError("a name is not blank", field=field)
    if max_chars and len(value) > max_chars:
        raise LimitExceededError(f"at most {max_chars} characters", field=field)
    return value


def strip_hashes(tag: str) -> str:
    """Return a tag without the signs `#` that stand before it, as editors write them."""
    return tag.lstrip("#")


def fold_name(name: str) -> str:
    """Return the key of a workspace's name: names that differ in case or in Unicode's composition alone share one."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
